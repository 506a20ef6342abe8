//! Where power enters components: connectors with one potential and one flow variable.

use dae::{Model, VarId, Variability, VariableType};
use rustc_hash::FxHashMap;

/// What the potential of a connector is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Across {
    /// An effort, such as voltage, temperature or pressure: connected connectors are a 0-junction.
    Effort,
    /// A velocity: connected connectors are a 1-junction, and the flow variable is the effort.
    Velocity,
    /// A position or an angle, whose derivative is the velocity.
    Position,
}

impl Across {
    /// Of mechanics.
    pub fn is_mechanical(self) -> bool {
        self != Across::Effort
    }
}

/// A connector.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// Its full name.
    pub connector: String,
    /// The potential.
    pub across: VarId,
    /// The flow variable, into the component.
    pub through: VarId,
    /// What the potential is.
    pub kind: Across,
}

/// All connectors with one potential and one flow variable, and the names of those that have more.
pub(super) fn ports(model: &Model) -> (Vec<Port>, Vec<String>) {
    let is_signal = |id: &VarId| {
        let variable = &model.variables[*id];
        variable.ty == VariableType::Real && variable.variability == Variability::Continuous
    };
    let mut connectors: Vec<String> = Vec::new();
    let mut members: FxHashMap<String, (Vec<VarId>, Vec<VarId>)> = FxHashMap::default();
    let named: Vec<(VarId, String)> =
        model.variables.ids().filter(is_signal).map(|id| (id, model.variable_name(id))).collect();
    for (id, name) in &named {
        if model.variables[*id].flow
            && let Some((connector, _)) = name.rsplit_once('.')
        {
            let known = members.entry(connector.to_owned()).or_default();
            if known.1.is_empty() {
                connectors.push(connector.to_owned());
            }
            known.1.push(*id);
        }
    }
    for (id, name) in &named {
        if !model.variables[*id].flow
            && let Some((connector, _)) = name.rsplit_once('.')
            && let Some(known) = members.get_mut(connector)
        {
            known.0.push(*id);
        }
    }
    let (mut ports, mut others) = (Vec::new(), Vec::new());
    for connector in connectors {
        match members.get(&connector).map(|(across, through)| (across.as_slice(), through.as_slice())) {
            Some(([across], [through])) => {
                let kind = kind(model, *across, *through);
                ports.push(Port { connector, across: *across, through: *through, kind });
            }
            _ => others.push(connector),
        }
    }
    (ports, others)
}

/// Units tell; where there are none, the usual names do.
fn kind(model: &Model, across: VarId, through: VarId) -> Across {
    let unit = model.variables[across].attributes.unit.map(|unit| unit.as_str().to_owned()).unwrap_or_default();
    let last = |id: VarId| model.variable_name(id).rsplit('.').next().unwrap_or_default().to_owned();
    let is_force = matches!(last(through).as_str(), "f" | "F" | "force" | "tau" | "torque");
    match (unit.as_str(), last(across).as_str()) {
        ("m" | "mm" | "rad" | "deg", _) => Across::Position,
        ("m/s" | "rad/s", _) => Across::Velocity,
        ("", "s" | "x" | "phi" | "position" | "angle") if is_force => Across::Position,
        ("", "v" | "w" | "omega" | "velocity") if is_force => Across::Velocity,
        _ => Across::Effort,
    }
}
