use base::Id;
use dae::{Node, testing};

use super::*;
use crate::{Options, State, transform};

/// One of everything: an alias, an index of two, a torn system, a discrete variable, a family.
const MODEL: &str = "
parameter p = 2
parameter q = 2*p
Real x(start = 1, fixed = true)
Real y
Real z
Real a
Real u
Real v
discrete Real n(start = 0, fixed = true)
Boolean b
der(x) = -x/p
y = x
a = 3*y + n
u + v^3 = a
v + u^3 = q
z = u + v
b = x > 0.5
when b then n = pre(n) + 1
";

fn schedule() -> Schedule {
    let schedule = transform(testing::model(MODEL).unwrap(), &Options::default()).unwrap();
    assert_eq!(verify(&schedule), Vec::<String>::new());
    schedule
}

fn variable(schedule: &Schedule, name: &str) -> VarId {
    schedule.model.variables.ids().find(|&id| schedule.model.variable_name(id) == name).unwrap()
}

fn system(schedule: &mut Schedule) -> &mut EquationSystem {
    let mut systems = schedule.blocks.iter_mut().filter_map(|block| match block {
        Block::System { system, .. } => Some(system),
        Block::Assign { .. } => None,
    });
    systems.next().unwrap()
}

fn assignment<'s>(schedule: &'s mut Schedule, name: &str) -> &'s mut Assignment {
    let wanted = variable(schedule, name);
    let mut assignments = schedule.blocks.iter_mut().filter_map(|block| match block {
        Block::Assign { assignment, .. } if assignment.variable == wanted => Some(assignment),
        _ => None,
    });
    assignments.next().unwrap()
}

/// What is found after one change of a good schedule.
#[track_caller]
fn check(change: impl FnOnce(&mut Schedule), expected: &str) {
    let mut schedule = schedule();
    change(&mut schedule);
    let found = verify(&schedule);
    assert!(found.iter().any(|message| message.contains(expected)), "{expected:?} is not in {found:#?}");
}

#[test]
fn ids_exist() {
    check(|s| assignment(s, "z").value = ExprId::from_index(1 << 20), "does not exist");
    check(|s| assignment(s, "z").equation = Some(EqId::from_index(999)), "eq999 does not exist");
    check(|s| system(s).iteration[0] = VarId::from_index(999), "v999 does not exist");
}

#[test]
fn representatives_of_alias_sets_are_no_aliases() {
    check(
        |s| {
            let (x, y, z) = (variable(s, "x"), variable(s, "y"), variable(s, "z"));
            s.roles[y] = Role::Alias { of: x, negated: false };
            s.roles[x] = Role::Alias { of: z, negated: false };
        },
        "y is an alias of x, which is an alias",
    );
}

#[test]
fn only_parameters_have_bindings() {
    check(
        |s| {
            let z = variable(s, "z");
            s.model.variables[z].binding = Some(s.model.exprs.real(1.0));
        },
        "z is no parameter, but has a binding",
    );
}

#[test]
fn states_are_listed_once() {
    check(|s| s.states.clear(), "the state x is not listed with its derivative");
    check(|s| s.states.push(s.states[0]), "the state x is listed twice");
    check(
        |s| {
            let a = variable(s, "a");
            s.states.push(State { variable: a, derivative: s.states[0].derivative });
        },
        "a is listed as a state, but is none",
    );
}

#[test]
fn what_is_differentiated_has_its_original() {
    check(
        |s| {
            let last = s.model.equations.ids().last().unwrap();
            s.model.equations[last].origin.kind = OriginKind::Derivative(last);
        },
        "which is no older equation",
    );
    check(
        |s| {
            let x = variable(s, "x");
            let later = s.states[0].derivative;
            s.model.variables[x].derivative_of = Some(later);
        },
        "which is no older Real variable",
    );
}

#[test]
fn parameters_are_in_order() {
    check(|s| s.parameters.push(s.parameters[0].clone()), "is computed twice");
    check(
        |s| {
            let z = variable(s, "z");
            s.parameters[0].value = s.model.exprs.intern(Node::Var(z));
        },
        "reads z, which is not known before it",
    );
}

#[test]
fn unknowns_are_computed_once() {
    check(|s| s.blocks.push(s.blocks[0].clone()), "again");
    check(|s| drop(s.blocks.remove(0)), "no block computes");
    check(
        |s| {
            let x = variable(s, "x");
            assignment(s, "z").variable = x;
        },
        "computes x, which is known",
    );
    check(
        |s| {
            let equation = assignment(s, "a").equation;
            assignment(s, "z").equation = equation;
        },
        "uses eq",
    );
}

#[test]
fn dependencies_are_earlier() {
    check(|s| s.blocks.reverse(), "which is not computed before it");
    check(|s| s.initial.reverse(), "which is not computed before it");
    check(
        |s| {
            let x = variable(s, "x");
            s.roles[x] = Role::Algebraic;
        },
        "reads x, which nothing computes",
    );
    check(
        |s| {
            let x = variable(s, "x");
            let derivative = s.model.exprs.intern(Node::Der(x));
            assignment(s, "z").value = derivative;
        },
        "der(x) is no variable of its own",
    );
    check(
        |s| {
            let y = variable(s, "y");
            let read = s.model.exprs.intern(Node::Var(y));
            assignment(s, "z").value = read;
        },
        "reads y, which is an alias",
    );
}

#[test]
fn systems_are_complete() {
    check(
        |s| {
            let z = variable(s, "z");
            system(s).iteration[0] = z;
        },
        "does not compute its unknowns, each once",
    );
    check(|s| system(s).residuals.clear(), "residuals for");
    check(
        |s| {
            let other = assignment(s, "z").equation.unwrap();
            system(s).residual_equations[0] = other;
        },
        "which is none of its own",
    );
}

#[test]
fn families_are_disjoint_and_independent() {
    check(|s| s.families.push(Family { first: s.blocks.len(), count: 2 }), "overlaps another");
    check(|s| s.families = vec![Family { first: 0, count: s.blocks.len() }], "a member of its family");
}

#[test]
fn initial_checks_are_computed() {
    check(
        |s| {
            let (p, equation) = (variable(s, "p"), EqId::from_index(0));
            let check = crate::InitialCheck { equation, residual: p, implied_by: Vec::new(), is_lasting: true };
            s.initial_checks.push(check);
        },
        "the initial check of eq0 is not computed",
    );
}
