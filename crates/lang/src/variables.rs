//! Scalar variables of the flat model with their attributes and bindings (specification 4.4 and 4.9).

use std::sync::Arc;

use base::{Diagnostic, Name};
use dae::{
    Attributes, Causality, Equation, EquationRole, ExprId, Origin, OriginKind, PathId, StateSelect, VarId, Variability,
    Variable, VariableType,
};
use syntax::ast;

use crate::elaborate::Elaborator;
use crate::flat::{Indices, Scalars, for_each_index, position};
use crate::instance::{BindingSource, Builtin, ClassId, CompId, ComponentType, Outcome};
use crate::modifier::Modifier;
use crate::parts::Part;
use crate::symbolic::{Mode, Symbolic};

/// The paths of all elements of all parts.
pub fn make_paths(elaborator: &mut Elaborator, parts: &[Part]) -> Vec<Vec<PathId>> {
    let mut all: Vec<Vec<PathId>> = Vec::with_capacity(parts.len());
    for part in parts {
        let root = [elaborator.flat.model.paths.root()];
        let above: &[PathId] = match part.parent {
            Some(parent) => &all[parent],
            None => &root,
        };
        let name = elaborator.instances.component(part.component).name;
        let own = &part.sizes[part.sizes.len() - part.rank..];
        let mut paths = Vec::with_capacity(part.elements());
        for &parent in above {
            for_each_index(own, |indices| paths.push(elaborator.flat.model.paths.child(parent, name, indices)));
        }
        all.push(paths);
    }
    all
}

/// Adds the variables of the parts from `first` on, without attributes and bindings.
pub fn make_variables(elaborator: &mut Elaborator, parts: &[Part], paths: &[Vec<PathId>]) {
    for (part, paths) in parts.iter().zip(paths) {
        let Some(variable) = template(elaborator, part) else { continue };
        let may_be_given = variable.causality == Causality::Local && has_default(elaborator, part);
        let mut variables = Vec::with_capacity(paths.len());
        for (position, &path) in paths.iter().enumerate() {
            let here = part.present.as_ref().is_none_or(|present| present.get(position).copied().unwrap_or(false));
            let mut variable = Variable { path, ..variable.clone() };
            if may_be_given && elaborator.inputs.contains(&elaborator.flat.model.paths.text(path)) {
                variable.causality = Causality::Input;
            }
            variables.push(here.then(|| elaborator.flat.model.variables.push(variable)));
        }
        elaborator.flat.scalars.insert(part.component, Scalars { sizes: part.sizes.clone(), variables });
    }
}

/// Whether a part is an input of the model with a value that counts as long as nothing else is given.
fn has_default(elaborator: &mut Elaborator, part: &Part) -> bool {
    if elaborator.inputs.is_empty() || elaborator.instances.direction(part.component) != ast::Direction::Input {
        return false;
    }
    let chain = elaborator.instances.chain(part.component);
    let is_fixed = |&id: &CompId| {
        let prefixes = &elaborator.instances.component(id).prefixes;
        prefixes.protected || prefixes.is_final
    };
    !chain.iter().any(is_fixed) && is_at_top(elaborator, &chain)
}

/// Whether a component is one of the model itself, or of a connector or record of it.
pub(crate) fn is_at_top(elaborator: &mut Elaborator, chain: &[CompId]) -> bool {
    let &[first, _, ..] = chain else { return true };
    crate::connect::collect::is_connector(elaborator, first).unwrap_or(false)
        || elaborator.instances.is_record_component(first)
}

fn template(elaborator: &mut Elaborator, part: &Part) -> Option<Variable> {
    let ty = match part.ty {
        ComponentType::Builtin { builtin, .. } => variable_type(elaborator, builtin)?,
        ComponentType::Object(_) => VariableType::Object,
        ComponentType::Class(_) => return None,
    };
    let chain = elaborator.instances.chain(part.component);
    let node = elaborator.instances.component(part.component);
    let is_protected = chain.iter().any(|&id| elaborator.instances.component(id).prefixes.protected);
    let is_final = chain.iter().any(|&id| elaborator.instances.component(id).is_final());
    let hidden = annotation_flag(node.declaration.annotation.as_deref(), "HideResult");
    let evaluate = annotation_flag(node.declaration.annotation.as_deref(), "Evaluate");
    let variability = match elaborator.instances.variability(part.component) {
        ast::Variability::Constant => Variability::Constant,
        ast::Variability::Parameter => Variability::Parameter,
        ast::Variability::Discrete => Variability::Discrete,
        ast::Variability::Unstated => match ty {
            VariableType::Real | VariableType::Clock => Variability::Continuous,
            VariableType::Object => Variability::Parameter,
            _ => Variability::Discrete,
        },
    };
    let is_top = is_at_top(elaborator, &chain);
    // What has a value in the model is not asked from outside of it.
    let is_bound = elaborator.instances.binding(part.component).is_some();
    let prefix = match elaborator.instances.direction(part.component) {
        ast::Direction::Input => Causality::Input,
        ast::Direction::Output => Causality::Output,
        _ => Causality::Local,
    };
    let causality = match prefix {
        Causality::Input if is_top && !is_protected && !is_bound => Causality::Input,
        Causality::Output if is_top && !is_protected => Causality::Output,
        _ => Causality::Local,
    };
    let node = elaborator.instances.component(part.component);
    Some(Variable {
        path: elaborator.flat.model.paths.root(),
        ty,
        variability,
        causality,
        prefix,
        binding: None,
        attributes: Arc::default(),
        protected: is_protected,
        hidden,
        flow: elaborator.instances.flow(part.component) == ast::Flow::Flow,
        structural: evaluate || (node.prefixes.is_final && variability == Variability::Parameter),
        is_final,
        span: Some(node.declaration.name.span),
        derivative_of: None,
    })
}

fn variable_type(elaborator: &mut Elaborator, builtin: Builtin) -> Option<VariableType> {
    Some(match builtin {
        Builtin::Real => VariableType::Real,
        Builtin::Integer => VariableType::Integer,
        Builtin::Boolean => VariableType::Boolean,
        Builtin::String => VariableType::String,
        Builtin::Clock => VariableType::Clock,
        Builtin::ExternalObject => VariableType::Object,
        Builtin::Enumeration(definition) => {
            let name = elaborator.instances.libraries.get(definition).name;
            let literals = elaborator.instances.enumeration_literals(definition);
            VariableType::Enumeration(elaborator.flat.enumeration(name, literals))
        }
    })
}

/// `annotation(name = true)`.
fn annotation_flag(annotation: Option<&ast::ClassModification>, name: &str) -> bool {
    let Some(annotation) = annotation else { return false };
    annotation.arguments.iter().any(|argument| match argument {
        ast::Argument::Element(element) => {
            matches!(element.path.as_slice(), [only] if only.name == name)
                && element.modification.as_ref().is_some_and(|modification| {
                    matches!(&modification.value, Some(ast::ModificationValue::Expr(expr))
                        if matches!(expr.kind, ast::ExprKind::Boolean(true)))
                })
        }
        _ => false,
    })
}

/// Gives flow variables their limits, which connections of streams ask for before anything is bound (15.2).
pub fn limit_flows(elaborator: &mut Elaborator, parts: &[Part]) {
    for part in parts {
        if let ComponentType::Builtin { builtin, attributes } = &part.ty
            && elaborator.instances.flow(part.component) == ast::Flow::Flow
            && ["min", "max"].iter().any(|limit| attributes.child(Name::new(limit)).is_some())
        {
            set_attributes(elaborator, part, *builtin, attributes);
        }
    }
}

/// Gives the variables their attributes and bindings; bindings of variables that are no parameters become equations.
pub fn bind_variables(elaborator: &mut Elaborator, parts: &[Part]) {
    for part in parts {
        if matches!(part.ty, ComponentType::Class(_)) {
            continue;
        }
        if let ComponentType::Builtin { builtin, attributes } = &part.ty {
            set_attributes(elaborator, part, *builtin, attributes);
        }
        let Some(source) = elaborator.instances.binding(part.component) else { continue };
        if part.sizes.contains(&0) {
            check_empty_binding(elaborator, part, &source);
            continue;
        }
        let outcome = for_each_above(elaborator, part, |elaborator, above, variables| {
            let value = elaborator.binding_value(&source, part.component, above, Mode::Flat)?;
            let value = elaborator.check_sizes(part.component, above, value)?;
            set_binding(elaborator, part, variables, &value);
            Ok(())
        });
        if let Err(diagnostic) = outcome {
            let diagnostic = elaborator.instances.in_component(diagnostic, part.component);
            elaborator.instances.report(diagnostic);
        }
    }
}

/// The value of an array without elements gives no equation, but the assertions of the functions in it count. What cannot be
/// expanded has none.
fn check_empty_binding(elaborator: &mut Elaborator, part: &Part, source: &BindingSource) {
    let BindingSource::Expression(binding) = source else { return };
    let is_plain = |text: &ast::Expr| matches!(text.kind, ast::ExprKind::Ref(_) | ast::ExprKind::Array(_));
    if part.present.is_some() || binding.expr.as_deref().is_none_or(is_plain) {
        return;
    }
    let before = elaborator.instances.diagnostics.len();
    for_each_index(&part.sizes[..part.sizes.len() - part.rank], |above| {
        let _ = elaborator.binding_value(source, part.component, above, Mode::Flat);
    });
    elaborator.instances.diagnostics.truncate(before);
}

/// Calls `visit` for every element of the components above a part, with the variables of the part there.
fn for_each_above(
    elaborator: &mut Elaborator,
    part: &Part,
    mut visit: impl FnMut(&mut Elaborator, &[u32], &[Option<VarId>]) -> Outcome<()>,
) -> Outcome<()> {
    let Some(scalars) = elaborator.flat.scalars.get(&part.component) else { return Ok(()) };
    let variables = scalars.variables.clone();
    let (above, own) = part.sizes.split_at(part.sizes.len() - part.rank);
    let count: usize = own.iter().product();
    let mut position = 0;
    let mut outcome = Ok(());
    for_each_index(above, |indices| {
        let here = &variables[position..position + count];
        position += count;
        if outcome.is_err() || here.iter().all(Option::is_none) {
            return;
        }
        outcome = if elaborator.is_ragged(part.component) {
            elaborator
                .sizes_at(part.component, indices)
                .and_then(|sizes| visit(elaborator, indices, &corner(own, &sizes, here)))
        } else {
            visit(elaborator, indices, here)
        };
    });
    outcome
}

/// The elements of an array of the sizes `all` that lie within the smaller sizes `sizes`, in order.
fn corner(all: &[usize], sizes: &[usize], elements: &[Option<VarId>]) -> Vec<Option<VarId>> {
    let mut kept = Vec::with_capacity(sizes.iter().product());
    for_each_index(sizes, |indices| {
        kept.push(position(all, indices).and_then(|at| elements.get(at).copied().flatten()));
    });
    kept
}

fn set_binding(elaborator: &mut Elaborator, part: &Part, variables: &[Option<VarId>], value: &Symbolic) {
    let node = elaborator.instances.component(part.component);
    let span = Some(node.modifier.binding.as_ref().map_or(node.declaration.name.span, |binding| binding.span));
    for (variable, value) in variables.iter().zip(value.elements()) {
        let (Some(variable), Some(value)) = (*variable, value.scalar()) else { continue };
        let model = &mut elaborator.flat.model;
        if model.variables[variable].variability <= Variability::Parameter {
            model.variables[variable].binding = Some(value);
            continue;
        }
        // What is given from outside takes the place of the default.
        if model.variables[variable].causality == Causality::Input {
            continue;
        }
        let path = model.variables[variable].path;
        let component = model.paths.parent(path).unwrap_or(path);
        let left = model.exprs.var(variable);
        let origin = Origin { component, span, kind: OriginKind::Binding };
        model.equations.push(Equation { left, right: value, role: EquationRole::Plain, origin });
    }
}

/// The attributes of the predefined types (4.9).
fn set_attributes(elaborator: &mut Elaborator, part: &Part, builtin: Builtin, modifier: &Arc<Modifier>) {
    let description = elaborator.instances.component(part.component).declaration.description.clone();
    let mut common = Attributes { description, ..Attributes::default() };
    let start = modifier.children.iter().find(|(name, _)| *name == "start");
    common.start_level = start.map_or(0, |(_, start)| level(elaborator, part, start));
    common.binding_level = level(elaborator, part, &elaborator.instances.component(part.component).modifier);
    let mut numbers = Vec::new();
    for (name, attribute) in &modifier.children {
        let Some(known) = attribute_name(builtin, *name) else {
            report_unknown(elaborator, part.component, *name, attribute);
            continue;
        };
        if attribute.binding.as_ref().is_none_or(|binding| binding.expr.is_none()) {
            continue;
        }
        let outcome = match known {
            "unbounded" => Ok(()),
            "unit" | "displayUnit" | "quantity" | "stateSelect" => {
                set_constant(elaborator, part, known, attribute, &mut common)
            }
            _ => {
                numbers.push((known, *name));
                Ok(())
            }
        };
        if let Err(diagnostic) = outcome {
            let diagnostic = elaborator.instances.in_component(diagnostic, part.component);
            elaborator.instances.report(diagnostic);
        }
    }
    // A difference has no zero of a scale: it is shown in its own unit.
    if let (Some(unit), Some(display)) = (common.unit, common.display_unit)
        && ::units::Conversion::between(unit.as_str(), display.as_str()).is_some_and(|there| there.offset != 0.0)
        && elaborator.instances.is_difference(part.component)
    {
        common.display_unit = None;
    }
    let common = Arc::new(common);
    let mut last = common.clone();
    let outcome = for_each_above(elaborator, part, |elaborator, above, variables| {
        let mut values = Vec::with_capacity(numbers.len());
        for &(known, name) in &numbers {
            let value = elaborator.attribute(part.component, name, above, Mode::Flat)?;
            check_attribute_variability(elaborator, part, known, modifier.child(name), value.as_ref());
            values.push((known, value));
        }
        for (position, variable) in variables.iter().enumerate() {
            let Some(variable) = *variable else { continue };
            let mut attributes = (*common).clone();
            for (known, value) in &values {
                let scalar = value.as_ref().and_then(|value| value.elements().get(position)).and_then(Symbolic::scalar);
                *slot(&mut attributes, known) = scalar;
            }
            if attributes != *last {
                last = Arc::new(attributes);
            }
            elaborator.flat.model.variables[variable].attributes = last.clone();
        }
        Ok(())
    });
    if let Err(diagnostic) = outcome {
        let diagnostic = elaborator.instances.in_component(diagnostic, part.component);
        elaborator.instances.report(diagnostic);
    }
}

/// The attributes of a variable do not change during a simulation (4.9.1). A start value that varies is that at the start, and
/// limits that vary hold at each instant; nothing else has a plain meaning.
fn check_attribute_variability(
    elaborator: &mut Elaborator,
    part: &Part,
    name: &str,
    modifier: Option<&Arc<Modifier>>,
    value: Option<&Symbolic>,
) {
    let (Some(binding), Some(value)) = (modifier.and_then(|modifier| modifier.binding.as_ref()), value) else { return };
    if !elaborator.flat.model.varies(&value.scalars()) {
        return;
    }
    let message = format!("the attribute `{name}` of `{}` varies", elaborator.instances.path(part.component));
    let diagnostic = Diagnostic::breach("variability", message)
        .at(binding.span, "this changes with time")
        .hint("use constants and parameters; what holds at the start alone can stand in an initial equation")
        .specification("4.9.1");
    let is_plain = matches!(name, "start" | "min" | "max");
    elaborator.instances.report(Box::new(if is_plain { diagnostic } else { diagnostic.refused() }));
}

/// At what depth of components a modifier was written; below the part itself where its type says it.
fn level(elaborator: &Elaborator, part: &Part, modifier: &Modifier) -> u16 {
    let Some(binding) = &modifier.binding else { return 0 };
    let instances = &elaborator.instances;
    let chain = instances.chain(part.component);
    let instance = |class: ClassId| instances.class(class).instance;
    let depth = match instances.class(binding.scope).owner {
        Some(owner) => instances.chain(owner).len() + 1,
        None if chain
            .first()
            .is_some_and(|&top| instance(instances.component(top).parent) == instance(binding.scope)) =>
        {
            1
        }
        None => chain.len() + 1,
    };
    depth as u16
}

fn slot<'a>(attributes: &'a mut Attributes, name: &str) -> &'a mut Option<ExprId> {
    match name {
        "start" => &mut attributes.start,
        "fixed" => &mut attributes.fixed,
        "nominal" => &mut attributes.nominal,
        "min" => &mut attributes.min,
        _ => &mut attributes.max,
    }
}

/// An attribute that is the same for all elements and must be known now.
fn set_constant(
    elaborator: &mut Elaborator,
    part: &Part,
    name: &'static str,
    modifier: &Modifier,
    common: &mut Attributes,
) -> Outcome<()> {
    let literal =
        modifier.binding.as_ref().and_then(|binding| binding.expr.as_ref()).and_then(|expr| match &expr.kind {
            ast::ExprKind::String(text) => Some(Name::new(text)),
            _ => None,
        });
    let value = match literal {
        Some(_) => None,
        None => {
            let above = Indices::from_elem(1, part.sizes.len() - part.rank);
            let value = elaborator.attribute(part.component, Name::new(name), &above, Mode::Evaluate)?;
            value.and_then(|value| value.elements().first().and_then(Symbolic::scalar))
        }
    };
    let exprs = &elaborator.flat.model.exprs;
    if name == "stateSelect" {
        common.state_select = match value.and_then(|value| exprs.as_integer(value)) {
            Some(1) => StateSelect::Never,
            Some(2) => StateSelect::Avoid,
            Some(4) => StateSelect::Prefer,
            Some(5) => StateSelect::Always,
            _ => StateSelect::Default,
        };
        return Ok(());
    }
    let text = literal.or_else(|| value.and_then(|value| exprs.as_string(value)).map(Name::new));
    let text = text.filter(|text| *text != "");
    match name {
        "unit" => common.unit = text,
        "displayUnit" => common.display_unit = text,
        _ => common.quantity = text,
    }
    Ok(())
}

const REAL: &[&str] =
    &["quantity", "unit", "displayUnit", "min", "max", "start", "fixed", "nominal", "unbounded", "stateSelect"];
const INTEGER: &[&str] = &["quantity", "min", "max", "start", "fixed"];
const OTHER: &[&str] = &["quantity", "start", "fixed"];

fn attribute_names(builtin: Builtin) -> &'static [&'static str] {
    match builtin {
        Builtin::Real => REAL,
        Builtin::Integer | Builtin::Enumeration(_) => INTEGER,
        Builtin::Boolean | Builtin::String => OTHER,
        Builtin::Clock | Builtin::ExternalObject => &[],
    }
}

fn attribute_name(builtin: Builtin, name: Name) -> Option<&'static str> {
    attribute_names(builtin).iter().copied().find(|known| name == *known)
}

fn report_unknown(elaborator: &mut Elaborator, component: CompId, name: Name, modifier: &Modifier) {
    let ComponentType::Builtin { builtin, .. } =
        elaborator.instances.component_type(component).unwrap_or(ComponentType::Class(elaborator.instances.root()))
    else {
        return;
    };
    let path = elaborator.instances.path(component);
    // A unit says nothing about the value, so that it is no loss to leave it out.
    let is_plain = matches!(name.as_str(), "unit" | "displayUnit") && builtin != Builtin::Clock;
    let message = match is_plain {
        true => format!("`{path}` has no attribute `{name}`, which is left out"),
        false => format!("`{path}` has no attribute `{name}`"),
    };
    let mut diagnostic = Diagnostic::breach("unknown-modifier", message).specification("7.2");
    if !is_plain {
        diagnostic = diagnostic.refused();
    }
    if let Some(span) = modifier.span {
        diagnostic = diagnostic.at(span, "modified here");
    }
    if let Some(near) = crate::lookup::nearest(name.as_str(), attribute_names(builtin).iter().copied()) {
        diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
    }
    elaborator.instances.report(Box::new(diagnostic));
}

/// Reports modifiers of elements that a class does not have.
pub fn check_modifiers(elaborator: &mut Elaborator, class: ClassId) {
    let modifier = elaborator.instances.class(class).modifier.clone();
    for (name, child) in &modifier.children {
        if elaborator.instances.member(class, *name).is_some() {
            continue;
        }
        let diagnostic = elaborator.instances.unknown_modifier(class, *name, child.span);
        elaborator.instances.report(Box::new(diagnostic));
    }
}

/// Parameters and constants of connected connectors must be equal: known ones are compared now, others when the model runs
/// (9.2).
pub fn compare_connected(elaborator: &mut Elaborator) {
    for (left, right, span) in std::mem::take(&mut elaborator.connected.equal_parameters) {
        let model = &mut elaborator.flat.model;
        let values = (model.variables[left].binding, model.variables[right].binding);
        if values.0 == values.1 {
            continue;
        }
        let names = (model.variable_name(left), model.variable_name(right));
        let message = format!("`{}` and `{}` are connected but not equal", names.0, names.1);
        if let (Some(a), Some(b)) = values
            && model.exprs.is_literal(a)
            && model.exprs.is_literal(b)
        {
            let diagnostic = Diagnostic::error("connected-parameters", message).at(span, "connected here");
            elaborator.instances.report(Box::new(diagnostic.specification("9.2")));
            continue;
        }
        let (a, b) = (model.exprs.var(left), model.exprs.var(right));
        let holds = model.exprs.compare(dae::CompareOp::Equal, false, a, b);
        let message = model.exprs.string(&message);
        let component = model.paths.root();
        let origin = Origin { component, span: Some(span), kind: OriginKind::Potential };
        let kind = dae::ActionKind::Assert { holds, message, warning: false };
        model.actions.push(dae::Action { kind, condition: None, origin });
    }
}

/// Variables of an enumeration to which numbers are converted must have one of its values (4.9.5.2).
pub fn check_enumerations(elaborator: &mut Elaborator) {
    let converted = std::mem::take(&mut elaborator.types.converted);
    let model = &mut elaborator.flat.model;
    if converted.is_empty() || model.is_from_flat_text {
        return;
    }
    let ids: Vec<VarId> = model.variables.iter().map(|(id, _)| id).collect();
    for id in ids {
        let variable = &model.variables[id];
        let VariableType::Enumeration(number) = variable.ty else { continue };
        let is_known = variable.variability <= Variability::Parameter
            && variable.binding.is_none_or(|binding| model.exprs.is_literal(binding));
        if is_known || !converted.contains(&number) {
            continue;
        }
        let (path, span) = (variable.path, variable.span);
        let enumeration = &model.enumerations[number as usize];
        let last = enumeration.literals.len() as i64;
        let name = model.variable_name(id);
        let message = format!("`{name}` is none of the {last} values of `{}`", enumeration.name);
        let message = model.exprs.string(&message);
        let exprs = &mut model.exprs;
        let (value, first, last) = (exprs.var(id), exprs.int(1), exprs.int(last));
        let above = exprs.compare(dae::CompareOp::GreaterEqual, false, value, first);
        let below = exprs.compare(dae::CompareOp::LessEqual, false, value, last);
        let holds = exprs.and(above, below);
        let component = model.paths.parent(path).unwrap_or(path);
        let origin = Origin { component, span, kind: OriginKind::Binding };
        let kind = dae::ActionKind::Assert { holds, message, warning: false };
        model.actions.push(dae::Action { kind, condition: None, origin });
    }
}

/// Reports parameters and constants whose values depend on themselves. A cycle that an if-expression with a known
/// condition does not close is opened: `T = if use_T then T0 else f(h)` with `h = if use_T then g(T) else h0`.
pub fn check_cycles(elaborator: &mut Elaborator) {
    let mut state = base::IdVec::<VarId, u8>::filled(0, elaborator.flat.model.variables.len());
    while let Some(cycle) = find_cycle(&elaborator.flat.model, &mut state) {
        if open_cycle(&mut elaborator.flat.model, &cycle) {
            continue;
        }
        report_cycle(elaborator, &cycle);
        return;
    }
}

/// A cycle of bindings. Variables in state 2 are known to be on none.
fn find_cycle(model: &dae::Model, state: &mut base::IdVec<VarId, u8>) -> Option<Vec<VarId>> {
    for start in model.variables.ids() {
        if state[start] != 0 || model.variables[start].binding.is_none() {
            continue;
        }
        // Depth-first without recursion: a variable is left when all that its binding names is done.
        let mut stack = vec![(start, false)];
        let mut path: Vec<VarId> = Vec::new();
        while let Some((variable, done)) = stack.pop() {
            if done {
                state[variable] = 2;
                path.pop();
                continue;
            }
            match state[variable] {
                2 => continue,
                1 => {
                    let from = path.iter().position(|&on_path| on_path == variable).unwrap_or(0);
                    for &on_path in &path {
                        state[on_path] = 0;
                    }
                    return Some(path[from..].to_vec());
                }
                _ => {}
            }
            state[variable] = 1;
            path.push(variable);
            stack.push((variable, true));
            let Some(binding) = model.variables[variable].binding else { continue };
            stack.extend(model.exprs.dependencies(&[binding]).variables.into_iter().map(|used| (used, false)));
        }
    }
    None
}

/// Puts known conditions into the bindings of a cycle; whether anything changed.
fn open_cycle(model: &mut dae::Model, cycle: &[VarId]) -> bool {
    let mut changed = false;
    for &variable in cycle {
        let Some(binding) = model.variables[variable].binding else { continue };
        let used = model.exprs.dependencies(&[binding]).variables;
        let known: Vec<(VarId, ExprId)> =
            used.into_iter().filter_map(|used| Some((used, known_value(model, used)?))).collect();
        let replacement = |used: VarId| known.iter().find(|(known, _)| *known == used).map(|(_, value)| *value);
        let opened = model.exprs.substitute(&[binding], &mut dae::Memo::default(), replacement);
        let &[opened] = opened.as_slice() else { continue };
        if opened != binding {
            changed = true;
            model.variables[variable].binding = Some(opened);
            for (known, _) in known {
                model.variables[known].structural = true;
                let span = model.variables[variable].span;
                model.decided.push(dae::Decided { variable: known, span });
            }
        }
    }
    changed
}

/// The literal value of a parameter that decides something, through other parameters.
fn known_value(model: &dae::Model, mut variable: VarId) -> Option<ExprId> {
    for _ in 0..100 {
        if model.variables[variable].ty == VariableType::Real {
            return None;
        }
        let binding = model.variables[variable].binding?;
        match model.exprs.node(binding) {
            dae::Node::Var(other) => variable = other,
            _ => return model.exprs.is_literal(binding).then_some(binding),
        }
    }
    None
}

fn report_cycle(elaborator: &mut Elaborator, cycle: &[VarId]) {
    let model = &elaborator.flat.model;
    let names: Vec<String> = cycle.iter().map(|&variable| format!("`{}`", model.variable_name(variable))).collect();
    let Some(first) = names.first() else { return };
    let mut diagnostic = Diagnostic::error("cyclic-parameter", format!("the value of {first} depends on itself"))
        .note(format!("{} → {first}", names.join(" → ")))
        .specification("4.4.4");
    for (variable, name) in cycle.iter().zip(&names).take(8) {
        if let Some(span) = model.variables[*variable].span {
            diagnostic = diagnostic.at(span, format!("{name} is declared here"));
        }
    }
    elaborator.instances.report(Box::new(diagnostic));
}

/// A constant has its value from its declaration, whatever its attribute `fixed` says.
fn report_open_constants(elaborator: &mut Elaborator) {
    let model = &elaborator.flat.model;
    let is_open = |variable: &&Variable| {
        let fixed = variable.attributes.fixed.and_then(|fixed| model.exprs.as_boolean(fixed));
        variable.variability == Variability::Constant && fixed == Some(false)
    };
    let mut found = Vec::new();
    for variable in model.variables.values().filter(is_open) {
        let message =
            format!("the constant `{}` has `fixed = false`, which has no effect", model.paths.text(variable.path));
        let mut diagnostic = Diagnostic::breach("open-constant", message)
            .hint("declare it as a parameter, or remove `fixed`")
            .specification("4.9.1");
        if let Some(span) = variable.span {
            diagnostic = diagnostic.at(span, "declared here");
        }
        found.push(diagnostic);
    }
    found.into_iter().for_each(|diagnostic| elaborator.instances.report(Box::new(diagnostic)));
}

/// Reports constants without a value, or with one that the initial problem would have to determine.
pub fn check_constants(elaborator: &mut Elaborator) {
    report_open_constants(elaborator);
    let model = &elaborator.flat.model;
    let missing = model.variables.ids().find(|&id| {
        let variable = &model.variables[id];
        variable.variability == Variability::Constant
            && variable.binding.is_none()
            && variable.attributes.start.is_none()
    });
    let Some(variable) = missing else { return };
    let name = model.variable_name(variable);
    let mut diagnostic = Diagnostic::error("constant-without-value", format!("the constant `{name}` has no value"))
        .hint("give it a value in its declaration or in a modifier")
        .specification("4.4.4");
    if let Some(span) = model.variables[variable].span {
        diagnostic = diagnostic.at(span, "declared here");
    }
    elaborator.instances.report(Box::new(diagnostic));
}
