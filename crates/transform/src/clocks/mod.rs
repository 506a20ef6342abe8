//! Clocked partitions (specification chapter 16) as when clauses.
//!
//! `partitions` finds what ticks together, `rates` the clock of each partition, `translation` makes every equation of a
//! partition `v = if edge(tick) then … else pre(v)`: a clocked variable keeps its value between ticks, so `previous(v)` is
//! `pre(v)`, `hold(v)` is `v`, and a sample is the left limit of what it samples. `tickers` makes the Boolean variables that
//! rise at the ticks, and `discretise` replaces derivatives in partitions with a solver method.

mod discretise;
mod partitions;
mod rates;
mod tickers;
mod translation;

use base::Diagnostic;
use dae::{Builtin, Model, Node, VariableType};

use partitions::Partitions;
use translation::Translation;

/// Rewrites a model with clocks into one without.
pub fn translate(model: &mut Model) -> Result<(), Vec<Diagnostic>> {
    if !has_clocks(model) {
        return Ok(());
    }
    let mut partitions = Partitions::of(model);
    let clocks = partitions.clocks(model);
    let mut translation = Translation::new(model, partitions, clocks);
    translation.run()
}

fn has_clocks(model: &Model) -> bool {
    let exprs = &model.exprs;
    exprs.ids().any(|id| match exprs.node(id) {
        Node::Previous(_) => true,
        Node::Builtin(op, _) => {
            is_conversion(op) || is_constructor(op) || op == Builtin::Hold || op == Builtin::SampleClocked
        }
        _ => false,
    }) || model.variables.values().any(|variable| variable.ty == VariableType::Clock)
}

fn is_conversion(op: Builtin) -> bool {
    use Builtin::*;
    matches!(op, SubSample | SuperSample | ShiftSample | BackSample | NoClock)
}

fn is_constructor(op: Builtin) -> bool {
    use Builtin::*;
    matches!(op, ClockInferred | ClockRational | ClockReal | ClockEvent | ClockSolver)
}
