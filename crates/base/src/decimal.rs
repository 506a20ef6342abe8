//! Numbers in messages: all digits that tell them apart, with an exponent where zeros would fill the line.

use std::fmt;

/// Shows a number: `0.25`, `1e-13`.
#[derive(Clone, Copy)]
pub struct Decimal(pub f64);

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let plain = size == 0.0 || (1e-4..1e15).contains(&size);
        let text = if plain { format!("{}", self.0) } else { format!("{:e}", self.0) };
        formatter.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn exponents_replace_zeros() {
        let shown: Vec<String> = [0.0, 0.25, -3.0, 1e-13, 2.5e20, f64::NAN].map(|x| Decimal(x).to_string()).into();
        assert_eq!(shown, ["0", "0.25", "-3", "1e-13", "2.5e20", "NaN"]);
        assert_eq!(format!("{:<6}|", Decimal(0.5)), "0.5   |");
    }
}
