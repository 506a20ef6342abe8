//! Whatever the text is: no panic, an end, and a translation that Modelica's parser understands, whose pieces lie inside of the
//! file.

use base::SourceMap;
use dymola::Dymola;
use proptest::prelude::*;

const LISTINGS: [&str; 12] = [
    include_str!("../../../examples/dymola-1993/boolean_switch.dym"),
    include_str!("../../../examples/dymola-1993/bouncing_ball.dym"),
    include_str!("../../../examples/dymola-1993/diode_as_equation.dym"),
    include_str!("../../../examples/dymola-1993/elements.dym"),
    include_str!("../../../examples/dymola-1993/hysteresis.dym"),
    include_str!("../../../examples/dymola-1993/limiter.dym"),
    include_str!("../../../examples/dymola-1993/propagation.dym"),
    include_str!("../../../examples/dymola-1993/rectifier.dym"),
    include_str!("../../../examples/dymola-1993/resistor.dym"),
    include_str!("../../../examples/dymola-1993/sampled.dym"),
    include_str!("../../../examples/dymola-1993/switch_circuit.dym"),
    include_str!("../../../examples/dymola-1993/two_blocks.dym"),
];

const WORDS: [&str; 68] = [
    "model",
    "class",
    "type",
    "end",
    "submodel",
    "parameter",
    "constant",
    "local",
    "terminal",
    "input",
    "output",
    "cut",
    "main",
    "path",
    "node",
    "connect",
    "from",
    "to",
    "at",
    "loop",
    "when",
    "then",
    "endwhen",
    "if",
    "else",
    "elseif",
    "and",
    "or",
    "not",
    "new",
    "der",
    "der2",
    "True",
    "False",
    "Time",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "<=",
    ">=",
    "=",
    "+",
    "-",
    "*",
    "/",
    "//",
    "^",
    "**",
    ",",
    ".",
    "'",
    "--",
    "{",
    "}",
    ";",
    "\n",
    "A",
    "B",
    "x",
    "y",
    "n",
    "sin",
    "1",
    "2.5E-3",
    "é",
];

/// Translates, renders every message and asks for the origin of every piece.
fn survives(text: &str) {
    let mut sources = SourceMap::default();
    let file = sources.add("soup.dym", text);
    let (made, diagnostics) = Dymola.translate(file, text);
    for diagnostic in &diagnostics {
        assert!(!diagnostic.render(&sources).is_empty());
        for label in &diagnostic.labels {
            assert!(label.span.end as usize <= text.len() && label.span.start <= label.span.end, "{diagnostic:?}");
        }
    }
    for at in 0..made.text().len() as u32 {
        let origin = made.origin(at, at + 1);
        assert!(origin.end as usize <= text.len() && origin.start <= origin.end);
    }
    let modelica = made.text().to_owned();
    let parse = syntax::parse_translated(file, made);
    let said: String = parse.diagnostics.iter().map(|diagnostic| diagnostic.render(&sources)).collect();
    assert!(parse.diagnostics.is_empty(), "{said}\n{modelica}");
}

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..60).prop_map(|words| words.join(" "))
}

/// A model of random items, which goes further than random words.
fn items() -> impl Strategy<Value = String> {
    let item = prop::sample::select(vec![
        "local x, y = 1",
        "terminal n",
        "parameter A = 2",
        "cut A (x / y), B (n / -y)",
        "cut C [A B]",
        "main cut D (v / f)",
        "main path P < A - B >",
        "node n",
        "connect a - b // c",
        "connect a from n to m",
        "connect loop(a - b), c at D",
        "submodel (M) a, b(x = 2)",
        "submodel M",
        "submodel (K) c",
        "x = new(y)",
        "new(x) = not x",
        "new(n) = 1",
        "when x > y then\n new(x) * 2 + y = new(y)\n new(y) = x\nendwhen",
        "der(x) = y'",
        "x'' = der2(y) + a.x",
        "a.v = c.P",
        "0 = if x then y else n",
        "x = -y",
        "- y + x = 3",
        "v = sin(n, 2)",
    ]);
    let head =
        prop::sample::select(vec!["model M", "model class M", "model class (M) K", "model class (K) M", "model K"]);
    let model = (head, prop::collection::vec(item, 0..8))
        .prop_map(|(head, items)| format!("{head}\n  {}\nend\n", items.join("\n  ")));
    prop::collection::vec(model, 1..4).prop_map(|models| models.concat())
}

/// A listing with some of its words removed, doubled, or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let listing = prop::sample::select(&LISTINGS[..]);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, prop::sample::select(&WORDS[..])), 1..6);
    (listing, changes).prop_map(|(listing, changes)| {
        let mut pieces: Vec<&str> = listing.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for (place, kind, word) in changes {
            if pieces.is_empty() {
                break;
            }
            let at = place.index(pieces.len());
            match kind {
                0 => drop(pieces.remove(at)),
                1 => pieces.insert(at, pieces[at]),
                2 => pieces[at] = word,
                _ => pieces.truncate(at.max(1)),
            }
        }
        pieces.concat()
    })
}

/// A longer search: `CASES=1000000 cargo test -p gyrator-dymola --test robustness`.
fn cases() -> u32 {
    std::env::var("CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_words(text in words()) {
        survives(&text);
    }

    #[test]
    fn random_items(text in items()) {
        survives(&text);
    }

    #[test]
    fn mutated_listings(text in mutated()) {
        survives(&text);
    }

    #[test]
    fn random_characters(text in ".{0,80}") {
        survives(&text);
    }
}

#[test]
fn deep_and_long_texts() {
    let deep = format!("model M\n x = {}1{}\nend", "(".repeat(100_000), ")".repeat(100_000));
    survives(&deep);
    let signs = format!("model M\n x = {}1\nend", "if a then ".repeat(50_000));
    survives(&signs);
    let chain = format!("model M\n connect {}a{}\nend", "(".repeat(50_000), ")".repeat(50_000));
    survives(&chain);
    let long = format!("model M\n local x\n x = 1{}\nend", " + x".repeat(20_000));
    survives(&long);
    let branches = format!("model M\n local x\n x = {} 2\nend", "if x > 1 then 1 else ".repeat(5_000));
    survives(&branches);
    let classes: String = (0..300).map(|k| format!("model class (M{}) M{k}\nend\n", k + 1)).collect();
    survives(&classes);
    let cuts: String = (0..40).map(|k| format!("cut C{} [C{k} C{k}]\n", k + 1)).collect();
    survives(&format!("model M\n cut C0 (x / y)\n {cuts}end"));
}
