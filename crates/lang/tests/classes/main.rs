//! Random class structures against a resolver of their own: inheritance, nested modifiers, redeclarations with constraining
//! clauses, short classes, records in records, arrays of components, conditional components.
//!
//! `CASES=100000 cargo test --release -p gyrator-lang --test classes` runs more of them, `GYRATOR_SEED=17 CASES=1` one.

mod generate;
mod resolve;
mod structure;

use std::collections::BTreeMap;

use dae::{ExprId, Model, Node};
use lang::{Libraries, Overrides, flatten};

#[test]
fn parameters_have_the_values_that_the_rules_give() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (number("GYRATOR_SEED", 0), number("CASES", 400));
    let mut failures = 0;
    for seed in first..first + cases {
        let structure = generate::structure(&mut fastrand::Rng::with_seed(seed));
        let expected = resolve::resolve(&structure);
        let text = structure.text();
        let wrong = match values(&text, &format!("C{}", structure.classes.len() - 1)) {
            Ok(found) => difference(&expected, &found),
            Err(message) => Some(message),
        };
        if let Some(wrong) = wrong {
            failures += 1;
            println!("seed {seed}:\n{text}{wrong}\n");
        }
    }
    assert_eq!(failures, 0, "of {cases} cases");
}

fn difference(expected: &BTreeMap<String, i64>, found: &BTreeMap<String, f64>) -> Option<String> {
    for (name, &value) in expected {
        match found.get(name) {
            Some(&found) if found == value as f64 => {}
            found => return Some(format!("{name} is {value}, and comes out as {found:?}")),
        }
    }
    let more = found.keys().find(|name| !expected.contains_key(*name))?;
    Some(format!("there is no {more}"))
}

/// The values of the parameters of a class.
fn values(text: &str, class: &str) -> Result<BTreeMap<String, f64>, String> {
    let mut libraries = Libraries::default();
    libraries.add_text("case.mo", text);
    let result = flatten(&mut libraries, class, &Overrides::default());
    let messages = || result.diagnostics.iter().map(|one| one.render(&libraries.sources)).collect();
    let Some(model) = &result.model else { return Err(messages()) };
    let mut found = BTreeMap::new();
    for (id, variable) in model.variables.iter() {
        let value = variable.binding.and_then(|binding| evaluate(model, binding));
        found.insert(model.variable_name(id), value.unwrap_or(f64::NAN));
    }
    Ok(found)
}

fn evaluate(model: &Model, expr: ExprId) -> Option<f64> {
    match model.exprs.node(expr) {
        Node::Real(value) => Some(value),
        Node::Integer(value) => Some(value as f64),
        Node::Add(a, b) => Some(evaluate(model, a)? + evaluate(model, b)?),
        Node::Var(variable) => evaluate(model, model.variables[variable].binding?),
        _ => None,
    }
}
