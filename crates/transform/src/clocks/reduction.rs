//! Index reduction of one partition: constraints between its states are differentiated before its derivatives are
//! discretised, so that an inverse model can be part of a controller. The passes are those for the whole model, on a model
//! that holds the equations of the partition alone; what other partitions determine is an input there, without derivative.

use base::{Diagnostic, Id, IdVec, Name};
use dae::{Causality, EqId, Equation, OriginKind, VarId, Variability, VariableType};

use super::translation::{Row, Translation};
use crate::parts::{Role, State};
use crate::work::Work;
use crate::{derivatives, parameters, states};

impl Translation<'_> {
    /// Makes derivatives in the rows of a partition variables of their own, adds differentiated rows, and returns which
    /// variables are integrated.
    pub(super) fn reduce(&mut self, partition: usize, rows: &mut Vec<Row>) -> Vec<State> {
        let sides: Vec<_> = rows.iter().flat_map(|row| [row.left, row.right]).collect();
        if self.model.exprs.dependencies(&sides).derivatives.is_empty() {
            return Vec::new();
        }
        let declared = self.model.variables.clone();
        let others = std::mem::take(&mut self.model.equations);
        let initial_equations = std::mem::take(&mut self.model.initial_equations);
        let actions = std::mem::take(&mut self.model.actions);
        let initial_actions = std::mem::take(&mut self.model.initial_actions);
        for row in rows.iter() {
            let Equation { role, origin, .. } = others[row.id].clone();
            self.model.equations.push(Equation { left: row.left, right: row.right, role, origin });
        }
        self.make_inputs(partition);

        let mut work = Work::new(std::mem::take(self.model));
        work.choice.stays = true;
        work.dynamic = work.model.equations.values().map(|equation| (equation.left, equation.right)).collect();
        let outcome = parameters::order(&mut work).and_then(|()| derivatives::reduce(&mut work));
        let outcome = outcome.map(|reduced| states::choose(&mut work, &reduced));

        let Work { mut model, roles, active, dynamic, derivatives, decisions, .. } = work;
        let derivative = derivatives.of;
        let decided = decisions.parameters(&model.exprs).into_iter();
        model.decided.extend(decided.map(|variable| dae::Decided { variable, span: None }));
        self.slopes.extend(derivative.iter().filter_map(|(variable, slope)| Some((variable, (*slope)?))));
        *self.model = model;
        let made = std::mem::replace(&mut self.model.equations, others);
        self.model.initial_equations = initial_equations;
        self.model.actions = actions;
        self.model.initial_actions = initial_actions;
        self.restore(declared, &roles);
        match outcome {
            Ok((states, _)) => {
                let first = rows.iter().map(|row| row.id).collect();
                *rows = self.take_over(first, &made, &active, |eq| dynamic[eq]);
                states
            }
            Err(problems) => {
                self.problems.extend(problems.into_iter().map(in_partition));
                Vec::new()
            }
        }
    }

    fn make_inputs(&mut self, partition: usize) {
        for variable in self.model.variables.ids() {
            let is_known = self.model.variables[variable].variability <= Variability::Parameter;
            let is_clock = self.model.variables[variable].ty == VariableType::Clock;
            if !is_known && (is_clock || !self.belongs(partition, variable)) {
                let declared = &mut self.model.variables[variable];
                (declared.causality, declared.variability) = (Causality::Input, Variability::Discrete);
            }
        }
    }

    /// What was declared is as it was; derivatives that became variables are clocked.
    fn restore(&mut self, declared: IdVec<VarId, dae::Variable>, roles: &IdVec<VarId, Role>) {
        let count = declared.len();
        for (variable, declared) in declared.iter() {
            self.model.variables[variable] = declared.clone();
        }
        let added: Vec<VarId> = self.model.variables.ids().skip(count).collect();
        let names: Vec<String> = added.iter().map(|&variable| self.model.variable_name(variable)).collect();
        for (variable, name) in added.into_iter().zip(names) {
            let root = self.model.paths.root();
            let path = self.model.paths.child(root, Name::new(&name), &[]);
            let unused = matches!(roles[variable], Role::Constant);
            let declared = &mut self.model.variables[variable];
            declared.variability = if unused { Variability::Constant } else { Variability::Discrete };
            // They are like any clocked variables for the passes that follow.
            (declared.path, declared.derivative_of) = (path, None);
        }
    }

    /// The equations of the partition as rows, the differentiated ones as new equations of the model.
    fn take_over(
        &mut self,
        mut ids: Vec<EqId>,
        made: &IdVec<EqId, Equation>,
        active: &[EqId],
        sides: impl Fn(EqId) -> (dae::ExprId, dae::ExprId),
    ) -> Vec<Row> {
        for (_, equation) in made.iter().skip(ids.len()) {
            let mut equation = equation.clone();
            if let OriginKind::Derivative(of) = equation.origin.kind
                && let Some(&of) = ids.get(of.index())
            {
                equation.origin.kind = OriginKind::Derivative(of);
            }
            ids.push(self.model.equations.push(equation));
        }
        // Derivatives that were tried and are not needed hold nothing.
        let used: rustc_hash::FxHashSet<EqId> = active.iter().copied().collect();
        for (eq, &id) in made.ids().zip(&ids) {
            if !used.contains(&eq) {
                self.removed.insert(id);
            }
        }
        active
            .iter()
            .map(|&eq| {
                let (left, right) = sides(eq);
                Row { id: ids[eq.index()], left, right }
            })
            .collect()
    }
}

fn in_partition(problem: Diagnostic) -> Diagnostic {
    problem.note("this is about the equations of one clock, which are discretised")
}
