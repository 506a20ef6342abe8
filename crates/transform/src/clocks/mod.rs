//! Clocked partitions (specification chapter 16) as when clauses.
//!
//! `operands` gives expressions behind conversions variables, `partitions` finds what ticks together, `rates` the clock of each partition, `translation` makes every equation of a
//! partition `v = if edge(tick) then … else pre(v)`: a clocked variable keeps its value between ticks, so `previous(v)` is
//! `pre(v)`, `hold(v)` is `v`, and a sample is the left limit of what it samples. `tickers` makes the Boolean variables that
//! rise at the ticks. In partitions with a solver method `reduction` differentiates constraints between states and
//! `discretise` replaces derivatives.

mod agreement;
mod discretise;
mod operands;
mod partitions;
mod rates;
mod ratio;
mod reduction;
mod tickers;
mod translation;

use base::Diagnostic;
use dae::Model;

use crate::inverses;
use partitions::Partitions;
use translation::Translation;

/// Rewrites a model with clocks into one without.
///
/// Returns what is worth knowing about it.
pub fn translate(model: &mut Model) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    if !model.has_clocks() {
        return Ok(Vec::new());
    }
    let declared = model.variables.len();
    let operands = operands::name(model);
    let mut partitions = Partitions::of(model, declared);
    // The translation makes all expressions anew.
    model.exprs.keep_operands(false);
    let mut clocks = partitions.clocks(model);
    if !clocks.problems.is_empty() {
        return Err(clocks.problems);
    }
    operands::notices(&operands, &mut partitions, &mut clocks);
    inverses::drop_false_of(model);
    Translation::new(model, partitions, clocks).run()
}
