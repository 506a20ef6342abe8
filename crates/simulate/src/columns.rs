//! Which variable becomes which column of the result, and how a row is read from memory.

use compile::Program;
use dae::{VarId, Variability, VariableType};
use results::{Column, Kind};
use rustc_hash::FxHashMap;
use transform::Role;

/// The columns of a run, and the variables whose values make up a row.
pub struct Columns {
    pub columns: Vec<Column>,
    sources: Vec<VarId>,
    row: Vec<f64>,
}

impl Columns {
    /// All variables with numbers as values, but for those whose name `keep` rejects.
    pub fn new(program: &Program, keep: &dyn Fn(&str) -> bool) -> Self {
        let model = program.model();
        let mut columns: Vec<Column> = Vec::new();
        let mut sources = Vec::new();
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
                    sources.push(variable);
                }
            }
            columns.push(column);
        }
        Self { columns, row: vec![0.0; sources.len()], sources }
    }

    /// The row at the values in memory.
    pub fn row(&mut self, program: &Program, memory: &compile::Memory) -> &[f64] {
        for (value, &variable) in self.row.iter_mut().zip(&self.sources) {
            *value = program.value(memory, variable);
        }
        &self.row
    }
}
