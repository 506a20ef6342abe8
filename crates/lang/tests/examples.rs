//! The examples of the project flatten, with as many equations as unknowns and as many as the documents they come from say.

use std::path::Path;

use dae::{Causality, Variability};
use expect_test::expect;
use lang::{Libraries, Overrides, flatten, last_model};

#[test]
fn counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the examples").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "mo"));
    files.sort();
    let mut out = String::new();
    for file in files {
        let mut libraries = Libraries::default();
        let names = libraries.add_file(&file);
        let name = last_model(&mut libraries, &names).expect("a model");
        let result = flatten(&mut libraries, name.as_str(), &Overrides::default());
        let messages: String = result.diagnostics.iter().map(|one| one.render(&libraries.sources)).collect();
        let model = result.model.unwrap_or_else(|| panic!("{}: {messages}", file.display()));
        let unknown = |v: &&dae::Variable| v.variability > Variability::Parameter && v.causality != Causality::Input;
        let unknowns = model.variables.values().filter(unknown).count();
        assert_eq!(unknowns, model.equations.len(), "{}", file.display());
        if ["circuit", "mass_spring", "two_springs"].iter().any(|stem| file.file_stem().is_some_and(|own| own == *stem))
        {
            out.push_str(&format!("{name}: {unknowns}\n"));
        }
    }
    expect![[r#"
        CircuitExample.Circuit: 27
        MassSpring.OneSpring: 11
        TwoSprings.Series: 15
    "#]]
    .assert_eq(&out);
}
