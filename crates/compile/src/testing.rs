//! Schedules made by hand, for tests.

use std::sync::Arc;

use base::{IdVec, Name};
use dae::{
    Attributes, Builtin, Causality, CompareOp, EqId, Equation, EquationRole, ExprId, Model, Node, Origin, OriginKind,
    VarId, Variability, Variable, VariableType,
};
use transform::Summary;
use transform::{Assignment, Block, EquationSystem, Role, Schedule, State, SystemKind, Timing};

/// A schedule in the making.
pub struct ScheduleBuilder {
    pub schedule: Schedule,
}

impl ScheduleBuilder {
    pub fn new() -> Self {
        Self {
            schedule: Schedule {
                projection: None,
                families: Vec::new(),
                written: Vec::new(),
                initial_families: Vec::new(),
                model: Model::default(),
                roles: IdVec::new(),
                states: Vec::new(),
                parameters: Vec::new(),
                initial: Vec::new(),
                initial_checks: Vec::new(),
                state_sets: Vec::new(),
                blocks: Vec::new(),
                constrained: Vec::new(),
                summary: Summary::default(),
                mode: None,
                modes: None,
                difference: None,
                inline: None,
                free: IdVec::new(),
                decisions: transform::Decisions::default(),
            },
        }
    }

    pub fn variable(&mut self, name: &str, ty: VariableType, role: Role, start: Option<f64>) -> VarId {
        let model = &mut self.schedule.model;
        let path = model.paths.child(model.paths.root(), Name::new(name), &[]);
        let variability = match role {
            Role::Parameter => Variability::Parameter,
            Role::Discrete => Variability::Discrete,
            _ => Variability::Continuous,
        };
        let start = start.map(|value| model.exprs.intern(Node::Real(value)));
        self.schedule.roles.push(role);
        model.variables.push(Variable {
            path,
            ty,
            variability,
            causality: Causality::Local,
            prefix: Causality::Local,
            binding: None,
            attributes: Arc::new(Attributes { start, ..Attributes::default() }),
            protected: false,
            hidden: false,
            flow: false,
            structural: false,
            is_final: false,
            span: None,
            derivative_of: None,
        })
    }

    pub fn real(&mut self, name: &str, role: Role, start: f64) -> VarId {
        self.variable(name, VariableType::Real, role, Some(start))
    }

    /// A state and its derivative.
    pub fn state(&mut self, name: &str, start: f64) -> (VarId, VarId) {
        let derivative = self.real(&format!("der_{name}"), Role::Algebraic, 0.0);
        let variable = self.real(name, Role::State { derivative }, start);
        self.schedule.states.push(State { variable, derivative });
        (variable, derivative)
    }

    pub fn node(&mut self, node: Node) -> ExprId {
        self.schedule.model.exprs.intern(node)
    }

    pub fn number(&mut self, value: f64) -> ExprId {
        self.node(Node::Real(value))
    }

    pub fn var(&mut self, variable: VarId) -> ExprId {
        self.node(Node::Var(variable))
    }

    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.node(Node::Add(a, b))
    }

    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.node(Node::Sub(a, b))
    }

    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.node(Node::Mul(a, b))
    }

    pub fn builtin(&mut self, op: Builtin, args: &[ExprId]) -> ExprId {
        let args = self.schedule.model.exprs.args(args);
        self.node(Node::Builtin(op, args))
    }

    pub fn compare(&mut self, op: CompareOp, event: bool, left: ExprId, right: ExprId) -> ExprId {
        self.node(Node::Compare { op, event, left, right })
    }

    pub fn choice(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        self.node(Node::If { condition, then, otherwise })
    }

    fn equation(&mut self, left: ExprId, right: ExprId) -> EqId {
        let component = self.schedule.model.paths.root();
        let origin = Origin { component, span: None, kind: OriginKind::Written };
        self.schedule.model.equations.push(Equation { left, right, role: EquationRole::Plain, origin })
    }

    pub fn assign(&mut self, variable: VarId, value: ExprId, timing: Timing) {
        let left = self.var(variable);
        let equation = self.equation(left, value);
        let assignment = Assignment { variable, value, equation: Some(equation) };
        self.schedule.blocks.push(Block::Assign { assignment, timing });
    }

    pub fn system(&mut self, kind: SystemKind, iteration: &[VarId], inner: &[(VarId, ExprId)], residuals: &[ExprId]) {
        let inner =
            inner.iter().map(|&(variable, value)| Assignment { variable, value, equation: None }).collect::<Vec<_>>();
        let unknowns = iteration.iter().copied().chain(inner.iter().map(|assignment| assignment.variable)).collect();
        let zero = self.number(0.0);
        let equations: Vec<EqId> = residuals.iter().map(|&residual| self.equation(residual, zero)).collect();
        let system = Box::new(EquationSystem {
            kind,
            unknowns,
            equations: equations.clone(),
            iteration: iteration.to_vec(),
            inner,
            residuals: residuals.to_vec(),
            residual_equations: equations,
            discrete: Vec::new(),
        });
        self.schedule.blocks.push(Block::System { system, timing: Timing::Continuous });
    }
}
