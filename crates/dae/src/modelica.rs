//! A flat model as Modelica text: one class without components, connections or modifiers of structure.
//!
//! Full names become quoted identifiers, so the text is Modelica. Where an equation comes from stands behind it as a
//! comment: the component, and the file and line when the caller knows the sources. The conditions of when clauses,
//! which are variables of the flat model, stand in the clauses again.
//!
//! The text flattens to itself. The annotation `__Gyrator(flat = true)` says that all choices were made: whoever reads it
//! takes expressions as they stand, and the comments as origins.

use std::fmt::Write as _;

use base::{IdVec, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Builtin;
use crate::class_text::{class_text, roots};
use crate::expr::{ExprId, Node};
use crate::function::Type;
use crate::model::{
    Action, ActionKind, Causality, Equation, EquationRole, Model, Origin, OriginKind, StateSelect, VarId, Variability,
    Variable, VariableType,
};
use crate::print::{Style, identifier, string};
use crate::scalar_type::Expected;

/// The whole text. With `sources` the comments name file and line.
pub fn modelica_text(model: &Model, sources: Option<&SourceMap>) -> String {
    let mut text = Text { model, sources, out: String::new(), conditions: conditions(model) };
    text.model();
    text.out
}

struct Text<'m> {
    model: &'m Model,
    sources: Option<&'m SourceMap>,
    out: String,
    /// What the conditions of when clauses are equal to; they are not printed as variables.
    conditions: FxHashMap<VarId, ExprId>,
}

/// The variables that `lang` made for conditions and that nothing but when clauses uses, with their values.
fn conditions(model: &Model) -> FxHashMap<VarId, ExprId> {
    let mut found: FxHashMap<VarId, ExprId> = FxHashMap::default();
    for equation in model.equations.values() {
        if let (OriginKind::Auxiliary, Node::Var(variable)) = (&equation.origin.kind, model.exprs.node(equation.left)) {
            found.insert(variable, equation.right);
        }
    }
    let mut used: FxHashSet<VarId> = FxHashSet::default();
    let mut uses = |roots: &[ExprId]| {
        let dependencies = model.exprs.dependencies(roots);
        used.extend(dependencies.variables.into_iter().chain(dependencies.pre));
    };
    let mut clauses: FxHashSet<VarId> = FxHashSet::default();
    for equation in model.equations.values() {
        let is_condition =
            matches!(model.exprs.node(equation.left), Node::Var(variable) if found.contains_key(&variable));
        match branches(model, equation) {
            _ if is_condition => uses(&[equation.right]),
            Some(branches) => {
                let triggers = branches.iter().flat_map(|(triggers, _)| triggers);
                clauses.extend(triggers.filter_map(|trigger| trigger.variable()));
                branches.iter().for_each(|(_, value)| uses(&[*value]));
            }
            None => uses(&[equation.left, equation.right]),
        }
    }
    for action in model.actions.iter().chain(&model.initial_actions) {
        if let Some(condition) = action.condition {
            let path = ConditionPath::new(model, condition);
            clauses.extend(path.whens.iter().flatten().filter_map(|trigger| trigger.variable()));
            uses(&path.tests);
        }
        match action.kind {
            ActionKind::Reinit { value, .. } => uses(&[value]),
            ActionKind::Assert { holds, message, .. } => uses(&[holds, message]),
            ActionKind::Terminate { message } => uses(&[message]),
            ActionKind::Call(call) => uses(&[call]),
        }
    }
    model.initial_equations.iter().for_each(|equation| uses(&[equation.left, equation.right]));
    found.retain(|variable, _| clauses.contains(variable) && !used.contains(variable));
    found
}

/// How many terms the equations of the text have. Expressions that are shared are written out wherever they stand.
pub fn text_terms(model: &Model) -> f64 {
    let mut terms: IdVec<ExprId, f64> = IdVec::with_capacity(model.exprs.len());
    for id in model.exprs.ids() {
        let mut count = 1.0;
        model.exprs.for_each_child(id, |child| count += terms.get(child).copied().unwrap_or(1.0));
        terms.push(count);
    }
    let of = |id: ExprId| terms.get(id).copied().unwrap_or(1.0);
    let equations = model.equations.values().chain(&model.initial_equations);
    let actions = model.actions.iter().chain(&model.initial_actions);
    let of_actions = actions.map(|action| {
        let value = match action.kind {
            ActionKind::Reinit { value, .. } => of(value),
            ActionKind::Assert { holds, message, .. } => of(holds) + of(message),
            ActionKind::Terminate { message } => of(message),
            ActionKind::Call(call) => of(call),
        };
        value + action.condition.map_or(0.0, of)
    });
    equations.map(|equation| of(equation.left) + of(equation.right)).chain(of_actions).sum()
}

/// The condition under which an action is reached, taken apart: `when c1 then elsewhen c2 then if test then …`.
struct ConditionPath {
    /// The conditions of the clauses passed by, and of the last one, which is active. Empty outside of when clauses.
    whens: Vec<Vec<Trigger>>,
    tests: Vec<ExprId>,
}

impl ConditionPath {
    fn new(model: &Model, condition: ExprId) -> Self {
        let mut parts = Vec::new();
        let mut rest = condition;
        // A condition may itself be a conjunction, the last operand of which is not looked into.
        loop {
            match model.exprs.node(rest) {
                Node::And(left, right) if trigger(model, rest).is_none() => {
                    parts.push(right);
                    rest = left;
                }
                _ => break,
            }
        }
        parts.push(rest);
        parts.reverse();
        let passed = |part: ExprId| match model.exprs.node(part) {
            Node::Not(inner) => triggers(model, inner),
            _ => None,
        };
        let mut whens: Vec<Vec<Trigger>> = Vec::new();
        let mut at = 0;
        while let Some(conditions) = parts.get(at).and_then(|&part| passed(part)) {
            whens.push(conditions);
            at += 1;
        }
        match parts.get(at).and_then(|&part| triggers(model, part)) {
            Some(conditions) => {
                whens.push(conditions);
                Self { whens, tests: parts.split_off(at + 1) }
            }
            None => Self { whens: Vec::new(), tests: vec![condition] },
        }
    }
}

/// The name of `JustBehind` in flat texts. Gyrator gives the function its meaning; for others it is the time.
pub const BEHIND: &str = "'$behind'";
const BEHIND_TEXT: &str = "  function '$behind' \"Time, as relations see it just behind an instant\"
    input Real instant;
    output Real behind := instant;
  algorithm
    annotation(Inline = false);
  end '$behind';
";

/// What makes a branch of a when clause active.
#[derive(Clone, Copy, PartialEq)]
enum Trigger {
    Initial,
    Rising(VarId),
}

impl Trigger {
    fn variable(self) -> Option<VarId> {
        match self {
            Trigger::Initial => None,
            Trigger::Rising(variable) => Some(variable),
        }
    }
}

/// The elements of the condition of a when clause.
fn triggers(model: &Model, condition: ExprId) -> Option<Vec<Trigger>> {
    let mut found = Vec::new();
    let mut stack = vec![condition];
    while let Some(part) = stack.pop() {
        match model.exprs.node(part) {
            Node::Or(left, right) => stack.extend([right, left]),
            _ => found.push(trigger(model, part)?),
        }
    }
    Some(found)
}

/// `initial()`, or `v and not pre(v) and not initial()`.
fn trigger(model: &Model, condition: ExprId) -> Option<Trigger> {
    let is_initial = |id: ExprId| matches!(model.exprs.node(id), Node::Builtin(Builtin::Initial, _));
    if is_initial(condition) {
        return Some(Trigger::Initial);
    }
    let Node::And(a, b) = model.exprs.node(condition) else { return None };
    let is_running = |id: ExprId| matches!(model.exprs.node(id), Node::Not(inner) if is_initial(inner));
    let rising = if is_running(b) {
        edge(model, a)
    } else if is_running(a) {
        edge(model, b)
    } else {
        None
    };
    rising.map(Trigger::Rising)
}

/// `v and not pre(v)`.
fn edge(model: &Model, condition: ExprId) -> Option<VarId> {
    let Node::And(a, b) = model.exprs.node(condition) else { return None };
    let rises = |now: ExprId, before: ExprId| {
        let Node::Not(before) = model.exprs.node(before) else { return None };
        match (model.exprs.node(now), model.exprs.node(before)) {
            (Node::Var(variable), Node::Pre(same)) if variable == same => Some(variable),
            _ => None,
        }
    };
    rises(a, b).or_else(|| rises(b, a))
}

/// The branches of an equation of a when clause: conditions and values.
fn branches(model: &Model, equation: &Equation) -> Option<Vec<(Vec<Trigger>, ExprId)>> {
    if !matches!(equation.role, EquationRole::When(_)) {
        return None;
    }
    let mut found = Vec::new();
    let mut rest = equation.right;
    while let Node::If { condition, then, otherwise } = model.exprs.node(rest) {
        found.push((triggers(model, condition)?, then));
        rest = otherwise;
    }
    let is_rest = matches!((model.exprs.node(rest), model.exprs.node(equation.left)),
        (Node::Pre(a), Node::Var(b)) if a == b);
    (is_rest && !found.is_empty()).then_some(found)
}

impl Text<'_> {
    fn model(&mut self) {
        let model = self.model;
        let name = identifier(model.name.rsplit('.').next().unwrap_or(&model.name));
        let description = model.description.as_ref().map(|text| format!(" {}", string(text))).unwrap_or_default();
        let _ = writeln!(self.out, "model {name}{description}");
        self.out.push_str(&class_text(model));
        let is_behind = |&id: &ExprId| matches!(model.exprs.node(id), Node::Builtin(Builtin::JustBehind, _));
        if model.exprs.postorder(&roots(model)).iter().any(is_behind) {
            self.out.push_str(BEHIND_TEXT);
        }
        let mut protected = false;
        for (id, variable) in model.variables.iter() {
            if variable.derivative_of.is_none() && !self.conditions.contains_key(&id) {
                if variable.protected != protected {
                    protected = variable.protected;
                    self.out.push_str(if protected { "protected\n" } else { "public\n" });
                }
                let name = model.variable_in(id, Style::EXACT);
                self.variable(&name, variable);
            }
        }
        self.section("initial equation", &model.initial_equations, &model.initial_actions);
        let equations: Vec<&Equation> = model.equations.values().collect();
        if !equations.is_empty() || !model.actions.is_empty() {
            self.out.push_str("equation\n");
        }
        self.equations(&equations);
        model.actions.iter().for_each(|action| self.action(action));
        self.annotation();
        let _ = writeln!(self.out, "end {name};");
    }

    fn section(&mut self, head: &str, equations: &[Equation], actions: &[Action]) {
        if equations.is_empty() && actions.is_empty() {
            return;
        }
        let _ = writeln!(self.out, "{head}");
        self.equations(&equations.iter().collect::<Vec<_>>());
        actions.iter().for_each(|action| self.action(action));
    }

    fn expression(&self, expression: ExprId) -> String {
        self.model.expression_in(expression, Style::EXACT)
    }

    fn variable(&mut self, name: &str, variable: &Variable) {
        let causality = match variable.causality {
            Causality::Local => "",
            Causality::Input => "input ",
            Causality::Output => "output ",
        };
        let variability = match variable.variability {
            Variability::Constant => "constant ",
            Variability::Parameter => "parameter ",
            Variability::Discrete if variable.ty == VariableType::Real => "discrete ",
            Variability::Discrete | Variability::Continuous => "",
        };
        let ty = match variable.ty {
            VariableType::Real => "Real".to_owned(),
            VariableType::Integer => "Integer".to_owned(),
            VariableType::Boolean => "Boolean".to_owned(),
            VariableType::String => "String".to_owned(),
            VariableType::Object => self.object_class(variable),
            VariableType::Clock => "Clock".to_owned(),
            VariableType::Enumeration(index) => {
                let known = self.model.enumerations.get(index as usize);
                known.map_or_else(|| "Integer".to_owned(), |known| self.model.class_identifier(known.name.as_str()))
            }
        };
        let attributes = self.attributes(variable);
        let expected = self.model.expected_by(variable.ty);
        let value = |value| self.model.typed_in(value, expected, Style::EXACT);
        let binding = variable.binding.map(|binding| format!(" = {}", value(binding))).unwrap_or_default();
        let description = &variable.attributes.description;
        let description = description.as_ref().map(|text| format!(" {}", string(text))).unwrap_or_default();
        let annotation = annotation_of(variable);
        let line = format!("  {variability}{causality}{ty} {name}{attributes}{binding}{description}{annotation};");
        let _ = writeln!(self.out, "{line}");
    }

    /// The class of an external object, which its constructor tells.
    fn object_class(&self, variable: &Variable) -> String {
        let mut binding = variable.binding.map(|binding| self.model.exprs.node(binding));
        // An object that is handed over is of the class of the one that was made.
        if let Some(Node::Var(made)) = binding {
            binding = self.model.variables[made].binding.map(|binding| self.model.exprs.node(binding));
        }
        let Some(Node::Call { site, .. }) = binding else {
            return "ExternalObject".to_owned();
        };
        let function = self.model.functions.get(self.model.exprs.call_site(site).function);
        let output = function.and_then(|function| function.locals.get(*function.outputs.first()?));
        match output.map(|output| &output.ty) {
            Some(Type::Object(class)) => self.model.class_identifier(class.as_str()),
            _ => "ExternalObject".to_owned(),
        }
    }

    fn attributes(&self, variable: &Variable) -> String {
        let attributes = &variable.attributes;
        let expected = self.model.expected_by(variable.ty);
        let mut given = Vec::new();
        for (name, value) in
            [("quantity", attributes.quantity), ("unit", attributes.unit), ("displayUnit", attributes.display_unit)]
        {
            given.extend(value.map(|text| format!("{name} = {}", string(text.as_str()))));
        }
        for (name, value) in [
            ("min", attributes.min),
            ("max", attributes.max),
            ("start", attributes.start),
            ("fixed", attributes.fixed),
            ("nominal", attributes.nominal),
        ] {
            let of = if name == "fixed" { Expected::Any } else { expected };
            given.extend(value.map(|value| format!("{name} = {}", self.model.typed_in(value, of, Style::EXACT))));
        }
        let state_select = match attributes.state_select {
            StateSelect::Default => None,
            StateSelect::Never => Some("never"),
            StateSelect::Avoid => Some("avoid"),
            StateSelect::Prefer => Some("prefer"),
            StateSelect::Always => Some("always"),
        };
        given.extend(state_select.map(|choice| format!("stateSelect = StateSelect.{choice}")));
        if given.is_empty() { String::new() } else { format!("({})", given.join(", ")) }
    }

    /// Equations in their order; those of one clocked when clause stand in one.
    fn equations(&mut self, equations: &[&Equation]) {
        let mut rest = equations;
        while let Some((&first, behind)) = rest.split_first() {
            let Some((clause, _)) = self.clocked(first) else {
                self.equation(first);
                rest = behind;
                continue;
            };
            let _ = writeln!(self.out, "  when {} then", self.expression(clause.0));
            let same = |equation: &&&Equation| self.clocked(equation).is_some_and(|(own, _)| own == clause);
            let count = rest.iter().take_while(same).count();
            let (own, behind) = rest.split_at(count);
            for equation in own {
                let Some((_, value)) = self.clocked(equation) else { continue };
                let inner = Equation { right: value, ..(*equation).clone() };
                let text = self.model.equation_in(&inner, Style::EXACT);
                let origin = self.origin(&equation.origin);
                let _ = writeln!(self.out, "    {text};{origin}");
            }
            self.out.push_str("  end when;\n");
            rest = behind;
        }
    }

    /// The clock and number of the clocked when clause that an equation stands in, and its right side there.
    fn clocked(&self, equation: &Equation) -> Option<((ExprId, ExprId), ExprId)> {
        let Node::Builtin(Builtin::SampleClocked, arguments) = self.model.exprs.node(equation.right) else {
            return None;
        };
        match self.model.exprs.arguments(arguments) {
            &[value, clock, number] => Some(((clock, number), value)),
            _ => None,
        }
    }

    fn equation(&mut self, equation: &Equation) {
        if let Node::Var(variable) = self.model.exprs.node(equation.left)
            && self.conditions.contains_key(&variable)
        {
            return;
        }
        if let Some(branches) = branches(self.model, equation) {
            return self.when_equation(equation, &branches);
        }
        let text = self.model.equation_in(equation, Style::EXACT);
        let origin = self.origin(&equation.origin);
        let _ = writeln!(self.out, "  {text};{origin}");
    }

    fn when_equation(&mut self, equation: &Equation, branches: &[(Vec<Trigger>, ExprId)]) {
        let left = self.expression(equation.left);
        let mut text = String::new();
        for (position, (conditions, value)) in branches.iter().enumerate() {
            let keyword = if position == 0 { "when" } else { " elsewhen" };
            let condition = self.condition(conditions);
            let expected = self.model.equation_type(equation.left, *value);
            let value = self.model.typed_in(*value, expected, Style::EXACT);
            let _ = write!(text, "{keyword} {condition} then {left} = {value};");
        }
        let origin = self.origin(&equation.origin);
        let _ = writeln!(self.out, "  {text} end when;{origin}");
    }

    /// What stands behind `when`.
    fn condition(&self, triggers: &[Trigger]) -> String {
        let each = triggers.iter().map(|trigger| match trigger {
            Trigger::Initial => "initial()".to_owned(),
            Trigger::Rising(variable) => match self.conditions.get(variable) {
                Some(&value) => self.expression(value),
                None => self.model.variable_in(*variable, Style::EXACT),
            },
        });
        match each.collect::<Vec<_>>().as_slice() {
            [one] => one.clone(),
            several => format!("{{{}}}", several.join(", ")),
        }
    }

    fn action(&mut self, action: &Action) {
        let text = match &action.kind {
            ActionKind::Reinit { state, value } => {
                format!("reinit({}, {})", self.model.variable_in(*state, Style::EXACT), self.expression(*value))
            }
            ActionKind::Assert { holds, message, warning } => {
                let level = if *warning { ", AssertionLevel.warning" } else { "" };
                format!("assert({}, {}{level})", self.expression(*holds), self.expression(*message))
            }
            ActionKind::Terminate { message } => format!("terminate({})", self.expression(*message)),
            ActionKind::Call(call) => self.expression(*call),
        };
        let origin = self.origin(&action.origin);
        let line = match action.condition {
            None => format!("  {text};"),
            Some(condition) => format!("  {}", self.reached(condition, &text)),
        };
        let _ = writeln!(self.out, "{line}{origin}");
    }

    /// An action inside of the clauses that say when it happens.
    fn reached(&self, condition: ExprId, action: &str) -> String {
        let path = ConditionPath::new(self.model, condition);
        let mut text = format!("{action};");
        for &test in path.tests.iter().rev() {
            text = format!("if {} then {text} end if;", self.expression(test));
        }
        let Some((last, passed)) = path.whens.split_last() else { return text };
        let mut whens = String::new();
        for conditions in passed {
            let keyword = if whens.is_empty() { "when" } else { "elsewhen" };
            let _ = write!(whens, "{keyword} {} then ", self.condition(conditions));
        }
        let keyword = if whens.is_empty() { "when" } else { "elsewhen" };
        format!("{whens}{keyword} {} then {text} end when;", self.condition(last))
    }

    /// What is read from a flat text comes from where the text says.
    fn written_origin(&self, origin: &Origin) -> Option<String> {
        let (true, Some(span)) = (self.model.is_from_flat_text, origin.span) else { return None };
        let file = self.sources?.file(span.file);
        let line = file.line(file.position(span.start).line);
        Some(line.rfind("; // ").map(|at| line[at + 1..].to_owned()).unwrap_or_default())
    }

    fn origin(&self, origin: &Origin) -> String {
        if let Some(written) = self.written_origin(origin) {
            return written;
        }
        let component = self.model.paths.text(origin.component);
        let place = |span: Span| self.sources.map(|sources| sources.place(span));
        let kind = match origin.kind {
            OriginKind::Potential | OriginKind::FlowSum | OriginKind::Stream => Some("connection".to_owned()),
            _ => None,
        };
        let parts = [(!component.is_empty()).then_some(component), kind, origin.span.and_then(place)];
        let known: Vec<String> = parts.into_iter().flatten().collect();
        if known.is_empty() { String::new() } else { format!(" // {}", known.join(", ")) }
    }

    fn annotation(&mut self) {
        let experiment = &self.model.experiment;
        let given: Vec<String> = [
            ("StartTime", experiment.start_time),
            ("StopTime", experiment.stop_time),
            ("Interval", experiment.interval),
            ("Tolerance", experiment.tolerance),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} = {}", value?)))
        .collect();
        let mut all = Vec::new();
        if !given.is_empty() {
            all.push(format!("experiment({})", given.join(", ")));
        }
        if self.sources.is_some() {
            all.push("__Gyrator(flat = true)".to_owned());
        }
        if !all.is_empty() {
            let _ = writeln!(self.out, "  annotation({});", all.join(", "));
        }
    }
}

fn annotation_of(variable: &Variable) -> String {
    let flags = [
        ("Evaluate", variable.structural && variable.variability == Variability::Parameter),
        ("HideResult", variable.hidden),
    ];
    let given: Vec<String> =
        flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| format!("{name} = true")).collect();
    if given.is_empty() { String::new() } else { format!(" annotation({})", given.join(", ")) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing;

    #[test]
    fn a_whole_model() {
        let model = testing::model(
            "parameter R = 100\nReal x(start = 1, fixed = true)\nBoolean b\nder(x) = -x/R\nb = x < 0.5\n\
             when b then n = pre(n) + 1; reinit(x, 1)\ninitial y = 2",
        );
        expect![[r#"
            model Test
              parameter Real R = 100.0;
              Real x(start = 1.0, fixed = true);
              Boolean b;
              discrete Real n;
              Real y;
            initial equation
              y = 2.0;
            equation
              der(x) = -x/R;
              b = x < 0.5;
              when b then n = pre(n) + 1.0; end when;
              when b then reinit(x, 1); end when;
            end Test;
        "#]]
        .assert_eq(&modelica_text(&model.unwrap(), None));
    }
}
