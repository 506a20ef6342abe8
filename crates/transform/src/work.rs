//! What the passes hand on from one to the next: the model as it stands and side tables over its ids.

use base::{Diagnostic, Id, IdVec};
use dae::differentiate::{Differentiator, NotDifferentiable};
use dae::inline::Inliner;
use dae::{
    ActionKind, Causality, EqId, EquationRole, ExprId, Exprs, Memo, Model, Node, PathId, VarId, Variability, Variable,
    VariableType,
};

use rustc_hash::FxHashSet;

use crate::schedule::{Assignment, Role, Summary};

/// The two sides of an equation.
pub type Sides = (ExprId, ExprId);

pub struct Work {
    pub model: Model,
    pub roles: IdVec<VarId, Role>,
    /// Equations that still have to be sorted. Their sides as they hold at initialisation stand in the model.
    pub active: Vec<EqId>,
    /// Equations that hold as a consequence of their derivatives: only the initial problem needs them.
    pub constraints: Vec<EqId>,
    /// The sides of equations as they hold after initialisation: `initial()` is false, `homotopy` is its first argument.
    pub dynamic: IdVec<EqId, Sides>,
    /// Assignments of parameters and constants, in order.
    pub parameters: Vec<Assignment>,
    /// Parameters that the initial problem determines (`fixed = false`) or that depend on such.
    pub free: IdVec<VarId, bool>,
    /// Literals that replace constants and structural parameters.
    pub folded: IdVec<VarId, Option<ExprId>>,
    /// The values of all parameters as far as they are literals, to judge pivots.
    pub values: IdVec<VarId, Option<ExprId>>,
    pub value_memo: Memo,
    /// The derivative variable of a variable.
    pub derivative: IdVec<VarId, Option<VarId>>,
    pub differentiator: Differentiator,
    pub inliner: Inliner,
    /// A candidate for a state seemed free although its derivative is constrained: see `Inlining`.
    pub doubtful: bool,
    /// States are chosen once for the whole run, also where that may go wrong.
    pub states_stay: bool,
    /// Equations that read differently in other modes: they make no aliases and no constants.
    pub touched: Option<FxHashSet<EqId>>,
    /// The unknowns of those equations in all modes together.
    pub switched: Vec<VarId>,
    /// Refuse what would be decided for the user with a warning.
    pub strict: bool,
    /// The step of inline integration while its equations are sorted; `values` holds the longest.
    pub step: Option<VarId>,
    pub summary: Summary,
}

impl Work {
    pub fn new(mut model: Model) -> Self {
        mark_when_targets(&mut model);
        let roles: IdVec<VarId, Role> = model.variables.values().map(first_role).collect();
        let active: Vec<EqId> = model.equations.ids().collect();
        let count = model.variables.len();
        let summary = Summary {
            equations: active.len(),
            unknowns: roles.values().filter(|role| matches!(role, Role::Algebraic | Role::Discrete)).count(),
            parameters: roles.values().filter(|role| matches!(role, Role::Parameter)).count(),
            discrete: roles.values().filter(|role| matches!(role, Role::Discrete)).count(),
            ..Summary::default()
        };
        Self {
            roles,
            active,
            constraints: Vec::new(),
            dynamic: IdVec::new(),
            parameters: Vec::new(),
            free: IdVec::filled(false, count),
            folded: IdVec::filled(None, count),
            values: IdVec::filled(None, count),
            value_memo: Memo::default(),
            derivative: IdVec::filled(None, count),
            differentiator: Differentiator::new(),
            inliner: Inliner::new(),
            doubtful: false,
            states_stay: false,
            touched: None,
            switched: Vec::new(),
            strict: false,
            step: None,
            summary,
            model,
        }
    }

    /// Whether it is to be determined by the equations that hold at run time.
    pub fn is_unknown(&self, variable: VarId) -> bool {
        matches!(self.roles[variable], Role::Algebraic | Role::Discrete)
    }

    pub fn is_parameter(&self, variable: VarId) -> bool {
        matches!(self.roles[variable], Role::Constant | Role::Parameter)
    }

    pub fn is_discrete(&self, variable: VarId) -> bool {
        matches!(self.roles[variable], Role::Discrete)
    }

    /// The value of an expression of parameters as far as it can be computed here.
    pub fn evaluate(&mut self, expr: ExprId) -> Option<f64> {
        let values = &self.values;
        let result = self.model.exprs.substitute(&[expr], &mut self.value_memo, |variable| values[variable]);
        self.model.exprs.as_real(result[0])
    }

    /// Whether an expression of parameters may be divided by. Nothing is divided by the step of inline integration:
    /// derivatives as differences of nearly equal values would lose digits.
    pub fn is_safe_divisor(&mut self, divisor: ExprId) -> bool {
        if let Some(step) = self.step {
            let step = self.model.exprs.var(step);
            if self.model.exprs.contains(divisor, step) {
                return false;
            }
        }
        self.evaluate(divisor).is_some_and(|value| value != 0.0)
    }

    /// The value of an expression with start values for all variables, as far as it can be computed here.
    pub fn evaluate_at_start(&mut self, expr: ExprId, memo: &mut Memo) -> Option<f64> {
        let starts = self.at_start(expr, memo);
        self.evaluate(starts)
    }

    fn at_start(&mut self, expr: ExprId, memo: &mut Memo) -> ExprId {
        let (values, variables) = (&self.values, &self.model.variables);
        self.model.exprs.rewrite(&[expr], memo, |exprs, id, node| match node {
            Node::Var(v) => values[v].or(variables[v].attributes.start).unwrap_or_else(|| exprs.real(0.0)),
            Node::Time => exprs.real(0.0),
            Node::Pre(_) | Node::Previous(_) | Node::Der(_) => id,
            node => exprs.make(node),
        })[0]
    }

    /// The truth of a condition with start values for all variables, as far as it can be told here.
    pub fn truth_at_start(&mut self, condition: ExprId, memo: &mut Memo) -> Option<bool> {
        let starts = self.at_start(condition, memo);
        let values = &self.values;
        let result = self.model.exprs.substitute(&[starts], &mut self.value_memo, |variable| values[variable])[0];
        self.model.exprs.as_boolean(result)
    }

    /// Whether the equation reads the same in all modes.
    pub fn is_steady(&self, equation: EqId) -> bool {
        self.touched.as_ref().is_none_or(|touched| !touched.contains(&equation))
    }

    /// The time derivative of an expression in which no `der` is left: derivatives are variables, added where missing.
    pub fn time_derivative(&mut self, expr: ExprId) -> Result<ExprId, NotDifferentiable> {
        if self.model.exprs.any(expr, changes_at_ticks) {
            let reason = "what comes from another clock, or from the tick before, changes in steps".to_owned();
            return Err(NotDifferentiable { function: None, reason });
        }
        let (roles, derivative) = (&self.roles, &self.derivative);
        let mut leaf = |exprs: &mut Exprs, node: Node| match node {
            Node::Var(v) => match (roles[v], derivative[v]) {
                (Role::Constant | Role::Parameter | Role::Discrete, _) => Ok(None),
                (_, Some(variable)) => Ok(Some(exprs.var(variable))),
                // It may stand where its derivative does not matter, such as in a relation.
                _ => Ok(Some(exprs.der(v))),
            },
            _ => Ok(None),
        };
        let (exprs, functions) = (&mut self.model.exprs, &mut self.model.functions);
        let result = self.differentiator.total(exprs, functions, expr, &mut Memo::default(), &mut leaf)?;
        self.name_derivatives(&mut Memo::default(), &[result]).map(|new| new[0]).map_err(|input| {
            let name = self.model.variable_name(input);
            let reason = format!("the derivative of `{name}`, an input of the model, is not known");
            NotDifferentiable { function: None, reason }
        })
    }

    /// Replaces `der(x)` by the variable of that derivative, added where it is missing. The derivative of what is known and
    /// does not change is zero; that of an input is the error.
    pub fn name_derivatives(&mut self, memo: &mut Memo, roots: &[ExprId]) -> Result<Vec<ExprId>, VarId> {
        for variable in self.model.exprs.dependencies(roots).derivatives {
            match self.roles[variable] {
                Role::Input => return Err(variable),
                Role::Algebraic | Role::State { .. } => {
                    self.derivative_variable(variable);
                }
                _ => {}
            }
        }
        let derivative = &self.derivative;
        Ok(self.model.exprs.rewrite(roots, memo, |exprs, _, node| match node {
            Node::Der(v) => match derivative[v] {
                Some(variable) => exprs.var(variable),
                None => exprs.real(0.0),
            },
            node => exprs.make(node),
        }))
    }

    /// With calls written out that can be.
    pub fn inlined(&mut self, (left, right): Sides) -> Sides {
        let (exprs, functions) = (&mut self.model.exprs, &self.model.functions);
        (self.inliner.expand(exprs, functions, left), self.inliner.expand(exprs, functions, right))
    }

    /// The derivative of an expression by one variable, where it can be made.
    pub fn partial_derivative(&mut self, expr: ExprId, variable: VarId) -> Option<ExprId> {
        let unknown = self.model.exprs.var(variable);
        let (exprs, functions) = (&mut self.model.exprs, &mut self.model.functions);
        self.differentiator.partial(exprs, functions, expr, unknown).ok()
    }

    /// `left = right`.
    pub fn sides_text(&self, (left, right): Sides) -> String {
        format!("{} = {}", self.model.expression_text(left), self.model.expression_text(right))
    }

    /// A diagnostic at an equation's place.
    pub fn at_equation(&self, diagnostic: Diagnostic, equation: EqId, text: &str) -> Diagnostic {
        let origin = &self.model.equations[equation].origin;
        let mut diagnostic = match origin.span {
            Some(span) => diagnostic.at(span, text),
            None => diagnostic,
        };
        if diagnostic.component.is_none() {
            let component = self.model.paths.text(origin.component);
            if !component.is_empty() {
                diagnostic = diagnostic.in_component(component);
            }
        }
        diagnostic
    }

    /// Adds a variable that is not in the text.
    pub fn add_variable(&mut self, path: PathId, ty: VariableType, role: Role) -> VarId {
        self.push_variable(hidden(path, ty), role)
    }

    fn push_variable(&mut self, variable: Variable, role: Role) -> VarId {
        self.roles.push(role);
        self.free.push(false);
        self.folded.push(None);
        self.values.push(None);
        self.derivative.push(None);
        self.model.variables.push(variable)
    }

    /// Adds a derivative of `variable` unless it has one.
    pub fn derivative_variable(&mut self, variable: VarId) -> VarId {
        if let Some(known) = self.derivative[variable] {
            return known;
        }
        let mut new = self.model.variables[variable].clone();
        new.binding = None;
        new.causality = Causality::Local;
        new.attributes = std::sync::Arc::default();
        new.derivative_of = Some(variable);
        new.flow = false;
        let id = self.push_variable(new, Role::Algebraic);
        self.derivative[variable] = Some(id);
        id
    }
}

/// Values from outside of a clocked partition, which are there while its equations are differentiated.
fn changes_at_ticks(node: Node) -> bool {
    use dae::Builtin::{BackSample, NoClock, SampleClocked, ShiftSample, SubSample, SuperSample};
    match node {
        Node::Previous(_) => true,
        Node::Builtin(op, _) => {
            matches!(op, SampleClocked | SubSample | SuperSample | ShiftSample | BackSample | NoClock)
        }
        _ => false,
    }
}

/// A variable that nobody wrote.
pub fn hidden(path: PathId, ty: VariableType) -> Variable {
    Variable {
        path,
        ty,
        variability: Variability::Continuous,
        causality: Causality::Local,
        binding: None,
        attributes: std::sync::Arc::default(),
        protected: true,
        hidden: true,
        flow: false,
        structural: false,
        span: None,
        derivative_of: None,
    }
}

/// Variables that a when clause assigns are discrete, whatever they were declared as (specification 8.3.5).
fn mark_when_targets(model: &mut Model) {
    for index in 0..model.equations.len() {
        let equation = &model.equations[EqId::from_index(index)];
        if matches!(equation.role, EquationRole::When(_))
            && let Node::Var(target) = model.exprs.node(equation.left)
        {
            let variable = &mut model.variables[target];
            variable.variability = variable.variability.min(Variability::Discrete);
        }
    }
}

/// What a variable is before anything is known about it.
pub fn first_role(variable: &dae::Variable) -> Role {
    match (variable.causality, variable.variability) {
        (_, Variability::Constant) => Role::Constant,
        (_, Variability::Parameter) => Role::Parameter,
        (Causality::Input, _) => Role::Input,
        (_, Variability::Discrete) => Role::Discrete,
        (_, Variability::Continuous) => Role::Algebraic,
    }
}

/// Changes every expression of the actions.
pub fn map_actions(work: &mut Work, mut map: impl FnMut(&mut Work, ExprId) -> ExprId) {
    for initial in [false, true] {
        let mut actions = std::mem::take(actions_of(&mut work.model, initial));
        for action in &mut actions {
            if let Some(condition) = &mut action.condition {
                *condition = map(work, *condition);
            }
            match &mut action.kind {
                ActionKind::Reinit { value, .. } => *value = map(work, *value),
                ActionKind::Assert { holds, message, .. } => {
                    *holds = map(work, *holds);
                    *message = map(work, *message);
                }
                ActionKind::Terminate { message } => *message = map(work, *message),
                ActionKind::Call(call) => *call = map(work, *call),
            }
        }
        *actions_of(&mut work.model, initial) = actions;
    }
}

fn actions_of(model: &mut Model, initial: bool) -> &mut Vec<dae::Action> {
    if initial { &mut model.initial_actions } else { &mut model.actions }
}
