//! Checks that a flat model is well formed. Every stage may rely on these invariants:
//!
//! - Expressions: operands are older than what they are in; ids of variables, functions and sites are in range; a call
//!   has as many arguments as its site has input scalars, takes an output that exists, and its site has one shape for
//!   each input and output of the function.
//! - Types: conditions of `if`, operands of `and`, `or`, `not` are Boolean; operands of arithmetic are numbers
//!   (enumerations count as their ordinals); branches agree; both sides of an equation and a variable and its binding
//!   agree.
//! - `der(v)` stands only for continuous Real variables; `pre(v)` not for constants.
//! - Variables: the path exists; an enumeration is in range; only parameters and constants have a binding; external
//!   objects have one; a derivative belongs to a variable that is no derivative's own.
//! - Equations: the origin names an existing path; an equation of a when clause has a variable on its left and Boolean
//!   variables as conditions.
//! - Actions: conditions and asserted expressions are Boolean, messages are Strings, `reinit` is of a Real variable.
//! - Functions: inputs, outputs and iterators are locals; called functions exist and get no more arguments than inputs.

use base::{Id, IdVec};

use crate::expr::{Builtin, CallSite, ExprId, Node, Shape};
use crate::function::{Body, Expr, Function, FunctionId, LocalId, Statement, StatementKind, Type};
use crate::model::{Action, ActionKind, Equation, EquationRole, Model, VarId, Variability, Variable, VariableType};

/// What is wrong with a flat model; empty if nothing is.
pub fn verify(model: &Model) -> Vec<String> {
    verified(model, true)
}

/// What is wrong with a model that is being transformed: variables that turned out to be constant have a binding, and clocks
/// are numbers.
pub fn verify_transformed(model: &Model) -> Vec<String> {
    verified(model, false)
}

fn verified(model: &Model, is_flat: bool) -> Vec<String> {
    let kinds = IdVec::with_capacity(model.exprs.len());
    let mut verifier = Verifier { model, is_flat, kinds, found: Vec::new() };
    verifier.expressions();
    for (id, variable) in model.variables.iter() {
        verifier.variable(id, variable);
    }
    for (id, equation) in model.equations.iter() {
        verifier.equation(&format!("{id:?}"), equation);
    }
    for (k, equation) in model.initial_equations.iter().enumerate() {
        verifier.equation(&format!("initial equation {k}"), equation);
    }
    for action in model.actions.iter().chain(&model.initial_actions) {
        verifier.action(action);
    }
    for (id, function) in model.functions.iter() {
        verifier.function(id, function);
    }
    verifier.found
}

/// The type of an expression as far as the arena knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Number,
    Boolean,
    String,
    Object,
    Clock,
    /// Wrong already, or not to be known.
    Any,
}

impl Kind {
    fn agrees(self, other: Kind) -> bool {
        self == other || self == Kind::Any || other == Kind::Any
    }
}

struct Verifier<'a> {
    model: &'a Model,
    is_flat: bool,
    kinds: IdVec<ExprId, Kind>,
    found: Vec<String>,
}

impl Verifier<'_> {
    fn wrong(&mut self, message: String) {
        // Enough to see what is going on.
        if self.found.len() < 100 {
            self.found.push(message);
        }
    }

    fn expressions(&mut self) {
        let used = self.used();
        for id in self.model.exprs.ids() {
            let mut ordered = true;
            self.model.exprs.for_each_child(id, |child| ordered &= child < id);
            if !ordered {
                self.wrong(format!("{id:?} is older than one of its operands"));
                self.kinds.push(Kind::Any);
                continue;
            }
            let before = self.found.len();
            let kind = self.expression(id);
            if !used[id] {
                // The arena also holds what was tried on the way, such as sizes of what did not exist yet.
                self.found.truncate(before);
            }
            self.kinds.push(kind);
        }
    }

    /// Which expressions the model consists of.
    fn used(&self) -> IdVec<ExprId, bool> {
        let model = self.model;
        let mut used: IdVec<ExprId, bool> = model.exprs.ids().map(|_| false).collect();
        let mut mark = |id: ExprId| {
            if id.index() < model.exprs.len() {
                used[id] = true;
            }
        };
        for variable in model.variables.values() {
            let own = &variable.attributes;
            [variable.binding, own.start, own.fixed, own.min, own.max, own.nominal]
                .into_iter()
                .flatten()
                .for_each(&mut mark);
        }
        for equation in model.equations.values().chain(&model.initial_equations) {
            [equation.left, equation.right].into_iter().for_each(&mut mark);
        }
        for action in model.actions.iter().chain(&model.initial_actions) {
            action.condition.into_iter().for_each(&mut mark);
            match action.kind {
                ActionKind::Reinit { value, .. } => mark(value),
                ActionKind::Assert { holds, message, .. } => [holds, message].into_iter().for_each(&mut mark),
                ActionKind::Terminate { message } => mark(message),
                ActionKind::Call(call) => mark(call),
            }
        }
        // Operands are older than what they are in.
        for id in (0..model.exprs.len()).rev().map(ExprId::from_index) {
            if used[id] {
                model.exprs.for_each_child(id, |child| used[child] = true);
            }
        }
        used
    }

    fn kind(&self, id: ExprId) -> Kind {
        self.kinds.get(id).copied().unwrap_or(Kind::Any)
    }

    fn expect(&mut self, owner: ExprId, operand: ExprId, expected: Kind) {
        let actual = self.kind(operand);
        if !actual.agrees(expected) {
            self.wrong(format!("{owner:?} needs {expected:?}, but its operand {operand:?} is {actual:?}"));
        }
    }

    fn expression(&mut self, id: ExprId) -> Kind {
        match self.model.exprs.node(id) {
            Node::Real(_) | Node::Integer(_) | Node::Time => Kind::Number,
            Node::Boolean(_) => Kind::Boolean,
            Node::String(_) => Kind::String,
            Node::Var(v) | Node::Previous(v) => self.variable_kind(id, v),
            Node::Der(v) => {
                if let Some(variable) = self.model.variables.get(v)
                    && (variable.ty != VariableType::Real || variable.variability == Variability::Constant)
                {
                    self.wrong(format!("{id:?} is the derivative of {}, which is no Real", self.name(v)));
                }
                self.variable_kind(id, v)
            }
            Node::Pre(v) => {
                if self.model.variables.get(v).is_some_and(|variable| variable.variability == Variability::Constant) {
                    self.wrong(format!("{id:?} is pre of the constant {}", self.name(v)));
                }
                self.variable_kind(id, v)
            }
            Node::Neg(a) => {
                self.expect(id, a, Kind::Number);
                Kind::Number
            }
            Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) | Node::Div(a, b) | Node::Pow(a, b) => {
                self.expect(id, a, Kind::Number);
                self.expect(id, b, Kind::Number);
                Kind::Number
            }
            Node::Not(a) => {
                self.expect(id, a, Kind::Boolean);
                Kind::Boolean
            }
            Node::And(a, b) | Node::Or(a, b) => {
                self.expect(id, a, Kind::Boolean);
                self.expect(id, b, Kind::Boolean);
                Kind::Boolean
            }
            Node::Compare { left, right, .. } => {
                self.expect(id, right, self.kind(left));
                Kind::Boolean
            }
            Node::If { condition, then, otherwise } => {
                self.expect(id, condition, Kind::Boolean);
                self.expect(id, otherwise, self.kind(then));
                self.kind(then)
            }
            Node::Builtin(op, args) => self.builtin(id, op, args),
            Node::Call { site, args, output } => match self.model.exprs.call_sites().get(site) {
                Some(site) => self.call(id, site, self.model.exprs.arguments(args).len(), output),
                None => {
                    self.wrong(format!("{id:?} calls {site:?}, which does not exist"));
                    Kind::Any
                }
            },
        }
    }

    fn name(&self, v: VarId) -> String {
        match self.model.variables.get(v) {
            Some(_) => self.model.variable_name(v),
            None => format!("{v:?}"),
        }
    }

    fn variable_kind(&mut self, id: ExprId, v: VarId) -> Kind {
        match self.model.variables.get(v) {
            Some(variable) => kind_of(variable.ty),
            None => {
                self.wrong(format!("{id:?} names {v:?}, which does not exist"));
                Kind::Any
            }
        }
    }

    fn builtin(&mut self, id: ExprId, op: Builtin, args: crate::ArgsId) -> Kind {
        use Builtin::*;
        let arguments = self.model.exprs.arguments(args);
        match op {
            Sample | Initial | Terminal | FirstTick | ActiveState => Kind::Boolean,
            ClockInferred | ClockRational | ClockReal | ClockEvent | ClockSolver => Kind::Clock,
            // They keep the type of their argument.
            Hold | SubSample | SuperSample | ShiftSample | BackSample | NoClock | SampleClocked | Homotopy
            | JustBehind => arguments.first().map_or(Kind::Any, |&argument| self.kind(argument)),
            Interval | TicksInState | TimeInState | SpatialFirst | SpatialSecond => Kind::Number,
            _ => {
                for &argument in arguments {
                    // `min` and `max` are of Booleans and enumerations too.
                    if !matches!(op, Min | Max) {
                        self.expect(id, argument, Kind::Number);
                    }
                }
                arguments.first().map_or(Kind::Any, |&argument| self.kind(argument))
            }
        }
    }

    fn call(&mut self, id: ExprId, site: &CallSite, arguments: usize, output: u32) -> Kind {
        let Some(function) = self.model.functions.get(site.function) else {
            self.wrong(format!("{id:?} calls {:?}, which does not exist", site.function));
            return Kind::Any;
        };
        let scalars: usize = site.inputs.iter().map(Shape::scalars).sum();
        if scalars != arguments {
            self.wrong(format!("{id:?} gives `{}` {arguments} scalars, but its site has {scalars}", function.name));
        }
        if site.inputs.len() > function.inputs.len() || site.outputs.len() > function.outputs.len() {
            self.wrong(format!("the site of {id:?} has more shapes than `{}` has inputs or outputs", function.name));
        }
        let mut rest = output as usize;
        for (shape, local) in site.outputs.iter().zip(&function.outputs) {
            if rest < shape.scalars() {
                return function.locals.get(*local).map_or(Kind::Any, |local| output_kind(&local.ty));
            }
            rest -= shape.scalars();
        }
        // A call as a statement stands as its first output, which need not exist.
        if output > 0 {
            self.wrong(format!("{id:?} takes output {output} of `{}`, which has fewer", function.name));
        }
        Kind::Any
    }

    fn variable(&mut self, id: VarId, variable: &Variable) {
        if variable.path.index() >= self.model.paths.len() {
            return self.wrong(format!("{id:?} has a path that does not exist"));
        }
        let name = self.name(id);
        if let VariableType::Enumeration(index) = variable.ty
            && index as usize >= self.model.enumerations.len()
        {
            self.wrong(format!("{name} is of an enumeration that does not exist"));
        }
        match variable.binding {
            Some(_) if !self.is_flat && variable.ty == VariableType::Clock => {}
            Some(binding) => {
                if self.is_flat && variable.variability > Variability::Parameter {
                    self.wrong(format!("{name} is no parameter, but has a binding"));
                }
                self.agree(&name, kind_of(variable.ty), binding, "binding");
            }
            None if variable.ty == VariableType::Object => self.wrong(format!("the object {name} has no constructor")),
            None => {}
        }
        let attributes = &variable.attributes;
        for (attribute, value) in [
            ("start", attributes.start),
            ("min", attributes.min),
            ("max", attributes.max),
            ("nominal", attributes.nominal),
        ] {
            if let Some(value) = value {
                self.agree(&name, kind_of(variable.ty), value, attribute);
            }
        }
        if let Some(fixed) = attributes.fixed {
            self.agree(&name, Kind::Boolean, fixed, "fixed");
        }
        if let Some(of) = variable.derivative_of
            && self.model.variables.get(of).is_none_or(|original| original.ty != VariableType::Real)
        {
            self.wrong(format!("{id:?} is the derivative of {of:?}, which is no Real variable"));
        }
    }

    fn agree(&mut self, name: &str, expected: Kind, value: ExprId, what: &str) {
        if value.index() >= self.model.exprs.len() {
            return self.wrong(format!("{what} of {name} does not exist"));
        }
        let actual = self.kind(value);
        if !actual.agrees(expected) {
            self.wrong(format!("{what} of {name} is {actual:?}, not {expected:?}"));
        }
    }

    fn equation(&mut self, name: &str, equation: &Equation) {
        if equation.left.index() >= self.model.exprs.len() || equation.right.index() >= self.model.exprs.len() {
            return self.wrong(format!("{name} has a side that does not exist"));
        }
        let (left, right) = (self.kind(equation.left), self.kind(equation.right));
        if !left.agrees(right) {
            self.wrong(format!("{name} equates {left:?} and {right:?}"));
        }
        if equation.origin.component.index() >= self.model.paths.len() {
            self.wrong(format!("{name} has no origin"));
        }
        if let EquationRole::When(when) = &equation.role {
            if !matches!(self.model.exprs.node(equation.left), Node::Var(_)) {
                self.wrong(format!("{name} of a when clause has no variable on its left"));
            }
            for &condition in &when.conditions {
                let boolean =
                    self.model.variables.get(condition).is_some_and(|variable| variable.ty == VariableType::Boolean);
                if !boolean {
                    self.wrong(format!("{name} has the condition {}, which is no Boolean", self.name(condition)));
                }
            }
        }
    }

    fn action(&mut self, action: &Action) {
        if action.origin.component.index() >= self.model.paths.len() {
            self.wrong("an action has no origin".into());
        }
        if let Some(condition) = action.condition {
            self.agree("an action", Kind::Boolean, condition, "condition");
        }
        match action.kind {
            ActionKind::Reinit { state, value } => {
                if self.model.variables.get(state).is_none_or(|variable| variable.ty != VariableType::Real) {
                    self.wrong(format!("reinit of {}, which is no Real variable", self.name(state)));
                }
                self.agree("reinit", Kind::Number, value, "value");
            }
            ActionKind::Assert { holds, message, .. } => {
                self.agree("an assertion", Kind::Boolean, holds, "condition");
                self.agree("an assertion", Kind::String, message, "message");
            }
            ActionKind::Terminate { message } => self.agree("terminate", Kind::String, message, "message"),
            ActionKind::Call(call) => self.agree("a call", Kind::Any, call, "expression"),
        }
    }

    fn function(&mut self, id: FunctionId, function: &Function) {
        for local in function.inputs.iter().chain(&function.outputs) {
            self.local(function, *local);
        }
        for local in function.locals.values() {
            for expr in local.default.iter().chain(local.sizes.iter().flatten()) {
                self.function_expr(function, expr);
            }
        }
        for annotation in &function.derivatives {
            if self.model.functions.get(annotation.function).is_none() {
                self.wrong(format!("the derivative of {id:?} `{}` does not exist", function.name));
            }
        }
        match &function.body {
            Body::Algorithm(statements) => self.statements(function, statements),
            Body::External(external) => {
                external.arguments.iter().for_each(|argument| self.function_expr(function, argument));
            }
            Body::RecordConstructor => {
                if function.outputs.len() != 1 {
                    self.wrong(format!(
                        "the record constructor `{}` has {} outputs",
                        function.name,
                        function.outputs.len()
                    ));
                }
            }
        }
    }

    fn local(&mut self, function: &Function, local: LocalId) {
        if function.locals.get(local).is_none() {
            self.wrong(format!("`{}` names {local:?}, which does not exist", function.name));
        }
    }

    fn statements(&mut self, function: &Function, statements: &[Statement]) {
        let mut bodies = vec![statements];
        while let Some(body) = bodies.pop() {
            for statement in body {
                match &statement.kind {
                    StatementKind::Assign(target, value) => {
                        self.local(function, target.local);
                        self.function_expr(function, value);
                    }
                    StatementKind::AssignSeveral(targets, value) => {
                        targets.iter().flatten().for_each(|target| self.local(function, target.local));
                        self.function_expr(function, value);
                    }
                    StatementKind::If { branches, otherwise } => {
                        for (condition, body) in branches {
                            self.function_expr(function, condition);
                            bodies.push(body);
                        }
                        bodies.push(otherwise);
                    }
                    StatementKind::For { iterator, range, body } => {
                        self.local(function, *iterator);
                        self.function_expr(function, range);
                        bodies.push(body);
                    }
                    StatementKind::While { condition, body } => {
                        self.function_expr(function, condition);
                        bodies.push(body);
                    }
                    StatementKind::Assert { condition, message, .. } => {
                        self.function_expr(function, condition);
                        self.function_expr(function, message);
                    }
                    StatementKind::Call(call) => self.function_expr(function, call),
                    StatementKind::Break | StatementKind::Return => {}
                }
            }
        }
    }

    fn function_expr(&mut self, function: &Function, expr: &Expr) {
        let mut work = vec![expr];
        while let Some(expr) = work.pop() {
            match expr {
                Expr::Local(local) | Expr::CallLocal(local, _) | Expr::LocalValue(local, _) => {
                    self.local(function, *local)
                }
                Expr::ArrayFor { iterators, .. } | Expr::Reduction { iterators, .. } => {
                    iterators.iter().for_each(|(iterator, _)| self.local(function, *iterator));
                }
                Expr::Call(called, arguments) | Expr::Vectorized { function: called, arguments, .. } => {
                    match self.model.functions.get(*called) {
                        None => self.wrong(format!("`{}` calls {called:?}, which does not exist", function.name)),
                        Some(target) if arguments.len() > target.inputs.len() => self.wrong(format!(
                            "`{}` calls `{}` with {} arguments for {} inputs",
                            function.name,
                            target.name,
                            arguments.len(),
                            target.inputs.len()
                        )),
                        Some(_) => {}
                    }
                }
                Expr::FunctionValue(called, _) if self.model.functions.get(*called).is_none() => {
                    self.wrong(format!("`{}` passes {called:?}, which does not exist", function.name));
                }
                _ => {}
            }
            expr.for_each_operand(&mut |operand| work.push(operand));
        }
    }
}

fn kind_of(ty: VariableType) -> Kind {
    match ty {
        VariableType::Real | VariableType::Integer | VariableType::Enumeration(_) => Kind::Number,
        VariableType::Boolean => Kind::Boolean,
        VariableType::String => Kind::String,
        VariableType::Object => Kind::Object,
        VariableType::Clock => Kind::Clock,
    }
}

/// The type of a scalar of an output; records hold several.
fn output_kind(ty: &Type) -> Kind {
    match ty {
        Type::Real | Type::Integer | Type::Enumeration(_) => Kind::Number,
        Type::Boolean => Kind::Boolean,
        Type::String => Kind::String,
        Type::Object(_) => Kind::Object,
        Type::Record(_) | Type::Function(_) => Kind::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const MODEL: &str = "
parameter R = 100
Real x(start = 1, fixed = true)
discrete Real n
Boolean b
der(x) = -x/R
b = x > 0.5
when b then n = pre(n) + 1; reinit(x, 1)
";

    #[test]
    fn a_good_model_has_no_faults() {
        assert_eq!(verify(&testing::model(MODEL).unwrap()), Vec::<String>::new());
    }

    #[test]
    fn faults_are_named() {
        let mut model = testing::model(MODEL).unwrap();
        let missing = model.exprs.intern(Node::Var(VarId::from_index(99)));
        let text = model.exprs.string("x");
        let sum = model.exprs.intern(Node::Add(text, missing));
        let condition = model.exprs.intern(Node::If { condition: sum, then: sum, otherwise: sum });
        let mut equations = model.equations.iter_mut().map(|(_, equation)| equation);
        equations.next().unwrap().right = text;
        equations.next().unwrap().right = condition;
        drop(equations);
        let found = verify(&model);
        assert_eq!(
            found,
            [
                format!("{missing:?} names v99, which does not exist"),
                format!("{sum:?} needs Number, but its operand {text:?} is String"),
                format!("{condition:?} needs Boolean, but its operand {sum:?} is Number"),
                "eq0 equates Number and String".to_owned(),
                "eq1 equates Boolean and Number".to_owned(),
            ]
        );
    }
}
