//! Events after which several combinations of conditions are consistent, reported in the terms of the model.
//!
//! A combination that stays consistent is kept, since elements with memory rely on it. Only where the last one does not
//! hold any more, and what it asks for does not hold either, are the others compared: then the equations do not say which
//! comes next.

use base::{Decimal, Diagnostic};
use compile::{Program, RelationId, RelationKind, SystemId};
use dae::{CompareOp, Node, VarId};

/// Two consistent combinations of one event.
#[derive(Clone, Debug)]
pub struct Ambiguity {
    pub system: SystemId,
    pub time: f64,
    pub difference: Difference,
}

/// In what two combinations differ: for each, how it is in the combination taken and in the other one.
#[derive(Clone, Debug)]
pub enum Difference {
    /// Relations, with the sign of left − right.
    Relations(Vec<(RelationId, f64, f64)>),
    /// Boolean variables that depend on each other alone, with their values.
    Variables(Vec<(VarId, f64, f64)>),
}

impl Ambiguity {
    pub fn warning(&self, program: &Program) -> Diagnostic {
        match &self.difference {
            Difference::Relations(relations) => self.of_relations(program, relations),
            Difference::Variables(variables) => self.of_variables(program, variables),
        }
    }

    fn of_relations(&self, program: &Program, relations: &[(RelationId, f64, f64)]) -> Diagnostic {
        let model = program.model();
        let unknowns = &program.systems[self.system].unknowns;
        let names: Vec<String> = unknowns.iter().take(8).map(|&id| model.variable_name(id)).collect();
        let text = |relation: RelationId| model.expression_text(program.layout.relations[relation].expression);
        let combination = |sign: fn(&(RelationId, f64, f64)) -> f64| -> String {
            let one = |entry: &(RelationId, f64, f64)| {
                format!("{} = {}", text(entry.0), truth(program, entry.0, sign(entry)))
            };
            relations.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let message = format!(
            "more than one combination of conditions is consistent for {} at time {}; the first one found was taken",
            names.join(", "),
            Decimal(self.time)
        );
        let mut diagnostic = Diagnostic::warning("ambiguous-conditions", message)
            .decides()
            .note(format!("taken: {}", combination(|entry| entry.1)))
            .note(format!("as consistent: {}", combination(|entry| entry.2)))
            .hint("the equations do not say which; give the conditions a memory with `pre(…)`, or one of the elements a delay");
        for &(relation, ..) in relations.iter().take(4) {
            let expression = program.layout.relations[relation].expression;
            let holds = |equation: &&dae::Equation| {
                model.exprs.postorder(&[equation.left, equation.right]).contains(&expression)
            };
            let Some(equation) = model.equations.values().find(holds) else { continue };
            let component = model.paths.text(equation.origin.component);
            let place = if component.is_empty() { String::new() } else { format!(", in component `{component}`") };
            diagnostic = match equation.origin.span {
                Some(span) => diagnostic.at(span, format!("decided by {}{place}", text(relation))),
                None => diagnostic.note(format!("{} stands in{place}", text(relation))),
            };
        }
        diagnostic
    }

    fn of_variables(&self, program: &Program, variables: &[(VarId, f64, f64)]) -> Diagnostic {
        let model = program.model();
        let system = &program.systems[self.system];
        let names: Vec<String> =
            system.discrete.iter().take(8).map(|&id| format!("`{}`", model.variable_name(id))).collect();
        let combination = |value: fn(&(VarId, f64, f64)) -> f64| -> String {
            let one = |entry: &(VarId, f64, f64)| format!("{} = {}", model.variable_name(entry.0), value(entry) != 0.0);
            variables.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let subject = match names.as_slice() {
            [one] => format!("{one} depends on itself"),
            several => format!("{} depend on each other", several.join(", ")),
        };
        let message = format!(
            "{subject}, and more than one combination of values is consistent at time {}; the first one found was taken",
            Decimal(self.time)
        );
        let mut diagnostic = Diagnostic::warning("ambiguous-loop", message)
            .decides()
            .note(format!("taken: {}", combination(|entry| entry.1)))
            .note(format!("as consistent: {}", combination(|entry| entry.2)))
            .hint("the equations do not say which; let one of them depend on `pre(…)` of another");
        for &equation in system.discrete_equations.iter().take(4) {
            let origin = &model.equations[equation].origin;
            let component = model.paths.text(origin.component);
            let place = if component.is_empty() { String::new() } else { format!(", in component `{component}`") };
            if let Some(span) = origin.span {
                diagnostic = diagnostic.at(span, format!("part of the loop{place}"));
            }
        }
        diagnostic
    }
}

/// Whether a relation holds in the model's words, by the sign of left − right.
fn truth(program: &Program, relation: RelationId, sign: f64) -> bool {
    let relation = &program.layout.relations[relation];
    let Node::Compare { op, left, .. } = program.model().exprs.node(relation.expression) else { return sign > 0.0 };
    let is_turned = !matches!(relation.kind, RelationKind::Compare { left: own, .. } if own == left);
    let sign = if is_turned { -sign } else { sign };
    match op {
        CompareOp::Less => sign < 0.0,
        CompareOp::LessEqual => sign <= 0.0,
        CompareOp::Greater => sign > 0.0,
        CompareOp::GreaterEqual => sign >= 0.0,
        CompareOp::Equal => sign == 0.0,
        CompareOp::NotEqual => sign != 0.0,
    }
}
