//! What equal variables say about themselves becomes what the one says that stands for them: start, fixed, nominal, min,
//! max and stateSelect. Start values that differ are reported (specification 8.6).

use std::sync::Arc;

use base::{Diagnostic, IdVec, Severity};
use dae::{
    Attributes, Builtin, Equation, EquationRole, ExprId, Exprs, Node, Origin, OriginKind, StateSelect, VarId,
    VariableType,
};

use crate::aliases::{Target, signed};
use crate::decisions::Subject;
use crate::work::Work;

/// The variable that stands for others takes over what they say: a fixed start value first, then the start value that was
/// written nearest to the top of the model; the narrower range; the stronger wish to be a state.
pub fn merge_all(work: &mut Work, targets: &IdVec<VarId, Target>) {
    let mut members: Vec<(VarId, Confidence, VarId, bool)> = Vec::new();
    for variable in work.model.variables.ids() {
        if let Target::Alias { of, negated } = targets[variable]
            && work.is_unknown(of)
            && *work.model.variables[variable].attributes != Attributes::default()
        {
            members.push((of, confidence(work, variable), variable, negated));
        }
    }
    members.sort_unstable();
    let mut differing = Vec::new();
    let mut best: Option<(VarId, Confidence)> = None;
    for (of, given, variable, negated) in members {
        let own = best.filter(|&(last, _)| last == of).map_or_else(|| confidence(work, of), |(_, own)| own);
        best = Some((of, own.min(given)));
        let other = work.model.variables[variable].attributes.clone();
        let mut merged = (*work.model.variables[of].attributes).clone();
        match compare_starts(work, &merged, &other, (of, negated)) {
            Starts::Contradict => {
                let warning = contradiction(work, of, variable, negated);
                work.summary.notices.push(warning);
            }
            Starts::Differ if given < own => differing.push((variable, of)),
            Starts::Differ => differing.push((of, variable)),
            Starts::Agree => {}
        }
        note_confidence(work, &merged, &other);
        merge(work, &mut merged, &other, negated, variable, of);
        if given < own && !is_fixed(&work.model.exprs, &merged) {
            let boolean = work.model.variables[of].ty == VariableType::Boolean;
            merged.start = other.start.map(|start| signed(&mut work.model.exprs, start, negated, boolean));
            merged.start_level = other.start_level;
        }
        if merged != *work.model.variables[of].attributes {
            work.model.variables[of].attributes = Arc::new(merged);
        }
    }
    note_unused_starts(work, &differing);
}

/// How little a start value is to be trusted (specification 8.6.2): the depth at which the parameter that gives it was
/// last set, then the depth at which the start value itself was.
pub type Confidence = (u16, u16);

pub fn confidence(work: &Work, variable: VarId) -> Confidence {
    let attributes = &work.model.variables[variable].attributes;
    let Some(start) = attributes.start else { return (u16::MAX, u16::MAX) };
    let mut lowest = attributes.start_level;
    let mut value = start;
    // A cycle of bindings has been refused before.
    while let Node::Var(parameter) = work.model.exprs.node(value) {
        let Some(binding) = work.model.variables[parameter].binding else { break };
        lowest = lowest.min(work.model.variables[parameter].attributes.binding_level);
        value = binding;
    }
    (lowest, attributes.start_level)
}

/// Whether the start value of `variable` is the default of its type, which suits no unknown in particular.
pub fn has_start_of_type(work: &Work, variable: VarId) -> bool {
    let attributes = &work.model.variables[variable].attributes;
    let paths = &work.model.paths;
    let depth = std::iter::successors(Some(work.model.variables[variable].path), |&path| paths.parent(path))
        .filter(|&path| path != paths.root())
        .count();
    attributes.start.is_some() && usize::from(attributes.start_level) > depth
}

/// A parameter that is set gains confidence: which of two start values counts may then change.
fn note_confidence(work: &mut Work, one: &Attributes, other: &Attributes) {
    let (Some(a), Some(b)) = (one.start, other.start) else { return };
    if a == b || is_fixed(&work.model.exprs, one) || is_fixed(&work.model.exprs, other) {
        return;
    }
    for start in [a, b] {
        let mut value = start;
        while let Node::Var(parameter) = work.model.exprs.node(value) {
            work.note_values(&[value], Subject::Start, None);
            let Some(binding) = work.model.variables[parameter].binding else { break };
            value = binding;
        }
    }
}

pub fn is_fixed(exprs: &Exprs, attributes: &Attributes) -> bool {
    attributes.fixed.is_some_and(|fixed| exprs.as_boolean(fixed) != Some(false))
}

/// What two variables that are equal say about their start values.
enum Starts {
    Agree,
    /// One of them is used, the other is not.
    Differ,
    /// Both are fixed, with different values.
    Contradict,
}

fn compare_starts(work: &mut Work, a: &Attributes, b: &Attributes, (of, negated): (VarId, bool)) -> Starts {
    let (Some(x), Some(y)) = (a.start, b.start) else { return Starts::Agree };
    let is_boolean = work.model.variables[of].ty == VariableType::Boolean;
    let y = signed(&mut work.model.exprs, y, negated, is_boolean);
    let (Some(x), Some(y)) = (number(work, x), number(work, y)) else { return Starts::Agree };
    let is_fixed = |a: &Attributes| a.fixed.is_some_and(|fixed| work.model.exprs.as_boolean(fixed) == Some(true));
    match (is_fixed(a), is_fixed(b)) {
        _ if x == y => Starts::Agree,
        (true, true) => Starts::Contradict,
        (false, false) => Starts::Differ,
        _ => Starts::Agree,
    }
}

/// The value of an expression of parameters as far as it is known, truth as a number.
fn number(work: &mut Work, expr: ExprId) -> Option<f64> {
    let values = &work.values;
    let value = work.model.exprs.substitute(&[expr], &mut work.value_memo, |v| values[v])[0];
    let truth = work.model.exprs.as_boolean(value);
    truth.map(|truth| f64::from(u8::from(truth))).or_else(|| work.model.exprs.as_real(value))
}

/// What is said about two variables that are equal or opposite, while their fixed start values are not.
pub fn contradiction(work: &Work, of: VarId, variable: VarId, negated: bool) -> Diagnostic {
    let [one, other] = [of, variable].map(|variable| {
        let start = work.model.variables[variable].attributes.start;
        let start = start.map_or_else(|| "the default".to_owned(), |start| work.model.expression_text(start));
        (work.model.variable_name(variable), start)
    });
    let relation = if negated { "opposite" } else { "equal" };
    let message = format!(
        "`{}` and `{}` are {relation}, but their fixed start values are not: {} and {}",
        one.0, other.0, one.1, other.1
    );
    let warning = Diagnostic::warning("fixed-starts-differ", message)
        .hint("remove `fixed = true` from one of them")
        .specification("8.6")
        .decides();
    let spans = [of, variable].into_iter().filter_map(|variable| work.model.variables[variable].span);
    spans.fold(warning, |warning, span| warning.at(span, ""))
}

/// One note about all start values that are not used.
fn note_unused_starts(work: &mut Work, differing: &[(VarId, VarId)]) {
    let name = |variable: VarId| work.model.variable_name(variable);
    let shown = differing.iter().take(10).map(|&(of, other)| format!("`{}` instead of `{}`", name(of), name(other)));
    let mut shown: Vec<String> = shown.collect();
    if differing.len() > shown.len() {
        shown.push(format!("and {} more", differing.len() - shown.len()));
    }
    if !shown.is_empty() {
        let message = format!("start values of equal variables differ; used are those of {}", shown.join(", "));
        let note = Diagnostic::new(Severity::Note, "starts-differ", message).specification("8.6.2");
        work.summary.notices.push(note);
    }
}

fn merge(work: &mut Work, into: &mut Attributes, from: &Attributes, negated: bool, variable: VarId, of: VarId) {
    let is_boolean = work.model.variables[of].ty == VariableType::Boolean;
    let discrete = work.is_discrete(of);
    let exprs = &mut work.model.exprs;
    let start = from.start.map(|start| signed(exprs, start, negated, is_boolean));
    match (is_fixed(exprs, into), is_fixed(exprs, from)) {
        (false, true) => {
            into.fixed = from.fixed;
            into.start = start.or(into.start);
        }
        // `pre` values are fixed for discrete variables; only the one that stands for the group has one.
        (true, true) if start != into.start && !discrete => {
            let left = exprs.var(of);
            let right = start.unwrap_or_else(|| exprs.real(0.0));
            let declared = &work.model.variables[variable];
            let component = work.model.paths.parent(declared.path).unwrap_or(work.model.paths.root());
            let origin = Origin { component, span: declared.span, kind: OriginKind::StartValue(variable) };
            let equation = Equation { left, right, role: EquationRole::Plain, origin };
            work.model.initial_equations.push(equation);
        }
        (true, _) => {}
        (false, false) if into.start.is_none() => (into.start, into.start_level) = (start, from.start_level),
        (false, false) => {}
    }
    let exprs = &mut work.model.exprs;
    into.nominal = into.nominal.or(from.nominal);
    let (low, high) = match negated {
        false => (from.min, from.max),
        true => (from.max.map(|max| exprs.neg(max)), from.min.map(|min| exprs.neg(min))),
    };
    into.min = narrower(exprs, into.min, low, Builtin::Max);
    into.max = narrower(exprs, into.max, high, Builtin::Min);
    into.state_select = match (into.state_select, from.state_select) {
        (StateSelect::Default, other) => other,
        (own, StateSelect::Default) => own,
        (own, other) => own.max(other),
    };
}

fn narrower(exprs: &mut Exprs, a: Option<ExprId>, b: Option<ExprId>, op: Builtin) -> Option<ExprId> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Some(exprs.builtin(op, &[a, b])),
        (a, b) => a.or(b),
    }
}
