//! Names that Modelica reserves are quoted.

/// Operators, functions and predefined types that generated text uses besides keywords.
const BUILT_IN: [&str; 27] = [
    "assert",
    "pre",
    "edge",
    "change",
    "reinit",
    "sample",
    "terminal",
    "terminate",
    "delay",
    "smooth",
    "noEvent",
    "homotopy",
    "StateSelect",
    "AssertionLevel",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sign",
    "min",
    "max",
];

pub fn modelica_name(name: &str) -> String {
    let is_plain = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    match is_plain && !base::is_reserved(name) && !BUILT_IN.contains(&name) {
        true => name.to_owned(),
        false => format!("'{name}'"),
    }
}
