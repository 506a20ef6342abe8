//! The sorted equations of a model as documents of the time of the language Dymola of 1993 (Elmqvist, Cellier and Otter, “Object-oriented
//! modeling of hybrid systems”): the listing of sorted and solved equations, a program of the simulation language ACSL and a
//! subroutine in the manner of DSblock. They are for reading; all are made from one order of steps.

mod acsl;
mod central;
mod dsblock;
mod dymola;
mod formula;
mod names;
mod quotients;
mod solved;
mod steps;

use transform::{Role, Schedule};

use names::{Dialect, Names};
use steps::Steps;

/// Which document is to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Document {
    /// The listing of sorted and solved equations.
    Dymola,
    /// A program with schedule statements.
    Acsl,
    /// A Fortran subroutine that an integrator calls.
    Dsblock,
}

impl Document {
    /// Writes the document of a schedule.
    pub fn of(self, schedule: &Schedule) -> String {
        let names = Names::new(schedule, self.dialect());
        let steps = Steps::of_run(schedule);
        let document = match self {
            Document::Dymola => dymola::write(schedule, &names, &steps),
            Document::Acsl => acsl::write(schedule, &names, &steps),
            Document::Dsblock => dsblock::write(schedule, &names, &steps),
        };
        self.mode_of(schedule) + &document
    }

    /// Where the structure of a model changes during a run, the equations are those of one mode, and the document says of which.
    fn mode_of(self, schedule: &Schedule) -> String {
        let Some(mode) = &schedule.mode else { return String::new() };
        let lines = [
            "The structure of this model changes at events. What follows holds in one of its modes:".to_owned(),
            mode.modes.describe(&mode.key),
            "Other equations hold in the others.".to_owned(),
        ];
        match self {
            Document::Dymola => format!("{{ {} }}\n", lines.join("\n  ")),
            Document::Acsl | Document::Dsblock => lines.iter().map(|line| format!("! {line}\n")).collect(),
        }
    }

    fn dialect(self) -> Dialect {
        match self {
            Document::Dymola => Dialect::Dymola,
            Document::Acsl => Dialect::Acsl,
            Document::Dsblock => Dialect::Fortran,
        }
    }
}

/// What the equations do not compute because another variable or a constant stands for it.
fn is_eliminated(role: &Role) -> bool {
    matches!(role, Role::Alias { .. } | Role::Constant)
}
