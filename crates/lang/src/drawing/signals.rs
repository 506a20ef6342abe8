//! What connectors carry: their scalar variables, with the names that they have in results.

use base::Name;
use diagram::{Kind, Picture};
use syntax::ast;

use super::Painter;
use crate::instance::{ClassId, CompId, ComponentType, Member};

/// A variable of a connector that is drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Signal {
    /// The component, by its position in the picture.
    pub component: usize,
    /// The connector, by its position in the component; `None` for a connector of the class itself.
    pub connector: Option<usize>,
    /// The name in results, `R1.p.v`.
    pub variable: String,
    /// The name in the connector, `v`; empty where the connector is the variable.
    pub symbol: String,
    /// The unit in which it is shown.
    pub unit: String,
    /// From the unit of results to it.
    pub conversion: units::Conversion,
}

/// More variables of one connector are not written beside it.
const MOST: usize = 4;

impl Painter {
    /// The variables of all connectors of a picture; `shown` are the components that it shows. Elements of arrays are many
    /// behind one icon and have none.
    pub(super) fn signals(&mut self, picture: &Picture, shown: &[CompId]) -> Vec<Signal> {
        let mut all = Vec::new();
        for (position, (drawn, &id)) in picture.components.iter().zip(shown).enumerate() {
            if !drawn.sizes.is_empty() || !drawn.present {
                continue;
            }
            if drawn.kind == Kind::Connector {
                self.of_connector(id, &drawn.name, position, None, &mut all);
                continue;
            }
            let Some(class) = self.class_of(id) else { continue };
            for (at, connector) in
                drawn.connectors.iter().enumerate().filter(|(_, connector)| connector.sizes.is_empty())
            {
                let member = self.instances().member(class, Name::new(&connector.name));
                if let Some(Member::Component(inner)) = member {
                    let path = format!("{}.{}", drawn.name, connector.name);
                    self.of_connector(inner, &path, position, Some(at), &mut all);
                }
            }
        }
        all
    }

    fn class_of(&mut self, id: CompId) -> Option<ClassId> {
        match self.quietly(|elaborator| elaborator.instances.component_type(id).ok())? {
            ComponentType::Class(class) => Some(class),
            _ => None,
        }
    }

    fn of_connector(
        &mut self,
        id: CompId,
        path: &str,
        component: usize,
        connector: Option<usize>,
        all: &mut Vec<Signal>,
    ) {
        let (prefix, variables) = match self.class_of(id) {
            None => (String::new(), vec![id]),
            Some(class) => (format!("{path}."), self.instances().components_of(class)),
        };
        let mut count = 0;
        for variable in variables {
            let is_open = |variability| matches!(variability, ast::Variability::Unstated | ast::Variability::Discrete);
            let is_scalar = self.quietly(|elaborator| {
                let dimensions = elaborator.instances.dimensions(variable).ok()?;
                let ty = elaborator.instances.component_type(variable).ok()?;
                Some(dimensions.is_empty() && matches!(ty, ComponentType::Builtin { .. }))
            });
            if is_scalar != Some(true) || !is_open(self.instances().variability(variable)) || count == MOST {
                continue;
            }
            count += 1;
            let symbol =
                if prefix.is_empty() { String::new() } else { self.instances().component(variable).name.to_string() };
            let (unit, conversion) = self.display_unit(variable).unwrap_or((String::new(), units::Conversion::NONE));
            let variable = if prefix.is_empty() { path.to_owned() } else { format!("{prefix}{symbol}") };
            all.push(Signal { component, connector, variable, symbol, unit, conversion });
        }
    }
}
