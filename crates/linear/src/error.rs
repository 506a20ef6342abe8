//! What stops an analysis.

use std::fmt;

use crate::Complex;

/// Why there is no result.
#[derive(Clone, PartialEq, Debug)]
pub enum Error {
    /// A matrix does not fit the number of states, inputs and outputs.
    Shape {
        /// Its name: A, B, C or D.
        matrix: &'static str,
        /// Rows and columns that fit.
        expected: (usize, usize),
        /// Rows and columns that it has.
        found: (usize, usize),
    },
    /// An entry is infinite or no number.
    NotFinite {
        /// The name of the matrix.
        matrix: &'static str,
        /// What the row belongs to.
        row: String,
        /// What the column belongs to.
        column: String,
    },
    /// The iteration for eigenvalues did not converge, or its result fails the check against the matrix.
    NoConvergence,
    /// A gramian exists for stable systems only.
    Unstable {
        /// One that is not in the left half plane.
        pole: Complex,
    },
    /// An input or output that does not exist.
    NoSuchSignal {
        /// `input` or `output`.
        kind: &'static str,
        /// From 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The loop through a direct feedthrough of exactly -1 has no solution.
    AlgebraicLoop,
    /// A result fails the check against the equation that it solves.
    Inaccurate {
        /// The result.
        what: &'static str,
        /// How far it is off, relatively.
        residual: f64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { matrix, expected, found } => write!(
                out,
                "matrix {matrix} has {} rows and {} columns instead of {} and {}",
                found.0, found.1, expected.0, expected.1
            ),
            Self::NotFinite { matrix, row, column } => {
                write!(
                    out,
                    "the entry of matrix {matrix} in the row of `{row}` and the column of `{column}` is not finite"
                )
            }
            Self::NoConvergence => write!(out, "the iteration for the eigenvalues does not converge"),
            Self::Unstable { pole } => {
                write!(
                    out,
                    "the system is not stable (pole {:.6}{:+.6}i), so that its gramians do not exist",
                    pole.re, pole.im
                )
            }
            Self::NoSuchSignal { kind, index, count } => {
                write!(out, "{kind} {index} does not exist: the state space has {count}, counted from 0")
            }
            Self::AlgebraicLoop => {
                write!(out, "the closed loop is not well posed: the direct feedthrough of the loop is -1")
            }
            Self::Inaccurate { what, residual } => {
                write!(out, "{what} cannot be computed accurately: relative residual {residual:.1e}")
            }
        }
    }
}

impl std::error::Error for Error {}
