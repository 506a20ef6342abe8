//! Other values for parameters and sources of a graph, by the names that the user knows them by.

use crate::expr::Expr;
use crate::graph::*;
use crate::modelica::Modelica;
use crate::near::did_you_mean;

impl Graph {
    /// Gives a parameter, an element or a source another value, in SI units. The name of an element stands for its parameter.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if self.is_start(name) {
            return Ok(());
        }
        let target = self.target(name).ok_or_else(|| self.unknown(name))?;
        let Some(value) = crate::syntax::parser::constant(value) else {
            return Err(format!("`{value}` is no number that `{name}` could have"));
        };
        let value = match value < 0.0 {
            true => Expr::Negate(Box::new(Expr::number(-value))),
            false => Expr::number(value),
        };
        match target {
            Target::Parameter(id) => self.parameters[id].value = Some(value),
            Target::Input(id) => self.inputs[id].value = Some(value),
        }
        Ok(())
    }

    /// The variable of the Modelica model that a name of the graph means; other names stay as they are.
    pub fn settable(&self, name: &str) -> String {
        match self.target(name) {
            Some(Target::Parameter(id)) => match self.parameters[id].element {
                Some(element) => format!("{}.{}", self.parameters[id].name, self.elements[element].kind.parameter()),
                None => self.parameters[id].name.clone(),
            },
            Some(Target::Input(id)) => match self.inputs[id].source {
                Some(source) => format!("{}.{}", self.inputs[id].name, self.elements[source].kind.parameter()),
                None => self.inputs[id].name.clone(),
            },
            None => name.to_owned(),
        }
    }

    fn target(&self, name: &str) -> Option<Target> {
        let is_parameter = |(_, parameter): &(ParameterId, &Parameter)| {
            parameter.name == name
                || parameter.element.is_some_and(|element| {
                    name.strip_prefix(parameter.name.as_str()).and_then(|rest| rest.strip_prefix('.'))
                        == Some(self.elements[element].kind.parameter())
                })
        };
        let is_input = |(_, input): &(InputId, &Input)| {
            input.name == name
                || input.source.is_some_and(|source| {
                    name.strip_prefix(input.name.as_str()).and_then(|rest| rest.strip_prefix('.'))
                        == Some(self.elements[source].kind.parameter())
                })
        };
        let parameter = self.parameters.iter().find(is_parameter).map(|(id, _)| Target::Parameter(id));
        parameter.or_else(|| self.inputs.iter().find(is_input).map(|(id, _)| Target::Input(id)))
    }

    /// Where a run begins; matrices do not depend on it.
    fn is_start(&self, name: &str) -> bool {
        let variable = name.strip_suffix(".start").and_then(|name| name.rsplit_once('.'));
        variable.is_some_and(|(element, variable)| {
            self.element_named(element).is_some() && ["e", "f", "q", "p"].contains(&variable)
        })
    }

    fn unknown(&self, name: &str) -> String {
        let names = self.parameters.values().map(|parameter| parameter.name.as_str());
        let names = names.chain(self.inputs.values().map(|input| input.name.as_str()));
        let near = did_you_mean(name, names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        format!("the graph has no parameter and no source `{name}`{near}")
    }
}

enum Target {
    Parameter(ParameterId),
    Input(InputId),
}

impl Modelica {
    /// The variable of the model that a name of the graph means: an input, an output, or a variable at a port, `field[2].e`. Other
    /// names are those of the model already.
    pub fn variable(&self, graph: &Graph, name: &str) -> String {
        if let Some(place) = graph.outputs.iter().position(|output| output.name == name) {
            return self.outputs[place].clone();
        }
        if let Some(place) = graph.inputs.values().position(|input| input.name == name) {
            return self.inputs[place].clone();
        }
        let port = name.rsplit_once('.').and_then(|(element, variable)| {
            let (element, port) = element.strip_suffix(']')?.rsplit_once('[')?;
            graph.element_named(element)?;
            Some(format!("{element}.{variable}[{port}]"))
        });
        port.unwrap_or_else(|| name.to_owned())
    }
}
