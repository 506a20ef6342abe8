//! What a run took, and what it has to say.

use super::*;

impl Simulation {
    pub(crate) fn count(&mut self) {
        let mut effort = self.runtime.integrator.statistics();
        if let Some(modes) = &self.modes {
            modes.parked().for_each(|runtime| effort.add(&runtime.integrator.statistics()));
            self.statistics.modes = modes.visited();
            (self.statistics.modes_made, self.statistics.mode_seconds) = (modes.effort.made, modes.effort.seconds);
            self.statistics.mode_trials = modes.effort.trials;
        }
        self.statistics.assertion_warnings = self.log.assertions.count();
        self.statistics.steps = effort.steps;
        self.statistics.rejected = effort.rejected + effort.failed + self.statistics.retaken;
        self.statistics.rhs = effort.rhs;
        self.statistics.jacobians = effort.jacobians;
        self.statistics.factorisations = effort.factorisations;
        self.statistics.newton_iterations = effort.newton_iterations;
        let (mut iterations, mut factorisations) = (0, 0);
        for (_, systems) in self.used() {
            for (_, effort) in systems.efforts() {
                iterations += effort.iterations;
                factorisations += effort.factorisations;
            }
        }
        (self.statistics.block_iterations, self.statistics.block_factorisations) = (iterations, factorisations);
    }

    /// The programs that were run, with their systems.
    fn used(&self) -> impl Iterator<Item = (&Program, &Systems)> {
        let parked = self.modes.iter().flat_map(|modes| modes.parked());
        parked.chain([&*self.runtime]).map(|runtime| (&*runtime.machine.program, &runtime.machine.systems))
    }

    pub(crate) fn profile(&self) -> Option<Profile> {
        self.meter.profile(self.used())
    }

    /// An explicit method that was chosen for a stiff problem takes many more steps than another one would.
    fn stiffness_warning(&self) -> Option<Diagnostic> {
        /// Steps that are worth a word, and their share of all.
        const MANY: u64 = 100;
        const SHARE: f64 = 0.25;
        let integrator = &self.runtime.integrator;
        let (stiff, all) = (integrator.stiff_steps(), integrator.statistics().steps);
        if stiff < MANY || (stiff as f64) < SHARE * all as f64 {
            return None;
        }
        let message = format!(
            "the problem is stiff: the stability of `{}` limited {stiff} of its {all} steps, not the tolerance",
            integrator.name()
        );
        Some(
            Diagnostic::warning("stiff-problem", message).hint("`--solver auto`, `bdf` or `esdirk` takes longer steps"),
        )
    }

    /// What the run decided for the user, or what looks wrong although it went on.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let model = self.program.model();
        let warning = |&system: &compile::SystemId| {
            let unknowns = &self.program.systems[system].unknowns;
            let names: Vec<String> = unknowns.iter().take(8).map(|&id| model.variable_name(id)).collect();
            Diagnostic::warning(
                "redundant-equations",
                format!(
                    "the equations for {} do not determine all of them; the solution of least norm was taken",
                    names.join(", ")
                ),
            )
            .decides()
        };
        let shared = self.runtime.machine.systems.shared.iter().map(warning);
        let ambiguous = self.used().flat_map(|(program, systems)| {
            systems.ambiguities().map(|ambiguity| ambiguity.warning(program)).collect::<Vec<_>>()
        });
        let modes = self.modes.iter().flat_map(|modes| modes.warnings().iter().cloned());
        let all = shared
            .chain(ambiguous)
            .chain(modes)
            .chain(self.stiffness_warning())
            .chain(self.limits.warnings(&self.program));
        all.chain(self.notices.iter().cloned()).chain(self.log.assertions.diagnostics()).collect()
    }
}
