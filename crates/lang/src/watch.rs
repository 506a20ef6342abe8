//! Relations inside of loops that run as often as values say (`outline`), so that they make events.
//!
//! A function follows the statements along and computes two numbers: the outcome, which is another one as soon as any relation
//! in any turn comes out differently, and the distance, how far the nearest relation is from that. As long as the outcome is that
//! of the last event, the distance is a crossing function; with another outcome its negative is, so that it goes through zero
//! wherever a relation changes, two at a time included. Where a relation touches zero that did not at the last event, the crossing
//! function is zero: that instant is passed, as that of every other relation, and all of them change behind it. Only what is evaluated counts: a relation behind a condition decides
//! nothing as long as that condition says so, and its change is an event.

use std::sync::Arc;

use base::{Name, Span};
use dae::expr::CompareOp;
use dae::function::{ArithmeticOp, LocalId};
use dae::model::{Attributes, MOST_TOUCHING};
use dae::{Builtin, Equation, EquationRole, ExprId, Origin, OriginKind, VarId, Variability, Variable, VariableType};

use crate::symbolic::Expander;
use crate::typed::{Base, Expr, Kind, Local, Locals, Operator, Statement, StatementKind, Type};
use crate::typing::rewrite;

/// Outcomes are numbers below this prime, made digit by digit; the products are exact.
const OUTCOMES: f64 = 2_147_483_647.0;
const DIGIT: f64 = 8191.0;

/// The variables in which the function finds its results.
pub(crate) struct Watch {
    pub(crate) outcome: LocalId,
    pub(crate) distance: LocalId,
    /// How many relations are zero.
    pub(crate) touching: LocalId,
}

/// The statements with those that follow their relations; `None` where there is none that could change between events.
pub(crate) fn watched(locals: &mut Locals, statement: &Statement) -> Option<(Watch, Vec<Statement>)> {
    let mut add = |name: &str, value: f64| {
        let default = Some(real(value, statement.span));
        locals.push(Local { name: Name::new(name), ty: Type::REAL, sizes: Vec::new(), default, span: statement.span })
    };
    let watch = Watch { outcome: add("outcome", 0.0), distance: add("distance", 1.0), touching: add("touching", 0.0) };
    let mut follower = Follower { watch, found: false };
    let body = follower.statements(std::slice::from_ref(statement));
    follower.found.then_some((follower.watch, body))
}

impl Expander<'_> {
    /// A variable that changes with the outcome, and is the reason for an event where it does.
    pub(crate) fn watch(&mut self, [outcome, distance, touching]: [ExprId; 3], span: Span) {
        let variable = self.outcome_variable(span);
        let exprs = self.exprs();
        let before = exprs.pre(variable);
        let [zero, quarter, half] = [0.0, 0.25, 0.5].map(|value| exprs.real(value));
        let most = exprs.real(MOST_TOUCHING);
        // The number of relations that are zero is the last digit.
        let touched = exprs.builtin(Builtin::Mod, &[before, most]);
        let touched = exprs.add(touched, half);
        let touches = exprs.compare(CompareOp::Greater, false, touching, touched);
        let shifted = exprs.mul(outcome, most);
        let outcome = exprs.add(shifted, touching);
        let difference = exprs.sub(outcome, before);
        let difference = exprs.builtin(Builtin::Abs, &[difference]);
        let is_same = exprs.compare(CompareOp::Less, false, difference, half);
        let behind = exprs.neg(distance);
        let residue = exprs.if_(is_same, distance, behind);
        let residue = exprs.if_(touches, zero, residue);
        let is_another = exprs.compare(CompareOp::Less, true, residue, zero);
        // The middle of what rounds to the outcome, either way.
        let middle = exprs.if_(is_another, quarter, half);
        let argument = exprs.add(outcome, middle);
        let right = exprs.builtin(Builtin::FloorEvent, &[argument]);
        let left = exprs.var(variable);
        let origin = Origin { component: self.path, span: Some(span), kind: OriginKind::Auxiliary };
        self.elaborator.flat.model.equations.push(Equation { left, right, role: EquationRole::Plain, origin });
    }

    fn outcome_variable(&mut self, span: Span) -> VarId {
        self.elaborator.expansion.auxiliaries += 1;
        let name = Name::new(&format!("$outcome{}", self.elaborator.expansion.auxiliaries));
        let model = &mut self.elaborator.flat.model;
        let path = model.paths.child(self.path, name, &[]);
        let (start, fixed) = (Some(model.exprs.int(0)), Some(model.exprs.boolean(true)));
        let variable = model.variables.push(Variable {
            path,
            ty: VariableType::Integer,
            variability: Variability::Discrete,
            causality: dae::Causality::Local,
            prefix: dae::Causality::Local,
            binding: None,
            attributes: Arc::new(Attributes { start, fixed, ..Attributes::default() }),
            protected: true,
            hidden: true,
            flow: false,
            structural: false,
            is_final: false,
            span: Some(span),
            derivative_of: None,
        });
        model.outcomes.push(variable);
        variable
    }
}

/// The variables that change with outcomes in a text that was printed from a flat model.
pub(crate) fn find_outcomes(model: &mut dae::Model) {
    if !model.is_from_flat_text {
        return;
    }
    let is_outcome = |&id: &VarId| {
        let variable = &model.variables[id];
        let name = model.variable_name(id);
        let last = name.rsplit('.').next().unwrap_or(&name);
        variable.ty == VariableType::Integer && last.trim_start_matches('\'').starts_with("$outcome")
    };
    model.outcomes = model.variables.ids().filter(is_outcome).collect();
}

struct Follower {
    watch: Watch,
    found: bool,
}

impl Follower {
    fn statements(&mut self, statements: &[Statement]) -> Vec<Statement> {
        let mut made = Vec::new();
        for statement in statements {
            self.statement(statement, &mut made);
        }
        made
    }

    fn statement(&mut self, statement: &Statement, made: &mut Vec<Statement>) {
        let span = statement.span;
        let kind = match &statement.kind {
            StatementKind::Assign(target, value) => {
                self.operands(target, made);
                self.follow(value, made);
                statement.kind.clone()
            }
            StatementKind::AssignSeveral(targets, value) => {
                targets.iter().flatten().for_each(|target| self.operands(target, made));
                self.follow(value, made);
                statement.kind.clone()
            }
            StatementKind::If { branches, otherwise } => {
                self.branches(branches, otherwise, span, made);
                return;
            }
            StatementKind::For { iterators, body } => {
                iterators.iter().for_each(|iterator| self.follow(&iterator.range, made));
                StatementKind::For { iterators: iterators.clone(), body: self.statements(body) }
            }
            StatementKind::While { condition, body } => {
                self.follow(condition, made);
                let mut body = self.statements(body);
                self.follow(condition, &mut body);
                StatementKind::While { condition: condition.clone(), body }
            }
            StatementKind::Assert { condition, .. } => {
                self.follow(condition, made);
                return;
            }
            StatementKind::Call(call) => {
                self.follow(call, made);
                return;
            }
            StatementKind::Break
            | StatementKind::Return
            | StatementKind::When { .. }
            | StatementKind::Terminate(_)
            | StatementKind::Reinit(..) => statement.kind.clone(),
        };
        made.push(Statement { kind, span });
    }

    /// A condition is evaluated where those before it are false.
    fn branches(
        &mut self,
        branches: &[(Expr, Vec<Statement>)],
        otherwise: &[Statement],
        span: Span,
        made: &mut Vec<Statement>,
    ) {
        let Some(((condition, body), rest)) = branches.split_first() else {
            made.append(&mut self.statements(otherwise));
            return;
        };
        self.follow(condition, made);
        let body = self.statements(body);
        let mut other = Vec::new();
        self.branches(rest, otherwise, span, &mut other);
        let kind = StatementKind::If { branches: vec![(condition.clone(), body)], otherwise: other };
        made.push(Statement { kind, span });
    }

    /// What follows the relations of an expression, in the order and under the conditions of their evaluation.
    fn follow(&mut self, expr: &Expr, made: &mut Vec<Statement>) {
        let span = expr.span;
        match &expr.kind {
            Kind::Operator(Operator::NoEvent, _) => {}
            Kind::And(first, second) if expr.ty.is_scalar() => {
                self.follow(first, made);
                self.follow_if(first, Some(second), None, made);
            }
            Kind::Or(first, second) if expr.ty.is_scalar() => {
                self.follow(first, made);
                self.follow_if(first, None, Some(second), made);
            }
            Kind::If(condition, then, otherwise) => {
                self.follow(condition, made);
                self.follow_if(condition, Some(then), Some(otherwise), made);
            }
            Kind::ArrayFor { element, iterators } | Kind::Reduction { element, iterators, .. } => {
                iterators.iter().for_each(|iterator| self.follow(&iterator.range, made));
                let mut body = Vec::new();
                self.follow(element, &mut body);
                if !body.is_empty() {
                    made.push(Statement { kind: StatementKind::For { iterators: iterators.clone(), body }, span });
                }
            }
            Kind::Compare(_, left, right) => {
                self.operands(expr, made);
                if varies(left) || varies(right) {
                    self.note(choice(expr), made);
                    if left.ty.is_numeric() && left.ty.is_scalar() && right.ty.is_scalar() {
                        self.approach(abs(minus(left.as_ref().clone(), right.as_ref().clone())), made);
                    }
                }
            }
            Kind::Builtin(op, arguments) => {
                self.operands(expr, made);
                if arguments.iter().any(varies) && arguments.iter().all(|argument| argument.ty.is_scalar()) {
                    self.step(*op, arguments, expr, made);
                }
            }
            Kind::Call(_, arguments) | Kind::CallLocal(_, arguments) => {
                self.operands(expr, made);
                if expr.ty.is_scalar()
                    && arguments.iter().any(|argument| argument.variability == Variability::Continuous)
                {
                    match expr.ty.base {
                        Base::Boolean => self.note(choice(expr), made),
                        Base::Integer | Base::Enumeration(_) => self.note(to_real(expr), made),
                        _ => {}
                    }
                }
            }
            _ => self.operands(expr, made),
        }
    }

    fn follow_if(
        &mut self,
        condition: &Expr,
        then: Option<&Expr>,
        otherwise: Option<&Expr>,
        made: &mut Vec<Statement>,
    ) {
        let [mut first, mut second] = [Vec::new(), Vec::new()];
        if let Some(then) = then {
            self.follow(then, &mut first);
        }
        if let Some(otherwise) = otherwise {
            self.follow(otherwise, &mut second);
        }
        if !first.is_empty() || !second.is_empty() {
            let kind = StatementKind::If { branches: vec![(condition.clone(), first)], otherwise: second };
            made.push(Statement { kind, span: condition.span });
        }
    }

    fn operands(&mut self, expr: &Expr, made: &mut Vec<Statement>) {
        let mut operands = Vec::new();
        let mut is_whole = true;
        rewrite(expr, &mut |part| {
            if std::mem::take(&mut is_whole) {
                return None;
            }
            operands.push(part.clone());
            Some(part.clone())
        });
        operands.iter().for_each(|operand| self.follow(operand, made));
    }

    /// Functions of a scalar that change in steps.
    fn step(&mut self, op: Builtin, arguments: &[Expr], expr: &Expr, made: &mut Vec<Statement>) {
        let counted = match (op, arguments) {
            (Builtin::Sign, [x]) => {
                self.note(to_real(expr), made);
                return self.approach(abs(to_real(x)), made);
            }
            (Builtin::Floor | Builtin::Ceil, [x]) => to_real(x),
            (Builtin::Div | Builtin::Mod | Builtin::Rem, [x, y]) => binary(ArithmeticOp::Div, to_real(x), to_real(y)),
            _ => return,
        };
        let whole = builtin(Builtin::Floor, vec![counted.clone()], expr.span);
        let rest = minus(counted.clone(), whole.clone());
        let to_next = minus(real(1.0, expr.span), rest.clone());
        let stepped = match op {
            Builtin::Ceil => builtin(Builtin::Ceil, vec![counted], expr.span),
            Builtin::Div | Builtin::Rem => builtin(Builtin::Div, arguments.iter().map(to_real).collect(), expr.span),
            _ => whole,
        };
        self.note(stepped, made);
        self.approach(builtin(Builtin::Min, vec![rest, to_next], expr.span), made);
    }

    /// `outcome := mod(DIGIT*outcome + mod(value, DIGIT) + 1, OUTCOMES)`.
    fn note(&mut self, value: Expr, made: &mut Vec<Statement>) {
        self.found = true;
        let span = value.span;
        let outcome = self.local(self.watch.outcome, span);
        let shifted = binary(ArithmeticOp::Mul, real(DIGIT, span), outcome.clone());
        let digit = builtin(Builtin::Mod, vec![value, real(DIGIT - 1.0, span)], span);
        let digit = binary(ArithmeticOp::Add, digit, real(1.0, span));
        let sum = binary(ArithmeticOp::Add, shifted, digit);
        let next = builtin(Builtin::Mod, vec![sum, real(OUTCOMES, span)], span);
        made.push(Statement { kind: StatementKind::Assign(outcome, next), span });
    }

    fn approach(&mut self, distance: Expr, made: &mut Vec<Statement>) {
        let span = distance.span;
        let nearest = self.local(self.watch.distance, span);
        // One that rests at zero would hide the others; it leaves zero with another outcome, or comes to no event.
        let is_apart = Expr {
            kind: Kind::Compare(CompareOp::Greater, Box::new(distance.clone()), Box::new(real(0.0, span))),
            ty: Type::BOOLEAN,
            ..distance.clone()
        };
        let kind = Kind::If(Box::new(is_apart), Box::new(distance.clone()), Box::new(nearest.clone()));
        let is_touching = Expr {
            kind: Kind::Compare(CompareOp::Equal, Box::new(distance.clone()), Box::new(real(0.0, span))),
            ty: Type::BOOLEAN,
            ..distance.clone()
        };
        let touching = self.local(self.watch.touching, span);
        let count = binary(ArithmeticOp::Add, touching.clone(), choice(&is_touching));
        let count = builtin(Builtin::Min, vec![count, real(MOST_TOUCHING - 1.0, span)], span);
        made.push(Statement { kind: StatementKind::Assign(touching, count), span });
        let next = builtin(Builtin::Min, vec![nearest.clone(), Expr { kind, ..distance }], span);
        made.push(Statement { kind: StatementKind::Assign(nearest, next), span });
    }

    fn local(&self, local: LocalId, span: Span) -> Expr {
        Expr { kind: Kind::Local(local), ty: Type::REAL, variability: Variability::Continuous, span }
    }
}

/// Whether an operand may change between events by itself. What is counted changes where something else does.
fn varies(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::ToReal(_) => false,
        _ => expr.variability == Variability::Continuous && matches!(expr.ty.base, Base::Real),
    }
}

fn real(value: f64, span: Span) -> Expr {
    Expr { kind: Kind::Real(value), ty: Type::REAL, variability: Variability::Constant, span }
}

fn to_real(expr: &Expr) -> Expr {
    if matches!(expr.ty.base, Base::Real) {
        return expr.clone();
    }
    let integer = Expr { ty: Type::INTEGER, ..expr.clone() };
    Expr { kind: Kind::ToReal(Box::new(integer)), ty: Type::REAL, variability: expr.variability, span: expr.span }
}

/// `if condition then 1 else 0`.
fn choice(condition: &Expr) -> Expr {
    let span = condition.span;
    let [one, zero] = [1.0, 0.0].map(|value| Box::new(real(value, span)));
    let kind = Kind::If(Box::new(condition.clone()), one, zero);
    Expr { kind, ty: Type::REAL, variability: Variability::Continuous, span }
}

fn binary(op: ArithmeticOp, left: Expr, right: Expr) -> Expr {
    let (variability, span) = (left.variability.max(right.variability), left.span);
    Expr { kind: Kind::Arithmetic(op, Box::new(left), Box::new(right)), ty: Type::REAL, variability, span }
}

fn minus(left: Expr, right: Expr) -> Expr {
    binary(ArithmeticOp::Sub, to_real(&left), to_real(&right))
}

fn builtin(op: Builtin, arguments: Vec<Expr>, span: Span) -> Expr {
    let variability = arguments.iter().map(|argument| argument.variability).max().unwrap_or(Variability::Constant);
    Expr { kind: Kind::Builtin(op, arguments), ty: Type::REAL, variability, span }
}

fn abs(value: Expr) -> Expr {
    let span = value.span;
    builtin(Builtin::Abs, vec![value], span)
}
