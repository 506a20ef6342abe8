//! A condition that is true when time begins does not become true. `when Time >= NextTime` is such a one, where nobody says what
//! `NextTime` is at first: it is zero, and only this `when` would change it.

use base::{Diagnostic, FileId};

use crate::ast::*;
use crate::classes::{ClassId, Classes};
use crate::instants::Solved;
use crate::language;

/// Warns of `when`s that never come to pass.
pub fn report(classes: &Classes, solved: &[Vec<Solved>], texts: &[(FileId, &str)], diagnostics: &mut Vec<Diagnostic>) {
    for (class, whens) in solved.iter().enumerate() {
        for when in whens {
            let Some(limit) = limit(&when.when.condition, texts) else { continue };
            let is_changed = when.instants.iter().any(|instant| {
                instant.is_new && instant.reference.parts.len() == 1 && instant.reference.parts[0].name == limit.name
            });
            if is_changed && lacks_value(classes, class, limit) {
                let name = limit.name;
                let message = format!("`{name}` begins at 0, so that this never becomes true");
                diagnostics.push(
                    Diagnostic::warning("never-true", message)
                        .at(when.when.condition.span, "this is true when time begins")
                        .hint(format!("give it a value after the begin: `local {name} = …`, or with the submodel"))
                        .note(language::see("Instantaneous equations")),
                );
            }
        }
    }
}

/// `x` of `Time >= x`.
fn limit(condition: &Expr, texts: &[(FileId, &str)]) -> Option<Ident> {
    match &condition.kind {
        ExprKind::Parentheses(inner) => limit(inner, texts),
        ExprKind::Operators(left, rest) => {
            let [(Operator::Relation, mark, right)] = &rest[..] else { return None };
            let (_, text) = texts.iter().find(|(file, _)| *file == mark.file)?;
            match (&left.kind, text.get(mark.start as usize..mark.end as usize)?, &right.kind) {
                (ExprKind::Time, ">=", ExprKind::Reference(limit))
                | (ExprKind::Reference(limit), "<=", ExprKind::Time) => {
                    let [only] = limit.parts[..] else { return None };
                    Some(only)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether an object of a class has a variable that nobody gives a value.
fn lacks_value(classes: &Classes, class: ClassId, variable: Ident) -> bool {
    let is_declared = classes.lineage(class).into_iter().any(|above| {
        classes.classes[above].model.items.iter().any(|item| {
            let ItemKind::Variables { variables, .. } = &item.kind else { return false };
            variables.iter().any(|declared| declared.name.name == variable.name && declared.value.is_some())
        })
    });
    if is_declared {
        return false;
    }
    let is_object = !classes.classes[class].model.is_class;
    is_object
        || classes.classes.iter().any(|user| {
            user.model.items.iter().any(|item| {
                let ItemKind::Submodels { submodels, .. } = &item.kind else { return false };
                submodels.iter().any(|submodel| {
                    let of = user.submodels.get(&submodel.name.name).copied().flatten();
                    of.is_some_and(|of| classes.extends(of, class))
                        && !submodel.values.iter().any(|(name, _)| name.name == variable.name)
                })
            })
        })
}
