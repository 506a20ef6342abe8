//! The methods by name.

use crate::auto::Auto;
use crate::bdf::Bdf;
use crate::dae_mode::DaeMode;
use crate::dop853::Dop853;
use crate::esdirk::Esdirk;
use crate::fixed_step::{FixedStep, Scheme};
use crate::given_steps::GivenSteps;
use crate::ode::{Integrator, Options};
use crate::rosenbrock::Rosenbrock;
use crate::tsit5::Tsit5;

/// A method of integration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Goes over between an explicit and a stiff method.
    #[default]
    Auto,
    /// The method of Tsitouras of order 5.
    Tsit5,
    /// The method of Dormand and Prince of order 8.
    Dop853,
    /// A singly diagonally implicit Runge-Kutta method.
    Esdirk,
    /// Backward differentiation.
    Bdf,
    /// Backward differentiation with the algebraic unknowns of the model among its own.
    Dae,
    /// A Rosenbrock method.
    Rosenbrock,
    /// The explicit Euler method.
    Euler,
    /// The classical method of Runge and Kutta.
    RungeKutta4,
    /// The implicit Euler method.
    ImplicitEuler,
    /// The implicit Euler method with one correction.
    LinearlyImplicitEuler,
    /// The implicit Euler method, sorted with the equations.
    InlineEuler,
    /// The trapezoidal rule, sorted with the equations.
    InlineTrapezoid,
    /// Backward differentiation of order 2, sorted with the equations.
    InlineBdf2,
    /// Somebody else takes the steps; no method by name.
    Given,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 14] = [
        Method::Auto,
        Method::Tsit5,
        Method::Dop853,
        Method::Esdirk,
        Method::Bdf,
        Method::Dae,
        Method::Rosenbrock,
        Method::Euler,
        Method::RungeKutta4,
        Method::ImplicitEuler,
        Method::LinearlyImplicitEuler,
        Method::InlineEuler,
        Method::InlineTrapezoid,
        Method::InlineBdf2,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Tsit5 => "tsit5",
            Method::Dop853 => "dop853",
            Method::Esdirk => "esdirk",
            Method::Bdf => "bdf",
            Method::Dae => "dae",
            Method::Rosenbrock => "rosenbrock",
            Method::Euler => "euler",
            Method::RungeKutta4 => "rk4",
            Method::ImplicitEuler => "implicit-euler",
            Method::LinearlyImplicitEuler => "linearly-implicit-euler",
            Method::InlineEuler => "inline-euler",
            Method::InlineTrapezoid => "inline-trapezoid",
            Method::InlineBdf2 => "inline-bdf2",
            Method::Given => "given",
        }
    }

    /// The method of a name.
    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether the length of its steps is given, not found by the tolerance.
    pub fn is_fixed_step(self) -> bool {
        let given = matches!(self, Method::Euler | Method::RungeKutta4 | Method::Given);
        given || matches!(self, Method::ImplicitEuler | Method::LinearlyImplicitEuler) || self.is_inline()
    }

    /// Whether its formula is sorted together with the equations of the model.
    pub fn is_inline(self) -> bool {
        matches!(self, Method::InlineEuler | Method::InlineTrapezoid | Method::InlineBdf2)
    }

    /// An integrator for so many states.
    pub fn integrator(self, size: usize, options: Options) -> Box<dyn Integrator> {
        match self {
            Method::Auto => Box::new(Auto::new(size, options)),
            Method::Tsit5 => Box::new(Tsit5::new(size, options)),
            Method::Dop853 => Box::new(Dop853::new(size, options)),
            Method::Esdirk => Box::new(Esdirk::new(size, options)),
            Method::Bdf => Box::new(Bdf::new(size, options)),
            Method::Dae => Box::new(DaeMode::new(size, options)),
            Method::Rosenbrock => Box::new(Rosenbrock::new(size, options)),
            Method::Euler => Box::new(FixedStep::new(Scheme::ExplicitEuler, size, options)),
            Method::RungeKutta4 => Box::new(FixedStep::new(Scheme::RungeKutta4, size, options)),
            Method::ImplicitEuler => Box::new(FixedStep::new(Scheme::ImplicitEuler, size, options)),
            Method::LinearlyImplicitEuler => Box::new(FixedStep::new(Scheme::LinearlyImplicitEuler, size, options)),
            Method::InlineEuler => Box::new(FixedStep::new(Scheme::InlineEuler, size, options)),
            Method::InlineTrapezoid => Box::new(FixedStep::new(Scheme::InlineTrapezoid, size, options)),
            Method::InlineBdf2 => Box::new(FixedStep::new(Scheme::InlineBdf2, size, options)),
            Method::Given => Box::new(GivenSteps::new(size)),
        }
    }
}

impl std::str::FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Method::from_name(name).ok_or_else(|| {
            let names = Method::ALL.map(Method::name).join(", ");
            format!("there is no solver `{name}`; choose one of {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_known_to_the_integrators() {
        for method in Method::ALL {
            assert_eq!(Method::from_name(method.name()), Some(method));
            assert_eq!(method.integrator(1, Options::default()).name(), method.name());
        }
        assert_eq!(Method::from_name("dassl"), None);
    }
}
