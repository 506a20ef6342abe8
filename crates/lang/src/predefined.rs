//! The predefined types of the language (specification 4.9) that can be written in it; the others are made by hand.

/// Enumerations that every model sees.
pub const TEXT: &str = "\
type StateSelect = enumeration(never, avoid, default, prefer, always);
type AssertionLevel = enumeration(warning, error);
";
