//! Which variable becomes which column of the result, and how a row is read from memory.

use std::sync::Arc;

use compile::Program;
use dae::{VarId, Variability, VariableType};
use results::{Column, Kind, ResultError, ResultSink};
use rustc_hash::FxHashMap;
use transform::Role;

/// The columns of a run, and the variables whose values make up a row.
#[derive(Default)]
pub struct Columns {
    pub columns: Vec<Column>,
    /// `None` for what the structure in use does not have.
    sources: Vec<Option<VarId>>,
    /// Which sources are derivatives, of what and of which order; another structure has other variables for them.
    derivatives: Vec<(usize, (VarId, u32))>,
    /// What the derivatives are in the structures met so far, by the address of the program.
    known: FxHashMap<usize, Vec<Option<VarId>>>,
    row: Vec<f64>,
    /// Which impulses are columns.
    impulses: Vec<usize>,
}

impl Columns {
    /// All variables with numbers as values, but for those whose name `keep` rejects.
    pub fn new(program: &Program, keep: &dyn Fn(&str) -> bool) -> Self {
        let model = program.model();
        let mut columns: Vec<Column> = Vec::new();
        let mut sources = Vec::new();
        let mut derivatives = Vec::new();
        let mut impulses = Vec::new();
        let schedule = &program.schedule;
        let modes = schedule.mode.as_ref().map(|mode| &*mode.modes).or(schedule.modes.as_deref());
        let mut first_at: FxHashMap<(u32, bool), usize> = FxHashMap::default();
        for (variable, declared) in model.variables.iter() {
            let kind = match declared.ty {
                VariableType::Real => Kind::Real,
                VariableType::Integer => Kind::Integer,
                VariableType::Boolean => Kind::Boolean,
                VariableType::Enumeration(_) => Kind::Enumeration,
                VariableType::String | VariableType::Object | VariableType::Clock => continue,
            };
            let name = model.variable_name(variable);
            if declared.hidden || !keep(&name) {
                continue;
            }
            // What only one structure has is no column of all.
            if let Some(modes) = modes
                && schedule.mode.is_some()
                && !modes.has(variable, declared.derivative_of)
            {
                continue;
            }
            let text = |name: Option<base::Name>| name.map_or("", |name| name.as_str());
            let mut column = Column::new(name)
                .kind(kind)
                .unit(text(declared.attributes.unit))
                .display_unit(text(declared.attributes.display_unit))
                .description(declared.attributes.description.as_deref().unwrap_or(""));
            column.parameter = declared.variability <= Variability::Parameter
                || matches!(program.schedule.roles[variable], Role::Constant | Role::Parameter);
            let place = program.layout.place(variable);
            // The negation of a Boolean is not its negative: it gets values of its own.
            let negated = place.negated && kind != Kind::Boolean;
            let same = first_at.get(&(place.slot, place.negated)).map(|&of| (of, false));
            let opposite = first_at.get(&(place.slot, !place.negated)).map(|&of| (of, true));
            match same.or(opposite.filter(|_| kind != Kind::Boolean)) {
                Some((of, negated)) => column = column.alias(of, negated),
                None => {
                    first_at.insert((place.slot, negated || place.negated), columns.len());
                    if declared.derivative_of.is_some() {
                        derivatives.push((sources.len(), root_of(model, variable)));
                    }
                    sources.push(Some(variable));
                }
            }
            columns.push(column);
        }
        for (place, &variable) in modes.map(|modes| modes.switched.as_slice()).unwrap_or_default().iter().enumerate() {
            let name = format!("impulse({})", model.variable_name(variable));
            if keep(&name) {
                columns
                    .push(Column::new(name).description("what it adds up to in an instant in which it is unbounded"));
                impulses.push(place);
            }
        }
        let row = vec![0.0; sources.len() + impulses.len()];
        Self { columns, row, sources, derivatives, known: FxHashMap::default(), impulses }
    }

    /// From now on rows are read from another structure of the model.
    pub fn read_from(&mut self, program: &Program) {
        let derivatives = &self.derivatives;
        let found = self.known.entry(std::ptr::from_ref(program) as usize).or_insert_with(|| {
            let model = program.model();
            let known: FxHashMap<(VarId, u32), VarId> = (model.variables.iter())
                .filter(|(_, declared)| declared.derivative_of.is_some())
                .map(|(variable, _)| (root_of(model, variable), variable))
                .collect();
            derivatives.iter().map(|(_, derivative)| known.get(derivative).copied()).collect()
        });
        for ((place, _), &variable) in derivatives.iter().zip(found.iter()) {
            self.sources[*place] = variable;
        }
    }

    /// The row at the values in memory.
    pub fn row(&mut self, program: &Program, memory: &compile::Memory, impulses: &[(VarId, f64)]) -> Row<'_> {
        let impulses = self.impulses.iter().map(|&place| impulses.get(place).map_or(0.0, |&(_, impulse)| impulse));
        let value = |source: &Option<VarId>| source.map_or(f64::NAN, |variable| program.value(memory, variable));
        let values = self.sources.iter().map(value).chain(impulses);
        self.row.iter_mut().zip(values).for_each(|(place, value)| *place = value);
        Row { values: &self.row, sources: &self.sources }
    }
}

/// Takes the rows of a run to where they are kept.
pub struct Rows<'a> {
    columns: Columns,
    /// The structure that the columns are read from.
    program: Option<Arc<Program>>,
    sink: &'a mut dyn ResultSink,
}

impl<'a> Rows<'a> {
    pub fn new(columns: Columns, sink: &'a mut dyn ResultSink) -> Self {
        Self { columns, program: None, sink }
    }

    pub fn begin(&mut self) -> Result<(), ResultError> {
        self.sink.begin(&self.columns.columns)
    }

    /// Reads the next row.
    pub fn row(&mut self, program: &Arc<Program>, memory: &compile::Memory, impulses: &[(VarId, f64)]) -> Row<'_> {
        if !self.program.as_ref().is_some_and(|known| Arc::ptr_eq(known, program)) {
            self.columns.read_from(program);
            self.program = Some(program.clone());
        }
        self.columns.row(program, memory, impulses)
    }

    /// Writes the row that was read.
    pub fn write(&mut self, time: f64) -> Result<(), ResultError> {
        self.sink.row(time, &self.columns.row)
    }

    pub fn finish(&mut self) -> Result<(), ResultError> {
        self.sink.finish()
    }
}

/// One row of the result, and the variables that it was read from.
pub struct Row<'a> {
    pub values: &'a [f64],
    sources: &'a [Option<VarId>],
}

impl Row<'_> {
    /// A variable whose value is not finite. Derivatives that a mode does not have are no variables of it.
    pub fn undefined(&self) -> Option<VarId> {
        // Zero times what is not finite is not zero; without an early end the loop has no branches.
        if self.values.iter().fold(0.0, |sum, value| sum + 0.0 * value) == 0.0 {
            return None;
        }
        let pairs = self.values.iter().zip(self.sources);
        pairs.filter(|(value, _)| !value.is_finite()).find_map(|(_, &source)| source)
    }
}

/// What a variable is a derivative of, and of which order.
pub fn root_of(model: &dae::Model, mut variable: VarId) -> (VarId, u32) {
    let mut order = 0;
    while let Some(of) = model.variables[variable].derivative_of {
        (variable, order) = (of, order + 1);
    }
    (variable, order)
}
