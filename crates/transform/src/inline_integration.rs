//! Inline integration (Elmqvist, Otter and Cellier, *Inline integration: a new mixed symbolic/numeric approach for solving
//! DAE systems*, 1995): the formula of an implicit method is put beside the equations, and everything is sorted anew.
//!
//! Every stage of the one-step and multistep methods with one new derivative reads `x = base + step·der(x)`, where `base` is
//! made of what is known. So states are unknowns of one more problem in which `base` and `step` are given: its blocks take
//! a whole step. Where the equations are nonlinear or simultaneous, only what tearing leaves is iterated, while a method
//! outside of the model would iterate over all states. Everything discrete stays as it is during a step.

use base::{Diagnostic, IdVec, Name};
use dae::{Equation, EquationRole, Origin, OriginKind, VarId, Variability, VariableType};
use rustc_hash::FxHashSet;

use crate::families;
use crate::linearity::Level;
use crate::parts::{Block, Family, Problem, Role, Sides, State, Timing};
use crate::structure::Matching;
use crate::system::System;
use crate::work::Work;
use crate::{blocks, known_level, output, singular};

/// The blocks that take a step, and what has to be set before.
#[derive(Clone, PartialEq, Debug)]
pub struct InlineIntegration {
    /// The factor of the derivatives.
    pub step: VarId,
    /// What is known of each state, in their order.
    pub base: Vec<VarId>,
    /// They take a step, in order.
    pub blocks: Vec<Block>,
    /// Which of them have one shape, in their order.
    pub families: Vec<Family>,
}

/// `dynamic` are the blocks that hold at run time, `levels` says when what they compute changes, `step` is the longest step.
pub fn make(
    work: &mut Work,
    states: &[State],
    dynamic: &[Block],
    mut levels: IdVec<VarId, Level>,
    step: f64,
) -> Result<InlineIntegration, Vec<Diagnostic>> {
    let Rows { mut equations, mut unknowns } = Rows::of(work, dynamic);
    let root = work.model.paths.root();
    let path = work.model.paths.child(root, Name::new("step"), &[]);
    let factor = work.add_variable(path, VariableType::Real, Role::Parameter);
    work.model.variables[factor].variability = Variability::Parameter;
    work.values[factor] = Some(work.model.exprs.real(step));
    work.step = Some(factor);
    let mut base = Vec::with_capacity(states.len());
    for (number, state) in (1u32..).zip(states) {
        let path = work.model.paths.child(root, Name::new("base"), &[number]);
        let known = work.add_variable(path, VariableType::Real, Role::Input);
        work.model.variables[known].attributes = work.model.variables[state.variable].attributes.clone();
        base.push(known);
        let exprs = &mut work.model.exprs;
        let (x, dx, known, h) =
            (exprs.var(state.variable), exprs.var(state.derivative), exprs.var(known), exprs.var(factor));
        let change = exprs.mul(h, dx);
        let value = exprs.add(known, change);
        // Whatever is said about the formula is said about the state.
        let declared = &work.model.variables[state.variable];
        let component = work.model.paths.parent(declared.path).unwrap_or(root);
        let origin = Origin { component, span: declared.span, kind: OriginKind::Auxiliary };
        equations.push(work.model.equations.push(Equation {
            left: x,
            right: value,
            role: EquationRole::Plain,
            origin,
        }));
        work.dynamic.push((x, value));
        unknowns.insert(state.variable);
    }
    let sides: Vec<Sides> = equations.iter().map(|&equation| work.dynamic[equation]).collect();
    let system = System::new(work, Problem::Step, equations, sides, |variable| unknowns.contains(&variable));
    let matching = Matching::maximum(&system.matchable);
    if !matching.is_perfect() {
        return Err(singular::report(work, &system, &matching));
    }
    for variable in work.model.variables.ids().skip(levels.len()) {
        levels.push(known_level(work, variable));
    }
    let mut blocks = blocks::make(work, Problem::Step, &system, &matching, &mut levels)?;
    work.step = None;
    // What a step computes changes with every step, also where the model alone would tell otherwise.
    blocks.iter_mut().for_each(|block| output::set_timing(block, Timing::Continuous));
    let families = families::gather(&work.model, &mut blocks);
    Ok(InlineIntegration { step: factor, base, blocks, families })
}

/// What is solved between events, discrete unknowns aside.
struct Rows {
    equations: Vec<dae::EqId>,
    unknowns: FxHashSet<VarId>,
}

impl Rows {
    fn of(work: &Work, dynamic: &[Block]) -> Self {
        let mut rows = Self { equations: Vec::new(), unknowns: FxHashSet::default() };
        let continuous = dynamic.iter().filter(|block| output::timing(block) == Timing::Continuous);
        for block in continuous {
            match block {
                Block::Assign { assignment, .. } => {
                    rows.add(work, assignment.equation.into_iter().zip([assignment.variable]));
                }
                Block::System { system, .. } => {
                    rows.add(work, system.equations.iter().copied().zip(system.unknowns.iter().copied()));
                }
            }
        }
        rows
    }

    fn add(&mut self, work: &Work, pairs: impl Iterator<Item = (dae::EqId, VarId)>) {
        for (equation, unknown) in pairs.filter(|(_, unknown)| !work.is_discrete(*unknown)) {
            self.equations.push(equation);
            self.unknowns.insert(unknown);
        }
    }
}
