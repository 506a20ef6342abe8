//! Long texts in little room: the beginning and the end stay, since names of one model differ there.

/// The text, or as much of its beginning and its end as fits.
pub(super) fn elided(text: &str, size: f64, bold: bool, room: f64) -> String {
    let fits = |text: &str| vector::length(text, bold) * size <= room;
    if fits(text) {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let shortened = |kept: usize| {
        // The end says more: it holds the variable, the beginning the outermost component.
        let head = kept / 3;
        let tail = kept - head;
        letters[..head].iter().chain(&['…']).chain(&letters[letters.len() - tail..]).collect::<String>()
    };
    let (mut least, mut most) = (1, letters.len().saturating_sub(1).max(1));
    while least < most {
        let middle = (least + most).div_ceil(2);
        if fits(&shortened(middle)) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    shortened(least.min(letters.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_stay() {
        let name = "vehicle.driveLine.gearbox.planetary[3].carrier.flange_b.phi_relative_to_ring";
        let short = elided(name, 13.0, false, 250.0);
        assert!(vector::length(&short, false) * 13.0 <= 250.0 && short.chars().count() > 25, "{short}");
        assert!(short.starts_with("vehicle.") && short.ends_with("phi_relative_to_ring"), "{short}");
        assert_eq!(elided("C.v", 13.0, false, 250.0), "C.v");
        assert_eq!(elided("", 13.0, false, 0.0), "");
        assert_eq!(elided("wide", 13.0, false, 1.0), "…e");
    }
}
