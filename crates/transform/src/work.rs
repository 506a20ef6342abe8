//! What the passes hand on from one to the next: the model as it stands and side tables over its ids.

use base::{Diagnostic, Id, IdVec};
use dae::differentiate::{Differentiator, NotDifferentiable};
use dae::inline::Inliner;
use dae::{
    ActionKind, Causality, EqId, EquationRole, ExprId, Exprs, Memo, Model, Node, PathId, StateSelect, VarId,
    Variability, Variable, VariableType,
};

use rustc_hash::FxHashSet;

use crate::cache::Cache;
use crate::decisions::{Decisions, Subject};
use crate::occurrences::Scanner;
use crate::parts::{Assignment, Role, Sides, Summary};

#[derive(Clone)]
pub struct Work {
    pub model: Model,
    pub roles: IdVec<VarId, Role>,
    /// Equations that still have to be sorted. Their sides as they hold at initialisation stand in the model.
    pub active: Vec<EqId>,
    /// Equations that hold as a consequence of their derivatives: only the initial problem needs them.
    pub constraints: Vec<EqId>,
    /// The sides of equations as they hold after initialisation: `initial()` is false, `homotopy` is its first argument.
    pub dynamic: IdVec<EqId, Sides>,
    pub parameters: ParameterTable,
    /// The values of all parameters as far as they are literals, to judge pivots.
    pub values: IdVec<VarId, Option<ExprId>>,
    pub value_memo: Memo,
    /// What these values decided.
    pub decisions: Decisions,
    pub derivatives: DerivativeTable,
    pub inliner: Inliner,
    pub choice: StateChoice,
    pub modes: ModeContext,
    /// Refuse what would be decided for the user with a warning.
    pub strict: bool,
    /// The step of inline integration while its equations are sorted; `values` holds the longest.
    pub step: Option<VarId>,
    pub summary: Summary,
}

/// What is known of parameters and constants.
#[derive(Clone)]
pub struct ParameterTable {
    /// In order.
    pub assignments: Vec<Assignment>,
    /// Parameters that the initial problem determines (`fixed = false`) or that depend on such.
    pub free: IdVec<VarId, bool>,
    /// Literals that replace constants and structural parameters.
    pub folded: IdVec<VarId, Option<ExprId>>,
}

/// Variables for derivatives.
#[derive(Clone)]
pub struct DerivativeTable {
    /// The derivative variable of a variable.
    pub of: IdVec<VarId, Option<VarId>>,
    /// Derivatives that the equations themselves name, in this mode.
    pub named: IdVec<VarId, bool>,
    pub differentiator: Differentiator,
}

/// What the choice of states depends on besides the equations, and what it found.
#[derive(Clone, Default)]
pub struct StateChoice {
    /// What `reinit` sets: has to be a state when that happens.
    pub reinitialised: FxHashSet<VarId>,
    /// States are chosen once for the whole run, also where that may go wrong.
    pub stays: bool,
    /// A candidate for a state seemed free although its derivative is constrained: see `Inlining`.
    pub doubtful: bool,
}

/// Of a model that is sorted once for each mode.
#[derive(Clone, Default)]
pub struct ModeContext {
    /// Equations that read differently in other modes: they make no aliases and no constants.
    pub touched: Option<FxHashSet<EqId>>,
    /// The unknowns of those equations in all modes together.
    pub switched: Vec<VarId>,
    /// What is known from other modes.
    pub cache: Option<Box<Cache>>,
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
            parameters: ParameterTable {
                assignments: Vec::new(),
                free: IdVec::filled(false, count),
                folded: IdVec::filled(None, count),
            },
            values: IdVec::filled(None, count),
            value_memo: Memo::default(),
            decisions: Decisions::default(),
            derivatives: DerivativeTable {
                of: IdVec::filled(None, count),
                named: IdVec::filled(false, count),
                differentiator: Differentiator::new(),
            },
            inliner: Inliner::new(),
            choice: StateChoice::default(),
            modes: ModeContext::default(),
            strict: false,
            step: None,
            summary,
            model,
        }
    }

    /// How much a variable is wanted as a state. What `reinit` sets has to be one when that happens, and before and after it
    /// where nothing speaks against that.
    pub fn wanted_as_state(&self, variable: VarId) -> StateSelect {
        match self.choice.reinitialised.contains(&variable) {
            true => StateSelect::Always,
            false => self.model.variables[variable].attributes.state_select,
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
        let is_safe = self.evaluate(divisor).is_some_and(|value| value != 0.0);
        if is_safe {
            self.note_zero(divisor, false, Subject::Divisor, None);
        }
        is_safe
    }

    /// The value of an expression with start values for all variables, as far as it can be computed here. What is chosen by it has
    /// to be a form that holds for other values too.
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

    /// The truth of a condition with start values for all variables, as far as it is known here.
    pub fn truth_at_start(&mut self, condition: ExprId, memo: &mut Memo) -> Option<bool> {
        let starts = self.at_start(condition, memo);
        let values = &self.values;
        let result = self.model.exprs.substitute(&[starts], &mut self.value_memo, |variable| values[variable])[0];
        self.model.exprs.as_boolean(result)
    }

    /// Whether the equation reads the same in all modes.
    pub fn is_steady(&self, equation: EqId) -> bool {
        self.modes.touched.as_ref().is_none_or(|touched| !touched.contains(&equation))
    }

    /// The time derivative of an expression in which no `der` is left: derivatives are variables, added where missing.
    pub fn time_derivative(&mut self, expr: ExprId) -> Result<ExprId, NotDifferentiable> {
        if let Some(&known) = self.modes.cache.as_ref().and_then(|cache| cache.total.get(&expr)) {
            return Ok(known);
        }
        let derivative = self.new_time_derivative(expr)?;
        if let Some(cache) = &mut self.modes.cache {
            cache.total.insert(expr, derivative);
        }
        Ok(derivative)
    }

    fn new_time_derivative(&mut self, expr: ExprId) -> Result<ExprId, NotDifferentiable> {
        if self.model.exprs.any(expr, changes_at_ticks) {
            let reason = "what comes from another clock, or from the tick before, changes in steps".to_owned();
            return Err(NotDifferentiable::because(reason));
        }
        let (roles, derivative) = (&self.roles, &self.derivatives.of);
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
        let result = self.derivatives.differentiator.total(exprs, functions, expr, &mut Memo::default(), &mut leaf)?;
        let found = self.model.exprs.dependencies(&[result]).derivatives;
        self.add_derivatives(&found).map_err(|input| {
            let name = self.model.variable_name(input);
            let reason = format!("the derivative of `{name}`, an input of the model, is not known");
            NotDifferentiable::because(reason)
        })?;
        Ok(self.with_derivative_variables(&mut Memo::default(), &[result])[0])
    }

    /// Replaces `der(x)` by the variable of that derivative, added where it is missing, which counts as named by the model.
    /// The derivative of what is known and does not change is zero; that of an input is the error.
    pub fn name_derivatives(&mut self, memo: &mut Memo, roots: &[ExprId]) -> Result<Vec<ExprId>, VarId> {
        let found = self.model.exprs.dependencies(roots).derivatives;
        self.add_derivatives(&found)?;
        for derivative in found.iter().filter_map(|&variable| self.derivatives.of[variable]) {
            self.derivatives.named[derivative] = true;
        }
        Ok(self.with_derivative_variables(memo, roots))
    }

    fn add_derivatives(&mut self, differentiated: &[VarId]) -> Result<(), VarId> {
        for &variable in differentiated {
            match self.roles[variable] {
                Role::Input => return Err(variable),
                Role::Algebraic | Role::State { .. } => {
                    self.derivative_variable(variable);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn with_derivative_variables(&mut self, memo: &mut Memo, roots: &[ExprId]) -> Vec<ExprId> {
        let derivative = &self.derivatives.of;
        self.model.exprs.rewrite(roots, memo, |exprs, _, node| match node {
            Node::Der(v) => match derivative[v] {
                Some(variable) => exprs.var(variable),
                None => exprs.real(0.0),
            },
            node => exprs.make(node),
        })
    }

    /// With calls written out that can be.
    pub fn inlined(&mut self, (left, right): Sides) -> Sides {
        let (exprs, functions) = (&mut self.model.exprs, &self.model.functions);
        (self.inliner.expand(exprs, functions, left), self.inliner.expand(exprs, functions, right))
    }

    /// The derivative of an expression by one variable, where it can be made.
    pub fn partial_derivative(&mut self, expr: ExprId, variable: VarId) -> Option<ExprId> {
        if let Some(&known) = self.modes.cache.as_ref().and_then(|cache| cache.partial.get(&(expr, variable))) {
            return known;
        }
        let unknown = self.model.exprs.var(variable);
        let (exprs, functions) = (&mut self.model.exprs, &mut self.model.functions);
        let derivative = self.derivatives.differentiator.partial(exprs, functions, expr, unknown).ok();
        if let Some(cache) = &mut self.modes.cache {
            cache.partial.insert((expr, variable), derivative);
        }
        derivative
    }

    /// The factor of a leaf in an expression that is linear in it, and the rest.
    pub fn linear_coefficient(&mut self, expr: ExprId, leaf: ExprId) -> Option<(ExprId, ExprId)> {
        if let Some(&known) = self.modes.cache.as_ref().and_then(|cache| cache.factors.get(&(expr, leaf))) {
            return known;
        }
        let factor = self.model.exprs.linear_coefficient(expr, leaf);
        if let Some(cache) = &mut self.modes.cache {
            cache.factors.insert((expr, leaf), factor);
        }
        factor
    }

    /// A scanner for the expressions of the model. One that knows some of them already is to be given back.
    pub fn scanner(&self) -> Scanner {
        let Some(cache) = &self.modes.cache else { return Scanner::for_model(&self.model) };
        let mut scanner = cache.scanner.take();
        scanner.learn(&self.model);
        scanner
    }

    pub fn give_back(&self, scanner: Scanner) {
        if let Some(cache) = &self.modes.cache {
            cache.scanner.replace(scanner);
        }
    }

    /// The same with expressions, functions and what is known about them moved there, for one mode.
    pub fn branch(&mut self) -> Work {
        let exprs = std::mem::take(&mut self.model.exprs);
        let cache = self.modes.cache.take();
        let (values, inliner) = (std::mem::take(&mut self.value_memo), std::mem::take(&mut self.inliner));
        let mut branch = self.clone();
        branch.model.exprs = exprs;
        (branch.modes.cache, branch.value_memo, branch.inliner) = (cache, values, inliner);
        branch
    }

    /// Takes back what was moved to a branch. Variables keep their numbers in later branches; those that nobody else
    /// knows rest there.
    pub fn rejoin(&mut self, branch: &mut Work) {
        self.model.exprs = branch.model.exprs.clone();
        if self.model.functions.len() < branch.model.functions.len() {
            self.model.functions.clone_from(&branch.model.functions);
        }
        if self.model.paths.len() < branch.model.paths.len() {
            self.model.paths.clone_from(&branch.model.paths);
        }
        self.derivatives.differentiator.clone_from(&branch.derivatives.differentiator);
        self.modes.cache = branch.modes.cache.take();
        // What is recalled later was decided here.
        self.decisions = branch.decisions.clone();
        self.value_memo = std::mem::take(&mut branch.value_memo);
        self.inliner = std::mem::take(&mut branch.inliner);
        for index in self.model.variables.len()..branch.model.variables.len() {
            let variable = &branch.model.variables[VarId::from_index(index)];
            match variable.derivative_of {
                Some(of) if self.is_unknown(of) && self.derivatives.of[of].is_none() => {
                    self.derivative_variable(of);
                }
                _ => {
                    let variable = Variable { hidden: true, ..variable.clone() };
                    self.push_variable(variable, Role::Constant);
                }
            }
        }
    }

    /// `left = right`.
    pub fn sides_text(&self, (left, right): Sides) -> String {
        format!("{} = {}", self.model.expression_text(left), self.model.expression_text(right))
    }

    /// A diagnostic at an equation's place.
    /// Whether a variable is the value from which a difference formula begins: an input that nobody sees.
    pub fn begins_formula(&self, variable: VarId) -> bool {
        let variable = &self.model.variables[variable];
        variable.hidden && variable.causality == dae::Causality::Input
    }

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
        self.push_variable(Variable::hidden(path, ty, Variability::Continuous), role)
    }

    fn push_variable(&mut self, variable: Variable, role: Role) -> VarId {
        self.roles.push(role);
        self.parameters.free.push(false);
        self.parameters.folded.push(None);
        self.values.push(None);
        self.derivatives.of.push(None);
        self.derivatives.named.push(false);
        self.model.variables.push(variable)
    }

    /// Adds a derivative of `variable` unless it has one.
    pub fn derivative_variable(&mut self, variable: VarId) -> VarId {
        if let Some(known) = self.derivatives.of[variable] {
            return known;
        }
        let mut new = self.model.variables[variable].clone();
        new.binding = None;
        new.causality = Causality::Local;
        new.attributes = std::sync::Arc::default();
        new.derivative_of = Some(variable);
        new.flow = false;
        let id = self.push_variable(new, Role::Algebraic);
        self.derivatives.of[variable] = Some(id);
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
        actions.iter_mut().for_each(|action| map_action(work, action, &mut map));
        *actions_of(&mut work.model, initial) = actions;
    }
}

/// Changes every expression of an action.
pub fn map_action(work: &mut Work, action: &mut dae::Action, mut map: impl FnMut(&mut Work, ExprId) -> ExprId) {
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

fn actions_of(model: &mut Model, initial: bool) -> &mut Vec<dae::Action> {
    if initial { &mut model.initial_actions } else { &mut model.actions }
}
