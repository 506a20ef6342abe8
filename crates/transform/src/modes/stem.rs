//! What the modes of a model have in common, made once.
//!
//! In the equations that conditions decide about, a Boolean stands for each condition, its switch. Such equations make no
//! aliases and no constants, so what comes of the others holds in every mode: parameters, aliases, constants, names of
//! derivatives. A mode puts the truth in place of the switches and is sorted. All modes share one arena, in which equal
//! expressions are one, and one numbering of variables; so what was found out about an expression in one mode is known in
//! the next (`Recall`), and only equations that read differently are looked at anew.

use base::{Diagnostic, Id, Name};
use dae::{Builtin, EqId, ExprId, Memo, Node, VarId, VariableType};

use super::chains::Chains;
use super::{Entry, Modes, conditions, decided, switched};
use crate::schedule::{Role, Schedule};
use crate::work::Work;
use crate::written::Written;
use crate::{aliases, constants, derivatives, discrete, parameters, vanishing};

pub struct Stem {
    /// As it stands before anything is decided.
    work: Work,
    /// Equations as they were written, with switches.
    written: Written,
    switches: Vec<VarId>,
    /// The equations with switches in them.
    decided: Vec<EqId>,
    /// So many expressions have been looked at for what programs ask for.
    residues: usize,
}

impl Stem {
    pub fn new(modes: &Modes) -> Result<Self, Vec<Diagnostic>> {
        let mut work = Work::new(modes.model.clone());
        parameters::order(&mut work)?;
        work.strict = modes.strict;
        work.recall = Some(Box::default());
        let found = decided(&work, &modes.conditions);
        work.switched = switched(&work, &found);
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
        let decided: Vec<EqId> = found.into_iter().map(|(eq, _)| eq).collect();
        work.touched = Some(decided.iter().copied().collect());
        let written = Written::of(&work.model);
        let conflicts = discrete::conflicts(&work);
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        vanishing::fold(&mut work);
        aliases::eliminate(&mut work, crate::Options::default().aliases)?;
        constants::propagate(&mut work);
        let steady: Vec<EqId> = work.active.iter().copied().filter(|&eq| work.is_steady(eq)).collect();
        derivatives::name_derivatives(&mut work, &steady)?;
        derivatives::name_other_derivatives(&mut work);
        Ok(Self { work, written, switches, decided, residues: 0 })
    }

    /// The schedule of a mode and the chains of its equations.
    pub fn sort(&mut self, key: &[bool], entry: Entry) -> Result<(Schedule, Chains), Vec<Diagnostic>> {
        let mut work = self.work.branch();
        let mut written = self.written.clone();
        self.decide(&mut work, &mut written, key);
        let named = derivatives::name_derivatives(&mut work, &self.decided);
        let outcome = named.and_then(|()| crate::sort_mode(&mut work, entry));
        self.add_residues(&mut work);
        self.work.rejoin(&mut work);
        outcome.map(|(plan, chains)| (plan.schedule(work, written), chains))
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

    fn decide(&self, work: &mut Work, written: &mut Written, key: &[bool]) {
        let mut memo = Memo::default();
        let exprs = &mut work.model.exprs;
        for (&switch, &truth) in self.switches.iter().zip(key) {
            let (switch, truth) = (exprs.var(switch), exprs.boolean(truth));
            memo.insert(switch, truth);
        }
        for &eq in &self.decided {
            let equation = &mut work.model.equations[eq];
            let dynamic = &mut work.dynamic[eq];
            let mut sides = [(equation.left, equation.right), *dynamic, written.sides[eq.index()]];
            for sides in &mut sides {
                let new = exprs.rewrite(&[sides.0, sides.1], &mut memo, |exprs, _, node| exprs.make(node));
                *sides = (new[0], new[1]);
            }
            ((equation.left, equation.right), *dynamic, written.sides[eq.index()]) = (sides[0], sides[1], sides[2]);
        }
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
