//! Units: bonds that meet at junctions are of one physical domain, so the units that their elements give must agree.
//!
//! A domain has a unit of effort and one of flow. A source of effort tells the first, a source of flow the second, a
//! resistor tells their quotient, a capacitor `flow·s/effort`, an inertia `effort·s/flow`.

use base::{Diagnostic, Id, Span};
use units::{Dimension, Unit};

use crate::graph::{BondId, Graph};
use crate::kind::Kind;

#[derive(Clone, Default)]
struct Domain {
    effort: Option<Known>,
    flow: Option<Known>,
    /// Effort over flow.
    quotient: Option<Known>,
}

#[derive(Clone)]
struct Known {
    dimension: Dimension,
    unit: String,
    span: Span,
}

/// Reports units that contradict each other and notes the units of the bonds.
pub fn check(graph: &mut Graph, diagnostics: &mut Vec<Diagnostic>) {
    let domain_of = domains(graph);
    let mut domains = vec![Domain::default(); graph.bonds.len()];
    for element in graph.elements.values() {
        let ([port], Some(unit)) = (element.ports.as_slice(), &element.unit) else { continue };
        let Ok(Unit { dimension, .. }) = unit.parse::<Unit>() else { continue };
        let known = |dimension| Known { dimension, unit: unit.clone(), span: element.span };
        let domain = &mut domains[domain_of[port.bond.index()]];
        let (slot, fact) = match element.kind {
            Kind::EffortSource => (&mut domain.effort, known(dimension)),
            Kind::FlowSource => (&mut domain.flow, known(dimension)),
            Kind::Resistor => (&mut domain.quotient, known(dimension)),
            Kind::Capacitor => (&mut domain.quotient, known(Dimension::SECOND.over(dimension))),
            Kind::Inertia => (&mut domain.quotient, known(dimension.over(Dimension::SECOND))),
            _ => continue,
        };
        match slot {
            None => *slot = Some(fact),
            Some(before) if before.dimension != fact.dimension => {
                diagnostics.push(mismatch(&element.name, element.kind, &fact, before));
            }
            Some(_) => {}
        }
    }
    for domain in &mut domains {
        complete(domain, diagnostics);
    }
    for index in 0..graph.bonds.len() {
        let domain = &domains[domain_of[index]];
        let unit = |known: &Option<Known>| known.as_ref().map(|known| known.unit.clone());
        graph.bonds[BondId::from_index(index)].units = [unit(&domain.effort), unit(&domain.flow)];
    }
}

fn mismatch(name: &str, kind: Kind, fact: &Known, before: &Known) -> Diagnostic {
    let given = match kind {
        Kind::Capacitor => Dimension::SECOND.over(before.dimension),
        Kind::Inertia => before.dimension.times(Dimension::SECOND),
        _ => before.dimension,
    };
    let what = format!(
        "`{name}` is in `{}`, but here a {} is in `{}`",
        fact.unit,
        crate::flatten::described(kind),
        unit_text(given)
    );
    let mut diagnostic = Diagnostic::warning("unit-mismatch", what)
        .at(fact.span, format!("in `{}`", fact.unit))
        .at(before.span, format!("in `{}`", before.unit));
    if kind == Kind::Capacitor && Dimension::ONE.over(given) == fact.dimension_of_capacitor() {
        diagnostic = diagnostic.hint("a capacitor has a compliance: one over its stiffness");
    }
    diagnostic
}

impl Known {
    /// The quotient of a capacitor, as its unit.
    fn dimension_of_capacitor(&self) -> Dimension {
        Dimension::SECOND.over(self.dimension)
    }
}

/// The third of effort, flow and quotient follows from two, or contradicts them.
fn complete(domain: &mut Domain, diagnostics: &mut Vec<Diagnostic>) {
    let Some(quotient) = &domain.quotient else { return };
    let named = |dimension: Dimension| Known { dimension, unit: unit_text(dimension), span: quotient.span };
    match (&domain.effort, &domain.flow) {
        (Some(effort), Some(flow)) if effort.dimension.over(flow.dimension) != quotient.dimension => {
            let follows = effort.dimension.over(flow.dimension);
            let what = format!(
                "effort in `{}` and flow in `{}` need elements in `{}`",
                effort.unit,
                flow.unit,
                unit_text(follows)
            );
            diagnostics.push(
                Diagnostic::warning("unit-mismatch", what)
                    .at(quotient.span, format!("in `{}`", quotient.unit))
                    .at(effort.span, "the effort")
                    .at(flow.span, "the flow"),
            );
        }
        (Some(effort), None) => domain.flow = Some(named(effort.dimension.over(quotient.dimension))),
        (None, Some(flow)) => domain.effort = Some(named(flow.dimension.times(quotient.dimension))),
        _ => {}
    }
}

/// For each bond the first bond of its domain.
fn domains(graph: &Graph) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..graph.bonds.len()).collect();
    for element in graph.elements.values() {
        if !element.kind.is_junction() {
            continue;
        }
        for pair in element.ports.windows(2) {
            let one = root(&mut parent, pair[0].bond.index());
            let other = root(&mut parent, pair[1].bond.index());
            parent[one.max(other)] = one.min(other);
        }
    }
    (0..parent.len()).map(|bond| root(&mut parent, bond)).collect()
}

fn root(parent: &mut [usize], mut index: usize) -> usize {
    while parent[index] != index {
        parent[index] = parent[parent[index]];
        index = parent[index];
    }
    index
}

/// A dimension as a person writes its unit: `m/s` in place of `m.s-1`.
pub fn unit_text(dimension: Dimension) -> String {
    let plain = dimension.to_string();
    let (below, above): (Vec<&str>, Vec<&str>) = plain.split('.').partition(|part| part.contains('-'));
    if below.is_empty() || plain.contains('^') {
        return plain;
    }
    let turned: Vec<String> =
        below.iter().map(|part| part.strip_suffix("-1").map_or_else(|| part.replace('-', ""), str::to_owned)).collect();
    let above = if above.is_empty() { "1".to_owned() } else { above.join(".") };
    if turned.len() == 1 { format!("{above}/{}", turned[0]) } else { format!("{above}/({})", turned.join(".")) }
}
