//! The families of random models.

use fastrand::Rng;

use crate::case::Case;

/// Random models of one kind.
pub struct Family {
    /// The name on the command line.
    pub name: &'static str,
    /// What the models are and what they are judged by, in one line.
    pub about: &'static str,
    /// Makes a random case.
    pub case: fn(&mut Rng) -> Case,
    /// How many cases the tests run.
    pub tested: u64,
}

/// All families.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "arrays",
        about: "array expressions wherever they stand, against an evaluation on sizes and elements",
        case: crate::arrays::case,
        tested: 30,
    },
    Family {
        name: "boolean",
        about: "Boolean expressions over relations, wherever they decide, against a dense evaluation",
        case: crate::boolean::case,
        tested: 60,
    },
    Family {
        name: "branches",
        about: "driven linkages and moving roots, on any output grid, against the branch in closed form",
        case: crate::branches::case,
        tested: 150,
    },
    Family {
        name: "charge",
        about: "capacitors with switches, sources that step and diodes, against balances of charge",
        case: crate::charge::case,
        tested: 60,
    },
    Family {
        name: "circuits",
        about: "linear circuits of any index, against their descriptor system",
        case: crate::circuits::case,
        tested: 100,
    },
    Family {
        name: "clocks",
        about: "networks of clocked variables, against an interpreter with exact tick times",
        case: crate::clocks::case,
        tested: 100,
    },
    Family {
        name: "connections",
        about: "hierarchies of components with connections, against sets found by union and all equations at once",
        case: crate::connections::case,
        tested: 60,
    },
    Family {
        name: "crossings",
        about: "relations that change many times within a step, against a dense count",
        case: crate::crossings::case,
        tested: 40,
    },
    Family {
        name: "delays",
        about: "delays and what they decide, against closed forms and power series",
        case: crate::delays::case,
        tested: 60,
    },
    Family {
        name: "diodes",
        about: "ideal diodes without `pre` in linear systems, against all combinations that agree with themselves",
        case: crate::diodes::case,
        tested: 60,
    },
    Family {
        name: "discrete",
        about: "when clauses, algorithms and event iteration, against an interpreter of the specification",
        case: crate::discrete::case,
        tested: 200,
    },
    Family {
        name: "derivatives",
        about: "derivatives of random functions by time and by a state, against differences of an interpreter",
        case: crate::functions::derivative_case,
        tested: 30,
    },
    Family {
        name: "friction",
        about: "motors with dry friction behind a gear and a spring, against an integration with the motor's own velocity",
        case: crate::friction::case,
        tested: 25,
    },
    Family {
        name: "functions",
        about: "functions and algorithms wherever they stand, against an interpreter of their own",
        case: crate::functions::case,
        tested: 60,
    },
    Family {
        name: "gears",
        about: "gears that shift, sleeves, clutches, brakes and ropes, against balances of momentum",
        case: crate::gears::case,
        tested: 60,
    },
    Family {
        name: "growth",
        about: "what begins small and grows, with every method and tolerance, against closed forms",
        case: crate::growth::case,
        tested: 100,
    },
    Family {
        name: "initial",
        about: "initial value problems, determined or not, against Newton's method on all unknowns",
        case: crate::initial::case,
        tested: 200,
    },
    Family {
        name: "inputs",
        about: "inputs with lines, jumps and held values into linear systems, against the closed form on every piece",
        case: crate::inputs::case,
        tested: 60,
    },
    Family {
        name: "jacobians",
        about: "models of all other families, exact derivatives against differences and against their transposes",
        case: crate::jacobians::case,
        tested: 100,
    },
    Family {
        name: "loop_pulses",
        about: "short pulses in loops at run time, on any output grid, against when the closed form passes them",
        case: crate::loop_pulses::case,
        tested: 60,
    },
    Family {
        name: "loops",
        about: "relations in loops at run time, against a dense evaluation of the closed form",
        case: crate::loops::case,
        tested: 60,
    },
    Family {
        name: "mechanics",
        about: "linear mechanics of any index, against their descriptor system",
        case: crate::mechanics::case,
        tested: 100,
    },
    Family {
        name: "monotone",
        about: "networks of monotone elements with branches under sources that jump, against their residuals",
        case: crate::monotone::case,
        tested: 40,
    },
    Family {
        name: "opened",
        about: "block diagrams that are opened at random signals and linearised there, against linear algebra on the diagram",
        case: crate::opened::case,
        tested: 60,
    },
    Family {
        name: "pendulums",
        about: "pendulums and linkages in Cartesian coordinates, against their angles",
        case: crate::pendulums::case,
        tested: 20,
    },
    Family {
        name: "pulses",
        about: "pulses without events behind long rests, against their area",
        case: crate::pulses::case,
        tested: 80,
    },
    Family {
        name: "reinit",
        about: "stores with piecewise laws, switches and reinit, against balances that only switches share",
        case: crate::reinit::case,
        tested: 60,
    },
    Family {
        name: "roots",
        about: "networks of linear, cubic and exponential elements of all sizes, made from a known root",
        case: crate::roots::case,
        tested: 60,
    },
    Family {
        name: "roundings",
        about: "nested roundings of time and of a state from any start time, against a dense evaluation",
        case: crate::roundings::case,
        tested: 200,
    },
    Family {
        name: "scales",
        about: "linear and cubic systems with units from 1e-15 to 1e15, made from a known solution",
        case: crate::scales::case,
        tested: 100,
    },
    Family {
        name: "set-pendulums",
        about: "pendulums whose coordinates and velocities are set at any angle, against the equation of motion in the angle",
        case: crate::set_pendulums::case,
        tested: 30,
    },
    Family {
        name: "smooth",
        about: "linear oscillators with damping, against their closed form",
        case: crate::smooth::case,
        tested: 50,
    },
    Family {
        name: "starts",
        about: "start values that contradict what always holds, or what is switched on, against balances of charge",
        case: crate::starts::case,
        tested: 100,
    },
    Family {
        name: "storage",
        about: "nonlinear storage with constraints that come and go, against the minimum of a convex function",
        case: crate::storage::case,
        tested: 60,
    },
    Family {
        name: "streams",
        about: "streams in hierarchies of components, against the mixing of the specification",
        case: crate::connections::stream_case,
        tested: 60,
    },
    Family {
        name: "strings",
        about: "texts of numbers with all options and formats, against exact decimal digits",
        case: crate::strings::case,
        tested: 40,
    },
    Family {
        name: "switching",
        about: "networks with ideal switches and diodes, against implicit Euler steps with small and large resistances",
        case: crate::switching::case,
        tested: 20,
    },
    Family {
        name: "trajectories",
        about: "derivatives of trajectories through events and changes of structure, against differences of runs",
        case: crate::trajectories::case,
        tested: 40,
    },
    Family {
        name: "transport",
        about: "transport at velocities that jump and that turn, against its characteristics",
        case: crate::transport::case,
        tested: 60,
    },
    Family {
        name: "troughs",
        about: "what falls by many orders and comes back, with every method and tolerance, against closed forms",
        case: crate::troughs::case,
        tested: 60,
    },
    Family {
        name: "tuned",
        about: "models of all other families with parameters set on the finished program, against a new translation",
        case: crate::tuned::case,
        tested: 60,
    },
    Family {
        name: "undefined",
        about: "expressions that become undefined at a known instant, or are guarded",
        case: crate::undefined::case,
        tested: 120,
    },
    Family {
        name: "weak",
        about: "diagonally dominant systems with couplings down to 1e-15, made from a known solution",
        case: crate::weak::case,
        tested: 60,
    },
    Family {
        name: "windows",
        about: "windows that a state passes quickly, over kinks, peaks and fast functions, against its closed form",
        case: crate::windows::case,
        tested: 100,
    },
];

impl Family {
    /// The family of a name.
    pub fn named(name: &str) -> Option<&'static Family> {
        FAMILIES.iter().find(|family| family.name == name)
    }

    /// A case depends on the seed and its number alone, so that each can be repeated by itself.
    pub fn case(&self, seed: u64, number: u64) -> Case {
        let mut random = Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number));
        (self.case)(&mut random)
    }
}
