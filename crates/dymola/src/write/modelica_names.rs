//! Names that Modelica reserves are quoted.

const RESERVED: [&str; 93] = [
    "algorithm", "and", "annotation", "assert", "block", "break", "class", "connect", "connector", "constant",
    "constrainedby", "der", "discrete", "each", "else", "elseif", "elsewhen", "encapsulated", "end", "enumeration",
    "equation", "expandable", "extends", "external", "false", "final", "flow", "for", "function", "if", "import",
    "impure", "in", "initial", "inner", "input", "loop", "model", "not", "operator", "or", "outer", "output", "package",
    "parameter", "partial", "protected", "public", "pure", "record", "redeclare", "replaceable", "return", "stream",
    "then", "true", "type", "when", "while", "within", "time", "pre", "edge", "change", "reinit", "sample", "terminal",
    "terminate", "delay", "smooth", "noEvent", "homotopy", "Real", "Integer", "Boolean", "String", "Clock",
    "ExternalObject", "StateSelect", "AssertionLevel", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log",
    "sqrt", "abs", "sign", "min", "max",
];

pub fn modelica_name(name: &str) -> String {
    let is_plain = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    match is_plain && !RESERVED.contains(&name) {
        true => name.to_owned(),
        false => format!("'{name}'"),
    }
}
