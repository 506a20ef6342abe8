//! Equations of one shape are one entry of the schedule, however many there are.

mod show;

use std::fmt::Write as _;

use expect_test::expect;
use rustc_hash::FxHashSet;
use show::schedule;
use transform::{Block, Schedule, unknowns};

/// A line of sections with a resistance, an inductance and a capacitance each.
fn line(sections: usize) -> String {
    let mut text = String::from("v[0] = sin(time)\ni[0] = i[1]\n");
    for k in 1..=sections {
        let _ = write!(
            text,
            "parameter R[{k}] = {k}
             drop[{k}] = R[{k}]*i[{k}]
             0.1*der(i[{k}]) = v[{}] - v[{k}] - drop[{k}]
             0.2*der(v[{k}]) = i[{k}] - i[{}]
             ",
            k - 1,
            k + 1
        );
    }
    let _ = writeln!(text, "v[{sections}] = 50*i[{}]", sections + 1);
    text
}

/// Every block after what it needs.
fn assert_sorted(schedule: &Schedule) {
    let mut open: FxHashSet<dae::VarId> = schedule.blocks.iter().flat_map(unknowns).collect();
    for block in &schedule.blocks {
        let own: FxHashSet<dae::VarId> = unknowns(block).collect();
        if let Block::Assign { assignment, .. } = block {
            for needed in schedule.model.exprs.dependencies(&[assignment.value]).variables {
                assert!(!open.contains(&needed), "{} too late", schedule.model.variable_name(needed));
            }
        }
        own.iter().for_each(|variable| {
            open.remove(variable);
        });
    }
    assert!(open.is_empty());
}

#[test]
fn a_line_has_the_same_entries_at_any_length() {
    let entries = [40, 4000].map(|sections| {
        let schedule = schedule(&line(sections));
        assert_sorted(&schedule);
        assert_eq!(schedule.blocks.len(), 3 * sections + 2);
        (schedule.entries(), schedule.families.len())
    });
    assert_eq!(entries[0], entries[1]);
    assert_eq!(entries[0], (6, 3));
}

#[test]
fn members_of_a_family_do_not_wait_for_each_other() {
    // Each value needs the one before: one shape, but as many levels.
    let mut text = String::from("x[0] = sin(time)\n");
    for k in 1..=100 {
        let _ = writeln!(text, "x[{k}] = 2*x[{}]\ny[{k}] = x[{k}]^2", k - 1);
    }
    let schedule = schedule(&text);
    assert_sorted(&schedule);
    assert!(schedule.families.is_empty());
}

#[test]
fn systems_of_one_shape_are_a_family() {
    let mut text = String::new();
    for k in 1..=20 {
        let _ = writeln!(text, "der(x[{k}]) = a[{k}]\na[{k}] + sin(b[{k}]) = x[{k}]\nb[{k}] = cos(a[{k}])");
    }
    let schedule = schedule(&text);
    assert_sorted(&schedule);
    let families = schedule.families.iter().map(|family| {
        let kind = match &schedule.blocks[family.first] {
            Block::Assign { assignment, .. } => schedule.model.variable_name(assignment.variable),
            Block::System { system, .. } => format!("system of {}", system.unknowns.len()),
        };
        format!("{} {kind}", family.count)
    });
    expect!["20 system of 2, 20 der(x[1])"].assert_eq(&families.collect::<Vec<_>>().join(", "));
}
