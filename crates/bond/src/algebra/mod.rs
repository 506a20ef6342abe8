//! Exact algebra over the parameters, and linear systems over numbers or such functions.

pub(crate) mod budget;
pub(crate) mod factor;
pub(crate) mod gcd;
pub(crate) mod polynomial;
pub(crate) mod rational;
pub(crate) mod sparse;
#[cfg(test)]
mod tests;
