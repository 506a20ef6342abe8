//! Checks the units of equations (specification 4.9.1 and 19), as warnings.
//!
//! The check works on typed expressions, not on the flat model: there constants are numbers already, and with them the
//! unit of `g_n` would be lost, and arrays are a thousand equations instead of one. Declared units are known; the unit
//! of any other scalar variable is an unknown that equations and connections may tell (`solver`). Reported is only what
//! must be wrong: two sides whose units are both known and differ.
//!
//! A literal takes the unit that its neighbours in a sum or relation have, and has none in a product. A conversion
//! written with numbers, as in `x_mm = 1000 * x`, is therefore accepted: behind a literal factor only the dimensions
//! are compared, not the sizes of the units. A literal that is no simple number, such as 9.81, may itself be a quantity, and
//! any literal in the value of a parameter; nothing is said about a product with one.

mod expressions;
mod measure;
mod report;
mod sections;
mod solver;

use std::sync::Arc;

use base::{Name, Span};
use rustc_hash::FxHashMap;
use syntax::ast;

use crate::elaborate::Elaborator;
use crate::equations::TypedEquation;
use crate::instance::{Builtin, ClassId, CompId, ComponentType};
use crate::typed::{Expr, Locals, Statement};
use measure::{Measure, Term};
use solver::{Constraint, Side, Solver};

/// What is checked: the texts of the model, held here so that constraints can refer to them.
#[derive(Default)]
struct Texts {
    equations: Vec<(ClassId, Arc<Vec<TypedEquation>>)>,
    algorithms: Vec<(ClassId, Arc<(Vec<Statement>, Locals)>)>,
    /// Values of components and of their attributes.
    bindings: Vec<(CompId, Name, Arc<Expr>)>,
}

impl Texts {
    /// In the order of the instances, so that messages come out the same every time.
    fn of(elaborator: &Elaborator) -> Self {
        let equations = elaborator.typed.equations.iter().map(|(&(class, _), typed)| (class, typed.clone()));
        let mut equations: Vec<_> = equations.filter(|(_, typed)| !typed.is_empty()).collect();
        equations.sort_by_key(|(class, typed)| (*class, typed.first().map(|first| first.span.start)));
        let algorithms = elaborator.typed.algorithms.iter().map(|(&(class, _), typed)| (class, typed.clone()));
        let mut algorithms: Vec<_> = algorithms.filter(|(_, typed)| !typed.0.is_empty()).collect();
        algorithms.sort_by_key(|(class, typed)| (*class, typed.0.first().map(|first| first.span.start)));
        let bindings =
            elaborator.values.bindings.iter().map(|(&(component, name), typed)| (component, name, typed.expr.clone()));
        let mut bindings: Vec<_> = bindings.collect();
        bindings.sort_by_key(|(component, name, _)| (*component, name.as_str()));
        Self { equations, algorithms, bindings }
    }
}

/// Reports wrong units of the model that stands.
pub fn check(elaborator: &mut Elaborator) {
    let texts = Texts::of(elaborator);
    let mut checker = Checker {
        elaborator,
        components: FxHashMap::default(),
        solver: Solver::default(),
        unreadable: Vec::new(),
        class: base::Id::from_index(0),
        span: None,
        value_of_parameter: false,
    };
    checker.texts(&texts);
    checker.connections();
    checker.solver.solve();
    checker.report();
}

struct Checker<'a, 'e> {
    elaborator: &'a mut Elaborator,
    components: FxHashMap<CompId, Measure>,
    solver: Solver<'e>,
    /// Units that cannot be read: the text, what is wrong with it, and where it stands.
    unreadable: Vec<(Name, String, Option<Span>)>,
    /// The class instance whose text is looked at, and the equation in it.
    class: ClassId,
    span: Option<Span>,
    /// In the value of a parameter, where any number may be a quantity.
    value_of_parameter: bool,
}

impl<'e> Checker<'_, 'e> {
    /// The unit of a component that is a number.
    fn component(&mut self, component: CompId) -> Measure {
        if let Some(known) = self.components.get(&component) {
            return known.clone();
        }
        let found = self.find_component(component);
        self.components.insert(component, found.clone());
        found
    }

    fn find_component(&mut self, component: CompId) -> Measure {
        let Ok(ComponentType::Builtin { builtin, .. }) = self.elaborator.instances.component_type(component) else {
            return Measure::Opaque;
        };
        match builtin {
            Builtin::Integer => return Measure::Number,
            Builtin::Real => {}
            _ => return Measure::Opaque,
        }
        match self.declared_unit(component) {
            Declared::Unit(text) => return self.parse(text, component).map_or(Measure::Opaque, Measure::Term),
            Declared::Unclear => return Measure::Opaque,
            Declared::None => {}
        }
        let instances = &mut self.elaborator.instances;
        if instances.variability(component) == ast::Variability::Constant {
            return if self.is_pure_number(component) { Measure::Number } else { Measure::Opaque };
        }
        // The elements of an array may be of different kinds as long as nothing is said about them.
        let parent = instances.component(component).parent;
        if instances.dimensions(component).is_ok_and(|own| !own.is_empty()) || instances.rank_above(parent) > 0 {
            return Measure::Opaque;
        }
        Measure::Term(Term::unknown(self.solver.unknown()))
    }

    /// The unit that a component is declared with.
    fn declared_unit(&mut self, component: CompId) -> Declared {
        let Ok(ComponentType::Builtin { attributes, .. }) = self.elaborator.instances.component_type(component) else {
            return Declared::Unclear;
        };
        let Some(modifier) = attributes.child(Name::new("unit")) else { return Declared::None };
        let Some(text) = modifier.binding.as_ref().and_then(|binding| binding.expr.as_ref()) else {
            return Declared::None;
        };
        if let ast::ExprKind::String(text) = &text.kind {
            return if text.is_empty() { Declared::None } else { Declared::Unit(Name::new(text)) };
        }
        let flat = &self.elaborator.flat;
        let scalars = flat.scalars.get(&component).map_or(&[][..], |scalars| scalars.variables.as_slice());
        let unit = scalars.iter().flatten().next().and_then(|&first| flat.model.variables[first].attributes.unit);
        unit.map_or(Declared::Unclear, Declared::Unit)
    }

    fn parse(&mut self, text: Name, component: CompId) -> Option<Term> {
        match text.as_str().parse::<::units::Unit>() {
            Ok(unit) => Some(Term::declared(unit)),
            Err(error) => {
                // Levels are no mistake; nothing can be said about them.
                let silent = matches!(error, ::units::UnitError::Level(_));
                if !silent && !self.unreadable.iter().any(|(known, ..)| *known == text) {
                    let span = self.elaborator.instances.span(component);
                    self.unreadable.push((text, error.to_string(), Some(span)));
                }
                None
            }
        }
    }

    /// π and e have no unit under any name; other constants without a declared unit may well have one.
    fn is_pure_number(&mut self, component: CompId) -> bool {
        let value = self.elaborator.value(component, &[]).ok().and_then(|value| value.scalar());
        let value = value.and_then(|value| self.elaborator.flat.model.exprs.as_real(value));
        let close = |value: f64, to: f64| (value - to).abs() < 1e-12;
        value.is_some_and(|value| close(value, std::f64::consts::PI) || close(value, std::f64::consts::E))
    }

    /// Two units must be equal; false where it is clear already that they are not.
    fn constrain(&mut self, left: Measure, right: Measure, a: Side<'e>, b: Side<'e>) -> bool {
        let (Measure::Term(left), Measure::Term(right)) = (left, right) else { return true };
        let known = left.unknowns.is_empty() && right.unknowns.is_empty();
        let fits = !known || left.fits(&right);
        if !known || !fits {
            self.solver.constraints.push(Constraint { left, right, a, b, class: self.class, span: self.span });
        }
        fits
    }
}

enum Declared {
    Unit(Name),
    None,
    /// Given by something that is not known here.
    Unclear,
}
