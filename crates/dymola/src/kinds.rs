//! What the equations say about variables: whether they are numbers or true and false, whether they are differentiated, and
//! which of them are discrete states.
//!
//! The language has no types. A variable is Boolean where it is used as a condition or equal to one; this spreads over equations,
//! submodels, inheritance and connections of the file. All others are numbers.

use base::{Diagnostic, Span};

use crate::ast::*;
use crate::classes::{ClassId, Classes, VariableId};
use crate::connections::{Joined, Point};
use crate::functions;
use crate::language;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Real,
    Boolean,
    /// A discrete state that has whole numbers as values.
    Integer,
}

#[derive(Clone, Copy, Default)]
pub struct Facts {
    pub differentiated: bool,
    /// It is the derivative of a variable that has a second one.
    pub is_rate: bool,
    /// `new` of it stands outside of `when`.
    new_outside: Option<Span>,
    new_in_when: bool,
    /// It is determined in `when` without `new`.
    pub set_in_when: bool,
    not_whole: bool,
    /// Where it changes first: by a derivative, a new value, or in `when`.
    changes: Option<Span>,
}

impl Facts {
    /// A variable without derivative that has a value after the event: by itself it stands for the value before.
    pub fn is_state(self) -> bool {
        !self.differentiated && (self.new_outside.is_some() || self.new_in_when)
    }

    /// It changes at events only, by equations in `when`.
    pub fn is_discrete(self) -> bool {
        !self.differentiated && (self.new_in_when || self.set_in_when)
    }
}

pub struct Kinds {
    /// For every variable.
    pub facts: Vec<Facts>,
    pub kinds: Vec<Kind>,
    /// For every variable, the classes of the objects in which it is differentiated.
    differentiated: Vec<Vec<ClassId>>,
}

impl Kinds {
    /// Whether objects of a class have the derivative of one of its variables.
    pub fn is_differentiated(&self, classes: &Classes, class: ClassId, variable: VariableId) -> bool {
        self.differentiated[variable].iter().any(|&of| classes.extends(class, of))
    }
}

/// What is known about an expression.
#[derive(Clone, Copy)]
enum Sort {
    Known(Kind, Span),
    OfVariable(VariableId, Span),
    Unknown,
}

impl Sort {
    fn place(self) -> Option<Span> {
        match self {
            Sort::Known(_, span) | Sort::OfVariable(_, span) => Some(span),
            Sort::Unknown => None,
        }
    }
}

const CONVERT: &str =
    "a condition becomes a number by `if condition then 1 else 0`, a number becomes a condition by `x > 0.5`";

fn name_of(kind: Kind) -> &'static str {
    if kind == Kind::Boolean { "true or false" } else { "a number" }
}

/// Why a variable is of its kind.
fn because(diagnostic: Diagnostic, sort: Sort, kind: Kind, reason: Span) -> Diagnostic {
    match sort {
        Sort::OfVariable(_, place) if place != reason => {
            diagnostic.at(reason, format!("this makes it {}", name_of(kind)))
        }
        _ => diagnostic,
    }
}

pub fn infer(classes: &Classes, joined: &[Joined], diagnostics: &mut Vec<Diagnostic>) -> Kinds {
    let count = classes.variables.len();
    let mut inference = Inference {
        classes,
        class: 0,
        parents: (0..count).collect(),
        known: vec![None; count],
        facts: vec![Facts::default(); count],
        differentiated: vec![Vec::new(); count],
        twice: vec![false; count],
        inside: Vec::new(),
        rates: Vec::new(),
        equal_wholes: Vec::new(),
        diagnostics,
    };
    for (class, (described, joined)) in classes.classes.iter().zip(joined).enumerate() {
        inference.class = class;
        for item in &described.model.items {
            inference.item(item);
        }
        inference.connections(joined);
    }
    inference.finish()
}

struct Inference<'a, 'd> {
    classes: &'d Classes<'a>,
    class: ClassId,
    /// Variables of one kind form trees.
    parents: Vec<VariableId>,
    known: Vec<Option<(Kind, Span)>>,
    facts: Vec<Facts>,
    differentiated: Vec<Vec<ClassId>>,
    /// Which variables have a second derivative.
    twice: Vec<bool>,
    /// The variables of `der(expression)`, with the classes of the objects that have them.
    inside: Vec<(ClassId, VariableId, Span)>,
    /// `v = x'`, with the class of the object that has `v`.
    rates: Vec<(ClassId, VariableId, VariableId)>,
    /// The first is a whole number if the second is one.
    equal_wholes: Vec<(VariableId, VariableId)>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Inference<'_, '_> {
    fn root(&mut self, mut variable: VariableId) -> VariableId {
        while self.parents[variable] != variable {
            self.parents[variable] = self.parents[self.parents[variable]];
            variable = self.parents[variable];
        }
        variable
    }

    fn knowledge(&mut self, sort: Sort) -> Option<(Kind, Span)> {
        match sort {
            Sort::Known(kind, span) => Some((kind, span)),
            Sort::OfVariable(variable, _) => {
                let root = self.root(variable);
                self.known[root]
            }
            Sort::Unknown => None,
        }
    }

    /// Both are of one kind.
    fn unify(&mut self, one: Sort, other: Sort) -> Sort {
        if let (Some(known), Some(other_known)) = (self.knowledge(one), self.knowledge(other)) {
            if known.0 != other_known.0 {
                self.mismatch(one, known, other, other_known);
            }
            return one;
        }
        match (one, other) {
            (Sort::Unknown, sort) | (sort, Sort::Unknown) => sort,
            (Sort::OfVariable(one_variable, _), Sort::OfVariable(other_variable, _)) => {
                let (one_root, other_root) = (self.root(one_variable), self.root(other_variable));
                let known = self.known[one_root].or(self.known[other_root]);
                self.parents[other_root] = one_root;
                self.known[one_root] = known;
                one
            }
            (Sort::OfVariable(variable, _), Sort::Known(kind, span))
            | (Sort::Known(kind, span), Sort::OfVariable(variable, _)) => {
                let root = self.root(variable);
                self.known[root] = Some((kind, span));
                one
            }
            (Sort::Known(..), Sort::Known(..)) => one,
        }
    }

    /// Two sides of an equation, two values of a choice, or two connected variables differ.
    fn mismatch(&mut self, one: Sort, known: (Kind, Span), other: Sort, other_known: (Kind, Span)) {
        let mut diagnostic = Diagnostic::error("number-or-truth", "a number cannot be equal to true or false");
        let sides = [(one, known), (other, other_known)];
        for (sort, (kind, reason)) in sides {
            let place = sort.place().unwrap_or(reason);
            diagnostic = diagnostic.at(place, format!("this is {}", name_of(kind)));
        }
        for (sort, (kind, reason)) in sides {
            diagnostic = because(diagnostic, sort, kind, reason);
        }
        self.diagnostics.push(diagnostic.hint(CONVERT).note(language::see("Variables")));
    }

    /// The expression is of this kind, by its place.
    fn needs(&mut self, expression: &Expr, kind: Kind) {
        let sort = self.expression(expression);
        let Some((found, reason)) = self.knowledge(sort).filter(|(found, _)| *found != kind) else {
            self.unify(sort, Sort::Known(kind, expression.span));
            return;
        };
        let message = format!("{} is needed here, but this is {}", name_of(kind), name_of(found));
        let diagnostic = Diagnostic::error("number-or-truth", message).at(expression.span, "");
        let diagnostic = because(diagnostic, sort, found, reason);
        self.diagnostics.push(diagnostic.hint(CONVERT).note(language::see("Variables")));
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Variables { variables, .. } => {
                for variable in variables {
                    let Some(value) = &variable.value else { continue };
                    let sort = self.expression(value);
                    if let Some(&id) = self.classes.classes[self.class].variables.get(&variable.name.name) {
                        self.unify(Sort::OfVariable(id, variable.name.span), sort);
                        self.facts[id].not_whole |= whole_number(value) != Some(Vec::new());
                    }
                }
            }
            ItemKind::Submodels { submodels, .. } => submodels.iter().for_each(|submodel| self.submodel(submodel)),
            ItemKind::Equation(equation) => self.equation(equation, false),
            ItemKind::When(when) => {
                self.needs(&when.condition, Kind::Boolean);
                when.equations.iter().for_each(|equation| self.equation(equation, true));
            }
            ItemKind::Cuts { .. } | ItemKind::Paths { .. } | ItemKind::Nodes(_) | ItemKind::Connect(_) => {}
        }
    }

    fn submodel(&mut self, submodel: &Submodel) {
        for (name, value) in &submodel.values {
            let sort = self.expression(value);
            let parts = vec![submodel.name, *name];
            let reference = Reference { parts, span: name.span };
            if let Some(variable) = self.resolve(&reference) {
                self.unify(Sort::OfVariable(variable, name.span), sort);
                self.facts[variable].not_whole |= whole_number(value) != Some(Vec::new());
            }
        }
    }

    fn equation(&mut self, equation: &Equation, in_when: bool) {
        let (left, right) = (self.expression(&equation.left), self.expression(&equation.right));
        self.unify(left, right);
        if !in_when {
            self.needs_unknown(equation);
        }
        for (side, other) in [(&equation.left, &equation.right), (&equation.right, &equation.left)] {
            let wholes = whole_number(other).map(|references| {
                let variable = |reference: &&Reference| self.classes.resolve(self.class, reference).ok().flatten();
                references.iter().map(variable).collect::<Vec<Option<VariableId>>>()
            });
            side.walk(&mut |part| {
                if let ExprKind::New(reference) = &part.kind
                    && let Ok(Some(variable)) = self.classes.resolve(self.class, reference)
                {
                    let facts = &mut self.facts[variable];
                    facts.new_in_when |= in_when;
                    facts.changes.get_or_insert(part.span);
                    if !in_when {
                        facts.new_outside.get_or_insert(part.span);
                        match wholes.as_ref().filter(|_| std::ptr::eq(part, side)) {
                            Some(wholes) if wholes.iter().all(Option::is_some) => {
                                self.equal_wholes.extend(wholes.iter().flatten().map(|&other| (variable, other)));
                            }
                            _ => facts.not_whole = true,
                        }
                    }
                }
            });
        }
        self.rate(equation, in_when);
        if in_when
            && let ExprKind::Reference(reference) = &equation.left.kind
            && let Ok(Some(variable)) = self.classes.resolve(self.class, reference)
        {
            self.facts[variable].set_in_when = true;
            self.facts[variable].changes.get_or_insert(equation.left.span);
        }
    }

    /// An equation of parameters and own inputs determines nothing.
    fn needs_unknown(&mut self, equation: &Equation) {
        let (mut is_known, mut first) = (true, None);
        for side in [&equation.left, &equation.right] {
            side.walk(&mut |part| match &part.kind {
                ExprKind::Reference(reference) => match self.classes.resolve(self.class, reference) {
                    Ok(Some(variable)) => {
                        let role = self.classes.variables[variable].role;
                        let is_own_input = role == Role::Input && reference.parts.len() == 1;
                        is_known &= is_own_input || matches!(role, Role::Parameter | Role::Constant);
                        first.get_or_insert((reference, role));
                    }
                    _ => is_known = false,
                },
                ExprKind::New(_) | ExprKind::Derivative(..) | ExprKind::Missing => is_known = false,
                _ => {}
            });
        }
        let Some((reference, role)) = first.filter(|_| is_known) else { return };
        let parts: Vec<&str> = reference.parts.iter().map(|part| part.name.as_str()).collect();
        let name = parts.join(".");
        let (what, hint) = match (role, &parts[..]) {
            (Role::Input, _) => {
                ("an input, which is given from outside", format!("declare it by `local`: `local {name}`"))
            }
            (_, [owner, .., last]) => {
                ("a parameter", format!("its value stands with the submodel: `{owner}({last} = …)`"))
            }
            _ => ("a parameter", format!("its value stands with its declaration: `parameter {name} = …`")),
        };
        let message = format!("this equation determines nothing: `{name}` is {what}");
        self.diagnostics.push(language::error("no-unknown", message, equation.span, "", hint, "Variables"));
    }

    /// `v = x'` or `x' = v`.
    fn rate(&mut self, equation: &Equation, in_when: bool) {
        for (side, other) in [(&equation.left, &equation.right), (&equation.right, &equation.left)] {
            if !in_when
                && let ExprKind::Reference(rate) = &side.kind
                && let ExprKind::Derivative(inner, 1) = &other.kind
                && let ExprKind::Reference(reference) = &inner.kind
                && let Ok(Some((of, rate))) = self.classes.resolve_with_owner(self.class, rate)
                && let Ok(Some(variable)) = self.classes.resolve(self.class, reference)
            {
                self.rates.push((of, rate, variable));
            }
        }
    }

    fn connections(&mut self, joined: &Joined) {
        for join in joined.statements.iter().flatten() {
            let cut = |point: &Point| match point {
                Point::Cut { cut, .. } => Some(*cut),
                Point::Node { node, part } => joined.nodes.get(node)?.get(*part).copied(),
                Point::Foreign(_) => None,
            };
            let (Some(left), Some(right)) = (cut(&join.left), cut(&join.right)) else { continue };
            let (left, right) = (self.classes.slots(left), self.classes.slots(right));
            let pairs = left.across.iter().zip(&right.across).chain(left.through.iter().zip(&right.through));
            for (left, right) in pairs {
                let of = |variable| Sort::OfVariable(variable, join.span);
                self.unify(of(left.variable), of(right.variable));
            }
        }
    }

    fn resolve(&mut self, reference: &Reference) -> Option<VariableId> {
        match self.classes.resolve(self.class, reference) {
            Ok(variable) => variable,
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                None
            }
        }
    }

    fn expression(&mut self, expression: &Expr) -> Sort {
        let span = expression.span;
        match &expression.kind {
            ExprKind::Number(_) | ExprKind::One | ExprKind::Time => Sort::Known(Kind::Real, span),
            ExprKind::Truth(_) => Sort::Known(Kind::Boolean, span),
            ExprKind::Missing => Sort::Unknown,
            ExprKind::Reference(reference) | ExprKind::New(reference) => match self.resolve(reference) {
                Some(variable) => Sort::OfVariable(variable, span),
                None => Sort::Unknown,
            },
            ExprKind::Derivative(inner, order) => {
                self.needs(inner, Kind::Real);
                self.derivative(inner, *order, span);
                Sort::Known(Kind::Real, span)
            }
            ExprKind::Call(name, arguments) => {
                self.call(*name, arguments, span);
                arguments.iter().for_each(|argument| self.needs(argument, Kind::Real));
                Sort::Known(Kind::Real, span)
            }
            ExprKind::Parentheses(inner) => self.expression(inner),
            ExprKind::Negative(inner) => {
                self.needs(inner, Kind::Real);
                Sort::Known(Kind::Real, span)
            }
            ExprKind::Not(inner) => {
                self.needs(inner, Kind::Boolean);
                Sort::Known(Kind::Boolean, span)
            }
            ExprKind::Operators(first, rest) => self.operators(first, rest, span),
            ExprKind::If(branches, last) => {
                let mut sort = self.expression(last);
                for (condition, value) in branches {
                    self.needs(condition, Kind::Boolean);
                    let value = self.expression(value);
                    sort = self.unify(value, sort);
                }
                sort
            }
        }
    }

    fn operators(&mut self, first: &Expr, rest: &[(Operator, Span, Expr)], span: Span) -> Sort {
        let (operands, result) = match rest.first().map(|(operator, ..)| *operator) {
            Some(Operator::And | Operator::Or) => (Kind::Boolean, Kind::Boolean),
            Some(Operator::Relation) => (Kind::Real, Kind::Boolean),
            _ => (Kind::Real, Kind::Real),
        };
        self.needs(first, operands);
        rest.iter().for_each(|(_, _, operand)| self.needs(operand, operands));
        Sort::Known(result, span)
    }

    fn derivative(&mut self, inner: &Expr, order: u32, span: Span) {
        let ExprKind::Reference(reference) = &inner.kind else {
            if order == 1 {
                return self.derivative_of_expression(inner, span);
            }
            let message = "only variables have derivatives";
            let hint = "declare a variable for it: `local x`, `x = …`, `der(x)`";
            self.diagnostics.push(language::error("no-derivative", message, inner.span, "", hint, "Equations"));
            return;
        };
        if order > 2 {
            let message = "derivatives of higher order than two need further variables";
            let hint = "declare one: `local v`, `v = der(x)`";
            self.diagnostics.push(language::error("no-derivative", message, span, "", hint, "Equations"));
        }
        if let Ok(Some((of, variable))) = self.classes.resolve_with_owner(self.class, reference) {
            self.twice[variable] |= order == 2;
            if !self.differentiated[variable].contains(&of) {
                self.differentiated[variable].push(of);
            }
            self.facts[variable].differentiated = true;
            self.facts[variable].changes.get_or_insert(span);
        }
    }

    /// The derivative of an expression has those of its variables.
    fn derivative_of_expression(&mut self, inner: &Expr, span: Span) {
        inner.walk(&mut |part| {
            if let ExprKind::Reference(reference) = &part.kind
                && let Ok(Some((of, variable))) = self.classes.resolve_with_owner(self.class, reference)
                && !matches!(self.classes.variables[variable].role, Role::Parameter | Role::Constant | Role::Input)
            {
                self.inside.push((of, variable, span));
            }
        });
    }

    /// Discrete variables may stand in the derivative of an expression; they have none.
    fn mark_inside(&mut self) {
        for (of, variable, span) in std::mem::take(&mut self.inside) {
            let facts = &mut self.facts[variable];
            if !facts.is_state() && !facts.is_discrete() {
                facts.differentiated = true;
                facts.changes.get_or_insert(span);
                self.differentiated[variable].push(of);
            }
        }
    }

    fn call(&mut self, name: Ident, arguments: &[Expr], span: Span) {
        let Some(function) = functions::find(name.name.as_str()) else {
            let known = functions::FUNCTIONS.iter().map(|function| function.name);
            let is_pre = name.name == "pre";
            let hint = match language::near(name.name.as_str(), known.chain(["der", "new"])) {
                Some(near) if !is_pre => format!("did you mean `{near}`?"),
                None if self.classes.variable(self.class, name.name).is_some() => {
                    format!("`{}` is a variable; a product needs `*`", name.name)
                }
                _ if is_pre => "a discrete variable by itself is its value before the event: write `x`".to_owned(),
                _ => "the language has no functions of its own".to_owned(),
            };
            let message = format!("there is no function `{}`", name.name);
            self.diagnostics.push(language::error("unknown-function", message, name.span, "", hint, "Functions"));
            return;
        };
        if arguments.len() != function.arguments {
            let (found, needed) = (arguments.len(), function.arguments);
            let message = format!("`{}` has {found} arguments, but needs {needed}", name.name);
            self.diagnostics.push(language::error(
                "arguments",
                message,
                span,
                "",
                "arguments are separated by commas",
                "Functions",
            ));
        }
    }

    fn finish(mut self) -> Kinds {
        self.mark_inside();
        for (of, rate, variable) in std::mem::take(&mut self.rates) {
            if self.twice[variable] {
                self.facts[rate].is_rate = true;
                self.differentiated[rate].push(of);
            }
        }
        let count = self.parents.len();
        let mut kinds: Vec<Kind> = (0..count)
            .map(|variable| {
                let root = self.root(variable);
                self.known[root].map_or(Kind::Real, |(kind, _)| kind)
            })
            .collect();
        let wholes = self.wholes(&kinds);
        for (variable, facts) in self.facts.iter().enumerate() {
            let (name, role) = (self.classes.variables[variable].name, self.classes.variables[variable].role);
            if matches!(role, Role::Parameter | Role::Constant)
                && let Some(span) = facts.changes
            {
                let message = format!("`{}` is a parameter and does not change", name.name);
                let hint = "declare it by `local`";
                self.diagnostics.push(
                    language::error("parameter-changes", message, span, "", hint, "Variables")
                        .at(name.span, "declared here"),
                );
                continue;
            }
            let Some(span) = facts.new_outside else { continue };
            if facts.differentiated {
                let message = format!("`{}` has a derivative, so it gets new values only in `when`", name.name);
                let hint = "write `when condition then new(x) = … endwhen`";
                let section = "Instantaneous equations";
                self.diagnostics.push(language::error("new-outside-when", message, span, "", hint, section));
            } else if facts.new_in_when {
                // Determined there; elsewhere its new value is read.
            } else if kinds[variable] == Kind::Real && wholes[variable] {
                kinds[variable] = Kind::Integer;
            } else if kinds[variable] == Kind::Real {
                let message = format!("`{}` is a number: outside of `when` it would change without end", name.name);
                let hint = "write `when condition then new(x) = … endwhen`, or use true and false";
                let section = "Instantaneous equations";
                self.diagnostics.push(language::error("new-outside-when", message, span, "", hint, section));
            }
        }
        Kinds { facts: self.facts, kinds, differentiated: self.differentiated }
    }

    /// Which variables have whole numbers as new values: all of which nothing says the contrary.
    fn wholes(&self, kinds: &[Kind]) -> Vec<bool> {
        let is_candidate =
            |(facts, kind): (&Facts, &Kind)| facts.new_outside.is_some() && !facts.not_whole && *kind == Kind::Real;
        let mut wholes: Vec<bool> = self.facts.iter().zip(kinds).map(is_candidate).collect();
        loop {
            let broken = self.equal_wholes.iter().find(|(one, other)| wholes[*one] && !wholes[*other]);
            match broken {
                Some(&(variable, _)) => wholes[variable] = false,
                None => return wholes,
            }
        }
    }
}

/// The variables whose values an expression has besides whole numbers, as `if … then 1 else x` has; none where it has others.
fn whole_number(expression: &Expr) -> Option<Vec<&Reference>> {
    match &expression.kind {
        ExprKind::Number(true) => Some(Vec::new()),
        ExprKind::Reference(reference) | ExprKind::New(reference) => Some(vec![reference]),
        ExprKind::Parentheses(inner) | ExprKind::Negative(inner) => whole_number(inner),
        ExprKind::If(branches, last) => {
            let mut all = whole_number(last)?;
            for (_, value) in branches {
                all.extend(whole_number(value)?);
            }
            Some(all)
        }
        _ => None,
    }
}
