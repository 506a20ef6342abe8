//! A graph as a Modelica model that stands alone: variables of each element in a record with the name that the user gave,
//! and all equations in one place, each on a line of its own.
//!
//! Every line knows the place in the `.bond` file that it came from, so that what the front end reports about a line of the
//! model is reported about that place. A component path (`motor.Ra`) is the name in the graph already.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::{IdVec, Span};
use units::{Dimension, Unit};

use crate::causality::{Causality, Mode};
use crate::domains::unit_text;
use crate::expr::{Expr, negated};
use crate::graph::*;
use crate::kind::Kind;

/// A graph as a Modelica model.
#[derive(Clone, Debug)]
pub struct Modelica {
    /// The name of the model.
    pub name: String,
    /// The text of the model.
    pub text: String,
    /// The origin of each line.
    pub origins: Vec<Option<Span>>,
    /// The variables of the model that are the inputs of the graph, in the order of those. Of a source with a value it is the
    /// source's own variable, which an equation determines.
    pub inputs: Vec<String>,
    /// The variables of the model that are the outputs of the graph, in the order of those.
    pub outputs: Vec<String>,
}

/// The model. `name` is taken where the file names its graph not.
pub fn to_modelica(graph: &Graph, name: &str) -> Modelica {
    let (causality, _) = Causality::assign(graph, &Mode::default());
    let mut writer = Writer::new(graph, causality);
    writer.model(name);
    let inputs = graph.inputs.ids().map(|id| writer.input_variable(id)).collect();
    Modelica { name: writer.name, text: writer.text, origins: writer.origins, inputs, outputs: writer.output_names }
}

impl Modelica {
    /// What stands in the model for a variable of the graph.
    pub fn leaf(&self, graph: &Graph, leaf: Leaf) -> Expr<String> {
        Writer::new(graph, None).leaf(&leaf).replace(&mut |name| Expr::Leaf(name.replace('\'', "")))
    }
}

/// Where the effort and flow of a bond are found.
#[derive(Clone, Debug)]
struct Place {
    effort: String,
    flow: String,
    /// The flow there counts against the bond.
    against: bool,
}

struct Writer<'a> {
    graph: &'a Graph,
    causality: Option<Causality>,
    name: String,
    text: String,
    origins: Vec<Option<Span>>,
    places: IdVec<BondId, Place>,
    /// Names of bonds that have components of their own.
    bond_names: BTreeMap<BondId, String>,
    classes: BTreeMap<&'static str, String>,
    /// The variables of the outputs.
    output_names: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(graph: &'a Graph, causality: Option<Causality>) -> Self {
        let mut writer = Self {
            graph,
            causality,
            name: String::new(),
            text: String::new(),
            origins: Vec::new(),
            places: IdVec::new(),
            bond_names: BTreeMap::new(),
            classes: BTreeMap::new(),
            output_names: Vec::new(),
        };
        for id in graph.bonds.ids() {
            let place = writer.place(id);
            writer.places.push(place);
        }
        for output in &graph.outputs {
            let mut name = writer.free_name(&output.name.replace(|c: char| !c.is_alphanumeric() && c != '_', "_"));
            // `2*a.e` and `2+a.e` are two outputs.
            while writer.output_names.contains(&quoted(&name)) || writer.taken(&name) {
                name.push('_');
            }
            writer.output_names.push(quoted(&name));
        }
        writer
    }

    fn taken(&self, name: &str) -> bool {
        let graph = self.graph;
        graph.elements.values().any(|element| element.name == name)
            || graph.parameters.values().any(|parameter| parameter.name == name)
            || graph.inputs.values().any(|input| input.name == name)
            || graph.signals.values().any(|signal| signal.name == name)
            || graph.instances.iter().any(|(instance, _)| instance == name)
            || self.bond_names.values().any(|bond| bond == name)
    }

    fn free_name(&self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.taken(&name) {
            name.push('_');
        }
        name
    }

    fn place(&mut self, id: BondId) -> Place {
        let bond = &self.graph.bonds[id];
        for end in [bond.head, bond.tail] {
            if !self.graph.elements[end].kind.is_junction() {
                return self.place_at(id, end);
            }
        }
        let plain = |name: &str| name.replace(['.', '[', ']'], "_");
        let tail = &self.graph.elements[bond.tail].name;
        let head = &self.graph.elements[bond.head].name;
        let name = match &bond.name {
            Some(name) => name.clone(),
            None => self.free_name(&format!("{}_{}", plain(tail), plain(head))),
        };
        let path = quoted(&name);
        self.bond_names.insert(id, name);
        Place { effort: format!("{path}.e"), flow: format!("{path}.f"), against: false }
    }

    /// The variables of an element at one of its bonds.
    fn place_at(&self, id: BondId, end: ElementId) -> Place {
        let element = &self.graph.elements[end];
        let port = element.ports.iter().position(|port| port.bond == id).unwrap_or(0);
        let path = quoted(&element.name);
        let index = if element.ports.len() > 1 { format!("[{}]", port + 1) } else { String::new() };
        let against = element.kind.is_passive() && element.ports.get(port).is_some_and(|port| !port.head);
        Place { effort: format!("{path}.e{index}"), flow: format!("{path}.f{index}"), against }
    }

    /// The flow of a bond, along the bond.
    fn flow_text(&self, bond: BondId) -> String {
        let place = &self.places[bond];
        format!("{}{}", if place.against { "-" } else { "" }, place.flow)
    }

    /// The variable of a junction at a bond that no element with one port has.
    fn common(&self, id: BondId, kind: Kind) -> Option<String> {
        let bond = &self.graph.bonds[id];
        let ends = [bond.tail, bond.head].map(|end| &self.graph.elements[end]);
        if ends.iter().any(|end| !end.kind.is_junction() && end.ports.len() == 1) {
            return None;
        }
        let junction = ends.iter().find(|end| end.kind == kind)?;
        Some(format!("{}.{}", quoted(&junction.name), if kind == Kind::Zero { "e" } else { "f" }))
    }

    fn leaf(&self, leaf: &Leaf) -> Expr<String> {
        let name = match leaf {
            Leaf::Effort(bond) => self.common(*bond, Kind::Zero).unwrap_or_else(|| self.places[*bond].effort.clone()),
            Leaf::Flow(bond) => {
                if let Some(name) = self.common(*bond, Kind::One) {
                    return Expr::Leaf(name);
                }
                let place = &self.places[*bond];
                let flow = Expr::Leaf(place.flow.clone());
                return if place.against { negated(flow) } else { flow };
            }
            Leaf::Parameter(id) => {
                let parameter = &self.graph.parameters[*id];
                match parameter.element {
                    Some(element) => {
                        format!("{}.{}", quoted(&parameter.name), self.graph.elements[element].kind.parameter())
                    }
                    None => quoted(&parameter.name),
                }
            }
            Leaf::State(element, port) => {
                let of = &self.graph.elements[*element];
                let index = if of.ports.len() > 1 { format!("[{}]", port + 1) } else { String::new() };
                format!("{}.{}{index}", quoted(&of.name), of.kind.state())
            }
            Leaf::Input(id) => {
                let input = &self.graph.inputs[*id];
                match input.source {
                    Some(source) => {
                        let element = &self.graph.elements[source];
                        let port = element.ports[0];
                        let place = self.place_at(port.bond, source);
                        if element.kind == Kind::EffortSource { place.effort } else { place.flow }
                    }
                    None => quoted(&input.name),
                }
            }
            Leaf::Signal(id) => quoted(&self.graph.signals[*id].name),
            Leaf::Time => "time".to_owned(),
            Leaf::Rate(..) | Leaf::InputRate(_) => self.graph.leaf_name(*leaf),
        };
        Expr::Leaf(name)
    }

    fn print(&self, expression: &Expression) -> String {
        expression.replace(&mut |leaf| self.leaf(leaf)).print(&|name| name.clone())
    }

    fn line(&mut self, origin: Option<Span>, text: &str) {
        self.text += text;
        self.text.push('\n');
        self.origins.push(origin);
    }

    fn model(&mut self, name: &str) {
        let wanted = if self.graph.name.is_empty() { name } else { &self.graph.name };
        let wanted = if wanted.is_empty() { "BondGraph" } else { wanted };
        self.name = quoted(&self.free_name(wanted));
        let header = format!("model {}{}", self.name, described(&self.graph.description));
        self.line(None, &header);
        self.classes();
        self.declarations();
        let initial = self.initial_equations();
        if !initial.is_empty() {
            self.line(None, "initial equation");
            for (origin, text) in initial {
                self.line(origin, &format!("  {text}"));
            }
        }
        self.line(None, "equation");
        for id in self.graph.elements.ids() {
            self.element_equations(id);
        }
        self.joints();
        if !self.graph.experiment.is_empty() {
            let settings: Vec<String> = self
                .graph
                .experiment
                .iter()
                .map(|(name, value)| format!("{name} = {}", base::Decimal(*value)))
                .collect();
            self.line(None, &format!("  annotation(experiment({}));", settings.join(", ")));
        }
        let end = format!("end {};", self.name);
        self.line(None, &end);
    }

    /// The class of an element's variables.
    fn class_key(&self, id: ElementId) -> &'static str {
        let element = &self.graph.elements[id];
        let field = element.ports.len() > 1;
        let has_parameter = matches!(&element.law, Law::Scalar(Expr::Leaf(Leaf::Parameter(parameter))) if self.graph.parameters[*parameter].element == Some(id));
        match (element.kind, field, has_parameter) {
            (Kind::Zero, ..) => "ZeroJunction",
            (Kind::One, ..) => "OneJunction",
            (Kind::EffortSource | Kind::FlowSource, ..) => "Source",
            (Kind::EffortSensor | Kind::FlowSensor | Kind::Component, ..) => "Sensor",
            (Kind::Resistor, false, true) => "Resistor",
            (Kind::Capacitor, false, true) => "Capacitor",
            (Kind::Inertia, false, true) => "Inertia",
            (Kind::Resistor, false, false) => "GeneralResistor",
            (Kind::Capacitor, false, false) => "GeneralCapacitor",
            (Kind::Inertia, false, false) => "GeneralInertia",
            (Kind::Resistor, true, _) => "ResistorField",
            (Kind::Capacitor, true, _) => "CapacitorField",
            (Kind::Inertia, true, _) => "InertiaField",
            (Kind::Transformer, _, true) => "Transformer",
            (Kind::Transformer, _, false) => "ModulatedTransformer",
            (Kind::Gyrator, _, true) => "Gyrator",
            (Kind::Gyrator, _, false) => "ModulatedGyrator",
        }
    }

    fn classes(&mut self) {
        let mut used: Vec<&'static str> = self.graph.elements.ids().map(|id| self.class_key(id)).collect();
        if !self.bond_names.is_empty() {
            used.push("Bond");
        }
        for (key, what, body) in CLASSES {
            if !used.contains(key) {
                continue;
            }
            let name = self.free_name(key);
            self.line(None, &format!("  record {name} \"{what}\""));
            // What lacks a value is reported where the parameter is declared.
            let open = self.graph.elements.iter().find(|(id, _)| self.class_key(*id) == *key && self.lacks_value(*id));
            let origin = open.map(|(_, element)| element.span);
            for part in *body {
                let origin = origin.filter(|_| part.starts_with("parameter Real"));
                self.line(origin, &format!("    {part};"));
            }
            self.line(None, &format!("  end {name};"));
            self.classes.insert(key, name);
        }
    }

    /// Has a parameter of its own that is open.
    fn lacks_value(&self, id: ElementId) -> bool {
        let is_open = |parameter: &Parameter| parameter.element == Some(id) && parameter.value.is_none();
        self.graph.parameters.values().any(is_open)
    }

    fn declarations(&mut self) {
        let mut root = Group::default();
        for (id, parameter) in self.graph.parameters.iter() {
            if parameter.element.is_none() {
                root.insert(&parameter.name, Item::Parameter(id));
            }
        }
        for id in self.graph.inputs.ids() {
            if self.graph.inputs[id].source.is_none() {
                root.insert(&self.graph.inputs[id].name, Item::Input(id));
            }
        }
        for (id, element) in self.graph.elements.iter() {
            root.insert(&element.name, Item::Element(id));
        }
        for (id, name) in &self.bond_names {
            root.insert(name, Item::Bond(*id));
        }
        for (id, signal) in self.graph.signals.iter() {
            root.insert(&signal.name, Item::Signal(id));
        }
        let mut written: Vec<(String, String)> = Vec::new();
        for (name, group) in &root.groups {
            self.group_class(name, group, &mut written);
        }
        for (name, item) in &root.items {
            let (origin, text) = self.declaration(name, *item, true);
            self.line(origin, &format!("  {text};"));
        }
        for (name, group) in &root.groups {
            let class = self.class_of_group(name, group, &written);
            self.line(None, &format!("  {class} {}(", quoted(name)));
            let mut modifiers = Vec::new();
            self.modifiers(group, "", &mut modifiers);
            let count = modifiers.len();
            for (index, (origin, text)) in modifiers.into_iter().enumerate() {
                let comma = if index + 1 < count { "," } else { "" };
                self.line(origin, &format!("    {text}{comma}"));
            }
            self.line(None, "  );");
        }
        let free: Vec<(InputId, String)> = self
            .graph
            .inputs
            .iter()
            .filter(|(_, input)| match input.source {
                Some(_) => input.value.is_none(),
                None => input.name.contains('.'),
            })
            .map(|(id, _)| (id, self.input_name(id)))
            .collect();
        for (id, name) in free {
            let input = &self.graph.inputs[id];
            let mut list = unit_modifier(&input.unit);
            list.extend(input.value.as_ref().map(|value| format!("start = {}", self.print(value))));
            let unit = list_text(list);
            let text = format!("  input Real {name}{unit} \"value of {}\";", input.name);
            self.line(Some(input.span), &text);
        }
        for (output, name) in self.graph.outputs.iter().zip(self.output_names.clone()) {
            let value = self.print(&output.value);
            let text = format!("  output Real {name} = {value}{};", described(&output.name));
            self.line(Some(output.span), &text);
        }
    }

    /// The variable of the model that is an input of the graph.
    fn input_variable(&self, id: InputId) -> String {
        let input = &self.graph.inputs[id];
        match input.source {
            Some(_) if input.value.is_some() => self.print(&Expr::Leaf(Leaf::Input(id))),
            Some(_) => self.input_name(id),
            None if input.name.contains('.') => self.input_name(id),
            None => quoted(&input.name),
        }
    }

    fn input_name(&self, id: InputId) -> String {
        let input = &self.graph.inputs[id];
        let plain = input.name.replace('.', "_");
        let name = match input.source {
            Some(source) => format!("{plain}_{}", self.graph.elements[source].kind.parameter()),
            None => plain,
        };
        quoted(&self.free_name(&name))
    }

    fn class_of_group(&self, name: &str, group: &Group, written: &[(String, String)]) -> String {
        let body = self.group_body(group, written);
        let found = written.iter().find(|(_, other)| *other == body);
        found.map_or_else(|| name.to_owned(), |(class, _)| class.clone())
    }

    /// The class of an instance; instances with the same content share one.
    fn group_class(&mut self, name: &str, group: &Group, written: &mut Vec<(String, String)>) {
        for (inner_name, inner) in &group.groups {
            self.group_class(inner_name, inner, written);
        }
        let body = self.group_body(group, written);
        if written.iter().any(|(_, other)| *other == body) {
            return;
        }
        let path = group.path.as_str();
        let subgraph = self.graph.instances.iter().find(|(instance, _)| instance == path);
        let wanted = subgraph.map_or(name, |(_, definition)| definition.as_str());
        let mut class = self.free_name(wanted);
        while written.iter().any(|(other, _)| *other == class) || self.classes.values().any(|other| *other == class) {
            class.push('_');
        }
        let class = quoted(&class);
        self.line(None, &format!("  record {class}"));
        for line in body.lines() {
            self.line(None, line);
        }
        self.line(None, &format!("  end {class};"));
        written.push((class, body));
    }

    fn group_body(&self, group: &Group, written: &[(String, String)]) -> String {
        let mut body = String::new();
        for (name, item) in &group.items {
            let (_, text) = self.declaration(name, *item, false);
            let _ = writeln!(body, "    {text};");
        }
        for (name, inner) in &group.groups {
            let _ = writeln!(body, "    {} {};", self.class_of_group(name, inner, written), quoted(name));
        }
        body
    }

    /// A declaration, with its modifiers on the top level and without inside of instances.
    fn declaration(&self, name: &str, item: Item, modifiers: bool) -> (Option<Span>, String) {
        let name = quoted(name);
        let with = |list: Vec<String>| {
            if list.is_empty() || !modifiers { String::new() } else { format!("({})", list.join(", ")) }
        };
        match item {
            Item::Parameter(id) => {
                let parameter = &self.graph.parameters[id];
                let value = parameter.value.as_ref().filter(|_| modifiers);
                let value = value.map_or(String::new(), |value| format!(" = {}", self.print(value)));
                let unit = with(unit_modifier(&parameter.unit));
                let text = format!("parameter Real {name}{unit}{value}{}", described(&parameter.description));
                (Some(parameter.span), text)
            }
            Item::Input(id) => {
                let input = &self.graph.inputs[id];
                let mut list = unit_modifier(&input.unit);
                list.extend(input.value.as_ref().map(|value| format!("start = {}", self.print(value))));
                let prefix = if modifiers { "input " } else { "" };
                (Some(input.span), format!("{prefix}Real {name}{}", with(list)))
            }
            Item::Signal(id) => {
                let signal = &self.graph.signals[id];
                let value = if modifiers { format!(" = {}", self.print(&signal.value)) } else { String::new() };
                (Some(signal.span), format!("Real {name}{}{value}", with(unit_modifier(&signal.unit))))
            }
            Item::Element(id) => {
                let element = &self.graph.elements[id];
                let class = &self.classes[self.class_key(id)];
                let mut list = self.element_modifiers(id);
                if let Some(size) = self.field_size(id) {
                    if modifiers {
                        list.insert(0, size);
                    } else {
                        return (Some(element.span), format!("{class} {name}({size})"));
                    }
                }
                (Some(element.span), format!("{class} {name}{}{}", with(list), described(&element.description)))
            }
            Item::Bond(id) => {
                let bond = &self.graph.bonds[id];
                (Some(bond.span), format!("{} {name}{}", self.classes["Bond"], with(self.bond_modifiers(id))))
            }
        }
    }

    /// Modifiers of everything inside of an instance, one a line.
    fn modifiers(&self, group: &Group, prefix: &str, lines: &mut Vec<(Option<Span>, String)>) {
        for (name, item) in &group.items {
            let path = format!("{prefix}{}", quoted(name));
            match item {
                Item::Parameter(id) => {
                    let parameter = &self.graph.parameters[*id];
                    let unit = list_text(unit_modifier(&parameter.unit));
                    let value =
                        parameter.value.as_ref().map_or(String::new(), |value| format!(" = {}", self.print(value)));
                    if !unit.is_empty() || !value.is_empty() {
                        lines.push((Some(parameter.span), format!("{path}{unit}{value}")));
                    }
                }
                Item::Signal(id) => {
                    let signal = &self.graph.signals[*id];
                    lines.push((Some(signal.span), format!("{path} = {}", self.print(&signal.value))));
                }
                // An input of a subgraph is an input of the model by another name.
                Item::Input(id) => {
                    let unit = list_text(unit_modifier(&self.graph.inputs[*id].unit));
                    lines.push((Some(self.graph.inputs[*id].span), format!("{path}{unit} = {}", self.input_name(*id))));
                }
                Item::Element(id) => {
                    let list = list_text(self.element_modifiers(*id));
                    if !list.is_empty() {
                        lines.push((Some(self.graph.elements[*id].span), format!("{path}{list}")));
                    }
                }
                Item::Bond(id) => {
                    let list = list_text(self.bond_modifiers(*id));
                    if !list.is_empty() {
                        lines.push((Some(self.graph.bonds[*id].span), format!("{path}{list}")));
                    }
                }
            }
        }
        for (name, inner) in &group.groups {
            self.modifiers(inner, &format!("{prefix}{}.", quoted(name)), lines);
        }
    }

    fn field_size(&self, id: ElementId) -> Option<String> {
        let element = &self.graph.elements[id];
        (element.ports.len() > 1 && element.kind.is_passive()).then(|| format!("n = {}", element.ports.len()))
    }

    fn bond_modifiers(&self, id: BondId) -> Vec<String> {
        let [effort, flow] = &self.graph.bonds[id].units;
        let of = |name: &str, unit: &Option<String>| unit.as_ref().map(|unit| format!("{name}(unit = \"{unit}\")"));
        [of("e", effort), of("f", flow)].into_iter().flatten().collect()
    }

    fn element_modifiers(&self, id: ElementId) -> Vec<String> {
        let element = &self.graph.elements[id];
        let mut list = Vec::new();
        if let Law::Scalar(Expr::Leaf(Leaf::Parameter(parameter))) = &element.law
            && self.graph.parameters[*parameter].element == Some(id)
        {
            let parameter = &self.graph.parameters[*parameter];
            let unit = list_text(unit_modifier(&parameter.unit));
            let value = parameter.value.as_ref().map_or(String::new(), |value| format!(" = {}", self.print(value)));
            if !unit.is_empty() || !value.is_empty() {
                list.push(format!("{}{unit}{value}", element.kind.parameter()));
            }
        }
        match (element.kind, element.ports.as_slice()) {
            // The branches of a switched junction's equation are of different units.
            (Kind::Zero | Kind::One, _) if element.condition.is_some() => {}
            (Kind::Zero | Kind::One, [first, ..]) => {
                let [effort, flow] = &self.graph.bonds[first.bond].units;
                let (name, unit) = if element.kind == Kind::Zero { ("e", effort) } else { ("f", flow) };
                list.extend(unit.as_ref().map(|unit| format!("{name}(unit = \"{unit}\")")));
            }
            (_, [port]) => {
                list.extend(self.bond_modifiers(port.bond));
                if let Some(value) = self.given_value(id) {
                    set_value(&mut list, element.kind.parameter(), &value);
                }
                if element.kind.is_storage() {
                    list.extend(self.state_modifiers(id, &self.graph.bonds[port.bond].units));
                }
            }
            (kind, ports) if kind.is_storage() => {
                let starts: Vec<String> = (0..ports.len() as u32).map(|port| self.state_start(id, port)).collect();
                let fixed: Vec<&str> = (0..ports.len() as u32)
                    .map(|port| if self.is_fixed(id, port) { "true" } else { "false" })
                    .collect();
                let state = kind.state();
                list.push(format!("{state}(start = {{{}}}, fixed = {{{}}})", starts.join(", "), fixed.join(", ")));
            }
            _ => {}
        }
        list
    }

    /// The value of a source that is declared with it, so that another value can be set.
    fn given_value(&self, id: ElementId) -> Option<String> {
        let value = self.graph.inputs[self.graph.elements[id].input?].value.as_ref()?;
        Some(self.print(value))
    }

    fn state_modifiers(&self, id: ElementId, units: &[Option<String>; 2]) -> Option<String> {
        let kind = self.graph.elements[id].kind;
        let rate = if kind == Kind::Capacitor { &units[1] } else { &units[0] };
        let mut list = Vec::new();
        if let Some(Ok(unit)) = rate.as_ref().map(|unit| unit.parse::<Unit>()) {
            list.push(format!("unit = \"{}\"", unit_text(unit.dimension.times(Dimension::SECOND))));
        }
        let given = self.given_start(id, 0).is_some();
        if self.is_fixed(id, 0) {
            list.push(format!("start = {}", self.state_start(id, 0)));
            list.push("fixed = true".to_owned());
        } else if given {
            list.push(format!("start = {}", self.state_start(id, 0)));
        }
        (!list.is_empty()).then(|| format!("{}({})", kind.state(), list.join(", ")))
    }

    fn given_start(&self, id: ElementId, port: u32) -> Option<&Start> {
        let starts = &self.graph.elements[id].starts;
        starts.iter().find(|start| start.port == port && start.variable == Variable::State)
    }

    fn state_start(&self, id: ElementId, port: u32) -> String {
        self.given_start(id, port).map_or_else(|| "0".to_owned(), |start| self.print(&start.value))
    }

    /// States start where they are told to, else at zero; what is stored dependently follows from them.
    fn is_fixed(&self, id: ElementId, port: u32) -> bool {
        let integral = self.causality.as_ref().is_some_and(|causality| causality.integral(self.graph, id, port));
        let otherwise =
            self.graph.elements[id].starts.iter().any(|start| start.port == port && start.variable != Variable::State);
        integral && !otherwise
    }

    fn initial_equations(&self) -> Vec<(Option<Span>, String)> {
        let mut lines = Vec::new();
        for (id, element) in self.graph.elements.iter() {
            for start in element.starts.iter().filter(|start| start.variable != Variable::State) {
                let left = match start.variable {
                    Variable::Effort => self.graph.effort(id, start.port as usize),
                    _ => self.graph.flow(id, start.port as usize),
                };
                lines.push((Some(start.span), format!("{} = {};", self.print(&left), self.print(&start.value))));
            }
        }
        lines
    }

    fn equation(&mut self, origin: Span, left: &str, right: &str) {
        self.line(Some(origin), &format!("  {left} = {right};"));
    }

    fn element_equations(&mut self, id: ElementId) {
        let element = &self.graph.elements[id];
        let span = element.span;
        let comment = format!("  // {}", self.graph.element_text(id));
        self.line(Some(span), &comment);
        let path = quoted(&element.name);
        let parameter = match &element.law {
            Law::Scalar(value) => {
                let text = self.print(value);
                if matches!(value, Expr::Binary(..) | Expr::Negate(_) | Expr::If(..)) {
                    format!("({text})")
                } else {
                    text
                }
            }
            _ => String::new(),
        };
        match (element.kind, &element.law) {
            (Kind::Zero | Kind::One, _) => self.junction(id),
            (Kind::EffortSensor, _) => self.equation(span, &format!("{path}.f"), "0"),
            (Kind::FlowSensor, _) => self.equation(span, &format!("{path}.e"), "0"),
            (Kind::EffortSource | Kind::FlowSource, _) if self.given_value(id).is_some() => {}
            (Kind::EffortSource | Kind::FlowSource, Law::Scalar(value)) => {
                let right = match (element.input, value) {
                    (Some(input), Expr::Leaf(Leaf::Input(_))) => self.input_name(input),
                    _ => self.print(value),
                };
                let variable = if element.kind == Kind::EffortSource { "e" } else { "f" };
                self.equation(span, &format!("{path}.{variable}"), &right);
            }
            (Kind::Transformer, _) => {
                self.equation(span, &format!("{path}.e[1]"), &format!("{parameter}*{path}.e[2]"));
                self.equation(span, &format!("{path}.f[2]"), &format!("{parameter}*{path}.f[1]"));
            }
            (Kind::Gyrator, _) => {
                self.equation(span, &format!("{path}.e[1]"), &format!("{parameter}*{path}.f[2]"));
                self.equation(span, &format!("{path}.e[2]"), &format!("{parameter}*{path}.f[1]"));
            }
            (kind, law) => {
                let ports = element.ports.len();
                let index = |port: usize| if ports > 1 { format!("[{}]", port + 1) } else { String::new() };
                let variable = |name: &str, port: usize| format!("{path}.{name}{}", index(port));
                let (state, other) = match kind {
                    Kind::Capacitor => ("q", "e"),
                    Kind::Inertia => ("p", "f"),
                    _ => ("e", "f"),
                };
                if kind.is_storage() {
                    let rate = if kind == Kind::Capacitor { "f" } else { "e" };
                    for port in 0..ports {
                        self.equation(span, &format!("der({})", variable(state, port)), &variable(rate, port));
                    }
                }
                match law {
                    Law::Scalar(_) => {
                        self.equation(span, &variable(state, 0), &format!("{parameter}*{}", variable(other, 0)));
                    }
                    Law::Matrix(rows) => {
                        for (port, row) in rows.iter().enumerate() {
                            let term = |(column, entry): (usize, &Expression)| {
                                (!entry.is_number(0.0)).then(|| {
                                    let text = self.print(entry);
                                    let simple = matches!(entry, Expr::Leaf(_) | Expr::Number(..) | Expr::Call(..));
                                    let text = if simple { text } else { format!("({text})") };
                                    format!("{text}*{}", variable(other, column))
                                })
                            };
                            let terms: Vec<String> = row.iter().enumerate().filter_map(term).collect();
                            let right = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
                            self.equation(span, &variable(state, port), &right);
                        }
                    }
                    Law::Equations(laws) => {
                        for law in laws {
                            let (left, right) = (self.print(&law.left), self.print(&law.right));
                            self.equation(law.span, &left, &right);
                        }
                    }
                    Law::Residuals(residuals) => {
                        for residual in residuals {
                            self.equation(span, "0", &self.print(residual));
                        }
                    }
                    Law::None => {}
                }
            }
        }
    }

    fn junction(&mut self, id: ElementId) {
        let element = &self.graph.elements[id];
        let span = element.span;
        let zero = element.kind == Kind::Zero;
        let path = quoted(&element.name);
        let own = format!("{path}.{}", if zero { "e" } else { "f" });
        let is_tail = |port: &Port| !port.head && self.graph.bonds[port.bond].active;
        let mut lines = Vec::new();
        let (mut enters, mut leaves) = (Vec::new(), Vec::new());
        for port in &element.ports {
            let (effort, flow) = (self.places[port.bond].effort.clone(), self.flow_text(port.bond));
            let (common, balanced) = if zero { (effort, flow) } else { (flow, effort) };
            lines.push((self.graph.bonds[port.bond].span, common));
            if !is_tail(port) {
                let side = if port.head { &mut enters } else { &mut leaves };
                side.push(balanced);
            }
        }
        let counts = !enters.is_empty() || !leaves.is_empty();
        for (origin, common) in lines {
            self.equation(origin, &common, &own);
        }
        if !counts {
            return;
        }
        let sum = |terms: &[String]| {
            if terms.is_empty() { "0".to_owned() } else { terms.join(" + ").replace("+ -", "- ") }
        };
        match &element.condition {
            None => self.equation(span, &sum(&enters), &sum(&leaves)),
            Some(condition) => {
                let head = format!("  if {} then", self.print(condition));
                self.line(Some(span), &head);
                self.line(Some(span), &format!("    {} = {};", sum(&enters), sum(&leaves)));
                self.line(Some(span), "  else");
                self.line(Some(span), &format!("    {own} = 0;"));
                self.line(Some(span), "  end if;");
            }
        }
    }

    /// Bonds between elements that are no junctions: the variables of both ends are the same.
    fn joints(&mut self) {
        for (id, bond) in self.graph.bonds.iter() {
            let is_junction = |element: ElementId| self.graph.elements[element].kind.is_junction();
            if is_junction(bond.tail) || is_junction(bond.head) {
                continue;
            }
            let (tail, head) = (self.place_at(id, bond.tail), self.place_at(id, bond.head));
            let minus = if tail.against != head.against { "-" } else { "" };
            self.equation(bond.span, &tail.effort, &head.effort);
            self.equation(bond.span, &tail.flow, &format!("{minus}{}", head.flow));
        }
    }
}

#[derive(Clone, Copy)]
enum Item {
    Parameter(ParameterId),
    Input(InputId),
    Element(ElementId),
    Bond(BondId),
    Signal(SignalId),
}

/// The declarations of one level of names.
#[derive(Default)]
struct Group {
    path: String,
    items: Vec<(String, Item)>,
    groups: BTreeMap<String, Group>,
}

impl Group {
    fn insert(&mut self, path: &str, item: Item) {
        let mut group = self;
        let mut rest = path;
        while let Some((first, inner)) = rest.split_once('.') {
            let inner_path = if group.path.is_empty() { first.to_owned() } else { format!("{}.{first}", group.path) };
            group = group.groups.entry(first.to_owned()).or_default();
            group.path = inner_path;
            rest = inner;
        }
        group.items.push((rest.to_owned(), item));
    }
}

type Class = (&'static str, &'static str, &'static [&'static str]);

const CLASSES: &[Class] = &[
    ("Bond", "effort and flow of a bond", &["Real e", "Real f"]),
    ("ZeroJunction", "one effort, flows add up", &["Real e"]),
    ("OneJunction", "one flow, efforts add up", &["Real f"]),
    ("Source", "gives effort or flow", &["Real e", "Real f"]),
    ("Sensor", "measures and takes no power", &["Real e", "Real f"]),
    ("Resistor", "dissipates power: e = R*f", &["parameter Real R", "Real e", "Real f"]),
    ("Capacitor", "stores displacement: q = C*e", &["parameter Real C", "Real e", "Real f", "Real q"]),
    ("Inertia", "stores momentum: p = I*f", &["parameter Real I", "Real e", "Real f", "Real p"]),
    ("GeneralResistor", "dissipates power by a law of its own", &["Real e", "Real f"]),
    ("GeneralCapacitor", "stores displacement by a law of its own", &["Real e", "Real f", "Real q"]),
    ("GeneralInertia", "stores momentum by a law of its own", &["Real e", "Real f", "Real p"]),
    ("ResistorField", "dissipates power at several ports", &["parameter Integer n", "Real e[n]", "Real f[n]"]),
    (
        "CapacitorField",
        "stores displacements at several ports",
        &["parameter Integer n", "Real e[n]", "Real f[n]", "Real q[n]"],
    ),
    (
        "InertiaField",
        "stores momenta at several ports",
        &["parameter Integer n", "Real e[n]", "Real f[n]", "Real p[n]"],
    ),
    ("Transformer", "e[1] = m*e[2], f[2] = m*f[1]", &["parameter Real m", "Real e[2]", "Real f[2]"]),
    ("ModulatedTransformer", "a transformer whose ratio a signal gives", &["Real e[2]", "Real f[2]"]),
    ("Gyrator", "e[1] = r*f[2], e[2] = r*f[1]", &["parameter Real r", "Real e[2]", "Real f[2]"]),
    ("ModulatedGyrator", "a gyrator whose ratio a signal gives", &["Real e[2]", "Real f[2]"]),
];

fn unit_modifier(unit: &Option<String>) -> Vec<String> {
    unit.iter().map(|unit| format!("unit = \"{unit}\"")).collect()
}

/// Gives a variable in a list of modifiers its value.
fn set_value(list: &mut Vec<String>, name: &str, value: &str) {
    match list.iter_mut().find(|modifier| modifier.split('(').next() == Some(name)) {
        Some(modifier) => modifier.push_str(&format!(" = {value}")),
        None => list.insert(0, format!("{name} = {value}")),
    }
}

fn list_text(list: Vec<String>) -> String {
    if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) }
}

fn described(description: &str) -> String {
    if description.is_empty() {
        String::new()
    } else {
        format!(" \"{}\"", description.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// A dotted name in Modelica: keywords and letters beyond ASCII are quoted.
fn quoted(path: &str) -> String {
    let quote = |name: &str| {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && !base::is_reserved(name);
        if plain { name.to_owned() } else { format!("'{name}'") }
    };
    path.split('.').map(quote).collect::<Vec<_>>().join(".")
}
