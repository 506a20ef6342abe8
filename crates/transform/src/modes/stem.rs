//! What the modes of a model have in common, made once.
//!
//! In the equations that conditions decide about, a Boolean stands for each condition, its switch. Such equations make no
//! aliases and no constants, so what comes of the others holds in every mode: parameters, aliases, constants, names of
//! derivatives. A mode puts the truth in place of the switches and is sorted. All modes share one arena, in which equal
//! expressions are one, and one numbering of variables; so what was found out about an expression in one mode is known in
//! the next (`Cache`), and only equations that read differently are looked at anew.

use base::{Diagnostic, Id, Name};
use dae::{Builtin, EqId, Equation, ExprId, Memo, Model, Node, VarId, VariableType};
use rustc_hash::FxHashMap;

use super::chains::Chains;
use super::{Decided, Entry, Modes, conditions, decided, switched};
use crate::decisions::Decisions;
use crate::parts::{Role, Sides};
use crate::schedule::Schedule;
use crate::work::Work;
use crate::written::Written;
use crate::{actions, aliases, constants, derivatives, discrete, false_derivatives, inverses, parameters, vanishing};

pub struct Stem {
    /// As it stands before anything is decided.
    work: Work,
    /// Equations as they were written, with switches.
    written: Written,
    switches: Vec<VarId>,
    /// The equations with switches in them, and the numbers of these.
    decided: Vec<Decided>,
    /// How they read, by their places there and the truth of their own conditions.
    readings: FxHashMap<(usize, Vec<bool>), Reading>,
    /// So many expressions have been looked at for what programs ask for.
    residues: usize,
}

/// An equation in which conditions are decided.
#[derive(Clone)]
struct Reading {
    /// At initialisation, after it, and as it was written.
    sides: [Sides; 3],
    /// The derivatives it names.
    derivatives: Vec<VarId>,
}

impl Stem {
    pub fn new(modes: &Modes) -> Result<Self, Vec<Diagnostic>> {
        let mut work = Work::new(modes.model.clone());
        parameters::order(&mut work)?;
        actions::split(&mut work)?;
        work.strict = modes.strict;
        work.modes.cache = Some(Box::default());
        let found = decided(&work, &modes.conditions);
        work.modes.switched = switched(&work, &found);
        let switches: Vec<VarId> =
            (1..=modes.conditions.len() as u32).map(|number| add_switch(&mut work, number)).collect();
        for (eq, numbers) in &found {
            let sides = [work.model.equations[*eq].left, work.model.equations[*eq].right];
            let pairs: Vec<(ExprId, ExprId)> = numbers
                .iter()
                .filter_map(|&number| Some((modes.conditions.get(number)?.expression, *switches.get(number)?)))
                .map(|(condition, switch)| (condition, work.model.exprs.var(switch)))
                .collect();
            let new = conditions::replaced(&mut work, &sides, pairs);
            let equation = &mut work.model.equations[*eq];
            (equation.left, equation.right) = (new[0], new[1]);
        }
        work.modes.touched = Some(found.iter().map(|(eq, _)| *eq).collect());
        let written = Written::of(&work.model);
        let conflicts = discrete::conflicts(&work);
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        vanishing::fold(&mut work);
        aliases::eliminate(&mut work, crate::Options::default().aliases)?;
        constants::propagate(&mut work);
        inverses::drop_false(&mut work);
        // Those are reported for the model as a whole.
        false_derivatives::drop_false(&mut work);
        discrete::wish_reinitialised_states(&mut work);
        let steady: Vec<EqId> = work.active.iter().copied().filter(|&eq| work.is_steady(eq)).collect();
        derivatives::name_derivatives(&mut work, &steady)?;
        derivatives::name_other_derivatives(&mut work);
        Ok(Self { work, written, switches, decided: found, readings: FxHashMap::default(), residues: 0 })
    }

    /// The schedule of a mode and the chains of its equations.
    pub fn sort(&mut self, key: &[bool], entry: Entry) -> Result<(Schedule, Chains), Vec<Diagnostic>> {
        let mut work = self.work.branch();
        let mut written = self.written.clone();
        let decided = self.decide(&mut work, &mut written, key);
        let outcome = decided.and_then(|()| crate::sort_mode(&mut work, entry));
        self.add_residues(&mut work);
        self.work.rejoin(&mut work);
        outcome.map(|(plan, chains)| (plan.schedule(work, written), chains))
    }

    pub fn with_decisions<T>(&self, look: impl FnOnce(&Decisions, &Model) -> T) -> T {
        look(&self.work.decisions, &self.work.model)
    }

    /// Adds what programs ask for beside the expressions of a schedule, so that all know it by one number: the residues of
    /// relations, and quotients that are rounded.
    fn add_residues(&mut self, work: &mut Work) {
        let exprs = &mut work.model.exprs;
        for index in self.residues..exprs.len() {
            match exprs.node(ExprId::from_index(index)) {
                Node::Compare { event: true, left, right, .. } => {
                    exprs.intern(Node::Sub(left, right));
                }
                Node::Builtin(Builtin::ModEvent | Builtin::DivEvent | Builtin::RemEvent, args) => {
                    if let [dividend, divisor] = *exprs.arguments(args) {
                        exprs.intern(Node::Div(dividend, divisor));
                    }
                }
                _ => {}
            }
        }
        self.residues = exprs.len();
    }

    /// Puts the truth in place of the switches and names derivatives.
    fn decide(&mut self, work: &mut Work, written: &mut Written, key: &[bool]) -> Result<(), Vec<Diagnostic>> {
        for place in 0..self.decided.len() {
            let (eq, numbers) = &self.decided[place];
            let eq = *eq;
            let truth: Vec<bool> = numbers.iter().map(|&number| key.get(number) == Some(&true)).collect();
            if let Some(reading) = self.readings.get(&(place, truth.clone())) {
                reading.put(work, written, eq);
                continue;
            }
            let mut memo = Memo::default();
            for (&number, &truth) in numbers.iter().zip(&truth) {
                let (switch, truth) = (work.model.exprs.var(self.switches[number]), work.model.exprs.boolean(truth));
                memo.insert(switch, truth);
            }
            let Equation { left, right, .. } = work.model.equations[eq];
            let mut sides = [(left, right), work.dynamic[eq], written.sides[eq.index()]];
            for sides in &mut sides {
                let exprs = &mut work.model.exprs;
                let new = exprs.rewrite(&[sides.0, sides.1], &mut memo, |exprs, _, node| exprs.make(node));
                *sides = (new[0], new[1]);
            }
            let mut reading = Reading { sides, derivatives: Vec::new() };
            reading.put(work, written, eq);
            derivatives::name_derivatives(work, &[eq])?;
            let Equation { left, right, .. } = work.model.equations[eq];
            (reading.sides[0], reading.sides[1]) = ((left, right), work.dynamic[eq]);
            let found = work.model.exprs.dependencies(&[left, right, reading.sides[1].0, reading.sides[1].1]).variables;
            let is_derivative = |v: &VarId| work.model.variables[*v].derivative_of.is_some();
            reading.derivatives = found.into_iter().filter(is_derivative).collect();
            self.readings.insert((place, truth), reading);
        }
        Ok(())
    }
}

impl Reading {
    fn put(&self, work: &mut Work, written: &mut Written, eq: EqId) {
        let equation = &mut work.model.equations[eq];
        let [initial, dynamic, as_written] = self.sides;
        (equation.left, equation.right) = initial;
        work.dynamic[eq] = dynamic;
        written.sides[eq.index()] = as_written;
        self.derivatives.iter().for_each(|&derivative| work.derivatives.named[derivative] = true);
    }
}

/// A Boolean that nobody computes: the truth takes its place in every mode.
fn add_switch(work: &mut Work, number: u32) -> VarId {
    let root = work.model.paths.root();
    let path = work.model.paths.child(root, Name::new("switch"), &[number]);
    let switch = work.add_variable(path, VariableType::Boolean, Role::Constant);
    work.model.variables[switch].binding = Some(work.model.exprs.boolean(false));
    switch
}
