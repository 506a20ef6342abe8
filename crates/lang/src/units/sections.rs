//! What must be equal: sides of equations, assignments, bindings, connected variables.

use base::IdVec;
use dae::{Node, OriginKind, VarId};
use syntax::ast::Variability;

use super::measure::Measure;
use super::solver::Side;
use super::{Checker, Texts};
use crate::equations::{TypedEquation, TypedEquationKind};
use crate::instance::CompId;
use crate::typed::{Expr, Statement, StatementKind};

/// Attributes with the unit of their variable.
const ATTRIBUTES: [&str; 5] = ["", "start", "min", "max", "nominal"];

impl<'e> Checker<'_, 'e> {
    pub(super) fn texts(&mut self, texts: &'e Texts) {
        for (class, equations) in &texts.equations {
            self.class = *class;
            self.equations(equations);
        }
        for (class, section) in &texts.algorithms {
            self.class = *class;
            self.statements(&section.0);
        }
        for (component, attribute, value) in &texts.bindings {
            self.class = self.elaborator.instances.component(*component).parent;
            self.span = Some(value.span);
            let ty = self.elaborator.instances.variability(*component);
            self.value_of_parameter = *attribute != "" || matches!(ty, Variability::Parameter | Variability::Constant);
            let right = self.measure(value);
            if ATTRIBUTES.iter().any(|known| *attribute == **known) {
                let left = self.component(*component);
                self.constrain(left, right, Side::Component(*component), Side::Expr(value));
            }
        }
    }

    fn equations(&mut self, equations: &'e [TypedEquation]) {
        for equation in equations {
            self.span = Some(equation.span);
            stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.equation(equation));
        }
    }

    fn equation(&mut self, equation: &'e TypedEquation) {
        match &equation.kind {
            TypedEquationKind::Equal(left, right) => self.equal(left, right),
            TypedEquationKind::Several(items, call) => self.several(items, call),
            TypedEquationKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.measure(condition);
                    self.equations(body);
                }
                self.equations(otherwise);
            }
            TypedEquationKind::For { body, .. } => self.equations(body),
            TypedEquationKind::When { branches } => {
                for (condition, body) in branches {
                    self.measure(condition);
                    self.equations(body);
                }
            }
            TypedEquationKind::Action(action) => self.statement(action),
        }
    }

    fn statements(&mut self, statements: &'e [Statement]) {
        for statement in statements {
            self.span = Some(statement.span);
            stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.statement(&statement.kind));
        }
    }

    fn statement(&mut self, statement: &'e StatementKind) {
        match statement {
            StatementKind::Assign(left, right) | StatementKind::Reinit(left, right) => self.equal(left, right),
            StatementKind::AssignSeveral(items, call) => self.several(items, call),
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.measure(condition);
                    self.statements(body);
                }
                self.statements(otherwise);
            }
            StatementKind::For { body, .. } => self.statements(body),
            StatementKind::While { condition, body } => {
                self.measure(condition);
                self.statements(body);
            }
            StatementKind::When { branches } => {
                for (condition, body) in branches {
                    self.measure(condition);
                    self.statements(body);
                }
            }
            StatementKind::Assert { condition, .. } => drop(self.measure(condition)),
            StatementKind::Call(call) => drop(self.measure(call)),
            StatementKind::Break | StatementKind::Return | StatementKind::Terminate(_) => {}
        }
    }

    fn equal(&mut self, left: &'e Expr, right: &'e Expr) {
        let (a, b) = (self.measure(left), self.measure(right));
        self.constrain(a, b, Side::Expr(left), Side::Expr(right));
    }

    fn several(&mut self, items: &'e [Option<Expr>], call: &'e Expr) {
        let outputs = self.outputs(call);
        for (position, item) in items.iter().enumerate() {
            let Some(item) = item else { continue };
            let left = self.measure(item);
            let right = outputs.get(position).cloned().unwrap_or(Measure::Opaque);
            self.constrain(left, right, Side::Expr(item), Side::Expr(call));
        }
    }

    /// Connected potentials are equal, and connected flows have one unit.
    pub(super) fn connections(&mut self) {
        let model = &self.elaborator.flat.model;
        let mut owner: IdVec<VarId, Option<CompId>> = IdVec::filled(None, model.variables.len());
        for (&component, scalars) in &self.elaborator.flat.scalars {
            for &variable in scalars.variables.iter().flatten() {
                owner[variable] = Some(component);
            }
        }
        let mut pairs = Vec::new();
        for (_, equation) in model.equations.iter() {
            let span = equation.origin.span;
            if !matches!(equation.origin.kind, OriginKind::Potential | OriginKind::FlowSum) {
                continue;
            }
            let mut first = None;
            for id in model.exprs.postorder(&[equation.left, equation.right]) {
                let Node::Var(variable) = model.exprs.node(id) else { continue };
                let (Some(component), Some(span)) = (owner[variable], span) else { continue };
                match first {
                    None => first = Some(component),
                    Some(first) if first != component => pairs.push((first, component, span)),
                    Some(_) => {}
                }
            }
        }
        self.class = self.elaborator.instances.root();
        pairs.sort_by_key(|&(a, b, _)| (a, b));
        pairs.dedup_by_key(|&mut (a, b, _)| (a, b));
        for (a, b, span) in pairs {
            let (left, right) = (self.component(a), self.component(b));
            self.span = Some(span);
            self.constrain(left, right, Side::Component(a), Side::Component(b));
        }
    }
}
