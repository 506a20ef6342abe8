//! Index reduction: which equations have to be differentiated, the derivatives as variables of their own, and the
//! differentiated equations (Pantelides 1988; Mattsson and Söderlind 1993).

use base::Diagnostic;
use dae::{EqId, Equation, ExprId, Memo, Node, Origin, OriginKind, VarId};

use crate::cancellation;
use crate::schedule::{State, StateSet};
use crate::states;
use crate::structure::Matching;
use crate::structure::offsets::{OffsetMethod, Pantelides, Signature};
use crate::system::{Problem, System};
use crate::work::{Work, map_actions};

/// How often hidden constraints are looked for; each round can reveal those of the next level.
const ATTEMPTS: usize = 8;

/// The chains of derivatives that index reduction made.
pub struct Reduced {
    /// Each equation and its derivatives.
    pub equations: Vec<Vec<EqId>>,
    /// Each unknown and its derivatives.
    pub variables: Vec<Vec<VarId>>,
    /// The order of the highest derivative of each unknown in the equations as they were written.
    pub written: Vec<u32>,
    /// The equations' highest derivatives over the unknowns' highest derivatives.
    pub signature: Signature,
    pub offsets: crate::structure::offsets::Offsets,
}

/// Makes the system one in which every derivative that is left follows from states: no `der` is left in the equations,
/// `work.active` holds the differentiated ones too, and the states are chosen.
pub fn reduce(work: &mut Work) -> Result<(Vec<State>, Vec<StateSet>), Vec<Diagnostic>> {
    if let Some(problems) = derivative_of_known(work) {
        return Err(problems);
    }
    let mut attempts = 0;
    let (system, signature, offsets) = loop {
        let sides = work.active.iter().map(|&eq| work.dynamic[eq]).collect();
        let system = System::new(work, Problem::Dynamic, work.active.clone(), sides, |v| work.is_unknown(v));
        let signature = Signature {
            incidence: system.matchable.clone(),
            orders: system.orders.clone(),
            lowest: system.highest.clone(),
        };
        let Some(offsets) = Pantelides.offsets(&signature) else {
            let matching = Matching::maximum(&system.matchable);
            return Err(crate::singular::report(work, &system, &matching));
        };
        attempts += 1;
        if attempts > ATTEMPTS || !cancellation::reveal(work, &system, &signature, &offsets) {
            break (system, signature, offsets);
        }
    };
    let mut reduced = Reduced {
        equations: system.rows.iter().map(|&eq| vec![eq]).collect(),
        variables: system.columns.iter().map(|&variable| vec![variable]).collect(),
        written: system.highest,
        signature,
        offsets,
    };
    add_variables(work, &mut reduced);
    name_derivatives(work);
    add_equations(work, &mut reduced)?;
    Ok(states::choose(work, &reduced))
}

/// `der` of a parameter is zero, but of an input it is unknown.
fn derivative_of_known(work: &Work) -> Option<Vec<Diagnostic>> {
    let mut problems = Vec::new();
    for &eq in &work.active {
        let (left, right) = work.dynamic[eq];
        let is_input =
            |node: Node| matches!(node, Node::Der(v) if matches!(work.roles[v], crate::schedule::Role::Input));
        if work.model.exprs.any(left, is_input) || work.model.exprs.any(right, is_input) {
            let problem = Diagnostic::error("derivative-of-input", "the derivative of an input of the model is needed")
                .hint("give the input a value inside the model, or filter it");
            problems.push(work.at_equation(problem, eq, ""));
        }
    }
    (!problems.is_empty()).then_some(problems)
}

fn add_variables(work: &mut Work, reduced: &mut Reduced) {
    for (column, chain) in reduced.variables.iter_mut().enumerate() {
        for order in 0..reduced.offsets.variables[column] {
            let next = work.derivative_variable(chain[order as usize]);
            chain.push(next);
        }
    }
}

/// Replaces `der(x)` by the variable of that derivative in all equations and actions.
fn name_derivatives(work: &mut Work) {
    let mut memo = Memo::default();
    for index in 0..work.active.len() {
        let eq = work.active[index];
        let (left, right) = work.dynamic[eq];
        let new = named(work, &mut memo, &[left, right]);
        work.dynamic[eq] = (new[0], new[1]);
        let (left, right) = (work.model.equations[eq].left, work.model.equations[eq].right);
        let new = named(work, &mut memo, &[left, right]);
        let equation = &mut work.model.equations[eq];
        (equation.left, equation.right) = (new[0], new[1]);
    }
    let mut initial_equations = std::mem::take(&mut work.model.initial_equations);
    for equation in &mut initial_equations {
        let new = named(work, &mut memo, &[equation.left, equation.right]);
        (equation.left, equation.right) = (new[0], new[1]);
    }
    work.model.initial_equations = initial_equations;
    map_actions(work, |work, expr| named(work, &mut memo, &[expr])[0]);
}

/// Variables that have no derivative variable keep `der`: of a known one it is zero.
fn named(work: &mut Work, memo: &mut Memo, roots: &[ExprId]) -> Vec<ExprId> {
    let (derivative, roles) = (&work.derivative, &work.roles);
    work.model.exprs.rewrite(roots, memo, |exprs, id, node| match node {
        Node::Der(v) => match derivative[v] {
            Some(variable) => exprs.var(variable),
            None if matches!(roles[v], crate::schedule::Role::Constant | crate::schedule::Role::Parameter) => {
                exprs.real(0.0)
            }
            None => id,
        },
        node => exprs.make(node),
    })
}

fn add_equations(work: &mut Work, reduced: &mut Reduced) -> Result<(), Vec<Diagnostic>> {
    let mut problems = Vec::new();
    for row in 0..reduced.equations.len() {
        let times = reduced.offsets.equations[row];
        if times == 0 {
            continue;
        }
        let first = reduced.equations[row][0];
        work.summary.differentiated.push((first, times));
        for _ in 0..times {
            let last = reduced.equations[row][reduced.equations[row].len() - 1];
            match differentiated(work, last) {
                Ok(new) => reduced.equations[row].push(new),
                Err(problem) => {
                    problems.push(*problem);
                    break;
                }
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Adds the time derivative of an equation.
fn differentiated(work: &mut Work, eq: EqId) -> Result<EqId, Box<Diagnostic>> {
    let (left, right) = work.dynamic[eq];
    let sides = work.time_derivative(left).and_then(|left| Ok((left, work.time_derivative(right)?)));
    let (new_left, new_right) = match sides {
        Ok(sides) => sides,
        Err(reason) => {
            let equation = work.sides_text((left, right));
            let problem = Diagnostic::error(
                "not-differentiable",
                format!("`{equation}` has to be differentiated (it constrains states), but cannot be"),
            )
            .note(reason.to_string())
            .hint("functions in it need a `derivative` annotation; what changes in steps has no derivative");
            return Err(Box::new(work.at_equation(problem, eq, "")));
        }
    };
    let Equation { origin: Origin { component, span, .. }, .. } = work.model.equations[eq].clone();
    let origin = Origin { component, span, kind: OriginKind::Derivative(eq) };
    let role = dae::EquationRole::Plain;
    let new = work.model.equations.push(Equation { left: new_left, right: new_right, role, origin });
    work.dynamic.push((new_left, new_right));
    work.active.push(new);
    Ok(new)
}
