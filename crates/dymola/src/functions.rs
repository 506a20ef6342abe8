//! The functions that expressions may call, with their Modelica names.

pub struct Function {
    pub name: &'static str,
    pub modelica: &'static str,
    pub arguments: usize,
}

const fn function(name: &'static str, modelica: &'static str, arguments: usize) -> Function {
    Function { name, modelica, arguments }
}

pub const FUNCTIONS: [Function; 19] = [
    function("abs", "abs", 1),
    function("sign", "sign", 1),
    function("sqrt", "sqrt", 1),
    function("exp", "exp", 1),
    function("ln", "log", 1),
    function("log", "log", 1),
    function("log10", "log10", 1),
    function("sin", "sin", 1),
    function("cos", "cos", 1),
    function("tan", "tan", 1),
    function("asin", "asin", 1),
    function("acos", "acos", 1),
    function("atan", "atan", 1),
    function("atan2", "atan2", 2),
    function("sinh", "sinh", 1),
    function("cosh", "cosh", 1),
    function("tanh", "tanh", 1),
    function("min", "min", 2),
    function("max", "max", 2),
];

pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}
