//! Exact algebra over named parameters, and linear systems over numbers or such functions.

pub mod budget;
pub mod collected;
pub mod factor;
pub mod gcd;
pub mod polynomial;
pub mod rational;
pub mod sparse;

pub use num_bigint::BigInt;
pub use polynomial::{Polynomial, Variable};
pub use rational::Rational;
pub use sparse::Field;
