//! Interfaces (specification 6): whether a class can be used in place of another, and if not, what it lacks. Redeclarations
//! and constraining clauses (7.3.2) and outer elements (5.4) are held against it.

use std::sync::Arc;

use base::{Diagnostic, Span};
use syntax::ast::{self, ClassKind};

use crate::instance::{Builtin, ClassId, ClassMemberId, CompId, ComponentType, Instances, Member, Outcome};
use crate::modifier::{self, Declaration, Redeclare, Spread};

/// Elements of elements are compared as deep as this: further down they belong to classes that both sides share.
const DEEPEST_COMPARISON: usize = 3;

/// A class that a redeclaration or a constraining clause is to be checked for when the tree stands.
#[derive(Clone, Debug)]
pub struct ToCheck {
    /// What stands in place of the declared class.
    pub class: ClassId,
    pub member: ClassMemberId,
    /// `None` for the declaration itself, which has a constraining clause.
    pub redeclare: Option<Arc<Redeclare>>,
}

/// A constraining class with its modifiers, and the class instance in which both are to be looked up.
#[derive(Clone)]
struct Constraining {
    name: Arc<ast::TypeName>,
    modification: Option<Arc<ast::ClassModification>>,
    scope: ClassId,
}

impl Constraining {
    fn new(clause: &ast::Constraint, scope: ClassId) -> Self {
        Self { name: clause.base.clone(), modification: clause.modification.clone(), scope }
    }

    /// The class with the modifiers, which may redeclare elements of it (7.3.2).
    fn class(&self, instances: &mut Instances) -> Outcome<ClassId> {
        let class = instances.lookup_type(self.scope, &self.name)?;
        let Some(modification) = &self.modification else { return Ok(class) };
        // What is wrong with them was said where they are applied.
        let mut said = Vec::new();
        let modifier = modifier::from_class_modification(modification, self.scope, Spread::CLASS, &mut said);
        Ok(instances.top_instance(class, Arc::new(modifier)))
    }
}

/// Checks the redeclared classes of the model, and the redeclared or constrained ones of these components.
pub fn check_redeclarations(instances: &mut Instances, components: &[CompId]) {
    for redeclared in std::mem::take(&mut instances.redeclarations) {
        check_class(instances, &redeclared);
    }
    for &component in components {
        check_component(instances, component);
    }
}

fn check_class(instances: &mut Instances, to_check: &ToCheck) {
    let member = instances.class_member(to_check.member);
    let (scope, Some(declaration)) = (member.declared_in, member.declaration.clone()) else { return };
    let original = declaration.constraint.as_ref().map(|constraint| Constraining::new(constraint, scope));
    let (earlier, span) = match &to_check.redeclare {
        Some(redeclare) => (redeclare.inner.as_ref(), redeclare.span),
        None => (None, declaration.name.span),
    };
    let own =
        to_check.redeclare.as_ref().and_then(|redeclare| class_of_redeclaration(redeclare)).unwrap_or(&declaration);
    let type_scope = to_check.redeclare.as_ref().map_or(scope, |redeclare| redeclare.scope);
    match constraint_of(earlier, original.as_ref()) {
        Some(constraint) => {
            let Ok(wanted) = constraint.class(instances) else { return };
            // The dimensions that the short class itself adds do not count (7.3.2).
            let rank = match &own.body {
                ast::ClassBody::Short { base, .. } => type_rank(instances, base, type_scope),
                _ => Some(instances.class_rank(to_check.class)),
            };
            compare(instances, to_check.class, wanted, rank, span);
        }
        None => {
            let Ok(wanted) = instances.original_class(to_check.member) else { return };
            let rank = Some(instances.class_rank(to_check.class));
            compare(instances, to_check.class, wanted, rank, span);
        }
    }
    check_chain(instances, to_check.redeclare.as_ref(), original.as_ref(), declaration.name.name.as_str());
}

fn check_component(instances: &mut Instances, component: CompId) {
    let node = instances.component(component);
    let declared = node.declaration.clone();
    let (declared_in, type_scope) = (node.declared_in, node.type_scope);
    let (original, redeclare) = match node.original.clone() {
        Some((original, redeclare)) => (original, Some(redeclare)),
        None if declared.constraint.is_some() => (declared.clone(), None),
        None => return,
    };
    let explicit = original.constraint.as_ref().map(|constraint| Constraining::new(constraint, declared_in));
    let span = redeclare.as_ref().map_or(original.name.span, |redeclare| redeclare.span);
    let earlier = redeclare.as_ref().and_then(|redeclare| redeclare.inner.as_ref());
    let constraint = constraint_of(earlier, explicit.as_ref());
    let wanted = match constraint {
        Some(constraint) => constraint.class(instances),
        None => instances.lookup_type(declared_in, &original.type_name),
    };
    // With the modifiers of the declaration, among them those of the constraining clause.
    let class = match instances.component_type(component) {
        Ok(ComponentType::Class(class)) => Ok(class),
        _ => instances.lookup_type(type_scope, &declared.type_name),
    };
    let (Ok(class), Ok(wanted)) = (class, wanted) else { return };
    let rank = Some(instances.class_rank(class));
    compare(instances, class, wanted, rank, span);
    check_chain(instances, redeclare.as_ref(), explicit.as_ref(), original.name.name.as_str());
}

/// The nearest constraining clause: of the redeclarations that were made before, the last one first, then of the
/// declaration. `None` where nothing but the declared class constrains it.
fn constraint_of(earlier: Option<&Arc<Redeclare>>, original: Option<&Constraining>) -> Option<Constraining> {
    let mut current = earlier;
    while let Some(redeclare) = current {
        if let Some(clause) = constraining_clause(redeclare) {
            return Some(Constraining::new(clause, redeclare.scope));
        }
        current = redeclare.inner.as_ref();
    }
    original.cloned()
}

fn constraining_clause(redeclare: &Redeclare) -> Option<&ast::Constraint> {
    match &redeclare.declaration {
        Declaration::Class(class) => class.constraint.as_deref(),
        Declaration::Component(component) => component.constraint.as_deref(),
    }
}

fn class_of_redeclaration(redeclare: &Redeclare) -> Option<&Arc<ast::ClassDef>> {
    match &redeclare.declaration {
        Declaration::Class(class) => Some(class),
        Declaration::Component(_) => None,
    }
}

/// What holds between one redeclaration and the one before it: that one is replaceable, and a new constraining class is a
/// subtype of the old one.
fn check_chain(
    instances: &mut Instances,
    redeclare: Option<&Arc<Redeclare>>,
    original: Option<&Constraining>,
    name: &str,
) {
    let mut current = redeclare;
    while let Some(redeclare) = current {
        let before = redeclare.inner.as_ref();
        check_still_replaceable(instances, redeclare, name);
        if let (Some(new), Some(old)) = (constraining_clause(redeclare), constraint_of(before, original))
            && let (Ok(class), Ok(wanted)) =
                (Constraining::new(new, redeclare.scope).class(instances), old.class(instances))
        {
            let rank = Some(instances.class_rank(class));
            compare(instances, class, wanted, rank, new.base.span);
        }
        current = before;
    }
}

/// What was redeclared without `replaceable` cannot be redeclared or extended again.
pub(crate) fn check_still_replaceable(instances: &mut Instances, redeclare: &Redeclare, name: &str) {
    let Some(before) = redeclare.inner.as_ref().filter(|before| !is_replaceable(before)) else { return };
    let diagnostic = Diagnostic::breach("not-replaceable", format!("`{name}` is not replaceable any more"))
        .at(redeclare.span, "redeclared here")
        .at(before.span, "redeclared before, without `replaceable`")
        .hint("write `redeclare replaceable` in the earlier redeclaration, or remove the later one")
        .specification("7.3.1");
    instances.report(Box::new(diagnostic));
}

fn is_replaceable(redeclare: &Redeclare) -> bool {
    match &redeclare.declaration {
        Declaration::Class(class) => class.prefixes.replaceable,
        Declaration::Component(component) => component.prefixes.replaceable,
    }
}

fn type_rank(instances: &mut Instances, name: &ast::TypeName, scope: ClassId) -> Option<usize> {
    let class = instances.lookup_type(scope, name).ok()?;
    Some(instances.class_rank(class))
}

/// Reports what `class`, of which `rank` dimensions count, lacks to stand for `wanted`.
fn compare(instances: &mut Instances, class: ClassId, wanted: ClassId, rank: Option<usize>, span: Span) {
    let wanted_rank = instances.class_rank(wanted);
    let missing = match lacks(instances, class, wanted, DEEPEST_COMPARISON) {
        Some(missing) => Some(missing),
        None if rank.is_some_and(|rank| rank != wanted_rank) => {
            let rank = rank.unwrap_or_default();
            Some(Lack::of(format!("it has {}, and {wanted_rank} are needed", count(rank, "dimension"))))
        }
        None => None,
    };
    let Some(Lack { why, is_plain }) = missing else { return };
    let (name, wanted_name) = (instances.class_name(class), instances.class_name(wanted));
    // What matters only where it is used is an error there.
    let mut diagnostic = match is_plain {
        true => Diagnostic::breach("redeclare-type", format!("`{name}` stands for `{wanted_name}`: {why}")),
        false => {
            Diagnostic::error("redeclare-type", format!("`{name}` cannot be used in place of `{wanted_name}`: {why}"))
        }
    };
    diagnostic = diagnostic.at(span, "declared so here");
    let place = instances.definition(wanted).name.span;
    if instances.class(wanted).builtin.is_none() {
        diagnostic = diagnostic.at(place, "this is what it must provide");
    }
    diagnostic = diagnostic
        .hint(format!("use a class that has all that `{wanted_name}` has, or widen the constraining clause"))
        .specification("7.3.2");
    instances.report(Box::new(diagnostic));
}

/// `1 dimension`, `2 dimensions`.
pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Why a class cannot be used in place of another.
pub struct Lack {
    pub why: String,
    /// Only some uses are impossible, and these are errors of their own: an element is absent and all others fit, or a number is
    /// of another type.
    pub is_plain: bool,
}

impl Lack {
    fn of(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_plain: false }
    }

    /// The same of an element.
    fn below(self, place: impl std::fmt::Display) -> Self {
        Self { why: format!("{place} {}", self.why), ..self }
    }
}

fn lacks(instances: &mut Instances, class: ClassId, wanted: ClassId, depth: usize) -> Option<Lack> {
    if instances.class(class).def == instances.class(wanted).def {
        return None;
    }
    let simple = (instances.simple_type(class), instances.simple_type(wanted));
    match simple {
        (Some(own), Some(wanted)) => {
            let same = same_builtin(instances, own.builtin, wanted.builtin);
            let is_number = |builtin| matches!(builtin, Some(Builtin::Real | Builtin::Integer));
            // Where one of the numbers cannot stand for the other, that use is an error of its own.
            let is_plain = is_number(own.builtin) && is_number(wanted.builtin);
            return (!same).then(|| Lack { why: "its type is another one".to_owned(), is_plain });
        }
        (Some(_), None) | (None, Some(_)) => {
            let empty = instances.members(wanted).is_empty();
            return (!empty).then(|| Lack::of("only one of them is a predefined type"));
        }
        (None, None) => {}
    }
    let kinds = (instances.kind(class), instances.kind(wanted));
    if family(kinds.0) != family(kinds.1) && ![kinds.0, kinds.1].contains(&ClassKind::Class) {
        return Some(Lack::of(format!("it is a {}, not a {}", kinds.0, kinds.1)));
    }
    let mut absent = None;
    for (name, member) in instances.members(wanted) {
        if is_protected(instances, member) {
            continue;
        }
        let own = instances.member(class, name);
        if let Some(own) = own
            && is_protected(instances, own)
        {
            return Some(Lack::of(format!("its element `{name}` is protected")));
        }
        match (member, own) {
            (Member::Component(component), None) if instances.component(component).condition.is_some() => {}
            (_, None) => {
                let why = format!("it has no element `{name}`");
                absent.get_or_insert(Lack { why, is_plain: kinds.1 != ClassKind::Function });
            }
            (Member::Component(wanted), Some(Member::Component(own))) => {
                match component_lacks(instances, own, wanted, depth) {
                    Some(lack) if lack.is_plain => {
                        absent.get_or_insert(lack.below(format_args!("its element `{name}`")));
                    }
                    Some(lack) => return Some(lack.below(format_args!("its element `{name}`"))),
                    None => {}
                }
            }
            (Member::Class(_), Some(Member::Class(_))) => {}
            _ => return Some(Lack::of(format!("`{name}` is a class in one and a component in the other"))),
        }
    }
    let call = if kinds.1 == ClassKind::Function { function_lacks(instances, class, wanted) } else { None };
    call.map(Lack::of).filter(|_| absent.is_none()).or(absent)
}

/// Kinds of classes that can stand for each other.
fn family(kind: ClassKind) -> u8 {
    match kind {
        ClassKind::Function | ClassKind::OperatorFunction => 1,
        ClassKind::Package => 2,
        ClassKind::Connector | ClassKind::ExpandableConnector => 3,
        ClassKind::Model | ClassKind::Block | ClassKind::Class => 4,
        ClassKind::Type | ClassKind::Record | ClassKind::OperatorRecord => 5,
        ClassKind::Operator => 6,
    }
}

fn is_protected(instances: &Instances, member: Member) -> bool {
    match member {
        Member::Component(component) => instances.component(component).prefixes.protected,
        Member::Class(inner) => instances.class_member(inner).protected,
    }
}

/// What keeps one component from standing for another, to be read after its name.
fn component_lacks(instances: &mut Instances, own: CompId, wanted: CompId, depth: usize) -> Option<Lack> {
    let (Ok(own_type), Ok(wanted_type)) = (instances.component_type(own), instances.component_type(wanted)) else {
        return None;
    };
    let (a, b) = (instances.component(own), instances.component(wanted));
    let ranks = (a.dimensions.len(), b.dimensions.len());
    let (one, other) = (a.type_prefixes, b.type_prefixes);
    let free = b.prefixes.replaceable || a.prefixes.outer || b.prefixes.outer;
    let why = match (own_type, wanted_type) {
        (ComponentType::Builtin { builtin: a, .. }, ComponentType::Builtin { builtin: b, .. }) => {
            (!same_builtin(instances, Some(a), Some(b))).then(|| Lack::of("has another type"))
        }
        (ComponentType::Builtin { .. }, _) | (_, ComponentType::Builtin { .. }) => Some(Lack::of("has another type")),
        (ComponentType::Class(a), ComponentType::Class(b)) if depth > 0 && !free => {
            lacks(instances, a, b, depth - 1).map(|lack| lack.below("does not fit:"))
        }
        _ => None,
    };
    if why.is_some() {
        return why;
    }
    if ranks.0 != ranks.1 {
        return Some(Lack::of(format!("has {} instead of {}", count(ranks.0, "dimension"), ranks.1)));
    }
    if one.flow != other.flow {
        return Some(Lack::of("is a flow or stream variable in one and not in the other"));
    }
    if one.direction != other.direction {
        return Some(Lack::of("differs in `input` and `output`"));
    }
    None
}

/// Calls by position must keep their meaning (6.6): inputs in the same order, new ones behind them and with defaults.
fn function_lacks(instances: &mut Instances, class: ClassId, wanted: ClassId) -> Option<String> {
    for direction in [ast::Direction::Input, ast::Direction::Output] {
        let own = public_with(instances, class, direction);
        let needed = public_with(instances, wanted, direction);
        let what = if direction == ast::Direction::Input { "input" } else { "output" };
        for (position, &component) in needed.iter().enumerate() {
            let name = instances.component(component).name;
            if own.get(position).map(|&own| instances.component(own).name) != Some(name) {
                return Some(format!("its {what} `{name}` is not the one at position {}", position + 1));
            }
        }
        let new = own.get(needed.len()..).unwrap_or_default();
        let open = new.iter().find(|&&component| instances.binding(component).is_none());
        if let (Some(&open), ast::Direction::Input) = (open, direction) {
            return Some(format!("its new input `{}` has no default value", instances.component(open).name));
        }
    }
    None
}

fn public_with(instances: &mut Instances, class: ClassId, direction: ast::Direction) -> Vec<CompId> {
    let components = instances.components_of(class);
    components
        .into_iter()
        .filter(|&component| {
            let node = instances.component(component);
            !node.prefixes.protected && node.type_prefixes.direction == direction
        })
        .collect()
}

/// Enumerations are the same when they list the same literals in the same order; `enumeration(:)` takes any (6.4).
pub(crate) fn same_builtin(instances: &Instances, own: Option<Builtin>, wanted: Option<Builtin>) -> bool {
    match (own, wanted) {
        (Some(Builtin::Enumeration(a)), Some(Builtin::Enumeration(b))) => {
            let literals = (instances.enumeration_literals(a), instances.enumeration_literals(b));
            a == b || literals.0 == literals.1 || literals.1.is_empty()
        }
        _ => own == wanted,
    }
}

/// Why the component that an outer one stands for does not fit it (5.4): what to say about the two.
pub fn inner_lacks(instances: &mut Instances, inner: CompId, outer: CompId) -> Outcome<Option<Lack>> {
    let types = (instances.component_type(inner)?, instances.component_type(outer)?);
    Ok(match types {
        (ComponentType::Builtin { builtin: a, .. }, ComponentType::Builtin { builtin: b, .. }) => {
            (!same_builtin(instances, Some(a), Some(b))).then(|| Lack::of("they have different types"))
        }
        (ComponentType::Builtin { .. }, _) | (_, ComponentType::Builtin { .. }) => {
            Some(Lack::of("they have different types"))
        }
        (ComponentType::Class(a), ComponentType::Class(b)) => {
            lacks(instances, a, b, DEEPEST_COMPARISON).map(|Lack { why, is_plain }| {
                let names = (instances.class_name(a), instances.class_name(b));
                let why = format!("the inner one is of class `{}`, not `{}`: {why}", names.0, names.1);
                Lack { why, is_plain }
            })
        }
        _ => None,
    })
}
