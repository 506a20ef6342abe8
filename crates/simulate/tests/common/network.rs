//! What holds in every electrical network: Kirchhoff's laws, the conditions of ideal elements, the balance of energy.
//!
//! Branches have a voltage `v<name>` and a current `i<name>`, nodes a potential `u<number>`; the potential of node 0 is zero.

use crate::common::Run;

#[derive(Clone, Debug)]
pub struct Branch {
    pub name: String,
    pub from: usize,
    pub to: usize,
}

/// The columns of a branch.
pub struct Course {
    pub v: Vec<f64>,
    pub i: Vec<f64>,
}

impl Course {
    pub fn of(run: &Run, name: &str) -> Self {
        Self { v: run.column(&format!("v{name}")), i: run.column(&format!("i{name}")) }
    }
}

pub fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// The largest voltage and the largest current of each row, at least 1: what rounding errors are relative to.
pub fn sizes(run: &Run, branches: &[Branch]) -> Course {
    let mut sizes = Course { v: vec![1.0; run.time().len()], i: vec![1.0; run.time().len()] };
    for course in branches.iter().map(|branch| Course::of(run, &branch.name)) {
        sizes.v.iter_mut().zip(&course.v).for_each(|(size, v)| *size = size.max(v.abs()));
        sizes.i.iter_mut().zip(&course.i).for_each(|(size, i)| *size = size.max(i.abs()));
    }
    sizes
}

/// The currents at every node add up to zero, and the voltages are the differences of potentials; the tolerance is relative.
pub fn check_kirchhoff(run: &Run, branches: &[Branch], tolerance: f64) -> Result<(), String> {
    let nodes = branches.iter().map(|branch| branch.from.max(branch.to) + 1).max().unwrap_or(0);
    let zero = vec![0.0; run.time().len()];
    let sizes = sizes(run, branches);
    let has_branch = |node: usize| branches.iter().any(|branch| branch.from == node || branch.to == node);
    let is_unknown = |node: usize| node > 0 && has_branch(node);
    let potential = |node: usize| if is_unknown(node) { run.column(&format!("u{node}")) } else { zero.clone() };
    let potentials: Vec<Vec<f64>> = (0..nodes).map(potential).collect();
    let mut sums = vec![zero.clone(); nodes];
    for branch in branches {
        let course = Course::of(run, &branch.name);
        for (row, time) in run.time().iter().enumerate() {
            sums[branch.from][row] += course.i[row];
            sums[branch.to][row] -= course.i[row];
            let off = course.v[row] - (potentials[branch.from][row] - potentials[branch.to][row]);
            ensure(off.abs() <= tolerance * sizes.v[row], || format!("v{} is off by {off} at {time}", branch.name))?;
        }
    }
    for (node, sums) in sums.iter().enumerate() {
        for ((sum, size), time) in sums.iter().zip(&sizes.i).zip(run.time()) {
            ensure(sum.abs() <= tolerance * size, || format!("currents at node {node}: {sum} at {time}"))?;
        }
    }
    Ok(())
}

/// An ideal diode has no voltage in its direction and no current against it.
pub fn check_diode(name: &str, v: f64, i: f64, tolerance: f64) -> Result<(), String> {
    ensure(v <= tolerance && i >= -tolerance, || format!("diode {name}: v = {v}, i = {i}"))
}

/// What may happen to what is stored at an instant.
#[allow(dead_code)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instants {
    /// States are continuous.
    Keep,
    /// Charge and flux may have to find a new place, which costs energy.
    Lose,
}

/// What is stored changes by what sources have given (column `given`) and resistors have taken (column `taken`). The
/// tolerance is relative to what has gone through so far.
pub fn check_energy(
    run: &Run,
    stored: impl Fn(usize) -> f64,
    instants: Instants,
    tolerance: f64,
) -> Result<(), String> {
    let (given, taken) = (run.column("given"), run.column("taken"));
    let mut expected = stored(0);
    let mut size: f64 = 1.0;
    for row in 1..run.time().len() {
        let time = run.time()[row];
        let now = stored(row);
        size = size.max(now).max(given[row].abs()).max(taken[row].abs());
        expected += (given[row] - given[row - 1]) - (taken[row] - taken[row - 1]);
        if instants == Instants::Lose && time == run.time()[row - 1] {
            ensure(now <= expected + tolerance / 20.0 * size, || format!("energy from nothing at {time}"))?;
            expected = now;
        }
        let off = (now - expected).abs();
        ensure(off <= tolerance * size, || format!("the balance is off by {off} of {size} at {time}"))?;
    }
    Ok(())
}
