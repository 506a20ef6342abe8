//! Connections (specification 9): connect equations become sets of connector elements, and those equations.

pub mod balance;
pub mod collect;
pub mod equations;
pub mod expandable;
pub mod overconstrained;
pub mod sets;
pub mod stream;

use base::Span;
use dae::PathId;

use crate::flat::Indices;
use crate::instance::CompId;

/// How a connector is seen by a connect equation (9.1.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// A connector of a component of the class with the connect equation.
    Inside,
    /// A connector of that class itself.
    Outside,
}

/// One connector, every array above it indexed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Connector {
    pub component: CompId,
    pub indices: Indices,
    pub side: Side,
}

/// `connect(left, right)` of two connectors that are no arrays.
#[derive(Clone, Debug)]
pub struct Connection {
    pub left: Connector,
    pub right: Connector,
    /// The component in whose class the connect equation stands.
    pub path: PathId,
    pub span: Span,
}
