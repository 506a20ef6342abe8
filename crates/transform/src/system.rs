//! Equations as rows and unknowns as columns: what each equation may determine and what it waits for.
//!
//! All kinds of equations are in one system. What tells them apart is what they may be solved for: an equation of a when
//! clause for the variable it assigns, a discrete equation for a discrete variable that stands alone on one side, an
//! equation between Reals for a Real that occurs outside of conditions, and for a discrete Real only if nothing in it is
//! continuous.

use base::IdVec;
use dae::{Builtin, EqId, EquationRole, ExprId, Node, VarId, VariableType};

use crate::occurrences::{Leaf, Occurrence, Scanner};
use crate::parts::{Problem, Sides};
use crate::structure::{Incidence, IncidenceBuilder, Matching, NONE};
use crate::work::Work;

pub struct System {
    problem: Problem,
    pub rows: Vec<EqId>,
    pub sides: Vec<Sides>,
    pub columns: Vec<VarId>,
    pub column_of: IdVec<VarId, u32>,
    /// The columns a row may determine, and the order of the derivative beside each.
    pub matchable: Incidence,
    pub orders: Vec<u32>,
    /// All columns a row's value depends on at the same instant.
    pub depends: Incidence,
    /// The order of the highest derivative of each column that occurs anywhere.
    pub highest: Vec<u32>,
}

impl System {
    /// `unknown` says which variables are columns; all of them have to be determined.
    pub fn new(
        work: &Work,
        problem: Problem,
        rows: Vec<EqId>,
        sides: Vec<Sides>,
        unknown: impl Fn(VarId) -> bool,
    ) -> Self {
        let mut column_of = IdVec::filled(NONE, work.model.variables.len());
        let mut order_of = IdVec::filled(0, work.model.variables.len());
        let mut columns = Vec::new();
        for variable in work.model.variables.ids() {
            // Derivatives stand behind what they are derivatives of.
            match work.model.variables[variable].derivative_of {
                Some(of) if problem == Problem::Reduction => {
                    column_of[variable] = column_of[of];
                    order_of[variable] = order_of[of] + 1;
                }
                _ if unknown(variable) => {
                    column_of[variable] = columns.len() as u32;
                    columns.push(variable);
                }
                _ => {}
            }
        }
        let mut builder = Builder {
            work,
            problem,
            columns: &columns,
            column_of: &column_of,
            order_of: &order_of,
            scanner: work.scanner(),
            matchable: IncidenceBuilder::with_capacity(rows.len(), 3 * rows.len()),
            orders: Vec::with_capacity(3 * rows.len()),
            depends: IncidenceBuilder::with_capacity(rows.len(), 3 * rows.len()),
            highest: vec![0; columns.len()],
            entries: Vec::new(),
            slot: vec![NONE; columns.len()],
        };
        for (&row, &sides) in rows.iter().zip(&sides) {
            builder.row(row, sides);
        }
        let Builder { matchable, depends, orders, highest, scanner, .. } = builder;
        work.give_back(scanner);
        let (matchable, depends) = (matchable.finish(columns.len()), depends.finish(columns.len()));
        Self { problem, rows, sides, matchable, orders, depends, highest, columns, column_of }
    }
}

impl System {
    /// The columns that rows were matched with in another mode; `NONE` where that is not known.
    pub fn partners(&self, work: &Work) -> Vec<u32> {
        let Some(cache) = &work.modes.cache else { return Vec::new() };
        let partner = |&sides: &Sides| cache.partners.get(&(self.problem, sides));
        self.sides.iter().map(|sides| partner(sides).map_or(NONE, |&variable| self.column_of[variable])).collect()
    }

    /// Keeps a matching for other modes to begin with.
    pub fn remember(&self, work: &mut Work, matching: &Matching) {
        let Some(cache) = &mut work.modes.cache else { return };
        for (&sides, &column) in self.sides.iter().zip(&matching.column_of_row) {
            if column != NONE {
                cache.partners.insert((self.problem, sides), self.columns[column as usize]);
            }
        }
    }

    /// The same with some of the rows only.
    pub fn with_rows(&self, rows: &[u32]) -> Self {
        let mut matchable = IncidenceBuilder::with_capacity(rows.len(), self.matchable.len());
        let mut depends = IncidenceBuilder::with_capacity(rows.len(), self.depends.len());
        let mut orders = Vec::new();
        for &row in rows {
            matchable.push_row(self.matchable.row(row as usize).iter().copied());
            orders.extend_from_slice(&self.orders[self.matchable.range(row as usize)]);
            depends.push_row(self.depends.row(row as usize).iter().copied());
        }
        Self {
            problem: self.problem,
            rows: rows.iter().map(|&row| self.rows[row as usize]).collect(),
            sides: rows.iter().map(|&row| self.sides[row as usize]).collect(),
            columns: self.columns.clone(),
            column_of: self.column_of.clone(),
            matchable: matchable.finish(self.columns.len()),
            orders,
            depends: depends.finish(self.columns.len()),
            highest: self.highest.clone(),
        }
    }
}

#[derive(Clone, Copy)]
struct Entry {
    column: u32,
    order: u32,
    occurrence: Occurrence,
}

type Entries = smallvec::SmallVec<[Entry; 8]>;

struct Builder<'a> {
    work: &'a Work,
    problem: Problem,
    columns: &'a [VarId],
    column_of: &'a IdVec<VarId, u32>,
    order_of: &'a IdVec<VarId, u32>,
    scanner: Scanner,
    matchable: IncidenceBuilder,
    orders: Vec<u32>,
    depends: IncidenceBuilder,
    highest: Vec<u32>,
    entries: Vec<Entry>,
    /// The position of a column in `entries` while its row is built.
    slot: Vec<u32>,
}

impl Builder<'_> {
    fn row(&mut self, eq: EqId, sides: Sides) {
        self.collect(sides);
        let kept: Entries =
            self.entries.iter().copied().filter(|entry| entry.occurrence > Occurrence::History).collect();
        self.depends.push_row(kept.iter().map(|entry| entry.column));
        let smooth = self.select(eq, sides, kept);
        self.orders.extend(smooth.iter().map(|entry| entry.order));
        self.matchable.push_row(smooth.iter().map(|entry| entry.column));
    }

    /// One entry for each column in the row, with its highest order among the strongest places.
    fn collect(&mut self, sides: Sides) {
        self.entries.clear();
        let Self { problem, scanner, work, column_of, order_of, entries, slot, highest, .. } = self;
        scanner.scan_sides(&work.model.exprs, sides, |leaf, occurrence| {
            let (variable, order) = match leaf {
                Leaf::Variable(variable) => (variable, order_of[variable]),
                Leaf::Derivative(variable) if *problem == Problem::Reduction => (variable, order_of[variable] + 1),
                _ => return,
            };
            let column = column_of[variable];
            if column == NONE {
                return;
            }
            highest[column as usize] = order.max(highest[column as usize]);
            match slot[column as usize] {
                NONE => {
                    slot[column as usize] = entries.len() as u32;
                    entries.push(Entry { column, order, occurrence });
                }
                position => {
                    let entry = &mut entries[position as usize];
                    if (occurrence == Occurrence::Smooth, order) > (entry.occurrence == Occurrence::Smooth, entry.order)
                    {
                        entry.order = order;
                    }
                    entry.occurrence = occurrence.max(entry.occurrence);
                }
            }
        });
        for entry in &self.entries {
            self.slot[entry.column as usize] = NONE;
        }
    }

    fn select(&self, eq: EqId, (left, right): Sides, mut entries: Entries) -> Entries {
        let exprs = &self.work.model.exprs;
        let column_of = |expr: ExprId| match exprs.node(expr) {
            Node::Var(variable) => self.column_of[variable],
            Node::Not(inner) | Node::Neg(inner) => match exprs.node(inner) {
                Node::Var(variable) => self.column_of[variable],
                _ => NONE,
            },
            _ => NONE,
        };
        if self.problem != Problem::Initial && matches!(self.work.model.equations[eq].role, EquationRole::When(_)) {
            entries.retain(|entry| entry.column == column_of(left));
            return entries;
        }
        if is_discrete_equation(self.work, left, right) {
            let alone = [column_of(left), column_of(right)];
            if alone.iter().any(|&column| column != NONE) {
                entries.retain(|entry| alone.contains(&entry.column));
            }
            entries.retain(|entry| {
                self.work.model.variables[self.columns[entry.column as usize]].ty != VariableType::Real
            });
            return entries;
        }
        entries.retain(|entry| {
            entry.occurrence == Occurrence::Smooth
                && self.work.model.variables[self.columns[entry.column as usize]].ty == VariableType::Real
        });
        let is_discrete = |entry: &Entry| self.work.is_discrete(self.columns[entry.column as usize]);
        if self.problem != Problem::Initial && entries.iter().any(|entry| !is_discrete(entry)) {
            entries.retain(|entry| !is_discrete(entry));
        }
        entries
    }
}

/// Whether the equation is between values that are not Real.
pub fn is_discrete_equation(work: &Work, left: ExprId, right: ExprId) -> bool {
    let (left, right) = (is_real(work, left), is_real(work, right));
    left != Some(true) && right != Some(true) && (left == Some(false) || right == Some(false))
}

/// `None` where the expression does not tell: whole numbers, calls.
fn is_real(work: &Work, expr: ExprId) -> Option<bool> {
    let exprs = &work.model.exprs;
    let mut stack: smallvec::SmallVec<[ExprId; 16]> = smallvec::smallvec![expr];
    let mut found = None;
    while let Some(id) = stack.pop() {
        let this = match exprs.node(id) {
            // What is left of a rounding.
            Node::Real(value) if value.fract() == 0.0 => None,
            Node::Real(_) | Node::Time | Node::Der(_) | Node::Div(..) | Node::Pow(..) => Some(true),
            Node::Integer(_) | Node::Call { .. } => None,
            Node::Boolean(_) | Node::String(_) | Node::Not(_) | Node::And(..) | Node::Or(..) => Some(false),
            Node::Compare { .. } => Some(false),
            Node::Var(v) | Node::Pre(v) | Node::Previous(v) => Some(work.model.variables[v].ty == VariableType::Real),
            Node::Neg(a) => {
                stack.push(a);
                None
            }
            Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) => {
                stack.extend([a, b]);
                None
            }
            Node::If { then, otherwise, .. } => {
                stack.extend([then, otherwise]);
                None
            }
            Node::Builtin(op, args) => {
                use Builtin::*;
                let args = exprs.arguments(args);
                match op {
                    Abs | Min | Max | Mod | Rem | Div | ModEvent | RemEvent | DivEvent => {
                        stack.extend_from_slice(args);
                        None
                    }
                    SampleClocked | Hold | SubSample | SuperSample | ShiftSample | BackSample | NoClock => {
                        stack.extend(args.first().copied());
                        None
                    }
                    Floor | Ceil | FloorEvent | CeilEvent => None,
                    Sign | Sample | Initial | Terminal | ClockInferred | ClockRational | ClockReal | ClockEvent
                    | ClockSolver | FirstTick | ActiveState | TicksInState => Some(false),
                    _ => Some(true),
                }
            }
        };
        match this {
            Some(true) => return Some(true),
            Some(false) => found = Some(false),
            None => {}
        }
    }
    found
}
