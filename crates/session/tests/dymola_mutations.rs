//! Listings of the Dymola language of 1993 with some of their words changed go the whole way: every text ends in messages or in sorted
//! equations, and what can be translated means the same as its translation.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use fastrand::Rng;
use session::{Disk, Document, Request, Session};

fn listings() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/dymola-1993");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "dym"));
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Words are taken from elsewhere in the listing, so that many texts stay models.
fn mutated(listing: &str, rng: &mut Rng) -> String {
    let mut pieces: Vec<&str> = listing.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
    for _ in 0..rng.usize(1..4) {
        let (at, from) = (rng.usize(..pieces.len()), rng.usize(..pieces.len()));
        match rng.u8(..6) {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, pieces[from]),
            2 => pieces.swap(at, from),
            3 => pieces[at] = ["new(", "not ", "der(", "- ", " // ", "(", ") ", "Time ", "0 ", "\n"][rng.usize(..10)],
            _ => pieces[at] = pieces[from],
        }
    }
    pieces.concat()
}

fn flat(session: &mut Session, path: &str) -> Option<String> {
    let request = Request { target: path.to_owned(), ..Request::default() };
    let model = session.flatten(&request);
    for diagnostic in &session.diagnostics {
        assert!(!diagnostic.render(session.sources()).is_empty());
    }
    model.ok().map(|model| dae::modelica_text(&model, None))
}

#[test]
fn mutated_listings_go_the_whole_way() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (number("GYRATOR_SEED", 0), number("CASES", 150));
    let listings = listings();
    let (mut translated, mut sorted) = (0, 0);
    for seed in first..first + cases {
        let mut rng = Rng::with_seed(seed);
        let text = mutated(&listings[rng.usize(..listings.len())], &mut rng);
        let mut session = Session::new(Box::new(Disk));
        session.replace_text("listing.dym", Some(text.as_str().into()));
        let Ok(modelica) = session.translate("listing.dym") else { continue };
        translated += 1;
        let one = flat(&mut session, "listing.dym");
        session.replace_text("translated.mo", Some(modelica.into()));
        let other = flat(&mut session, "translated.mo");
        assert_eq!(one, other, "seed {seed}:\n{text}");
        let request = Request { target: "listing.dym".to_owned(), ..Request::default() };
        if let Ok(schedule) = session.flatten(&request).and_then(|model| session.structure(model)) {
            sorted += 1;
            for document in [Document::Dymola, Document::Acsl, Document::Dsblock] {
                assert!(!document.of(&schedule).is_empty());
            }
        }
    }
    assert!(translated * 10 > cases && sorted * 10 > cases, "only {translated} and {sorted} of {cases}");
}
