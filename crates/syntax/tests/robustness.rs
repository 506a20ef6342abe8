//! Any text at all: no panic, nothing lost, formatting is stable. The seeds of the fuzzer run here as well, and so do the
//! inputs on which it once found a fault.

mod common;

use std::path::Path;

use proptest::prelude::*;

fn seeds() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds");
    let entries = std::fs::read_dir(folder).expect("the folder of seeds is there");
    let mut seeds: Vec<(String, String)> = entries
        .map(|entry| {
            let path = entry.expect("it can be listed").path();
            let content = std::fs::read(&path).expect("it can be read");
            (path.display().to_string(), String::from_utf8_lossy(&content).into_owned())
        })
        .collect();
    seeds.sort();
    seeds
}

#[test]
fn all_seeds_hold() {
    for (path, text) in seeds() {
        assert_eq!(common::problem(&text), None, "{path}");
    }
}

#[test]
fn every_beginning_of_a_seed_holds() {
    for (path, text) in seeds().iter().filter(|(_, text)| text.len() < 3_000) {
        for (end, _) in text.char_indices().step_by(7) {
            assert_eq!(common::problem(&text[..end]), None, "{path} up to {end}");
        }
    }
}

/// Tokens that are put together at random.
const WORDS: &[&str] = &[
    "model",
    "M",
    "end",
    "M;",
    "end M;",
    ";",
    "Real",
    "x",
    "y",
    "=",
    ":=",
    "==",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    ":",
    "+",
    "-",
    "*",
    "/",
    "^",
    ".*",
    ".^",
    "<",
    "<>",
    "and",
    "or",
    "not",
    "if",
    "then",
    "else",
    "elseif",
    "end if;",
    "for",
    "in",
    "loop",
    "end for;",
    "when",
    "elsewhen",
    "end when;",
    "while",
    "end while;",
    "equation",
    "algorithm",
    "initial",
    "der",
    "connect",
    "annotation",
    "extends",
    "import",
    "within",
    "parameter",
    "final",
    "replaceable",
    "redeclare",
    "constrainedby",
    "each",
    "break",
    "return",
    "function",
    "record",
    "package",
    "type",
    "enumeration",
    "external",
    "protected",
    "public",
    "operator",
    "pure",
    "encapsulated",
    "partial",
    "flow",
    "input",
    "inner",
    "1",
    "2.5",
    "1e3",
    ".5",
    "\"text\"",
    "\"",
    "'q'",
    "'",
    "// c\n",
    "/* c */",
    "/*",
    "\n",
    "\\",
    "§",
    "é",
    "!=",
    "&&",
    "!",
    "modle",
    "equatoin",
    "true",
    "\u{feff}",
    "\r\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn soups_of_tokens_hold(words in proptest::collection::vec((0..WORDS.len(), any::<bool>()), 0..120)) {
        let mut text = String::new();
        for (word, blank) in words {
            text.push_str(WORDS[word]);
            if blank {
                text.push(' ');
            }
        }
        prop_assert_eq!(common::problem(&text), None);
    }

    #[test]
    fn soups_inside_of_a_model_hold(words in proptest::collection::vec(0..WORDS.len(), 0..60)) {
        let words: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
        let text = format!("model M\n  Real x;\nequation\n  {};\nend M;\n", words.join(" "));
        prop_assert_eq!(common::problem(&text), None);
    }

    #[test]
    fn any_characters_hold(text in "\\PC{0,200}") {
        prop_assert_eq!(common::problem(&text), None);
    }
}
