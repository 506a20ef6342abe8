//! The equations of a mode and their derivatives, ordered for a restart: which derivative of which variable is highest,
//! and the matrix of the highest derivatives (Pryce's Σ-method: c differentiations of an equation, d of a variable).

use base::Diagnostic;
use dae::{EqId, ExprId, VarId, VariableType};

use crate::derivatives::{Reduced, residual};
use crate::states::slope;
use crate::work::Work;

/// As many equations as variables, continuous ones only.
#[derive(Clone, Default, Debug)]
pub struct Chains {
    /// One for each equation.
    pub rows: Vec<ChainRow>,
    /// Each variable and its derivatives up to the highest.
    pub columns: Vec<Vec<VarId>>,
    /// Row, column, and the derivative of the row's last residual by the column's last variable.
    pub jacobian: Vec<(u32, u32, ExprId)>,
    /// The row that each column is matched with.
    pub row_of_column: Vec<u32>,
}

/// An equation, and what has to vanish of it and of each of its derivatives.
#[derive(Clone, Debug)]
pub struct ChainRow {
    /// The equation.
    pub equation: EqId,
    /// The residuals of the equation and of its derivatives.
    pub residuals: Vec<ExprId>,
}

impl ChainRow {
    /// How often it is differentiated.
    pub fn times(&self) -> usize {
        self.residuals.len() - 1
    }
}

/// The chains that index reduction made.
pub fn collect(work: &mut Work, reduced: &Reduced) -> Result<Chains, Vec<Diagnostic>> {
    let is_smooth = |work: &Work, variable: VarId| {
        work.model.variables[variable].ty == VariableType::Real && !work.is_discrete(variable)
    };
    let mut chains = Chains::default();
    let mut number: Vec<Option<u32>> = vec![None; reduced.variables.len()];
    for (column, chain) in reduced.variables.iter().enumerate() {
        if is_smooth(work, chain[0]) {
            number[column] = Some(chains.columns.len() as u32);
            chains.columns.push(chain.clone());
        }
    }
    chains.row_of_column = vec![0; chains.columns.len()];
    for (row, equations) in reduced.equations.iter().enumerate() {
        let matched = reduced.offsets.matching.column_of_row[row] as usize;
        let Some(matched) = number.get(matched).copied().flatten() else { continue };
        let place = chains.rows.len() as u32;
        chains.row_of_column[matched as usize] = place;
        let sides: Vec<_> = equations.iter().map(|&eq| work.dynamic[eq]).collect();
        let residuals = sides.into_iter().map(|sides| residual(work, sides)).collect();
        chains.rows.push(ChainRow { equation: equations[0], residuals });
        for &column in reduced.offsets.tight.row(row) {
            let Some(number) = number[column as usize] else { continue };
            let Some(entry) = slope(work, reduced, row as u32, column, 1) else {
                return Err(vec![not_differentiable(work, equations[0])]);
            };
            if !work.model.exprs.is_zero(entry) {
                chains.jacobian.push((place, number, entry));
            }
        }
    }
    Ok(chains)
}

fn not_differentiable(work: &Work, eq: EqId) -> Diagnostic {
    let message = format!("`{}` cannot be differentiated by its unknowns", work.sides_text(work.dynamic[eq]));
    let hint = "a restart in another mode needs these derivatives; give the functions in it a `derivative` annotation";
    work.at_equation(Diagnostic::error("not-differentiable", message).hint(hint), eq, "")
}
