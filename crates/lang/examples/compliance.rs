//! Runs the test cases of the Modelica-Compliance library: `cargo run --release --example compliance -- FOLDER [-v]`. A case says in
//! an annotation whether it must pass; one that must not pass must give an error, or a model that is not balanced.

use base::Name;
use dae::{Causality, Variability};
use lang::{DefId, Libraries, Overrides, flatten};
use syntax::ast;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_default();
    let verbose = arguments.next().is_some();
    let mut libraries = Libraries::default();
    libraries.add_search_path(&folder);
    let mut cases = Vec::new();
    if let Some(top) = libraries.class(Libraries::ROOT, Name::new("ModelicaCompliance")) {
        find(&mut libraries, top, &mut cases);
    }
    let mut counts = [[0; 2]; 2];
    for (name, must_pass) in cases {
        let result = flatten(&mut libraries, &name, &Overrides::default());
        let error = result.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let balance = result.model.as_ref().map(|model| {
            let unknowns = model
                .variables
                .values()
                .filter(|v| v.variability > Variability::Parameter && v.causality != Causality::Input)
                .count();
            (model.equations.len(), unknowns)
        });
        let passes = balance.is_some_and(|(equations, unknowns)| equations == unknowns);
        counts[usize::from(must_pass)][usize::from(passes == must_pass)] += 1;
        if passes != must_pass {
            match error {
                Some(error) if must_pass => println!("WRONG {name}\n{}", error.render(&libraries.sources)),
                _ => println!("WRONG {name}: must pass: {must_pass}, equations and unknowns {balance:?}"),
            }
        } else if verbose && let Some(error) = error {
            println!("right {name}: {}: {}", error.code, error.message);
        }
    }
    for must_pass in [true, false] {
        let [wrong, right] = counts[usize::from(must_pass)];
        println!("must pass {must_pass}: {right} of {}", right + wrong);
    }
}

fn find(libraries: &mut Libraries, class: DefId, out: &mut Vec<(String, bool)>) {
    let definition = libraries.get(class);
    let is_model =
        matches!(definition.class.kind, ast::ClassKind::Model | ast::ClassKind::Block | ast::ClassKind::Class);
    if let (true, Some(annotation)) = (is_model, &definition.class.annotation)
        && let Some(must_pass) = should_pass(annotation)
    {
        out.push((definition.name.as_str().to_owned(), must_pass));
    }
    for name in definition.class_names.clone() {
        if let Some(inner) = libraries.class(class, name) {
            find(libraries, inner, out);
        }
    }
}

/// `shouldPass = …` anywhere in an annotation.
fn should_pass(modification: &ast::ClassModification) -> Option<bool> {
    modification.arguments.iter().find_map(|argument| {
        let ast::Argument::Element(element) = argument else { return None };
        let inner = element.modification.as_ref()?;
        if element.path.last()?.name == "shouldPass"
            && let Some(ast::ModificationValue::Expr(expr)) = &inner.value
        {
            return match expr.kind {
                ast::ExprKind::Boolean(value) => Some(value),
                _ => None,
            };
        }
        should_pass(inner.arguments.as_ref()?)
    })
}
