//! From the name of a class to the flat model: instantiate, make variables, connect, expand equations.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Diagnostic, Name};
use dae::PathId;
use rustc_hash::FxHashSet;
use syntax::ast;

use crate::class_balance;
use crate::connect;
use crate::discrete_equations;
use crate::elaborate::Elaborator;
use crate::final_elements;
use crate::flat::{Indices, for_each_index};
use crate::instance::{Builtin, ClassId, CompId, ComponentType, Frame, Instances, Outcome};
use crate::interfaces;
use crate::library::{DefId, Libraries, name_parts};
use crate::overrides::{Overrides, Purpose};
use crate::parts::{self, Part};
use crate::repeated_equations;
use crate::restrictions;
use crate::right_limits;
use crate::set_elements::set_elements;
use crate::state_machines;
use crate::symbolic::keep_lost_checks;
use crate::units;
use crate::variables;

/// How far it came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// Reading and parsing texts.
    Parse,
    /// Making the instances of classes and components.
    Instantiate,
    /// Making equations.
    Flatten,
    /// All of it.
    Done,
}

/// What became of a class.
pub struct Flattening {
    /// Absent when there was an error.
    pub model: Option<dae::Model>,
    /// What was found on the way.
    pub diagnostics: Vec<Diagnostic>,
    /// The stage in which it stopped.
    pub stage: Stage,
    /// What the class leaves open.
    pub open_ends: OpenEnds,
    /// How long instantiation took.
    pub instantiate_time: Duration,
    /// How long flattening took.
    pub flatten_time: Duration,
}

/// Expressions and classes may nest as deep as a text can be written by a program. Most recursions over them check the
/// stack themselves; those that do not, such as the release of a tree, get one that is enough for what the parser lets
/// through. Only what is used of it takes memory.
const STACK: usize = 1 << 30;
const LEAST_STACK: usize = 1 << 28;

/// What only the use of a class connects. One that has such ends is a component, not a model by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum OpenEnds {
    /// Nothing is left open.
    None,
    /// Inputs, or connectors in which there are as many potentials as flows.
    Balanced,
    /// Connectors of which the numbers of equations and unknowns say nothing, such as frames.
    Overdetermined,
}

/// Makes the flat model of a class.
pub fn flatten(libraries: &mut Libraries, class: &str, overrides: &Overrides) -> Flattening {
    let mut result = Flattening {
        model: None,
        diagnostics: std::mem::take(&mut libraries.diagnostics),
        stage: Stage::Parse,
        open_ends: OpenEnds::None,
        instantiate_time: Duration::ZERO,
        flatten_time: Duration::ZERO,
    };
    if result.diagnostics.iter().any(Diagnostic::is_error) {
        return result;
    }
    stacker::maybe_grow(LEAST_STACK, STACK, || flatten_into(libraries, class, overrides, &mut result));
    result
}

fn flatten_into(libraries: &mut Libraries, class: &str, overrides: &Overrides, result: &mut Flattening) {
    let mut elaborator = elaborate(libraries, class, overrides, false, result);
    let model = &elaborator.flat.model;
    if model.exprs.lacks_operands() && model.has_clocks() && !failed(&elaborator.instances) {
        // What ticks together follows from the equations as they are written. Only now is it known that this matters.
        *libraries = elaborator.instances.libraries;
        elaborator = elaborate(libraries, class, overrides, true, result);
    }
    let Elaborator { mut instances, flat, .. } = elaborator;
    result.diagnostics.append(&mut instances.libraries.diagnostics);
    // A class whose file is wrong failed for what was said about the file.
    let of_files = result.diagnostics.len();
    for diagnostic in std::mem::take(&mut instances.diagnostics) {
        if !result.diagnostics[..of_files].contains(&diagnostic) {
            result.diagnostics.push(diagnostic);
        }
    }
    *libraries = instances.libraries;
    if !result.diagnostics.iter().any(Diagnostic::is_error) {
        debug_assert_eq!(dae::verify(&flat.model), Vec::<String>::new(), "the flat model of {class} is malformed");
        result.stage = Stage::Done;
        result.model = Some(flat.model);
    }
}

/// Makes the flat model of a class; `keep_operands` as in `Exprs`.
fn elaborate(
    libraries: &mut Libraries,
    class: &str,
    overrides: &Overrides,
    keep_operands: bool,
    result: &mut Flattening,
) -> Elaborator {
    let start = Instant::now();
    let instances = Instances::new(std::mem::replace(libraries, Libraries::empty()));
    let mut elaborator = Elaborator::new(instances, overrides);
    elaborator.flat.model.exprs.keep_operands(keep_operands);
    run(&mut elaborator, class, overrides, start, result);
    elaborator
}

fn failed(instances: &Instances) -> bool {
    instances.diagnostics.iter().chain(&instances.libraries.diagnostics).any(Diagnostic::is_error)
}

fn run(elaborator: &mut Elaborator, class: &str, overrides: &Overrides, start: Instant, result: &mut Flattening) {
    result.stage = Stage::Instantiate;
    if overrides.purpose == Purpose::Inspection && inspect_function(elaborator, class) {
        result.instantiate_time += start.elapsed();
        return;
    }
    let instances = &mut elaborator.instances;
    let top = match top_class(instances, class, overrides) {
        Ok(top) => top,
        Err(diagnostic) => return instances.report(diagnostic),
    };
    let model = &mut elaborator.flat.model;
    model.name = class.to_owned();
    model.description = instances.definition(top).description.clone();
    let (experiment, unreadable) = crate::experiment::read(instances.definition(top));
    model.experiment = experiment;
    model.is_from_flat_text = is_flat_text(instances.definition(top));
    unreadable.into_iter().for_each(|diagnostic| instances.report(Box::new(diagnostic)));
    let (parts, paths, collected) = instantiate(elaborator, top);
    result.open_ends = open_ends(elaborator, &parts);
    result.instantiate_time += start.elapsed();
    if failed(&elaborator.instances) {
        return;
    }
    result.stage = Stage::Flatten;
    let middle = Instant::now();
    variables::make_variables(elaborator, &parts, &paths);
    state_machines::declare(elaborator, &collected.machines, &parts, &paths);
    variables::limit_flows(elaborator, &parts);
    connect::equations::make(elaborator, &collected, top, &parts);
    connect::balance::check(elaborator, &parts);
    variables::bind_variables(elaborator, &parts);
    final_elements::check(elaborator);
    variables::compare_connected(elaborator);
    variables::check_cycles(elaborator);
    variables::check_constants(elaborator);
    expand_sections(elaborator, top, &parts, &paths);
    crate::shared_objects::hand_over(elaborator);
    keep_lost_checks(elaborator);
    state_machines::translate(elaborator, &parts, &paths);
    variables::check_enumerations(elaborator);
    // Packages and functions are found while expressions are expanded.
    check_classes(elaborator);
    elaborator.instances.check_imports(top);
    elaborator.finish();
    set_elements(elaborator, top, overrides);
    crate::watch::find_outcomes(&mut elaborator.flat.model);
    right_limits::resolve(elaborator);
    discrete_equations::refuse_left_limits(elaborator);
    discrete_equations::follow(elaborator);
    if !failed(&elaborator.instances) {
        class_balance::check(elaborator, &parts, &paths);
    }
    refuse_externals(elaborator);
    crate::effects::refuse(elaborator);
    warn_of_derivatives(elaborator);
    if !overrides.no_unit_check && !failed(&elaborator.instances) {
        units::check(elaborator);
    }
    result.flatten_time += middle.elapsed();
}

fn open_ends(elaborator: &mut Elaborator, parts: &[Part]) -> OpenEnds {
    let mut found = OpenEnds::None;
    for (position, part) in parts.iter().enumerate().filter(|(_, part)| part.parent.is_none()) {
        let is_input = || elaborator.instances.direction(part.component) == ast::Direction::Input;
        let is_end = match part.ty {
            ComponentType::Class(class) => {
                let kind = elaborator.instances.definition(class).kind;
                matches!(kind, ast::ClassKind::Connector | ast::ClassKind::ExpandableConnector)
            }
            _ => is_input(),
        };
        if !is_end {
            continue;
        }
        let inner = parts.iter().filter(|inner| inner.parent == Some(position)).chain([part]);
        let is_overdetermined = inner.into_iter().any(|part| match part.ty {
            ComponentType::Class(class) => connect::balance::is_overdetermined(elaborator, class),
            _ => connect::balance::is_overdetermined_type(elaborator, part.component),
        });
        found = found.max(if is_overdetermined { OpenEnds::Overdetermined } else { OpenEnds::Balanced });
    }
    found
}

/// Finds the parts, their paths and the connections. Connections may add elements to expandable connectors, after which
/// the parts are found once more.
fn instantiate(
    elaborator: &mut Elaborator,
    top: ClassId,
) -> (Vec<Part>, Vec<Vec<PathId>>, connect::collect::Collected) {
    let mut parts = parts::find_parts(elaborator, top);
    check(elaborator, top, &parts);
    let mut paths = variables::make_paths(elaborator, &parts);
    let mut collected = connect::collect::collect(elaborator, top, &parts, &paths);
    if !collected.to_expandable.is_empty() || connect::expandable::any(elaborator, &parts) {
        connect::expandable::complete(elaborator, &mut collected);
        parts = parts::find_parts(elaborator, top);
        collected.remove_absent(&parts);
        connect::expandable::remove_unused(elaborator, &parts, &collected);
        parts = parts::find_parts(elaborator, top);
        paths = variables::make_paths(elaborator, &parts);
    }
    collected.remove_absent(&parts);
    (parts, paths, collected)
}

/// Checks what can be checked on classes alone.
fn check(elaborator: &mut Elaborator, top: ClassId, parts: &[Part]) {
    for class in std::iter::once(top).chain(classes(parts)) {
        variables::check_modifiers(elaborator, class);
        restrictions::check_block(&mut elaborator.instances, class);
        elaborator.instances.make_redeclared(class);
    }
    check_classes(elaborator);
    connect::expandable::check_modifiers(elaborator, parts);
    let components: Vec<CompId> = parts.iter().map(|part| part.component).collect();
    interfaces::check_redeclarations(&mut elaborator.instances, &components);
}

/// Checks the content of every class that was used so far.
fn check_classes(elaborator: &mut Elaborator) {
    let mut seen = FxHashSet::default();
    for class in elaborator.instances.expanded_classes() {
        let node = elaborator.instances.class(class);
        let predefined = node.builtin.is_some() && !matches!(node.builtin, Some(Builtin::Enumeration(_)));
        if !predefined && seen.insert(node.def) {
            restrictions::check_class(&mut elaborator.instances, class);
        }
    }
    elaborator.instances.check_duplicates();
    elaborator.instances.check_deselected_kinds();
}

fn classes(parts: &[Part]) -> Vec<ClassId> {
    parts
        .iter()
        .filter_map(|part| match part.ty {
            ComponentType::Class(class) => Some(class),
            _ => None,
        })
        .collect()
}

/// Types and lowers a function, so that its mistakes are found; `false` if the class is none.
fn inspect_function(elaborator: &mut Elaborator, class: &str) -> bool {
    let Ok(found) = elaborator.instances.class_by_name(class) else { return false };
    let definition = elaborator.instances.definition(found);
    if !matches!(definition.kind, ast::ClassKind::Function | ast::ClassKind::OperatorFunction) {
        return false;
    }
    let is_partial = definition.partial;
    let inspected = elaborator.signature(found).and_then(|signature| match is_partial {
        true => Ok(()),
        false => elaborator.flat_function(signature.key).map(|_| ()),
    });
    if let Err(diagnostic) = inspected {
        elaborator.instances.report(diagnostic);
    }
    check_classes(elaborator);
    true
}

/// The class with the modifiers of the call, as the top of an instance tree.
fn top_class(instances: &mut Instances, class: &str, overrides: &Overrides) -> Outcome<ClassId> {
    let found = instances.class_by_name(class)?;
    let definition = instances.definition(found).clone();
    let can_be_simulated =
        matches!(definition.kind, ast::ClassKind::Model | ast::ClassKind::Block | ast::ClassKind::Class);
    if overrides.purpose == Purpose::Simulation && (definition.partial || !can_be_simulated) {
        let what = if definition.partial { "is partial" } else { "is not a model or block" };
        return Err(Box::new(
            Diagnostic::error("not-a-model", format!("`{class}` {what} and cannot be simulated"))
                .at(definition.name.span, "declared here")
                .specification("4.7"),
        ));
    }
    let modifier = overrides.modifier(instances, found)?;
    Ok(instances.top_instance(found, Arc::new(modifier)))
}

/// Expands the equation and algorithm sections of all classes for all elements.
fn expand_sections(elaborator: &mut Elaborator, top: ClassId, parts: &[Part], paths: &[Vec<PathId>]) {
    let root = [elaborator.flat.model.paths.root()];
    expand_class(elaborator, top, &[], None, &root);
    for (part, paths) in parts.iter().zip(paths) {
        if let ComponentType::Class(class) = part.ty {
            expand_class(elaborator, class, &part.sizes, part.present.as_deref(), paths);
        }
    }
}

fn expand_class(
    elaborator: &mut Elaborator,
    class: ClassId,
    sizes: &[usize],
    present: Option<&[bool]>,
    paths: &[PathId],
) {
    let classes = elaborator.instances.with_bases(class);
    let repeated = repeated_equations::find(elaborator, &classes);
    for base in classes {
        let definition = elaborator.instances.definition(base).clone();
        let ast::ClassBody::Long(composition) = &definition.body else { continue };
        if composition.equations.is_empty() && composition.algorithms.is_empty() {
            continue;
        }
        let mut position = 0;
        for_each_index(sizes, |indices| {
            let here = present.is_none_or(|present| present.get(position).copied().unwrap_or(false));
            let path = paths.get(position).copied();
            position += 1;
            let (true, Some(path)) = (here, path) else { return };
            let frame = Frame { class: base, indices: Indices::from_slice(indices) };
            for section in &composition.equations {
                elaborator.expand_equations(&frame, &section.equations, &repeated, path, section.initial);
            }
            for section in &composition.algorithms {
                elaborator.expand_algorithm(&frame, section, path);
            }
        });
    }
}

/// External functions that nobody provides are an error before anything is run. Those that are allowed are made ready.
fn refuse_externals(elaborator: &mut Elaborator) {
    let model = &elaborator.flat.model;
    let (mut refused, mut called, mut spans) = (Vec::new(), Vec::new(), Vec::new());
    for id in dae::used_functions(model) {
        let Some(function) = model.functions.get(id) else { continue };
        let dae::function::Body::External(external) = &function.body else { continue };
        let symbol = external.symbol.as_str();
        if external.language == "builtin" || native::provides(symbol) {
            continue;
        }
        if model.outside.as_ref().is_some_and(|outside| outside.has(external)) {
            let external = Arc::new(external.clone());
            for external in external.destructor.clone().into_iter().chain([external]) {
                called.push(external);
                spans.push(function.span);
            }
            continue;
        }
        // What frees an object is not missed.
        if function.name.as_str().ends_with(".destructor") {
            continue;
        }
        let message = match symbol {
            "system" => format!("`{}` starts a program, which a model may not do", function.name),
            _ => format!("`{}` calls the external function `{symbol}`, which is not built in", function.name),
        };
        let diagnostic = Diagnostic::error("external-function", message).at(function.span, "declared here");
        refused.push(diagnostic.hint(EXTERNAL_HINT).specification("12.9"));
    }
    if let Some(outside) = model.outside.as_ref().filter(|_| !called.is_empty()) {
        for (position, reason) in outside.prepare(&called) {
            let message = format!("the external function `{}` cannot be called: {reason}", called[position].symbol);
            let diagnostic = Diagnostic::error("external-build", message);
            refused.push(diagnostic.at(spans[position], "of this function").specification("12.9"));
        }
    }
    refused.into_iter().for_each(|diagnostic| elaborator.report(diagnostic));
}

/// What lets a model call outside functions.
const EXTERNAL_HINT: &str = "`--allow-external LIBRARY` lets the model call functions of a shared library, \
    `--allow-external build` those that its own C code defines, which is compiled then";

/// Whether the text was printed from a flat model: `annotation(__Gyrator(flat = true))`.
fn is_flat_text(definition: &ast::ClassDef) -> bool {
    let Some(own) = annotation(definition, "__Gyrator") else { return false };
    own.arguments.iter().any(|argument| match argument {
        ast::Argument::Element(element) => {
            let value = element.modification.as_ref().and_then(|modification| modification.value.as_ref());
            matches!(element.path.as_slice(), [only] if only.name == "flat")
                && matches!(value, Some(ast::ModificationValue::Expr(value)) if matches!(value.kind, ast::ExprKind::Boolean(true)))
        }
        _ => false,
    })
}

/// The arguments of an annotation of a class: of `experiment` in `annotation(experiment(…))`.
pub(crate) fn annotation<'d>(definition: &'d ast::ClassDef, name: &str) -> Option<&'d ast::ClassModification> {
    definition.annotation.as_ref()?.arguments.iter().find_map(|argument| match argument {
        ast::Argument::Element(element) if matches!(element.path.as_slice(), [only] if only.name == name) => {
            element.modification.as_ref()?.arguments.as_deref()
        }
        _ => None,
    })
}

/// The last of these classes that can be simulated; for a package the last one in it.
pub fn last_model(libraries: &mut Libraries, names: &[Name]) -> Option<Name> {
    names.iter().rev().find_map(|name| {
        let mut definition = Libraries::ROOT;
        for part in name_parts(name.as_str()) {
            definition = libraries.class(definition, Name::new(part))?;
        }
        last_model_in(libraries, definition)
    })
}

fn last_model_in(libraries: &mut Libraries, definition: DefId) -> Option<Name> {
    let known = libraries.get(definition);
    match known.class.kind {
        ast::ClassKind::Model | ast::ClassKind::Block | ast::ClassKind::Class => {
            (!known.class.partial).then_some(known.name)
        }
        ast::ClassKind::Package => {
            let names = known.class_names.clone();
            names.into_iter().rev().find_map(|name| {
                let inner = libraries.class(definition, name)?;
                last_model_in(libraries, inner)
            })
        }
        _ => None,
    }
}

/// An annotation `derivative` whose function has other inputs or outputs than those of a derivative is not used (12.7.1).
fn warn_of_derivatives(elaborator: &mut Elaborator) {
    let functions = &elaborator.flat.model.functions;
    let mut found = Vec::new();
    for id in dae::used_functions(&elaborator.flat.model) {
        let Some(function) = functions.get(id) else { continue };
        for annotation in &function.derivatives {
            let Some(reason) = dae::tangent::misfit(functions, id, annotation) else { continue };
            let Some(derivative) = functions.get(annotation.function) else { continue };
            let message = format!("`{}` cannot be the derivative of `{}`: {reason}", derivative.name, function.name);
            let diagnostic = Diagnostic::warning("derivative-function", message);
            let diagnostic = diagnostic.at(derivative.span, "").at(function.span, "its annotation is not used");
            found.push(diagnostic.specification("12.7.1"));
        }
    }
    found.into_iter().for_each(|diagnostic| elaborator.report(diagnostic));
}
