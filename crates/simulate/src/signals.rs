//! Crossings of relations that no sampling finds for certain: of functions of time alone, such as the voltage of a source against
//! a threshold, by which no integrator chooses its steps, and of functions of states that change much faster than the states,
//! such as `abs(x - c) < 1e-6`, `cos(200*x) > 0.99` or a narrow peak. A crossing and its return may lie inside of one step.
//!
//! Interval arithmetic gives bounds of such a function and of its slope over a whole piece of time (`intervals`), from the
//! polynomials that the states are over a step (`courses`). A piece in which zero lies outside of the bounds has no crossing,
//! one in which the function is monotone has at most one, and any other piece is halved. So the first crossing of a step is
//! certain, however many there are.
//!
//! Relations in loops that run as often as values say have one crossing function together (`lang::watch`). The loop is executed on
//! bounds (`ranges`): a piece in which all relations of all turns are decided has no crossing, whatever lies between its ends.
//!
//! Unknowns of equation systems are known at points only. A polynomial through them stands for them, and it is made only where
//! a guess from the ends of the step leaves a crossing open.

use compile::{Address, Class, Memory, Program, Relation, RelationKind, Rounding, Side};
use dae::expr::Shape;
use dae::{ArgsId, Builtin, CallSiteId, CompareOp, ExprId, Functions, Node, VarId};
use rustc_hash::FxHashMap;
use solve::{DenseOutput, RootFinder};

use crate::courses::{Courses, Place, Source};
use crate::intervals::{Bounds, Interval};
use crate::machine::Machine;
use crate::ranges::RangeCall;

/// Pieces that are looked at in one step; a step with more is searched like any other.
const MOST_PIECES: u32 = 20_000;
/// Of a function that needed too many, which is near zero all the time.
const FEWEST_PIECES: u32 = 16;
/// Of a function of states, of which some are near zero for long.
const PIECES: u32 = 1024;
/// A piece is not halved any more when it is as short as this, relative to the step and to the time.
const SHORTEST: f64 = 1e-11;
const RESOLUTION: f64 = 1e-14;
/// The same for a loop: each piece takes an execution of it.
const SHORTEST_OF_LOOP: f64 = 1e-9;
/// Where the step of a loop is divided first, from both ends and relative to it: mostly an event was at the one, or will be at the
/// other.
const ENDS_OF_LOOP: [f64; 3] = [1e-9, 1e-6, 1e-3];
/// Operations of one function.
const LONGEST: usize = 256;
/// Of one that calls functions, which may take whole arrays.
const LONGEST_WITH_CALLS: usize = 100_000;
/// Operations that are written for one function at all, until variables that take too many are left as unknowns: so many times
/// those that it may have.
const MOST_WRITTEN: usize = 4;
/// Statements that are executed for one function in a step.
const MOST_EFFORT: u64 = 1_000_000;
/// Variables that are assigned functions of variables, and so on.
const DEEPEST: u32 = 100;

/// The functions among the crossing functions of a program whose crossings bounds find.
#[derive(Clone, Default)]
pub struct Signals {
    signals: Vec<Signal>,
    /// The functions of the model, and those that compute the outcomes of loops alone; none where there are no loops.
    functions: Functions,
    courses: Courses,
    scratch: Scratch,
}

#[derive(Clone, Default)]
struct Scratch {
    values: Vec<Bounds>,
    results: Vec<Bounds>,
    open: Vec<(f64, f64)>,
}

#[derive(Clone)]
struct Signal {
    function: usize,
    code: Vec<Operation>,
    calls: Vec<RangeCall>,
    /// What is subtracted from the result: the bound of a rounding, by its state.
    bound: Option<(Rounding, Side, Address)>,
    outcome: Option<Outcome>,
    needs: Needs,
    /// Pieces that are looked at in a step.
    patience: u32,
}

/// The outcome of a loop, which is another one as soon as any relation in any turn comes out differently.
#[derive(Clone, Copy)]
struct Outcome {
    /// The place of its value.
    place: u32,
    /// The address of what was noted at the last event.
    before: Address,
}

/// What has to be known of a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Needs {
    Time,
    States,
    Unknowns,
}

/// An operation on results of earlier ones.
#[derive(Clone, Copy)]
enum Operation {
    Constant(f64),
    Time,
    /// What does not change between events.
    Kept {
        address: Address,
        negated: bool,
    },
    Course {
        place: Place,
        negated: bool,
    },
    /// A comparison by its frozen state.
    Decided(CompareOp, Address),
    /// A comparison that makes no event, by the difference of its sides.
    Compare(CompareOp, u32),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    Choose {
        condition: u32,
        then: u32,
        otherwise: u32,
    },
    Negate(u32),
    Add(u32, u32),
    Subtract(u32, u32),
    Multiply(u32, u32),
    Divide(u32, u32),
    Power(u32, u32),
    Smallest(u32, u32),
    Largest(u32, u32),
    Angle(u32, u32),
    Modulo(u32, u32),
    Function(Builtin, u32),
    /// The first result of a call. The others follow it.
    Call(u32),
    Result(u32),
}

impl Signals {
    pub fn new(program: &Program) -> Self {
        let layout = &program.layout;
        let mut result = Self::default();
        if program.roots.is_empty() {
            return result;
        }
        let assignments = program.schedule.blocks.iter().filter_map(|block| match block {
            transform::Block::Assign { assignment, .. } => Some((layout.slot(assignment.variable), assignment)),
            transform::Block::System { .. } => None,
        });
        let assigned = assignments.map(|(slot, found)| (slot, (found.variable, found.value))).collect();
        let states = program.states.iter().enumerate().map(|(number, state)| (state.value, number)).collect();
        for (function, root) in program.roots.iter().enumerate() {
            let relation = &layout.relations[root.relation];
            let mut translation = Translation {
                program,
                assigned: &assigned,
                states: &states,
                courses: Vec::new(),
                code: Vec::new(),
                degrees: Vec::new(),
                calls: follows_loop(program, relation).then(Calls::default),
                known: FxHashMap::default(),
                depth: 0,
                written: 0,
            };
            if relation.class < Class::Signal {
                continue;
            }
            if translation.calls.is_some() {
                if let Some(outcome) = translation.outcome(relation.residue) {
                    result.follow_loop(program, function, translation, outcome);
                }
                continue;
            }
            if translation.expression(relation.residue).is_none() {
                continue;
            }
            let bound = match relation.kind {
                RelationKind::Compare { .. } => None,
                RelationKind::Round { rounding, .. } => Some((rounding, root.side, relation.state)),
            };
            let needs = translation.needs();
            if translation.is_to_be_followed(needs) {
                let (code, calls) = translation.finish(&mut result.courses);
                let patience = if needs == Needs::Time { MOST_PIECES } else { PIECES };
                result.signals.push(Signal { function, code, calls, bound, outcome: None, needs, patience });
            }
        }
        result
    }

    /// Takes a function that tells whether the outcome of a loop is that of the last event.
    fn follow_loop(&mut self, program: &Program, function: usize, translation: Translation<'_>, outcome: Outcome) {
        let needs = translation.needs();
        let (code, mut calls) = translation.finish(&mut self.courses);
        if self.functions.is_empty() {
            self.functions = program.model().functions.clone();
        }
        if let Some(call) = calls.last_mut() {
            call.take_first_result_only(&mut self.functions);
        }
        let patience = if needs == Needs::Time { MOST_PIECES } else { PIECES };
        self.signals.push(Signal { function, code, calls, bound: None, outcome: Some(outcome), needs, patience });
    }

    pub fn is_empty(&self) -> bool {
        self.signals.is_empty()
    }

    /// How far the residue of a function of unknowns changes while these change by `width`, at the point in memory. `None` for
    /// other functions, and where there are no bounds.
    pub fn spread(&mut self, function: usize, program: &Program, memory: &Memory, width: f64) -> Option<f64> {
        let Self { signals, functions, courses, scratch } = self;
        let has_spread = |signal: &&Signal| signal.needs == Needs::Unknowns && signal.outcome.is_none();
        let signal = signals.iter().filter(has_spread).find(|signal| signal.function == function)?;
        let around = |courses: &Courses, place: Place| match courses.source(place) {
            Source::State(number) => Bounds::constant(memory.values[program.states[number].value as usize]),
            Source::Unknown(address) => {
                let value = memory.values[address as usize];
                Bounds { value: Interval { low: value - width, high: value + width }, slope: Interval::ALL }
            }
        };
        let mut search = Search::new(signal, View { memory, functions, courses }, scratch);
        let time = memory.time();
        let value = search.bounds_with(time, time, &around).value;
        let spread = 0.5 * (value.high - value.low);
        spread.is_finite().then_some(spread)
    }

    /// A time behind the first crossing of any of the functions in a part of the last step and before its next one.
    pub fn first(
        &mut self,
        machine: &mut Machine,
        roots: &RootFinder,
        solution: &dyn DenseOutput,
        begin: f64,
        end: f64,
    ) -> Option<f64> {
        let most = self.signals.iter().map(|signal| signal.needs).max()?;
        if most > Needs::Time {
            self.courses.follow_states(solution, begin, end);
        }
        let is_guessed = most == Needs::Unknowns && self.courses.guess_unknowns(machine, solution);
        let mut are_unknowns_known = false;
        let mut first = None;
        let Self { signals, functions, courses, scratch } = self;
        for signal in signals {
            let function = signal.function;
            let sign = f64::from(roots.status()[function]);
            if signal.outcome.is_some() && sign <= 0.0 {
                continue;
            }
            let (shift, zero) = (roots.shifts()[function], roots.zeros()[function]);
            if signal.needs == Needs::Unknowns && !are_unknowns_known {
                let view = View { memory: &machine.memory, functions, courses };
                let mut search = Search { sign, shift, zero, ..Search::new(signal, view, scratch) };
                if is_guessed && sign != 0.0 && search.bounds_with(begin, end, &Courses::guessed).value.low > 0.0 {
                    continue;
                }
                courses.follow_unknowns(machine, solution)?;
                are_unknowns_known = true;
            }
            let view = View { memory: &machine.memory, functions, courses };
            let mut search = Search { sign, shift, zero, ..Search::new(signal, view, scratch) };
            search.begin_at_zero(begin);
            let found = search.first(begin, first.unwrap_or(end));
            signal.patience = match found {
                Found::TooMany => (signal.patience / 4).max(FEWEST_PIECES),
                _ if signal.needs == Needs::Time => MOST_PIECES,
                _ => (2 * signal.patience).min(PIECES),
            };
            if let Found::At(time) = found {
                first = Some(time);
            }
        }
        first
    }
}

/// Whether a relation tells that those of a loop have changed (`lang::watch`). Its calls are executed on bounds; other calls are as
/// smooth as the integrator takes them to be.
pub fn follows_loop(program: &Program, relation: &Relation) -> bool {
    let model = program.model();
    let is_outcome = |id: ExprId| match model.exprs.node(id) {
        Node::Pre(variable) => model.outcomes.contains(&variable),
        _ => false,
    };
    matches!(relation.kind, RelationKind::Compare { .. })
        && !model.outcomes.is_empty()
        && model.exprs.postorder(&[relation.residue]).into_iter().any(is_outcome)
}

/// What bounds are made from.
#[derive(Clone, Copy)]
struct View<'a> {
    memory: &'a Memory,
    functions: &'a Functions,
    courses: &'a Courses,
}

/// The search for the first crossing of one function.
struct Search<'a> {
    signal: &'a Signal,
    view: View<'a>,
    /// The status, and what is added to the function.
    sign: f64,
    shift: f64,
    /// How far the function may go from zero, of status zero.
    zero: f64,
    /// Statements that may still be executed.
    effort: u64,
    scratch: &'a mut Scratch,
}

enum Found {
    At(f64),
    Nothing,
    /// More pieces would have to be looked at than is worth while.
    TooMany,
}

impl<'a> Search<'a> {
    fn new(signal: &'a Signal, view: View<'a>, scratch: &'a mut Scratch) -> Self {
        Self { signal, view, sign: 1.0, shift: 0.0, zero: 0.0, effort: MOST_EFFORT, scratch }
    }

    fn first(mut self, begin: f64, end: f64) -> Found {
        let shortest = self.shortest(begin, end);
        self.scratch.open.clear();
        self.scratch.open.push((begin, end));
        for _ in 0..self.signal.patience {
            let Some((a, b)) = self.scratch.open.pop() else { return Found::Nothing };
            if self.effort == 0 {
                return Found::TooMany;
            }
            let bounds = self.bounds(a, b);
            if bounds.value.low > 0.0 {
                continue;
            }
            if bounds.value.high < 0.0 {
                return Found::At(b);
            }
            let middle = 0.5 * (a + b);
            let is_short = b - a <= shortest;
            if !is_short && bounds.slope.contains(0.0) {
                if self.is_far_from_zero(middle, 0.5 * (b - a), bounds.slope) {
                    continue;
                }
                if self.signal.outcome.is_some() && (a, b) == (begin, end) {
                    self.divide_at_ends(begin, end);
                    continue;
                }
                self.scratch.open.push((middle, b));
                self.scratch.open.push((a, middle));
                continue;
            }
            // Where the function is monotone, its end tells; what is too short to be halved has its middle besides.
            let mut places = [middle, b].into_iter().skip(usize::from(!is_short));
            if let Some(place) = places.find(|&place| self.bounds(place, place).value.middle() <= 0.0) {
                return Found::At(if is_short { self.clearly_behind(place, shortest, end) } else { place });
            }
        }
        if self.scratch.open.is_empty() { Found::Nothing } else { Found::TooMany }
    }

    /// How short pieces become.
    fn shortest(&self, begin: f64, end: f64) -> f64 {
        let share = if self.signal.outcome.is_some() { SHORTEST_OF_LOOP } else { SHORTEST };
        let shortest = (share * (end - begin)).max(RESOLUTION * end.abs());
        match self.signal.outcome.is_some() && self.signal.needs == Needs::Unknowns {
            // In shorter ones the doubt about unknowns leaves open what a loop decides.
            true => shortest.max(self.view.courses.resolution()),
            false => shortest,
        }
    }

    fn divide_at_ends(&mut self, begin: f64, end: f64) {
        let length = end - begin;
        let near_begin = ENDS_OF_LOOP.iter().map(|share| begin + share * length);
        let near_end = ENDS_OF_LOOP.iter().rev().map(|share| end - share * length);
        let open = &mut self.scratch.open;
        let first = open.len();
        let mut last = begin;
        for place in near_begin.chain(near_end).chain([end]).filter(|&place| place > begin) {
            open.push((last, place));
            last = place;
        }
        // The last one is looked at first.
        open[first..].reverse();
    }

    /// A later time up to which the function certainly stays behind its crossing: right at it errors of the courses decide
    /// whether it has crossed.
    fn clearly_behind(&mut self, place: f64, shortest: f64, end: f64) -> f64 {
        const SHORTER: f64 = 0.1;
        let mut length = end - place;
        while length > shortest && self.bounds(place, place + length).value.high >= 0.0 {
            length *= SHORTER;
        }
        if length > shortest { place + length } else { place }
    }

    /// What rounding makes of the bounds of a function that begins at zero is no crossing.
    fn begin_at_zero(&mut self, begin: f64) {
        /// Rounding grows over a step.
        const MARGIN: f64 = 4.0;
        if self.sign == 0.0 {
            let distance = self.zero - self.bounds(begin, begin).value.low;
            self.zero = self.zero.max(MARGIN * distance);
        }
    }

    /// Whether the value in the middle and the slope keep the function from zero.
    fn is_far_from_zero(&mut self, middle: f64, radius: f64, slope: Interval) -> bool {
        let steepest = slope.high.max(-slope.low);
        steepest.is_finite() && self.bounds(middle, middle).value.low > steepest * radius
    }

    /// The bounds over a piece of time, positive where nothing is triggered.
    fn bounds(&mut self, a: f64, b: f64) -> Bounds {
        self.bounds_with(a, b, &|courses, place| courses.bounds(place, a, b))
    }

    fn bounds_with(&mut self, a: f64, b: f64, course: &dyn Fn(&Courses, Place) -> Bounds) -> Bounds {
        let View { memory, functions, courses } = self.view;
        let Scratch { values, results, .. } = &mut *self.scratch;
        values.clear();
        for operation in &self.signal.code {
            let bounds = match *operation {
                Operation::Course { place, negated: false } => course(courses, place),
                Operation::Course { place, negated: true } => course(courses, place).negative(),
                Operation::Call(call) => {
                    self.signal.calls[call as usize].bounds(functions, values, &mut self.effort, results);
                    results[0]
                }
                Operation::Result(result) => results[result as usize],
                operation => operation.bounds(values, memory, Interval { low: a, high: b }),
            };
            values.push(bounds);
        }
        if let Some(outcome) = self.signal.outcome {
            return outcome.bounds(values, memory);
        }
        let mut result = values.last().copied().unwrap_or(Bounds::UNKNOWN);
        if let Some((rounding, side, state)) = self.signal.bound {
            let (lower, upper) = compile::bounds(rounding, memory.values[state as usize]);
            let bound = if side == Side::Lower { lower } else { upper };
            result.value = result.value.minus(Interval::point(bound));
        }
        if self.shift != 0.0 {
            result.value = result.value.plus(Interval::point(self.shift));
        }
        match self.sign {
            sign if sign > 0.0 => result,
            sign if sign < 0.0 => result.negative(),
            _ => Bounds::constant(self.zero).minus(result.function(Builtin::Abs)),
        }
    }
}

impl Outcome {
    /// Positive where it is that of the last event, negative where it is another one, anything where that is not certain.
    fn bounds(self, values: &[Bounds], memory: &Memory) -> Bounds {
        let Interval { low, high } = values[self.place as usize].value;
        // Behind the outcome stands how many relations are zero.
        let before = (memory.values[self.before as usize] / dae::model::MOST_TOUCHING).floor();
        match low == high {
            true => Bounds::constant(if low == before { 1.0 } else { -1.0 }),
            false => Bounds::UNKNOWN,
        }
    }
}

/// Writes the operations of a function.
struct Translation<'a> {
    program: &'a Program,
    assigned: &'a FxHashMap<Address, (VarId, ExprId)>,
    /// The numbers of the states by their addresses.
    states: &'a FxHashMap<Address, usize>,
    /// What the courses in the code are those of, by their places there.
    courses: Vec<(u32, Source)>,
    code: Vec<Operation>,
    /// The degree of each value as a polynomial of time and courses, and of courses alone.
    degrees: Vec<[u32; 2]>,
    known: FxHashMap<ExprId, u32>,
    /// Where calls are executed.
    calls: Option<Calls>,
    depth: u32,
    /// Operations written, those that were taken back among them.
    written: usize,
}

/// The calls of a function, and the places of their first results.
#[derive(Default)]
struct Calls {
    calls: Vec<RangeCall>,
    places: FxHashMap<(CallSiteId, ArgsId), u32>,
}

/// The degree of what is no polynomial.
const NO_POLYNOMIAL: u32 = 1000;

impl Translation<'_> {
    /// The place of a value; `None` where bounds of it are not known.
    fn expression(&mut self, root: ExprId) -> Option<u32> {
        let exprs = &self.program.model().exprs;
        for id in exprs.postorder(&[root]) {
            if !self.known.contains_key(&id) {
                let place = self.operation(id)?;
                self.known.insert(id, place);
            }
        }
        self.known.get(&root).copied()
    }

    /// What the function that was written is made from.
    fn needs(&self) -> Needs {
        let of = |&(_, source): &(u32, Source)| match source {
            Source::State(_) => Needs::States,
            Source::Unknown(_) => Needs::Unknowns,
        };
        self.courses.iter().map(of).max().unwrap_or(Needs::Time)
    }

    /// Whether sampling may miss crossings: what is linear in states and unknowns follows them, and the integrator follows
    /// those.
    fn is_to_be_followed(&self, needs: Needs) -> bool {
        let [degree, of_courses] = self.degrees.last().copied().unwrap_or_default();
        match needs {
            Needs::Time => true,
            Needs::States => degree > 1,
            // They cost evaluations of the model.
            Needs::Unknowns => of_courses > 1,
        }
    }

    /// The operations, with the places of their courses.
    fn finish(mut self, courses: &mut Courses) -> (Vec<Operation>, Vec<RangeCall>) {
        for (place, source) in self.courses {
            if let Operation::Course { place, .. } = &mut self.code[place as usize] {
                *place = courses.place(source);
            }
        }
        (self.code, self.calls.map(|calls| calls.calls).unwrap_or_default())
    }

    /// The outcome of the loop that a residue is about: the last call in it, whose first result that is.
    fn outcome(&mut self, residue: ExprId) -> Option<Outcome> {
        let (exprs, layout) = (&self.program.model().exprs, &self.program.layout);
        let (mut call, mut before) = (None, None);
        for id in exprs.postorder(&[residue]) {
            match exprs.node(id) {
                Node::Call { site, args, .. } => call = Some((site, args)),
                Node::Pre(variable) if self.program.model().outcomes.contains(&variable) => before = Some(variable),
                _ => {}
            }
        }
        let ((site, args), before) = (call?, layout.pre(layout.place(before?).slot)?);
        for &argument in exprs.arguments(args) {
            self.expression(argument)?;
        }
        Some(Outcome { place: self.call(site, args, 0)?, before })
    }

    /// The place of one of the results of a call.
    fn call(&mut self, site: CallSiteId, args: ArgsId, output: u32) -> Option<u32> {
        if let Some(&first) = self.calls.as_ref()?.places.get(&(site, args)) {
            return Some(first + output);
        }
        let exprs = &self.program.model().exprs;
        let site_of_call = exprs.call_site(site);
        let arguments = exprs.arguments(args).iter().map(|id| self.known.get(id).copied()).collect::<Option<_>>()?;
        let results = site_of_call.outputs.iter().map(Shape::scalars).sum::<usize>();
        let call = RangeCall {
            function: site_of_call.function,
            inputs: site_of_call.inputs.clone(),
            arguments,
            results: results.max(1),
        };
        let calls = &mut self.calls.as_mut()?.calls;
        calls.push(call);
        let number = calls.len() as u32 - 1;
        let first = self.push(Operation::Call(number))?;
        for result in 1..results as u32 {
            self.push(Operation::Result(result))?;
        }
        self.calls.as_mut()?.places.insert((site, args), first);
        Some(first + output)
    }

    fn operation(&mut self, id: ExprId) -> Option<u32> {
        let exprs = &self.program.model().exprs;
        let of = |id: ExprId| self.known.get(&id).copied();
        let operation = match exprs.node(id) {
            Node::Real(value) => Operation::Constant(value),
            Node::Integer(value) => Operation::Constant(value as f64),
            Node::Boolean(value) => Operation::Constant(f64::from(u8::from(value))),
            Node::Time => Operation::Time,
            Node::Var(variable) => return self.variable(variable),
            Node::Pre(variable) => {
                let place = self.program.layout.place(variable);
                Operation::Kept { address: self.program.layout.pre(place.slot)?, negated: place.negated }
            }
            Node::Neg(a) => Operation::Negate(of(a)?),
            Node::Add(a, b) => Operation::Add(of(a)?, of(b)?),
            Node::Sub(a, b) => Operation::Subtract(of(a)?, of(b)?),
            Node::Mul(a, b) => Operation::Multiply(of(a)?, of(b)?),
            Node::Div(a, b) => Operation::Divide(of(a)?, of(b)?),
            Node::Pow(a, b) => Operation::Power(of(a)?, of(b)?),
            Node::Not(a) => Operation::Not(of(a)?),
            Node::And(a, b) => Operation::And(of(a)?, of(b)?),
            Node::Or(a, b) => Operation::Or(of(a)?, of(b)?),
            Node::Compare { op, event: true, .. } => Operation::Decided(op, self.program.layout.relation(id)?.state),
            Node::Compare { op, event: false, left, right } => {
                let difference = Operation::Subtract(of(left)?, of(right)?);
                Operation::Compare(op, self.push(difference)?)
            }
            Node::If { condition, then, otherwise } => {
                Operation::Choose { condition: of(condition)?, then: of(then)?, otherwise: of(otherwise)? }
            }
            Node::Builtin(Builtin::FloorEvent | Builtin::CeilEvent | Builtin::DivEvent, _) => {
                Operation::Kept { address: self.program.layout.relation(id)?.state, negated: false }
            }
            Node::Call { site, args, output } => return self.call(site, args, output),
            Node::Builtin(function, args) => match *exprs.arguments(args) {
                [x] if has_bounds(function) => Operation::Function(function, of(x)?),
                [x, y] if function == Builtin::Min => Operation::Smallest(of(x)?, of(y)?),
                [x, y] if function == Builtin::Max => Operation::Largest(of(x)?, of(y)?),
                [x, y] if function == Builtin::Atan2 => Operation::Angle(of(x)?, of(y)?),
                [x, y] if function == Builtin::Mod => Operation::Modulo(of(x)?, of(y)?),
                [actual, _] if function == Builtin::Homotopy => return of(actual),
                [x, positive, negative] if function == Builtin::SemiLinear => {
                    let (x, positive, negative) = (of(x)?, of(positive)?, of(negative)?);
                    let zero = self.push(Operation::Constant(0.0))?;
                    let above = self.push(Operation::Largest(x, zero))?;
                    let below = self.push(Operation::Smallest(x, zero))?;
                    let above = self.push(Operation::Multiply(above, positive))?;
                    let below = self.push(Operation::Multiply(below, negative))?;
                    Operation::Add(above, below)
                }
                [x, y] if matches!(function, Builtin::ModEvent | Builtin::RemEvent) => {
                    let (x, y) = (of(x)?, of(y)?);
                    let state = self.program.layout.relation(id)?.state;
                    let quotient = self.push(Operation::Kept { address: state, negated: false })?;
                    let whole = self.push(Operation::Multiply(quotient, y))?;
                    Operation::Subtract(x, whole)
                }
                _ => return None,
            },
            _ => return None,
        };
        self.push(operation)
    }

    fn push(&mut self, operation: Operation) -> Option<u32> {
        self.degrees.push([0, 1].map(|which| self.degree(operation, which)));
        self.code.push(operation);
        self.written += 1;
        let longest = if self.calls.is_some() { LONGEST_WITH_CALLS } else { LONGEST };
        let is_short = self.code.len() <= longest && self.written <= MOST_WRITTEN * longest;
        is_short.then(|| self.code.len() as u32 - 1)
    }

    /// The degree as a polynomial of time and courses (0) or of courses alone (1).
    fn degree(&self, operation: Operation, which: usize) -> u32 {
        let of = |place: u32| self.degrees[place as usize][which];
        // A constant of a constant is one.
        let whatever = |degree: u32| if degree == 0 { 0 } else { NO_POLYNOMIAL };
        let degree = match operation {
            Operation::Constant(_) | Operation::Kept { .. } | Operation::Decided(..) => 0,
            Operation::Time => 1 - which as u32,
            Operation::Course { .. } => 1,
            Operation::Negate(a) => of(a),
            Operation::Add(a, b) | Operation::Subtract(a, b) => of(a).max(of(b)),
            Operation::Multiply(a, b) => of(a) + of(b),
            Operation::Divide(a, b) => of(a) + whatever(of(b)),
            Operation::Power(a, b) => match self.code[b as usize] {
                Operation::Constant(power) if power.fract() == 0.0 && (0.0..=64.0).contains(&power) => {
                    of(a) * power as u32
                }
                _ => whatever(of(a).max(of(b))),
            },
            Operation::Choose { condition, then, otherwise } => whatever(of(condition)) + of(then).max(of(otherwise)),
            Operation::Not(a) | Operation::Compare(_, a) | Operation::Function(_, a) => whatever(of(a)),
            Operation::And(a, b) | Operation::Or(a, b) => whatever(of(a).max(of(b))),
            Operation::Smallest(a, b) | Operation::Largest(a, b) | Operation::Angle(a, b) | Operation::Modulo(a, b) => {
                whatever(of(a).max(of(b)))
            }
            Operation::Call(_) | Operation::Result(_) => NO_POLYNOMIAL,
        };
        degree.min(NO_POLYNOMIAL)
    }

    /// A variable that is assigned a function is that function; what changes at events only is kept in memory.
    fn variable(&mut self, variable: VarId) -> Option<u32> {
        let place = self.program.layout.place(variable);
        let role = self.program.schedule.roles.get(variable).copied()?;
        let of = match role {
            transform::Role::Alias { of, .. } => of,
            _ => variable,
        };
        let declared = &self.program.model().variables[of];
        let role = self.program.schedule.roles.get(of).copied()?;
        let is_kept = declared.ty != dae::VariableType::Real
            || declared.variability <= dae::Variability::Discrete
            || matches!(role, transform::Role::Constant | transform::Role::Parameter | transform::Role::Discrete);
        if is_kept {
            return self.push(Operation::Kept { address: place.slot, negated: place.negated });
        }
        if let Some(&number) = self.states.get(&place.slot) {
            return self.course(Source::State(number), place.negated);
        }
        match self.assigned.get(&place.slot).copied() {
            Some((assigned, value)) => {
                let written = (self.code.len(), self.courses.len());
                match self.assigned_value(value) {
                    Some(result) if self.program.layout.place(assigned).negated == place.negated => Some(result),
                    Some(result) => self.push(Operation::Negate(result)),
                    None => {
                        self.forget(written);
                        self.course(Source::Unknown(place.slot), place.negated)
                    }
                }
            }
            None => self.course(Source::Unknown(place.slot), place.negated),
        }
    }

    fn assigned_value(&mut self, value: ExprId) -> Option<u32> {
        self.depth += 1;
        let result = if self.depth <= DEEPEST { self.expression(value) } else { None };
        self.depth -= 1;
        result
    }

    /// Takes back what was written since.
    fn forget(&mut self, (code, courses): (usize, usize)) {
        self.code.truncate(code);
        self.degrees.truncate(code);
        self.courses.truncate(courses);
        self.known.retain(|_, place| (*place as usize) < code);
        if let Some(calls) = &mut self.calls {
            calls.places.retain(|_, place| (*place as usize) < code);
        }
    }

    fn course(&mut self, source: Source, negated: bool) -> Option<u32> {
        // The place is known when the function is worth following.
        let place = self.push(Operation::Course { place: Place::State(0), negated })?;
        self.courses.push((place, source));
        Some(place)
    }
}

fn has_bounds(function: Builtin) -> bool {
    use Builtin::*;
    matches!(
        function,
        Sin | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Sinh
            | Cosh
            | Tanh
            | Exp
            | Log
            | Log10
            | Sqrt
            | Abs
            | Sign
            | Floor
            | Ceil
    )
}

impl Operation {
    fn bounds(self, values: &[Bounds], memory: &Memory, time: Interval) -> Bounds {
        let of = |place: u32| values[place as usize];
        // What is not decided in the whole piece is anything between false and true.
        let is_true = |place: u32| of(place).value.low > 0.0;
        let is_false = |place: u32| of(place).value.high <= 0.0;
        match self {
            Operation::Constant(value) => Bounds::constant(value),
            Operation::Time => Bounds { value: time, slope: Interval::point(1.0) },
            Operation::Kept { address, negated } => {
                let value = memory.values[address as usize];
                Bounds::constant(if negated { -value } else { value })
            }
            Operation::Course { .. } | Operation::Call(_) | Operation::Result(_) => Bounds::UNKNOWN,
            Operation::Decided(op, state) => logical(decided(op, memory.values[state as usize])),
            Operation::Compare(op, difference) => compared(op, of(difference).value),
            Operation::Not(a) => Bounds::constant(1.0).minus(of(a)),
            Operation::And(a, b) => of(a).smallest(of(b)),
            Operation::Or(a, b) => of(a).largest(of(b)),
            Operation::Choose { condition, then, .. } if is_true(condition) => of(then),
            Operation::Choose { condition, otherwise, .. } if is_false(condition) => of(otherwise),
            Operation::Choose { then, otherwise, .. } => of(then).either(of(otherwise)),
            Operation::Negate(a) => of(a).negative(),
            Operation::Add(a, b) => of(a).plus(of(b)),
            Operation::Subtract(a, b) => of(a).minus(of(b)),
            Operation::Multiply(a, b) if a == b => of(a).power(2.0),
            Operation::Multiply(a, b) => of(a).times(of(b)),
            Operation::Divide(a, b) => of(a).times(of(b).inverse()),
            Operation::Power(a, b) => match of(b).value {
                exponent if exponent.low == exponent.high => of(a).power(exponent.low),
                _ => Bounds::UNKNOWN,
            },
            Operation::Smallest(a, b) => of(a).smallest(of(b)),
            Operation::Largest(a, b) => of(a).largest(of(b)),
            Operation::Angle(y, x) => of(y).angle(of(x)),
            Operation::Modulo(x, y) => of(x).modulo(of(y)),
            Operation::Function(function, a) => of(a).function(function),
        }
    }
}

fn logical(value: bool) -> Bounds {
    Bounds::constant(f64::from(u8::from(value)))
}

/// What a comparison gives where the difference of its sides lies in an interval.
fn compared(op: CompareOp, difference: Interval) -> Bounds {
    let signs = [difference.low, difference.high].map(|x| decided(op, x));
    match (op, signs) {
        // Zero may lie in between.
        (CompareOp::Equal | CompareOp::NotEqual, _) if difference.low < 0.0 && difference.high > 0.0 => {
            Bounds { value: Interval { low: 0.0, high: 1.0 }, slope: Interval::ALL }
        }
        (_, [low, high]) if low == high => logical(low),
        _ => Bounds { value: Interval { low: 0.0, high: 1.0 }, slope: Interval::ALL },
    }
}

/// What a comparison gives, by the sign of its residue.
fn decided(op: CompareOp, state: f64) -> bool {
    match op {
        CompareOp::Less => state < 0.0,
        CompareOp::LessEqual => state <= 0.0,
        CompareOp::Greater => state > 0.0,
        CompareOp::GreaterEqual => state >= 0.0,
        CompareOp::Equal => state == 0.0,
        CompareOp::NotEqual => state != 0.0,
    }
}
