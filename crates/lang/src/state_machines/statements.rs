//! `initialState(a)` and `transition(a, b, condition, immediate, reset, synchronize, priority)` (17.1), with everything
//! evaluated but the condition.

use base::{Diagnostic, Span};
use dae::PathId;
use smallvec::SmallVec;
use syntax::ast;

use crate::connect::collect::{integers, resolve};
use crate::elaborate::Elaborator;
use crate::flat::Indices;
use crate::instance::{ClassId, CompId, ComponentType, Frame, Outcome};
use crate::substitute::{Iteration, substitute};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    InitialState,
    Transition,
}

/// Whether a call in an equation section is one of the two statements.
pub(crate) fn operator(function: &ast::ComponentRef) -> Option<Operator> {
    match function.parts.as_slice() {
        [only] if only.ident.name == "initialState" => Some(Operator::InitialState),
        [only] if only.ident.name == "transition" => Some(Operator::Transition),
        _ => None,
    }
}

/// A block instance that a statement names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub component: CompId,
    pub indices: Indices,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub kind: StatementKind,
    pub span: Span,
    /// Where the text stands.
    pub frame: Frame,
    pub path: PathId,
}

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Initial(Named),
    Transition { from: Named, to: Named, condition: ast::Expr, options: Options },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Options {
    pub immediate: bool,
    pub reset: bool,
    pub synchronize: bool,
    pub priority: i64,
}

impl Statement {
    /// The states it names.
    pub fn states(&self) -> SmallVec<[&Named; 2]> {
        match &self.kind {
            StatementKind::Initial(state) => SmallVec::from_slice(&[state]),
            StatementKind::Transition { from, to, .. } => SmallVec::from_slice(&[from, to]),
        }
    }
}

/// Reads a statement, with the iterators of the loops around it.
pub(crate) fn read(
    elaborator: &mut Elaborator,
    frame: &Frame,
    iterators: &[Iteration],
    (operator, arguments): (Operator, &ast::Arguments),
    path: PathId,
    span: Span,
) -> Outcome<Statement> {
    let names: &[&str] = match operator {
        Operator::InitialState => &["state"],
        Operator::Transition => &["from", "to", "condition", "immediate", "reset", "synchronize", "priority"],
    };
    let slots = by_name(names, arguments, span)?;
    let mut reader = Reader { elaborator, frame, iterators, span };
    let kind = match operator {
        Operator::InitialState => StatementKind::Initial(reader.state(slots[0])?),
        Operator::Transition => StatementKind::Transition {
            from: reader.state(slots[0])?,
            to: reader.state(slots[1])?,
            condition: reader.condition(slots[2])?,
            options: Options {
                immediate: reader.flag(slots[3], true)?,
                reset: reader.flag(slots[4], true)?,
                synchronize: reader.flag(slots[5], false)?,
                priority: reader.priority(slots[6])?,
            },
        },
    };
    Ok(Statement { kind, span, frame: frame.clone(), path })
}

/// The arguments in the order of `names`; at least as many as there are names.
fn by_name<'a>(names: &[&str], arguments: &'a ast::Arguments, span: Span) -> Outcome<Vec<Option<&'a ast::Expr>>> {
    let mut slots = vec![None; names.len()];
    let positional = arguments.positional.iter().enumerate();
    let named = arguments.named.iter().map(|(ident, argument)| {
        let at = names.iter().position(|&known| ident.name == known);
        (at.ok_or(ident), argument)
    });
    for (at, argument) in positional.map(|(at, argument)| (Ok(at), argument)).chain(named) {
        let at = at.map_err(|ident| {
            Box::new(
                Diagnostic::error("unknown-argument", format!("there is no argument `{}` here", ident.name))
                    .at(ident.span, "not known")
                    .hint(format!("the arguments are {}", names.join(", ")))
                    .specification("17.1"),
            )
        })?;
        let (Some(slot), ast::FunctionArgument::Expr(expr)) = (slots.get_mut(at), argument) else {
            let message = format!("at most {} arguments are taken here", names.len());
            return Err(Box::new(Diagnostic::error("wrong-arguments", message).at(span, "").specification("17.1")));
        };
        *slot = Some(expr);
    }
    Ok(slots)
}

struct Reader<'r> {
    elaborator: &'r mut Elaborator,
    frame: &'r Frame,
    iterators: &'r [Iteration],
    span: Span,
}

impl Reader<'_> {
    fn missing(&self, what: &str) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::error("wrong-arguments", format!("{what} is missing"))
                .at(self.span, "")
                .hint("write `initialState(state)` or `transition(from, to, condition)`")
                .specification("17.1"),
        )
    }

    fn state(&mut self, argument: Option<&ast::Expr>) -> Outcome<Named> {
        let Some(expr) = argument else { return Err(self.missing("a state")) };
        let ast::ExprKind::Ref(reference) = &expr.kind else {
            return Err(no_block(expr.span, "this is an expression"));
        };
        let found = resolve(self.elaborator, self.frame, self.iterators, reference)?;
        let (Some(&component), [indices], true) =
            (found.steps.last(), found.elements.as_slice(), found.sizes.is_empty())
        else {
            return Err(no_block(expr.span, "this is an array: name one of its elements"));
        };
        let ComponentType::Class(class) = self.elaborator.instances.component_type(component)? else {
            return Err(no_block(expr.span, "this is a variable"));
        };
        let what = match self.elaborator.instances.kind(class) {
            ast::ClassKind::Block | ast::ClassKind::Model | ast::ClassKind::Class => None,
            ast::ClassKind::Connector | ast::ClassKind::ExpandableConnector => Some("this is a connector"),
            ast::ClassKind::Record | ast::ClassKind::OperatorRecord => Some("this is a record"),
            _ => Some("this is no block"),
        };
        match what {
            None => {
                self.check_kind(class, expr.span);
                Ok(Named { component, indices: indices.clone(), span: expr.span })
            }
            Some(what) => Err(no_block(expr.span, what)),
        }
    }

    /// The specification asks for blocks; other tools are not strict about it.
    fn check_kind(&mut self, class: ClassId, span: Span) {
        if self.elaborator.instances.kind(class) != ast::ClassKind::Block {
            let name = self.elaborator.instances.class_name(class);
            let diagnostic = Diagnostic::warning("state-class", format!("the class `{name}` of a state is no block"))
                .at(span, "used as a state")
                .specification("17.1");
            self.elaborator.report(diagnostic);
        }
    }

    fn condition(&mut self, argument: Option<&ast::Expr>) -> Outcome<ast::Expr> {
        match argument {
            Some(expr) => Ok(substitute(expr, self.iterators, None)),
            None => Err(self.missing("the condition of the transition")),
        }
    }

    fn flag(&mut self, argument: Option<&ast::Expr>, default: bool) -> Outcome<bool> {
        let Some(expr) = argument else { return Ok(default) };
        self.elaborator.evaluate_condition(self.frame, &substitute(expr, self.iterators, None))
    }

    fn priority(&mut self, argument: Option<&ast::Expr>) -> Outcome<i64> {
        let Some(expr) = argument else { return Ok(1) };
        match integers(self.elaborator, self.frame, &substitute(expr, self.iterators, None))?.0.as_slice() {
            &[priority] if priority >= 1 => Ok(priority),
            _ => Err(Box::new(
                Diagnostic::error("transition-priority", "the priority of a transition must be an Integer above zero")
                    .at(expr.span, "not above zero")
                    .specification("17.1"),
            )),
        }
    }
}

fn no_block(span: Span, what: &str) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error("not-a-state", "a state must be an instance of a block").at(span, what).specification("17.1"),
    )
}
