//! Algorithm sections (11.1): executed symbolically, so that every assigned variable gets one equation. A statement whose
//! loops depend on what is known at run time only becomes a function of what it reads (`outline`).

use std::sync::Arc;

use base::Span;
use dae::{
    Action, Equation, EquationRole, ExprId, Origin, OriginKind, PathId, VarId, Variability, VariableType, WhenClause,
};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::ast;

use crate::elaborate::Elaborator;
use crate::instance::{Frame, Outcome};
use crate::symbolic::{Expander, Mode, Symbolic, WhenBuilder};
use crate::typed::{Expr, Locals, Statement};
use crate::typing::{Context, Typer};

/// Statements that one section may execute.
const SECTION_BUDGET: usize = 2_000_000;

impl Elaborator {
    /// Expands an algorithm section that stands in the text of `frame.class`.
    pub fn expand_algorithm(&mut self, frame: &Frame, section: &ast::AlgorithmSection, path: PathId) {
        let key = (frame.class, section.statements.as_ptr() as usize);
        let typed = match self.typed.algorithms.get(&key) {
            Some(typed) => typed.clone(),
            None => {
                let mut typer = Typer::new(self, frame.class, Context::Model);
                (typer.initial, typer.always) = (section.initial, !section.initial);
                let statements = typer.statements(&section.statements);
                let typed = Arc::new((statements, std::mem::take(&mut typer.locals)));
                self.typed.algorithms.insert(key, typed.clone());
                typed
            }
        };
        if let Err(diagnostic) = self.algorithm(frame, &typed, section, path) {
            self.report(*diagnostic);
        }
    }

    fn algorithm(
        &mut self,
        frame: &Frame,
        typed: &Arc<(Vec<Statement>, Locals)>,
        section: &ast::AlgorithmSection,
        path: PathId,
    ) -> Outcome<()> {
        // The first run finds out what is assigned; the second starts from the values these variables have before.
        let first = self.run_section(frame, typed, (path, section.initial), None, probe)?;
        let discrete = first.assigned_in_when;
        let mut order: Vec<VarId> = first.assigned.keys().copied().collect();
        order.sort();
        let mut start = FxHashMap::default();
        for &variable in &order {
            let clocked = self.machines.state_of(&self.flat.model.paths, path).is_some();
            let value = self.value_before(variable, clocked || discrete.contains(&variable));
            start.insert(variable, value);
        }
        self.expansion.when_conditions.clear();
        let Run { assigned, actions, .. } =
            self.run_section(frame, typed, (path, section.initial), Some(start), when_maker)?;
        self.expansion.sections += 1;
        let number = self.expansion.sections;
        let clause = if discrete.is_empty() { None } else { Some(self.section_clause()) };
        for variable in order {
            let Some(&value) = assigned.get(&variable) else { continue };
            let declared = &mut self.flat.model.variables[variable];
            if discrete.contains(&variable) {
                declared.variability = declared.variability.min(Variability::Discrete);
            }
            let left = self.flat.model.exprs.var(variable);
            let role = match &clause {
                Some(clause) if discrete.contains(&variable) => EquationRole::When(clause.clone()),
                _ => EquationRole::Algorithm(number),
            };
            self.push_section_equation(left, value, role, section, path);
        }
        for (condition, kind, span) in actions {
            let origin = Origin { component: path, span: Some(span), kind: OriginKind::Algorithm };
            let action = Action { kind, condition, origin };
            if section.initial {
                self.flat.model.initial_actions.push(action);
            } else {
                self.flat.model.actions.push(action);
            }
        }
        Ok(())
    }

    pub(crate) fn push_section_equation(
        &mut self,
        left: ExprId,
        right: ExprId,
        role: EquationRole,
        section: &ast::AlgorithmSection,
        path: PathId,
    ) {
        let origin = Origin { component: path, span: Some(section.span), kind: OriginKind::Algorithm };
        let equation = Equation { left, right, role, origin };
        if section.initial {
            self.flat.model.initial_equations.push(equation);
        } else {
            self.flat.model.equations.push(equation);
        }
    }

    /// The value of a variable when the section begins (11.1.2): the left limit of one that keeps its value, else its start
    /// value.
    pub(crate) fn value_before(&mut self, variable: VarId, is_kept: bool) -> ExprId {
        let declared = &self.flat.model.variables[variable];
        let discrete = is_kept || declared.variability <= Variability::Discrete;
        let (start, ty) = (declared.attributes.start, declared.ty);
        let exprs = &mut self.flat.model.exprs;
        if discrete {
            return exprs.pre(variable);
        }
        start.unwrap_or_else(|| match ty {
            VariableType::Boolean => exprs.boolean(false),
            VariableType::String => exprs.string(""),
            VariableType::Real => exprs.real(0.0),
            _ => exprs.int(0),
        })
    }

    fn section_clause(&mut self) -> WhenClause {
        self.expansion.clauses += 1;
        WhenClause {
            clause: self.expansion.clauses,
            conditions: std::mem::take(&mut self.expansion.when_conditions).into(),
        }
    }

    fn run_section(
        &mut self,
        frame: &Frame,
        typed: &Arc<(Vec<Statement>, Locals)>,
        (path, initial): (PathId, bool),
        start: Option<FxHashMap<VarId, ExprId>>,
        when: WhenBuilder,
    ) -> Outcome<Run> {
        let mut expander = Expander::new(self, frame.clone(), Mode::Flat);
        expander.path = path;
        expander.initial = initial;
        expander.finds_targets = start.is_none();
        expander.watches = start.is_some() && !initial;
        expander.assigned = Some(start.unwrap_or_default());
        expander.budget = SECTION_BUDGET;
        expander.when = Some(when);
        expander.section = Some(typed.clone());
        expander.run(&typed.0)?;
        Ok(Run {
            assigned: expander.assigned.take().unwrap_or_default(),
            actions: std::mem::take(&mut expander.actions),
            assigned_in_when: std::mem::take(&mut expander.assigned_in_when),
        })
    }
}

/// What one execution of a section came to.
struct Run {
    assigned: FxHashMap<VarId, ExprId>,
    actions: Vec<(Option<ExprId>, dae::ActionKind, Span)>,
    assigned_in_when: FxHashSet<VarId>,
}

/// In the first run nothing is made of a condition.
fn probe(expander: &mut Expander<'_>, condition: Symbolic, _: &Expr) -> Outcome<ExprId> {
    let mut any: Option<ExprId> = None;
    for id in condition.scalars() {
        any = Some(match any {
            Some(any) => expander.exprs().or(any, id),
            None => id,
        });
    }
    Ok(any.unwrap_or_else(|| expander.exprs().boolean(false)))
}

/// Makes the variables of a when condition and says when one of them rises.
fn when_maker(expander: &mut Expander<'_>, condition: Symbolic, written: &Expr) -> Outcome<ExprId> {
    let (variables, active) = expander.rising(&condition, written);
    expander.elaborator.expansion.when_conditions.extend(variables);
    Ok(active)
}
