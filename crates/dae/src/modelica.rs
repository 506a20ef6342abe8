//! A flat model as Modelica text: one class without components, connections or modifiers of structure.
//!
//! Full names become quoted identifiers, so the text is Modelica. Where an equation comes from stands behind it as a
//! comment: the component, and the file and line when the caller knows the sources. The conditions of when clauses,
//! which are variables of the flat model, stand in the clauses again.

use std::fmt::Write as _;

use base::{SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::{ExprId, Node};
use crate::function_text::function_text;
use crate::model::{
    Action, ActionKind, Causality, Equation, EquationRole, Model, Origin, OriginKind, StateSelect, VarId, Variability,
    Variable, VariableType,
};
use crate::print::{Style, identifier, string};

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
        match branches(model, equation) {
            Some(branches) => {
                clauses.extend(branches.iter().flat_map(|(conditions, _)| conditions.iter().copied()));
                branches.iter().for_each(|(_, value)| uses(&[*value]));
            }
            None => uses(&[equation.right]),
        }
    }
    for action in model.actions.iter().chain(&model.initial_actions) {
        match action.condition.map(|condition| (condition, edges(model, condition))) {
            Some((_, Some(variables))) => clauses.extend(variables),
            Some((condition, None)) => uses(&[condition]),
            None => {}
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

/// The variables of `edge(a)`, `edge(a) or edge(b)` and so on.
fn edges(model: &Model, condition: ExprId) -> Option<Vec<VarId>> {
    let mut found = Vec::new();
    let mut stack = vec![condition];
    while let Some(part) = stack.pop() {
        match model.exprs.node(part) {
            Node::Or(left, right) => stack.extend([right, left]),
            _ => found.push(edge(model, part)?),
        }
    }
    Some(found)
}

/// `v and not pre(v)`.
fn edge(model: &Model, condition: ExprId) -> Option<VarId> {
    let Node::And(now, before) = model.exprs.node(condition) else { return None };
    let Node::Not(before) = model.exprs.node(before) else { return None };
    match (model.exprs.node(now), model.exprs.node(before)) {
        (Node::Var(variable), Node::Pre(same)) if variable == same => Some(variable),
        _ => None,
    }
}

/// The branches of an equation of a when clause: conditions and values.
fn branches(model: &Model, equation: &Equation) -> Option<Vec<(Vec<VarId>, ExprId)>> {
    if !matches!(equation.role, EquationRole::When(_)) {
        return None;
    }
    let mut found = Vec::new();
    let mut rest = equation.right;
    while let Node::If { condition, then, otherwise } = model.exprs.node(rest) {
        found.push((edges(model, condition)?, then));
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
        let predefined = |name: &str| ["StateSelect", "AssertionLevel"].contains(&name);
        for enumeration in model.enumerations.iter().filter(|known| !predefined(known.name.as_str())) {
            let literals: Vec<String> = enumeration.literals.iter().map(|literal| literal.to_string()).collect();
            let name = identifier(enumeration.name.as_str());
            let _ = writeln!(self.out, "  type {name} = enumeration({});", literals.join(", "));
        }
        for function in model.functions.values() {
            self.out.push_str(&function_text(&model.functions, function));
        }
        for (id, variable) in model.variables.iter() {
            if variable.derivative_of.is_none() && !self.conditions.contains_key(&id) {
                let name = model.variable_in(id, Style::EXACT);
                self.variable(&name, variable);
            }
        }
        self.section("initial equation", &model.initial_equations, &model.initial_actions);
        let equations: Vec<&Equation> = model.equations.values().collect();
        if !equations.is_empty() || !model.actions.is_empty() {
            self.out.push_str("equation\n");
        }
        equations.into_iter().for_each(|equation| self.equation(equation));
        model.actions.iter().for_each(|action| self.action(action));
        self.experiment();
        let _ = writeln!(self.out, "end {name};");
    }

    fn section(&mut self, head: &str, equations: &[Equation], actions: &[Action]) {
        if equations.is_empty() && actions.is_empty() {
            return;
        }
        let _ = writeln!(self.out, "{head}");
        equations.iter().for_each(|equation| self.equation(equation));
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
            VariableType::Object => "ExternalObject".to_owned(),
            VariableType::Clock => "Clock".to_owned(),
            VariableType::Enumeration(index) => {
                let known = self.model.enumerations.get(index as usize);
                known.map_or_else(|| "Integer".to_owned(), |enumeration| identifier(enumeration.name.as_str()))
            }
        };
        let attributes = self.attributes(variable);
        let enumeration = match variable.ty {
            VariableType::Enumeration(index) => Some(index),
            _ => None,
        };
        let value = |value| self.model.typed_in(value, enumeration, Style::EXACT);
        let binding = variable.binding.map(|binding| format!(" = {}", value(binding))).unwrap_or_default();
        let description = &variable.attributes.description;
        let description = description.as_ref().map(|text| format!(" {}", string(text))).unwrap_or_default();
        let _ = writeln!(self.out, "  {causality}{variability}{ty} {name}{attributes}{binding}{description};");
    }

    fn attributes(&self, variable: &Variable) -> String {
        let attributes = &variable.attributes;
        let enumeration = match variable.ty {
            VariableType::Enumeration(index) => Some(index),
            _ => None,
        };
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
            let of = if name == "fixed" { None } else { enumeration };
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

    fn equation(&mut self, equation: &Equation) {
        if let Node::Var(variable) = self.model.exprs.node(equation.left)
            && self.conditions.contains_key(&variable)
        {
            return;
        }
        if let Some(branches) = branches(self.model, equation)
            && branches
                .iter()
                .flat_map(|(conditions, _)| conditions)
                .all(|condition| self.conditions.contains_key(condition))
        {
            return self.when_equation(equation, &branches);
        }
        let text = self.model.equation_in(equation, Style::EXACT);
        let origin = self.origin(&equation.origin);
        let _ = writeln!(self.out, "  {text};{origin}");
    }

    fn when_equation(&mut self, equation: &Equation, branches: &[(Vec<VarId>, ExprId)]) {
        let left = self.expression(equation.left);
        let enumeration = self.model.enumeration_of(equation.left);
        let mut text = String::new();
        for (position, (conditions, value)) in branches.iter().enumerate() {
            let keyword = if position == 0 { "when" } else { " elsewhen" };
            let condition = self.condition(conditions);
            let value = self.model.typed_in(*value, enumeration, Style::EXACT);
            let _ = write!(text, "{keyword} {condition} then {left} = {value};");
        }
        let origin = self.origin(&equation.origin);
        let _ = writeln!(self.out, "  {text} end when;{origin}");
    }

    /// What stands behind `when`.
    fn condition(&self, variables: &[VarId]) -> String {
        let each = variables.iter().map(|variable| match self.conditions.get(variable) {
            Some(&value) => self.expression(value),
            None => self.model.variable_in(*variable, Style::EXACT),
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
            Some(condition) => {
                let condition = match edges(self.model, condition) {
                    Some(variables) => self.condition(&variables),
                    None => self.expression(condition),
                };
                format!("  when {condition} then {text}; end when;")
            }
        };
        let _ = writeln!(self.out, "{line}{origin}");
    }

    fn origin(&self, origin: &Origin) -> String {
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

    fn experiment(&mut self) {
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
        if !given.is_empty() {
            let _ = writeln!(self.out, "  annotation(experiment({}));", given.join(", "));
        }
    }
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
              parameter Real R = 100;
              Real x(start = 1, fixed = true);
              Boolean b;
              discrete Real n;
              Real y;
            initial equation
              y = 2;
            equation
              der(x) = -x/R;
              b = x < 0.5;
              when b then n = pre(n) + 1; end when;
              when b then reinit(x, 1); end when;
            end Test;
        "#]]
        .assert_eq(&modelica_text(&model.unwrap(), None));
    }
}
