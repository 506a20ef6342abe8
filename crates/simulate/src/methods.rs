//! The integrators by name, as the command line knows them.

use solve::tsit5::Tsit5;
use solve::{Integrator, Options};

/// The names of all methods, the default first.
pub const METHODS: &[&str] = &["auto", "tsit5"];

/// An integrator, or `None` for a name that is not known.
pub fn integrator(name: &str, size: usize, options: Options) -> Option<Box<dyn Integrator>> {
    match name {
        "auto" | "tsit5" => Some(Box::new(Tsit5::new(size, options))),
        _ => None,
    }
}
