//! Both sides of a trajectory: what a model does beside the point at hand, with a parameter a little larger and a little smaller.
//!
//! Where conditions rest on their edges (`crate::corners`), the tangents belong to the branches that the run happens to be in.
//! The model is evaluated at x ± ε s with the relations decided as they are there, and differentiated along the same direction.
//! Where values differ by more than the way between the two points, or tangents do however close the points are, there is no
//! derivative. What has a slope on both sides that is the same has one in the middle, whatever the branches: `x*abs(x)`.

use super::*;
use crate::corners::{Direction, Moved};
use crate::linear::VERTICAL;
use crate::machine::Phase;

/// How far from the point both sides are looked at, beside how far one can go.
const NEAR: f64 = 1e-9;
/// So much farther they are looked at once more.
const FARTHER: f64 = 100.0;
/// A condition has to move by so much more than the rounding errors of its sides.
const CLEAR: f64 = 1e-12;
/// Relative to values, what differs by less does not jump.
const JUMP: f64 = 1e-7;
/// Relative to tangents, what differs by less is the same.
const KINK: f64 = 1e-5;
/// What shrinks to less than this part on the way from the farther points to the nearer ones vanishes in the limit. Square
/// roots shrink to a tenth.
const STAYS: f64 = 0.5;

/// What is compared, by address.
#[derive(Default)]
struct Compared {
    slots: Vec<Address>,
    /// Those whose tangents count, too.
    kinks: Vec<bool>,
    /// The relations whose residues count, behind the others.
    residues: Vec<RelationId>,
}

/// The model beside the point.
struct Side {
    values: Vec<f64>,
    slopes: Vec<f64>,
    /// Relations, decided anew.
    signs: Vec<f64>,
}

/// What both sides tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    Agree,
    /// There is no derivative.
    Differ,
    /// There is one, and it is not that of the branches in use.
    Elsewhere,
}

/// One direction that is looked at.
struct Look<'a> {
    column: usize,
    direction: &'a Direction,
    seeds: Vec<(Address, f64)>,
    moved: &'a [Moved],
    /// The relations that are close to their edges.
    close: &'a [RelationId],
}

impl Sensitivities {
    /// What is close to its edge at the point in memory.
    pub fn close_to_edges(&mut self, machine: &mut Machine) -> Result<Vec<usize>, Trouble> {
        let corners = match self.corners.take() {
            Some(corners) => corners,
            None => Corners::new(machine)?,
        };
        Ok(self.corners.insert(corners).close(machine))
    }

    /// Refuses to go on where the trajectory has two sides at the point in memory, between events.
    pub fn compare_sides(&mut self, machine: &mut Machine, places: &[usize]) -> Result<(), Trouble> {
        self.resting.clear();
        let compared = self.between_events(machine);
        let differing = self.differing(machine, places, &compared)?;
        if let Some(corners) = &mut self.corners {
            corners.has_begun = true;
        }
        self.refuse_first(machine, &differing)
    }

    /// The conditions without events that stand on their edges within an event, and decide about what stays behind it.
    pub(super) fn corners_within(&mut self, machine: &mut Machine) -> Result<Vec<Edge>, Trouble> {
        let mut places = self.close_to_edges(machine)?;
        let Some(corners) = &self.corners else { return Ok(Vec::new()) };
        places.retain(|&place| corners.relation(place).is_none() || self.resting.contains(&place));
        let compared = within_event(machine);
        let resting = std::mem::take(&mut self.resting);
        let differing = self.differing(machine, &places, &compared)?;
        self.resting = resting;
        let mut edges: Vec<(usize, Edge)> = Vec::new();
        for (column, moved) in differing.into_iter().enumerate() {
            for moved in moved {
                let known = match edges.iter().position(|(place, _)| *place == moved.place) {
                    Some(known) => known,
                    None => {
                        edges.push((moved.place, Self::edge(moved, self.columns())));
                        edges.len() - 1
                    }
                };
                edges[known].1.tangents[column] = moved.slope;
            }
        }
        Ok(edges.into_iter().map(|(_, edge)| edge).collect())
    }

    /// What rests on its edge and has changed nothing so far may be what the relations that make an event depend on.
    pub(super) fn check_causes(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let places = std::mem::take(&mut self.resting);
        if places.is_empty() {
            return Ok(());
        }
        let program = &machine.program.clone();
        let causes = |known: &Self, relation: &RelationId| {
            known.left.crossed.contains(relation) || known.is_due(program, machine, *relation)
        };
        let residues = program.layout.relations.ids().filter(|relation| causes(self, relation)).collect();
        let compared = Compared { residues, ..Compared::default() };
        // The places are those of the last look, and the values of their sides have to be known.
        self.close_to_edges(machine)?;
        let differing = self.differing(machine, &places, &compared)?;
        self.resting = places;
        self.refuse_first(machine, &differing[..differing.len().min(self.parameters())])
    }

    fn refuse_first(&self, machine: &Machine, differing: &[Vec<Moved>]) -> Result<(), Trouble> {
        let found = differing.iter().enumerate().find_map(|(column, moved)| Some((column, *moved.first()?)));
        let Some((column, moved)) = found else { return Ok(()) };
        let edge = Self::edge(moved, self.columns());
        Err(edge.refusal(&machine.program, self.request.parameters[column], machine.memory.time()))
    }

    /// A condition on its edge that no column is known to move yet.
    fn edge(moved: Moved, columns: usize) -> Edge {
        Edge {
            expression: moved.expression,
            relation: moved.relation,
            noise: vec![0.0; columns],
            tangents: vec![0.0; columns],
        }
    }

    /// By column what stands on its edge, where both sides differ because of that. Takes note of what rests otherwise.
    fn differing(
        &mut self,
        machine: &mut Machine,
        places: &[usize],
        compared: &Compared,
    ) -> Result<Vec<Vec<Moved>>, Trouble> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let directions: Vec<Direction> = (self.everything(machine)?.into_iter().enumerate())
            .map(|(column, tangents)| Direction { reach: self.reach_of(machine, column), tangents })
            .collect();
        let Some(corners) = &mut self.corners else { return Ok(Vec::new()) };
        let close: Vec<RelationId> = corners.close_relations();
        let mut by_column = corners.moved(machine, places, &directions)?;
        for (column, moved) in by_column.iter_mut().enumerate() {
            if moved.is_empty() {
                continue;
            }
            let seeds = self.seeds(machine, column);
            let look = Look { column, direction: &directions[column], seeds, moved, close: &close };
            let sides = self.look(machine, &look, compared);
            if sides == Sides::Elsewhere && column < self.request.parameters.len() {
                return Err(self.refuse_choice(machine, &look));
            }
            if sides != Sides::Differ {
                let harmless = moved.drain(..).map(|moved| moved.place);
                self.resting.extend(harmless);
                self.resting.sort_unstable();
                self.resting.dedup();
            }
        }
        Ok(by_column)
    }

    /// How far one can go along a column.
    fn reach_of(&self, machine: &Machine, column: usize) -> f64 {
        let own = self.request.parameters.get(column).map_or(0.0, |&parameter| machine.value(parameter).abs());
        let mut reach = if own > 0.0 { own } else { 1.0 };
        for (state, tangent) in machine.program.states.iter().zip(&self.states[column]) {
            let size = machine.memory.values[state.value as usize].abs().max(machine.nominal(state.variable));
            if tangent.abs() * reach > size {
                reach = size / tangent.abs();
            }
        }
        reach
    }

    /// Both sides agree, and the branches of the run do not.
    fn refuse_choice(&self, machine: &Machine, look: &Look) -> Trouble {
        let model = machine.program.model();
        let text = look.moved.first().map(|moved| model.expression_text(moved.expression)).unwrap_or_default();
        let parameter = model.variable_name(self.request.parameters[look.column]);
        refused(format!(
            "at time {} `{text}` and other conditions that `{parameter}` moves stand exactly on their edges, and the branches that \
             are chosen there do not belong together: the derivative is not computed",
            base::Decimal(machine.memory.time())
        ))
    }

    fn look(&mut self, machine: &Machine, look: &Look, compared: &Compared) -> Sides {
        let clear = |moved: &Moved| if moved.slope == 0.0 { 0.0 } else { CLEAR * moved.size / moved.slope.abs() };
        let near = look.moved.iter().map(clear).fold(NEAR * look.direction.reach, f64::max);
        let mut sides = |distance: f64| -> Option<[Side; 2]> {
            Some([self.side(machine, look, distance, compared)?, self.side(machine, look, -distance, compared)?])
        };
        // What exists on one side only has no derivative either.
        let (Some(near_sides), Some(far_sides)) = (sides(near), sides(FARTHER * near)) else { return Sides::Differ };
        let signs = |[above, below]: &[Side; 2]| {
            let pairs = machine.program.layout.relations.ids().zip(above.signs.iter().zip(&below.signs));
            let mut others = pairs.filter(|(relation, _)| !look.close.contains(relation));
            others.any(|(_, (above, below))| above != below)
        };
        if signs(&near_sides) {
            return Sides::Differ;
        }
        let differ = (0..near_sides[0].values.len()).any(|k| {
            let jump = |[above, below]: &[Side; 2], distance: f64| {
                (above.values[k] - below.values[k] - distance * (above.slopes[k] + below.slopes[k])).abs()
            };
            let kink = |[above, below]: &[Side; 2]| (above.slopes[k] - below.slopes[k]).abs();
            let steepest = |[above, below]: &[Side; 2]| above.slopes[k].abs().max(below.slopes[k].abs());
            let value = near_sides[0].values[k].abs().max(near_sides[1].values[k].abs());
            let noise = look.direction.noise();
            let (near_jump, far_jump) = (jump(&near_sides, near), jump(&far_sides, FARTHER * near));
            let jumps = near_jump > JUMP * value + 1e7 * noise * near && near_jump >= STAYS * far_jump;
            let (near_kink, far_kink) = (kink(&near_sides), kink(&far_sides));
            let (slope, farther) = (steepest(&near_sides), steepest(&far_sides));
            let bends = near_kink > KINK * slope + noise && near_kink >= STAYS * far_kink;
            let is_vertical = slope > noise && slope * STAYS > farther;
            let counts = compared.kinks.get(k).is_none_or(|counts| *counts);
            jumps || counts && (bends || is_vertical || slope.is_nan())
        });
        if differ {
            return Sides::Differ;
        }
        let is_elsewhere = |(k, &slot): (usize, &Address)| {
            let here = look.direction.tangents[slot as usize];
            let [near, far] = [&near_sides, &far_sides].map(|sides| (sides[0].slopes[k] - here).abs());
            let slope = here.abs().max(near_sides[0].slopes[k].abs());
            compared.kinks[k] && near > KINK * slope + look.direction.noise() && near >= STAYS * far
        };
        match compared.slots.iter().enumerate().any(is_elsewhere) {
            true => Sides::Elsewhere,
            false => Sides::Agree,
        }
    }

    /// The model so far from the point in memory along a column; `None` where it cannot be evaluated.
    fn side(&mut self, machine: &Machine, look: &Look, distance: f64, compared: &Compared) -> Option<Side> {
        // The run goes on as if nobody had asked.
        let mut trial = machine.clone();
        trial.own_external_objects();
        for (value, tangent) in trial.memory.values.iter_mut().zip(&look.direction.tangents) {
            if tangent.abs() < VERTICAL {
                *value += distance * tangent;
            }
        }
        let corners = self.corners.as_ref()?;
        if let Some(&parameter) = self.request.parameters.get(look.column)
            && look.moved.iter().any(|moved| corners.is_fixed(moved.place))
        {
            let value = machine.value(parameter) + distance;
            let others = machine.parameters().iter().copied().filter(|(known, _)| *known != parameter);
            trial.change_parameters(&others.chain([(parameter, value)]).collect()).ok()?;
        }
        corners.decide(&mut trial, look.moved, distance.signum());
        trial.unsettle();
        trial.run(|sections| &sections.events, Phase::Decided).ok()?;
        trial.run(|sections| &sections.actions, Phase::Frozen).ok()?;
        let mut values: Vec<f64> = compared.slots.iter().map(|&slot| trial.memory.values[slot as usize]).collect();
        let slopes = self.model.at_point(&mut trial, |linearizer| {
            linearizer.follow_from(&look.seeds, look.column < self.request.parameters.len())?;
            values.extend(compared.residues.iter().map(|&relation| linearizer.residue_value(relation)));
            let slots = compared.slots.iter().map(|&slot| linearizer.tangent_at(slot));
            Ok(slots
                .chain(compared.residues.iter().map(|&relation| linearizer.residue(relation)))
                .collect::<Vec<f64>>())
        });
        let slopes = slopes.ok()?;
        machine.program.update_relations(&mut trial.memory);
        let signs = signs(&trial);
        values.iter().all(|value| value.is_finite()).then_some(Side { values, slopes, signs })
    }

    /// Between events: all that goes on from here, and what is asked for.
    fn between_events(&mut self, machine: &Machine) -> Compared {
        let program = machine.program.clone();
        let mut compared = within_event(machine);
        compared.kinks.fill(true);
        for variable in self.sources_in(&program).into_iter().flatten() {
            compared.add(program.layout.slot(variable), true);
        }
        compared
    }
}

impl Compared {
    fn add(&mut self, slot: Address, kink: bool) {
        self.slots.push(slot);
        self.kinks.push(kink);
    }
}

/// Within an event the kink of a slope is passed, but a jump is not, nor is a kink of what is kept.
fn within_event(machine: &Machine) -> Compared {
    let program = &machine.program;
    let mut compared = Compared::default();
    program.states.iter().for_each(|state| compared.add(state.derivative, false));
    let is_discrete = |slot: Address| {
        let mut own = program.model().variables.ids().filter(|&id| program.layout.place(id).slot == slot);
        own.any(|id| matches!(program.schedule.roles.get(id), Some(transform::Role::Discrete)))
    };
    let kept = program.pre_pairs.iter().map(|&(slot, _)| slot).filter(|&slot| is_discrete(slot));
    kept.for_each(|slot| compared.add(slot, true));
    let modes = program.schedule.mode.iter().flat_map(|mode| mode.modes.conditions());
    modes.for_each(|condition| compared.add(program.layout.slot(condition.monitor), false));
    for (action, slots) in program.model().actions.iter().zip(&program.layout.actions) {
        if !matches!(action.kind, ActionKind::Assert { .. }) {
            compared.add(slots.active, false);
        }
        if machine.memory.values[slots.active as usize] != 0.0 && matches!(action.kind, ActionKind::Reinit { .. }) {
            compared.add(slots.value, true);
        }
    }
    compared
}
