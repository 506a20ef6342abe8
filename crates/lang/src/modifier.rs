//! Modifiers (specification 7.2 and 7.3): a tree of names with bindings and redeclarations, each with the class
//! instance in which its text is to be resolved.
//!
//! Modifiers are merged from the outside in: an outer one wins over an inner one, leaf by leaf. Trees are shared.

use std::sync::Arc;

use base::{Diagnostic, Name, Span};
use syntax::ast;

use crate::instance::ClassId;

/// What is said about one element.
#[derive(Clone, Debug, Default)]
pub struct Modifier {
    pub binding: Option<Binding>,
    /// In the order of the text; each name once.
    pub children: Vec<(Name, Arc<Modifier>)>,
    pub redeclare: Option<Arc<Redeclare>>,
    pub is_final: bool,
    /// Children that the binding as a whole wins over, because they come from further inside: `R r(a = 5)` modified with
    /// `r = other` has the `a` of `other` (7.2.3). Attributes of predefined types stay what they are.
    pub covered: Vec<Name>,
    /// Children that another argument of the same modification names than the binding, as in `(r = R(), r(y = 2))`: an element
    /// of a record cannot be given a value by both (7.2.4).
    pub doubled: Vec<Name>,
    pub span: Option<Span>,
}

/// `= expression`, resolved in `scope`.
#[derive(Clone, Debug)]
pub struct Binding {
    /// `None` for `= break`, which removes the binding.
    pub expr: Option<Arc<ast::Expr>>,
    /// The class instance in whose text the expression stands.
    pub scope: ClassId,
    pub spread: Spread,
    /// The binding of a declaration itself, not one of a modifier around it.
    pub declared: bool,
    pub span: Span,
}

/// Over which arrays of components the value of a modifier is taken apart (7.2.5): those between the place of its text and
/// what it modifies, without those above an `each`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spread {
    /// How many components, counted from the modified element upwards.
    pub levels: u16,
    /// And the dimensions that a class definition adds to its base: `model Three = One[3](x = {1, 2, 3})`.
    pub of_type: bool,
    /// A value for one element holds for all of them without `each`, as on the command line.
    pub or_each: bool,
    /// Behind `each`: the levels that it takes away.
    pub each: Option<u16>,
}

impl Spread {
    /// What stands at the element itself, or behind `each`.
    pub const NONE: Self = Self { levels: 0, of_type: false, or_each: false, each: None };
    /// The elements of a class, as in `extends Base(…)`.
    pub const CLASS: Self = Self { of_type: true, ..Self::NONE };
    /// The elements or attributes of one component, as in `One one[3](…)`.
    pub const COMPONENT: Self = Self { levels: 1, ..Self::NONE };

    /// What is `levels` further inside.
    fn below(self, levels: usize) -> Self {
        let levels = u16::try_from(levels).unwrap_or(u16::MAX);
        let each = self.each.map(|above| above.saturating_add(levels));
        Self { levels: self.levels.saturating_add(levels), each, ..self }
    }
}

#[derive(Clone, Debug)]
pub struct Redeclare {
    pub declaration: Declaration,
    /// The class instance in whose text the redeclaration stands.
    pub scope: ClassId,
    /// Modifiers of lower priority than those of the redeclaration itself.
    pub below: Arc<Modifier>,
    /// The redeclaration that this one replaces, or extends (`redeclare model extends M`), if there was one before it.
    pub inner: Option<Arc<Redeclare>>,
    /// What is said further inside about the class that an extension extends, redeclarations included: it is below all that the
    /// extension says itself.
    pub extended: Arc<Modifier>,
    /// Written as an element of a class, not as an argument of a modification.
    pub element: bool,
    /// Over which arrays of components its value and its modifiers are taken apart, where they have a value for each element.
    pub spread: Spread,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Declaration {
    Class(Arc<ast::ClassDef>),
    Component(Arc<ast::Component>),
}

impl Redeclare {
    /// A class extension, `redeclare model extends M`.
    pub fn is_extension(&self) -> bool {
        match &self.declaration {
            Declaration::Class(class) => is_extension(class),
            Declaration::Component(_) => false,
        }
    }

    /// The modifiers of its own constraining clause.
    pub fn constraint_modifier(&self, diagnostics: &mut Vec<Diagnostic>) -> Arc<Modifier> {
        let (constraint, spread) = match &self.declaration {
            Declaration::Class(class) => (class.constraint.as_ref(), Spread::CLASS),
            Declaration::Component(component) => (component.constraint.as_ref(), Spread::COMPONENT),
        };
        match constraint.and_then(|constraint| constraint.modification.as_ref()) {
            Some(written) => Arc::new(from_class_modification(written, self.scope, spread, diagnostics)),
            None => Arc::default(),
        }
    }

    /// What a redeclaration leaves for those that come after it: the modifiers of its constraining clause, over those that
    /// were there before it (7.3.2).
    pub fn for_redeclarations(&self, diagnostics: &mut Vec<Diagnostic>) -> Arc<Modifier> {
        merge(&self.constraint_modifier(diagnostics), &self.below, diagnostics)
    }

    /// Whether two redeclarations are the same text, or another one of the same words.
    pub fn is_written_as(&self, other: &Redeclare) -> bool {
        let words = |declaration: &Declaration| match declaration {
            Declaration::Class(class) => match &class.body {
                ast::ClassBody::Short { base, modification, .. } => {
                    format!("{base}{}", modification.as_ref().map(ToString::to_string).unwrap_or_default())
                }
                _ => class.to_string(),
            },
            Declaration::Component(component) => component.to_string(),
        };
        self.span == other.span
            || self.hands_over()
            || other.hands_over()
            || words(&self.declaration) == words(&other.declaration)
    }

    /// Whether the redeclaration has a value of its own, `redeclare Real x = 1`.
    fn gives_value(&self) -> bool {
        match &self.declaration {
            Declaration::Component(component) => {
                component.modification.as_ref().is_some_and(|modification| modification.value.is_some())
            }
            Declaration::Class(_) => false,
        }
    }

    /// `redeclare package Medium = Medium`: a class is handed over under its own name.
    pub fn hands_over(&self) -> bool {
        let Declaration::Class(class) = &self.declaration else { return false };
        match &class.body {
            ast::ClassBody::Short { base, modification: None, .. } => {
                matches!(base.parts.as_slice(), [only] if only.name == class.name.name)
            }
            _ => false,
        }
    }

    /// The same text in the same instance, which several ways of inheritance may bring.
    fn is_at(&self, other: &Redeclare) -> bool {
        self.span == other.span && self.scope == other.scope
    }
}

pub fn is_extension(class: &ast::ClassDef) -> bool {
    matches!(&class.body, ast::ClassBody::Long(composition) if composition.extension.is_some())
}

impl Modifier {
    pub fn is_empty(&self) -> bool {
        self.binding.is_none() && self.children.is_empty() && self.redeclare.is_none()
    }

    pub fn child(&self, name: Name) -> Option<&Arc<Modifier>> {
        self.children.iter().find(|(child, _)| *child == name).map(|(_, modifier)| modifier)
    }

    /// The same without the binding: what goes to the elements of a class.
    pub fn without_binding(&self) -> Modifier {
        Modifier { binding: None, redeclare: None, ..self.clone() }
    }

    /// Adds or merges a child of lower priority than what is there.
    pub fn add_below(&mut self, name: Name, below: &Arc<Modifier>, diagnostics: &mut Vec<Diagnostic>) {
        match self.children.iter_mut().find(|(child, _)| *child == name) {
            Some((_, own)) => *own = merge(own, below, diagnostics),
            None => self.children.push((name, below.clone())),
        }
    }
}

/// A modifier as a class that is declared inside of another one gets it: `extends Base(Density(start = 150))`. The name of
/// the class is no component, and components outside of it do not take apart what the class says.
pub fn of_class(modifier: &Arc<Modifier>) -> Arc<Modifier> {
    limited(modifier, 0)
}

/// The modifiers of a class that is final as an element of another one: itself it cannot be exchanged, but the components
/// that are declared with it can be modified.
pub fn of_final_class(modifier: Arc<Modifier>) -> Arc<Modifier> {
    match modifier.is_final {
        true => Arc::new(Modifier { is_final: false, ..(*modifier).clone() }),
        false => modifier,
    }
}

/// `above`: how many components lie between the class and the children of the modifier.
fn limited(modifier: &Arc<Modifier>, above: u16) -> Arc<Modifier> {
    if modifier.children.is_empty() && modifier.redeclare.is_none() {
        return modifier.clone();
    }
    let mut result = (**modifier).clone();
    for (_, child) in &mut result.children {
        let mut own = (*limited(child, above.saturating_add(1))).clone();
        if let Some(binding) = own.binding.as_mut().filter(|binding| binding.spread.levels > above) {
            binding.spread = Spread { levels: above, of_type: true, ..binding.spread };
        }
        if let Some(redeclare) = own.redeclare.as_mut().filter(|redeclare| redeclare.spread.levels > above) {
            let spread = Spread { levels: above, of_type: true, ..redeclare.spread };
            *redeclare = Arc::new(Redeclare { spread, ..(**redeclare).clone() });
        }
        *child = Arc::new(own);
    }
    if let Some(redeclare) = &mut result.redeclare {
        let (below, extended) = (limited(&redeclare.below, above), limited(&redeclare.extended, above));
        *redeclare = Arc::new(Redeclare { below, extended, ..(**redeclare).clone() });
    }
    Arc::new(result)
}

/// `outer` over `inner`.
pub fn merge(outer: &Arc<Modifier>, inner: &Arc<Modifier>, diagnostics: &mut Vec<Diagnostic>) -> Arc<Modifier> {
    if outer.is_empty() && !outer.is_final {
        return inner.clone();
    }
    if inner.is_empty() && !inner.is_final {
        return outer.clone();
    }
    // All elements of a final element are final, too (7.2.6).
    if inner.is_final && outer.span != inner.span && !outer.is_empty() {
        report_final(outer, inner, diagnostics);
        return inner.clone();
    }
    let mut result = Modifier {
        binding: outer.binding.clone().or_else(|| inner.binding.clone()),
        children: outer.children.clone(),
        redeclare: None,
        is_final: outer.is_final || inner.is_final,
        covered: covered(outer, inner),
        doubled: outer.doubled.iter().chain(&inner.doubled).copied().collect(),
        span: outer.span.or(inner.span),
    };
    match (&outer.redeclare, &inner.redeclare) {
        (Some(redeclare), _) => {
            let mut own = (**redeclare).clone();
            if own.is_extension() {
                let earlier = inner.redeclare.clone().filter(|earlier| !own.is_at(earlier));
                let inside = Modifier { redeclare: earlier, binding: None, is_final: false, ..(**inner).clone() };
                own.extended = merge(&own.extended, &Arc::new(inside), diagnostics);
            }
            let mut replaced_below = None;
            if let Some(replaced) = inner.redeclare.as_ref().filter(|replaced| !own.is_at(replaced)) {
                own.inner = Some(own.inner.map_or_else(|| replaced.clone(), |below| push_inner(&below, replaced)));
                replaced_below = Some(replaced.for_redeclarations(diagnostics));
            }
            let below = Arc::new(Modifier { redeclare: None, binding: None, is_final: false, ..(**inner).clone() });
            own.below = merge(&own.below, &below, diagnostics);
            if let Some(replaced) = replaced_below {
                own.below = merge(&own.below, &replaced, diagnostics);
            }
            // The value of the redeclaration itself comes before one from further inside.
            result.binding = match own.gives_value() {
                true => outer.binding.clone(),
                false => outer.binding.clone().or_else(|| inner.binding.clone()),
            };
            result.redeclare = Some(Arc::new(own));
        }
        (None, Some(redeclare)) => {
            result.redeclare = Some(redeclare.clone());
            merge_children(&mut result, inner, is_whole(outer), diagnostics);
        }
        (None, None) => merge_children(&mut result, inner, is_whole(outer), diagnostics),
    }
    Arc::new(result)
}

/// The children of a merged modifier that lie under a binding as a whole.
fn covered(outer: &Modifier, inner: &Modifier) -> Vec<Name> {
    let is_open = |name: &Name| outer.child(*name).is_none();
    let mut names = outer.covered.clone();
    if is_whole(outer) {
        names.extend(inner.children.iter().map(|(name, _)| *name).filter(is_open));
    } else {
        names.extend(inner.covered.iter().copied().filter(is_open));
    }
    names
}

fn push_inner(outer: &Arc<Redeclare>, innermost: &Arc<Redeclare>) -> Arc<Redeclare> {
    if outer.is_at(innermost) {
        return outer.clone();
    }
    let mut own = (**outer).clone();
    own.inner = Some(own.inner.map_or_else(|| innermost.clone(), |below| push_inner(&below, innermost)));
    Arc::new(own)
}

/// Whether there is a value for the element as a whole.
fn is_whole(modifier: &Modifier) -> bool {
    modifier.binding.as_ref().is_some_and(|binding| binding.expr.is_some())
}

fn merge_children(result: &mut Modifier, inner: &Modifier, under_whole: bool, diagnostics: &mut Vec<Diagnostic>) {
    for (name, below) in &inner.children {
        match result.children.iter_mut().find(|(child, _)| child == name) {
            Some((_, own)) if under_whole => *own = merge_under_whole(own, below, diagnostics),
            Some((_, own)) => *own = merge(own, below, diagnostics),
            None => result.children.push((*name, below.clone())),
        }
    }
}

/// `outer` over what is said further inside about the same element of a record that has a value as a whole: of the latter
/// no value counts, at whatever depth.
fn merge_under_whole(outer: &Arc<Modifier>, inner: &Arc<Modifier>, diagnostics: &mut Vec<Diagnostic>) -> Arc<Modifier> {
    let is_open = |name: &Name| outer.child(*name).is_none();
    let (open, shared): (Vec<_>, Vec<_>) = inner.children.iter().cloned().partition(|(name, _)| is_open(name));
    let covered: Vec<Name> = open.iter().map(|(name, _)| *name).collect();
    let below = Modifier { binding: None, children: open, ..(**inner).clone() };
    let mut merged = (*merge(outer, &Arc::new(below), diagnostics)).clone();
    for name in covered {
        if !merged.covered.contains(&name) {
            merged.covered.push(name);
        }
    }
    for (name, below) in &shared {
        if let Some((_, own)) = merged.children.iter_mut().find(|(child, _)| child == name) {
            *own = merge_under_whole(own, below, diagnostics);
        }
    }
    Arc::new(merged)
}

fn report_final(outer: &Modifier, inner: &Modifier, diagnostics: &mut Vec<Diagnostic>) {
    let mut diagnostic = Diagnostic::error("final-modified", "an element that is declared final is modified")
        .hint("remove this modification, or the prefix `final` of the declaration")
        .specification("7.2.6");
    if let Some(span) = outer.span {
        diagnostic = diagnostic.at(span, "modified here");
    }
    if let Some(span) = inner.span {
        diagnostic = diagnostic.at(span, "final here");
    }
    diagnostics.push(diagnostic);
}

/// The tree of `(a = 1, b(c = 2), redeclare …)` as written in the text of `scope`. `spread`: that of `a` and `b`.
pub fn from_class_modification(
    modification: &ast::ClassModification,
    scope: ClassId,
    spread: Spread,
    diagnostics: &mut Vec<Diagnostic>,
) -> Modifier {
    let mut result = Modifier { span: Some(modification.span), ..Modifier::default() };
    for argument in &modification.arguments {
        match argument {
            ast::Argument::Element(element) => add_element(&mut result, element, scope, spread, diagnostics),
            ast::Argument::RedeclareClass { class, .. } => {
                let (prefixes, span) = (class.prefixes, class.name.span);
                let child = redeclaration(Declaration::Class(class.clone()), prefixes.is_final, span, scope, spread);
                add(&mut result, class.name, child, diagnostics);
            }
            ast::Argument::RedeclareComponent { each, component } => {
                let (prefixes, span) = (component.prefixes, component.name.span);
                let spread = if *each { Spread::NONE } else { spread };
                let declaration = Declaration::Component(component.clone());
                let child = redeclaration(declaration, prefixes.is_final, span, scope, spread);
                add(&mut result, component.name, child, diagnostics);
            }
            // Removed elements are read from the extends clause itself.
            ast::Argument::BreakElement(_) | ast::Argument::BreakConnect(..) => {}
        }
    }
    result
}

fn redeclaration(declaration: Declaration, is_final: bool, span: Span, scope: ClassId, spread: Spread) -> Modifier {
    let spread = Spread { or_each: true, ..spread };
    let redeclare = Redeclare {
        declaration,
        scope,
        below: Arc::default(),
        inner: None,
        extended: Arc::default(),
        element: false,
        spread,
        span,
    };
    Modifier { redeclare: Some(Arc::new(redeclare)), is_final, span: Some(span), ..Modifier::default() }
}

/// A redeclaration that is written as an element of the class `scope`.
pub fn from_redeclared_element(declaration: Declaration, scope: ClassId, span: Span) -> Modifier {
    let spread = Spread::NONE;
    let redeclare = Redeclare {
        declaration,
        scope,
        below: Arc::default(),
        inner: None,
        extended: Arc::default(),
        element: true,
        spread,
        span,
    };
    Modifier { redeclare: Some(Arc::new(redeclare)), span: Some(span), ..Modifier::default() }
}

fn add_element(
    result: &mut Modifier,
    element: &ast::ElementModification,
    scope: ClassId,
    spread: Spread,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some((first, rest)) = element.path.split_first() else { return };
    // `each` belongs to the last name of the path (7.2.4).
    let spread = spread.below(rest.len());
    let spread =
        if element.each { Spread { each: spread.each.or(Some(spread.levels)), ..Spread::NONE } } else { spread };
    let mut child = match &element.modification {
        Some(modification) => from_modification(modification, scope, spread, false, diagnostics),
        None => Modifier::default(),
    };
    child.is_final = element.is_final;
    child.span = Some(element.span);
    for name in rest.iter().rev() {
        let children = vec![(name.name, Arc::new(child))];
        child = Modifier { children, span: Some(element.span), ..Modifier::default() };
    }
    add(result, *first, child, diagnostics);
}

/// The tree of `(…) = e` as written in the text of `scope`. `spread`: that of `e`; `declared`: behind the name of a
/// declaration.
pub fn from_modification(
    modification: &ast::Modification,
    scope: ClassId,
    spread: Spread,
    declared: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Modifier {
    let mut result = match &modification.arguments {
        Some(arguments) => from_class_modification(arguments, scope, spread.below(1), diagnostics),
        None => Modifier::default(),
    };
    result.span = Some(modification.span);
    result.binding = modification.value.as_ref().map(|value| match value {
        ast::ModificationValue::Expr(expr) => {
            Binding { expr: Some(expr.clone()), scope, spread, declared, span: expr.span }
        }
        ast::ModificationValue::Break(span) => Binding { expr: None, scope, spread, declared, span: *span },
    });
    result
}

/// Whether one argument says about an element what its redeclaration in another one says already:
/// `(redeclare Real x = 1, x = 2)`.
fn modifies_redeclared(with: &Modifier, other: &Modifier) -> bool {
    let Some(redeclare) = &with.redeclare else { return false };
    let Declaration::Component(component) = &redeclare.declaration else { return false };
    let Some(own) = &component.modification else { return false };
    let names = |argument: &ast::Argument| match argument {
        ast::Argument::Element(element) => element.path.first().is_some_and(|name| other.child(name.name).is_some()),
        _ => false,
    };
    (own.value.is_some() && other.binding.is_some())
        || own.arguments.as_ref().is_some_and(|arguments| arguments.arguments.iter().any(names))
}

fn add(result: &mut Modifier, name: ast::Ident, child: Modifier, diagnostics: &mut Vec<Diagnostic>) {
    match result.children.iter_mut().find(|(known, _)| *known == name.name) {
        Some((_, known)) => {
            let twice = (known.binding.is_some() && child.binding.is_some())
                || (known.redeclare.is_some() && child.redeclare.is_some())
                || known.children.iter().any(|(own, _)| child.child(*own).is_some())
                || modifies_redeclared(known, &child)
                || modifies_redeclared(&child, known);
            if twice {
                let mut diagnostic =
                    Diagnostic::error("duplicate-modifier", format!("`{}` is modified twice", name.name))
                        .at(name.span, "the second time here")
                        .specification("7.2.4");
                if let Some(span) = known.span {
                    diagnostic = diagnostic.at(span, "the first time here");
                }
                diagnostics.push(diagnostic);
            }
            let child = Arc::new(child);
            let mut both = (*merge(known, &child, diagnostics)).clone();
            for (whole, part) in [(&**known, &*child), (&*child, &**known)] {
                if is_whole(whole) {
                    both.doubled.extend(part.children.iter().map(|(name, _)| *name));
                }
            }
            *known = Arc::new(both);
        }
        None => result.children.push((name.name, Arc::new(child))),
    }
}
