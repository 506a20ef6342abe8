//! Events that come faster and faster, as those of a ball that comes to rest, or that chatter.

use base::{Decimal, Diagnostic, IdVec};
use dae::{ExprId, Model, Origin};
use rustc_hash::FxHashMap;
use solve::roots::Crossing;

use crate::machine::Trouble;

/// Watches for crossings that come faster and faster, as those of a ball that comes to rest, or that chatter.
#[derive(Default)]
pub struct RecentEvents {
    /// By crossing function and direction.
    rhythms: FxHashMap<(usize, i8), Rhythm>,
}

#[derive(Clone, Copy)]
struct Rhythm {
    last: f64,
    gap: f64,
    /// Events in a row each of which came clearly sooner after its predecessor than that one.
    shrinking: u32,
    /// Events in a row that the time can hardly tell apart.
    chattering: u32,
}

impl RecentEvents {
    /// Takes note of a crossing; an accumulation point or chattering is trouble.
    pub fn note(&mut self, crossing: &Crossing, time: f64, span: f64) -> Option<RestlessEvents> {
        let first = Rhythm { last: f64::NEG_INFINITY, gap: f64::INFINITY, shrinking: 0, chattering: 0 };
        let rhythm = self.rhythms.entry((crossing.function, crossing.to)).or_insert(first);
        let gap = time - rhythm.last;
        let shrinks = gap < 1e-5 * span && gap < 0.98 * rhythm.gap;
        let chatters = gap < 1e-9 * span;
        rhythm.shrinking = if shrinks { rhythm.shrinking + 1 } else { 0 };
        rhythm.chattering = if chatters { rhythm.chattering + 1 } else { 0 };
        (rhythm.last, rhythm.gap) = (time, gap);
        if rhythm.shrinking >= 8 {
            Some(RestlessEvents::Accumulate { gap })
        } else if rhythm.chattering >= 500 {
            Some(RestlessEvents::Chatter { gap })
        } else {
            None
        }
    }
}

pub enum RestlessEvents {
    Accumulate { gap: f64 },
    Chatter { gap: f64 },
}

impl RestlessEvents {
    pub fn trouble(&self, time: f64, model: &Model, relation: ExprId) -> Trouble {
        let time = Decimal(time);
        let expression = model.expression_text(relation);
        let rate = |gap: f64| format!("every {gap:.1e} s, {:.1e} times a second", 1.0 / gap);
        let mut diagnostic = match self {
            RestlessEvents::Accumulate { gap } => Diagnostic::error(
                "event-accumulation",
                format!("events accumulate at time {time}: {expression} changes ever faster, now {}", rate(*gap)),
            )
            .hint("the model comes to rest through infinitely many events; add a condition that ends it"),
            RestlessEvents::Chatter { gap } => Diagnostic::error(
                "chattering",
                format!("{expression} chatters at time {time}: it changes {}", rate(*gap)),
            )
            .hint("each branch drives the condition back to the other; add hysteresis, or noEvent where the value is continuous"),
        };
        if let Some(origin) = origin(model, relation) {
            if let Some(span) = origin.span {
                diagnostic = diagnostic.at(span, "in this equation");
            }
            let component = model.paths.text(origin.component);
            if !component.is_empty() {
                diagnostic = diagnostic.in_component(component);
            }
        }
        Trouble::Model(Box::new(diagnostic))
    }
}

/// Where the first equation or action stands that the relation is part of.
fn origin(model: &Model, relation: ExprId) -> Option<&Origin> {
    let mut holds: IdVec<ExprId, bool> = IdVec::with_capacity(model.exprs.len());
    for id in model.exprs.ids() {
        let mut found = id == relation;
        model.exprs.for_each_child(id, |child| found |= holds.get(child).copied().unwrap_or(false));
        holds.push(found);
    }
    let is_part = |expression: ExprId| holds.get(expression).copied().unwrap_or(false);
    let equations = model.equations.values().filter(|equation| is_part(equation.left) || is_part(equation.right));
    let actions = model.actions.iter().filter(|action| action.condition.is_some_and(is_part));
    equations.map(|equation| &equation.origin).chain(actions.map(|action| &action.origin)).next()
}
