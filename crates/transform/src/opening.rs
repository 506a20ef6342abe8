//! Opens a model at a variable: the variable becomes an input, and what determined it does so no longer.
//!
//! Signals have a direction: what is declared `input` gets its value from outside of its component, what is declared `output` from
//! inside. Of a set of connected signals, the members on the side that the variable feeds follow the new input, the others stay
//! joined. So with the input of a plant as input and the output of its controller as output the open loop is analysed, and
//! at the output of a block all that follows the block is driven.
//!
//! Where no connection brings the value, the equation goes that determines the variable: the one that a matching of equations and
//! unknowns along those directions gives to it. If several could be and none is written for it, there is no telling what
//! the input drives, and the model is not opened.

use base::{Diagnostic, Id as _, IdVec};
use dae::{Causality, EqId, Equation, EquationRole, Model, Node, OriginKind, PathId, VarId, Variability, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::structure::{Incidence, IncidenceBuilder, Matching, NONE};

/// Makes variables inputs. A variable that is an input already stays as it is.
pub fn open_at(model: &mut Model, variables: &[VarId]) -> Result<(), Diagnostic> {
    // Known before the first equation goes: a block may have no other one.
    let owners = Owners::new(model);
    variables.iter().try_for_each(|&variable| open(model, &owners, variable))
}

fn open(model: &mut Model, owners: &Owners, variable: VarId) -> Result<(), Diagnostic> {
    let declared = &model.variables[variable];
    if declared.causality == Causality::Input {
        return Ok(());
    }
    if declared.ty != VariableType::Real || declared.variability != Variability::Continuous {
        let message = format!("`{}` cannot be an input: it is no continuous Real", model.variable_name(variable));
        return Err(Diagnostic::error("cannot-open", message));
    }
    if !cut_connections(model, owners, variable) {
        let equation = Determination::new(model, owners).equation_of(variable)?;
        remove_equations(model, &FxHashSet::from_iter([equation]));
        forget_start(model, variable);
    }
    model.variables[variable].causality = Causality::Input;
    Ok(())
}

/// Cuts the connections that bring a value to the variable; false where none does.
fn cut_connections(model: &mut Model, owners: &Owners, variable: VarId) -> bool {
    let owner = owners.of(model, variable);
    let gives = |equation: &Equation| {
        let is_inside = is_inside(model, equation.origin.component, owner);
        match model.variables[variable].prefix {
            Causality::Input => !is_inside,
            Causality::Output => is_inside,
            // An acausal potential: the others stay at one potential.
            Causality::Local => true,
        }
    };
    let brought = model.equations.iter().filter_map(|(id, equation)| {
        let (one, other) = connected(model, equation)?;
        let giver = if one == variable { other } else { one };
        ((one == variable || other == variable) && gives(equation)).then(|| (id, giver, equation.clone()))
    });
    let brought: Vec<(EqId, VarId, Equation)> = brought.collect();
    let Some((_, first, _)) = brought.first() else { return false };
    remove_equations(model, &brought.iter().map(|(id, ..)| *id).collect());
    // What was joined through the variable stays joined.
    for (_, giver, known) in &brought[1..] {
        let (left, right) = (model.exprs.var(*first), model.exprs.var(*giver));
        model.equations.push(Equation { left, right, ..known.clone() });
    }
    true
}

fn connected(model: &Model, equation: &Equation) -> Option<(VarId, VarId)> {
    match (&equation.origin.kind, model.exprs.node(equation.left), model.exprs.node(equation.right)) {
        (OriginKind::Potential, Node::Var(one), Node::Var(other)) => Some((one, other)),
        _ => None,
    }
}

fn remove_equations(model: &mut Model, gone: &FxHashSet<EqId>) {
    let known = std::mem::take(&mut model.equations);
    let mut kept = IdVec::with_capacity(known.len());
    for (id, equation) in known.iter() {
        if !gone.contains(&id) {
            kept.push(equation.clone());
        }
    }
    model.equations = kept;
}

/// An input has no start value to hold, and no initial equation of its own.
fn forget_start(model: &mut Model, variable: VarId) {
    let attributes = std::sync::Arc::make_mut(&mut model.variables[variable].attributes);
    attributes.fixed = None;
    let (exprs, variables) = (&model.exprs, &model.variables);
    model.initial_equations.retain(|equation| {
        let needed = exprs.dependencies(&[equation.left, equation.right]);
        let is_other = |id: &VarId| *id != variable && variables[*id].variability > Variability::Parameter;
        let is_own = needed.variables.contains(&variable) || needed.derivatives.contains(&variable);
        !is_own
            || needed.variables.iter().chain(&needed.derivatives).any(is_other)
                && !needed.derivatives.contains(&variable)
    });
}

/// The components that variables belong to; connectors are none.
struct Owners {
    components: FxHashSet<PathId>,
}

impl Owners {
    fn new(model: &Model) -> Self {
        let mut components = FxHashSet::default();
        for equation in model.equations.values() {
            if matches!(equation.origin.kind, OriginKind::FlowSum | OriginKind::Stream) {
                continue;
            }
            let mut at = Some(equation.origin.component);
            while let Some(path) = at {
                if !components.insert(path) {
                    break;
                }
                at = model.paths.parent(path);
            }
        }
        Self { components }
    }

    /// The innermost component with equations around a variable.
    fn of(&self, model: &Model, variable: VarId) -> PathId {
        let mut at = model.paths.parent(model.variables[variable].path);
        while let Some(path) = at {
            if self.components.contains(&path) {
                return path;
            }
            at = model.paths.parent(path);
        }
        model.paths.root()
    }
}

fn is_inside(model: &Model, path: PathId, owner: PathId) -> bool {
    let mut at = Some(path);
    while let Some(path) = at {
        if path == owner {
            return true;
        }
        at = model.paths.parent(path);
    }
    false
}

/// Which equation determines which variable.
struct Determination<'a> {
    model: &'a Model,
    unknowns: Vec<VarId>,
    columns: FxHashMap<VarId, u32>,
    incidence: Incidence,
    matching: Matching,
}

impl<'a> Determination<'a> {
    fn new(model: &'a Model, owners: &Owners) -> Self {
        let is_unknown = |id: &VarId| {
            let variable = &model.variables[*id];
            variable.variability > Variability::Parameter && variable.causality != Causality::Input
        };
        let unknowns: Vec<VarId> = model.variables.ids().filter(is_unknown).collect();
        let columns: FxHashMap<VarId, u32> = unknowns.iter().copied().zip(0..).collect();
        let needed: Vec<dae::Dependencies> =
            model.equations.values().map(|it| model.exprs.dependencies(&[it.left, it.right])).collect();
        let differentiated: FxHashSet<VarId> = needed.iter().flat_map(|it| it.derivatives.iter().copied()).collect();
        // Directions of signals, and states by their derivatives; where that does not determine all, less strictly.
        let build = |by_rates: bool, by_directions: bool| {
            let mut builder = IncidenceBuilder::default();
            for (equation, needed) in model.equations.values().zip(&needed) {
                let eligible = |id: &VarId| {
                    let by_rate = !by_rates || !differentiated.contains(id) || needed.derivatives.contains(id);
                    let along = !by_directions || may_give(model, owners, equation, *id);
                    by_rate && along
                };
                let mut row: Vec<u32> = needed
                    .variables
                    .iter()
                    .chain(&needed.derivatives)
                    .filter(|id| columns.contains_key(*id) && eligible(id))
                    .map(|id| columns[id])
                    .collect();
                row.sort_unstable();
                row.dedup();
                builder.push_row(row);
            }
            builder.finish(unknowns.len())
        };
        let wanted: Vec<u32> =
            model.equations.values().map(|equation| written_for(model, equation, &columns)).collect();
        let tried = |by_rates: bool, by_directions: bool| {
            let incidence = build(by_rates, by_directions);
            let matching = Matching::near(&incidence, &wanted);
            (incidence, matching)
        };
        let mut best = tried(true, true);
        for (by_rates, by_directions) in [(false, true), (true, false), (false, false)] {
            if best.1.unmatched_columns().next().is_none() {
                break;
            }
            let next = tried(by_rates, by_directions);
            if next.1.size() > best.1.size() {
                best = next;
            }
        }
        let (incidence, matching) = best;
        Self { model, unknowns, columns, incidence, matching }
    }

    /// The equation that determines a variable.
    fn equation_of(&self, variable: VarId) -> Result<EqId, Diagnostic> {
        let Some(&column) = self.columns.get(&variable) else { return Err(self.refusal(variable)) };
        let matched = self.matching.row_of_column[column as usize];
        if matched == NONE {
            return Err(self.refusal(variable));
        }
        let rows = (0..self.incidence.rows() as u32)
            .filter(|&row| row != matched && self.incidence.row(row as usize).contains(&column))
            .filter(|&row| self.could_determine(row, column, matched));
        let mut candidates: Vec<u32> = std::iter::once(matched).chain(rows).collect();
        if candidates.len() > 1 {
            candidates.retain(|&row| self.rank(row, variable).is_some());
            candidates.sort_by_key(|&row| self.rank(row, variable));
        }
        let rank = |at: usize| candidates.get(at).and_then(|&row| self.rank(row, variable));
        match candidates.first() {
            Some(&row) if candidates.len() == 1 || rank(0) < rank(1) => Ok(EqId::from_index(row as usize)),
            _ => Err(self.refusal(variable)),
        }
    }

    /// How plainly an equation is written for a variable: declarations, then sources, then what has it alone on a side.
    fn rank(&self, row: u32, variable: VarId) -> Option<u8> {
        let model = self.model;
        let equation = &model.equations[EqId::from_index(row as usize)];
        let own = Node::Var(variable);
        let is_rate = model.exprs.dependencies(&[equation.left, equation.right]).derivatives.contains(&variable);
        let other = match (model.exprs.node(equation.left) == own, model.exprs.node(equation.right) == own) {
            (true, _) => equation.right,
            (_, true) => equation.left,
            _ => return is_rate.then_some(0),
        };
        let needed = model.exprs.dependencies(&[other]);
        let is_fixed = |id: &VarId| model.variables[*id].variability <= Variability::Parameter;
        let is_given = needed.derivatives.is_empty() && needed.variables.iter().all(is_fixed);
        Some(match equation.origin.kind {
            OriginKind::Binding => 1,
            _ if is_given => 2,
            _ if model.exprs.node(equation.left) == own => 3,
            _ => 4,
        })
    }

    /// Whether all is determined as well if this equation determines the variable instead of the matched one.
    fn could_determine(&self, row: u32, column: u32, matched: u32) -> bool {
        let mut builder = IncidenceBuilder::default();
        for at in 0..self.incidence.rows() {
            let columns = self.incidence.row(at).iter().copied();
            builder.push_row(columns.filter(|&it| if at as u32 == row { it == column } else { it != column }));
        }
        let incidence = builder.finish(self.unknowns.len());
        let mut wanted = self.matching.column_of_row.clone();
        wanted[matched as usize] = NONE;
        wanted[row as usize] = column;
        Matching::near(&incidence, &wanted).size() == self.matching.size()
    }

    fn refusal(&self, variable: VarId) -> Diagnostic {
        let name = self.model.variable_name(variable);
        let message = format!("the model cannot be opened at `{name}`: no equation determines it alone");
        let hint = "name an input or output of a component, or a variable that is declared with its value or equal to an expression";
        let diagnostic = Diagnostic::error("cannot-open", message).hint(hint);
        match self.model.variables[variable].span {
            Some(span) => diagnostic.at(span, "declared here"),
            None => diagnostic,
        }
    }
}

/// Signals get their values from outside (inputs) or inside (outputs) of their components.
fn may_give(model: &Model, owners: &Owners, equation: &Equation, variable: VarId) -> bool {
    let from_inside = is_inside(model, equation.origin.component, owners.of(model, variable));
    match model.variables[variable].prefix {
        // A binding of an input may stand in its declaration.
        Causality::Input => !from_inside || equation.origin.kind == OriginKind::Binding,
        Causality::Output => from_inside || equation.origin.kind == OriginKind::Binding,
        Causality::Local => true,
    }
}

/// The unknown that stands alone on the left, or else on the right.
fn written_for(model: &Model, equation: &Equation, columns: &FxHashMap<VarId, u32>) -> u32 {
    let alone = |side| match model.exprs.node(side) {
        Node::Var(id) | Node::Der(id) => columns.get(&id).copied(),
        _ => None,
    };
    match equation.role {
        EquationRole::Plain => alone(equation.left).or_else(|| alone(equation.right)),
        _ => alone(equation.left),
    }
    .unwrap_or(NONE)
}
