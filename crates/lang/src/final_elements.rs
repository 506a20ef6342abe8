//! Final elements of records (specification 7.2.6): a record may be given a value as a whole although one of its elements is
//! final, as long as that value leaves the element what it is. Version 3.2.3 of the Modelica Standard Library breaks the rule; the
//! value as a whole holds then.

use base::{Diagnostic, Span};
use syntax::ast;

use crate::elaborate::Elaborator;
use crate::instance::{CompId, Frame};

/// Reports values of records that are known to change a final element.
pub fn check(elaborator: &mut Elaborator) {
    let mut elements = std::mem::take(&mut elaborator.instances.final_elements);
    elements.sort_unstable();
    elements.dedup();
    if elements.is_empty() {
        return;
    }
    // What is only compared may still be set from outside.
    let structural = elaborator.structural.clone();
    for (element, record) in elements {
        compare(elaborator, element, record);
    }
    elaborator.structural = structural;
}

fn compare(elaborator: &mut Elaborator, element: CompId, record: CompId) {
    let instances = &elaborator.instances;
    let chain = instances.chain(element);
    if chain.iter().any(|&component| !instances.component(component).dimensions.is_empty()) {
        return;
    }
    let parent = instances.component(record).parent;
    let Some(own) = instances.component(element).modifier.binding.clone() else { return };
    let Some(text) = &own.expr else { return };
    let parts = chain.iter().skip_while(|&&component| component != record).map(|&component| ast::RefPart {
        ident: ast::Ident { name: instances.component(component).name, span: own.span },
        subscripts: Vec::new(),
    });
    let given = ast::ComponentRef { global: false, parts: parts.collect(), span: own.span };
    let given = ast::Expr { kind: ast::ExprKind::Ref(given), span: own.span };
    let value = instances.component(record).modifier.binding.as_ref().map(|binding| binding.span);
    let name = instances.path(element);
    let frame = |class| Frame { class, indices: Default::default() };
    let (Ok((_, given)), Ok((_, wanted))) =
        (elaborator.evaluate(&frame(parent), &given), elaborator.evaluate(&frame(own.scope), text))
    else {
        return;
    };
    let exprs = &elaborator.flat.model.exprs;
    let is_same = |(a, b): (&dae::ExprId, &dae::ExprId)| {
        a == b || exprs.as_real(*a).is_some_and(|a| Some(a) == exprs.as_real(*b))
    };
    let (given, wanted) = (given.scalars(), wanted.scalars());
    if given.len() == wanted.len() && given.iter().zip(&wanted).all(is_same) {
        return;
    }
    let message = format!("`{name}` is final, and the value of its record changes it");
    let diagnostic = Diagnostic::breach("final-modified", message).at(own.span, "final here").hint(
        "the value of the record as a whole holds; leave out `final`, or give the record this value of the element",
    );
    elaborator.report(labelled(diagnostic, value).specification("7.2.6"));
}

fn labelled(diagnostic: Diagnostic, value: Option<Span>) -> Diagnostic {
    match value {
        Some(span) => diagnostic.at(span, "the value of the record as a whole"),
        None => diagnostic,
    }
}
