//! The flat bond graph: elements, bonds and laws with all names resolved; instances of subgraphs are dissolved into
//! elements with hierarchical names.
//!
//! Invariants: the ports of an element and the ends of its bonds name each other; elements with one port have one
//! bond, transformers and gyrators have the bond that brings power in as port 0 and the other as port 1, fields have
//! one bond at each port; active bonds begin at a junction.

use base::{IdVec, Span};

use crate::expr::Expr;
use crate::kind::Kind;

base::id_type!(
    /// An element of a graph.
    pub ElementId, "element"
);
base::id_type!(
    /// A bond of a graph.
    pub BondId, "bond"
);
base::id_type!(
    /// A parameter of a graph.
    pub ParameterId, "parameter"
);
base::id_type!(
    /// An input of a graph.
    pub InputId, "input"
);
base::id_type!(
    /// A signal of a graph.
    pub SignalId, "signal"
);

/// What a name in an expression means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Leaf {
    /// A parameter.
    Parameter(ParameterId),
    /// The effort of a bond.
    Effort(BondId),
    /// The flow of a bond.
    Flow(BondId),
    /// The stored quantity (`q` or `p`) at a port of a storage, from 0.
    State(ElementId, u32),
    /// An input.
    Input(InputId),
    /// A signal.
    Signal(SignalId),
    /// The independent variable.
    Time,
    /// The derivative of a dependent stored quantity, while equations are derived.
    Rate(ElementId, u32),
    /// The derivative of an input.
    InputRate(InputId),
}

impl Leaf {
    /// Changes during a run.
    pub fn is_signal(self) -> bool {
        !matches!(self, Leaf::Parameter(_))
    }
}

/// An expression with all names resolved.
pub type Expression = Expr<Leaf>;

/// A flat bond graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The name of the graph.
    pub name: String,
    /// What the text says about the graph.
    pub description: String,
    /// Elements, in the order of their declaration.
    pub elements: IdVec<ElementId, Element>,
    /// Bonds, in the order of their declaration.
    pub bonds: IdVec<BondId, Bond>,
    /// Declared parameters, and those of elements.
    pub parameters: IdVec<ParameterId, Parameter>,
    /// Inputs of the system.
    pub inputs: IdVec<InputId, Input>,
    /// Named expressions.
    pub signals: IdVec<SignalId, Signal>,
    /// What the user wants to see.
    pub outputs: Vec<Output>,
    /// Names and values of the statement `experiment`.
    pub experiment: Vec<(String, f64)>,
    /// Instances of subgraphs: hierarchical name and the subgraph's name, outer ones first.
    pub instances: Vec<(String, String)>,
    /// What the graph is lacking of the model that it is a view of: it is a drawing only then.
    pub omitted: Vec<String>,
}

/// An element: a junction, source, sensor, resistor, storage, transformer or gyrator.
#[derive(Clone, Debug)]
pub struct Element {
    /// The hierarchical name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Signals modulate it.
    pub modulated: bool,
    /// What holds between its efforts, flows and stored quantities.
    pub law: Law,
    /// Of a source that is an input of the system.
    pub input: Option<InputId>,
    /// Of a switched junction: while it does not hold, flows (of a 1-junction) or efforts (of a 0-junction) are zero.
    pub condition: Option<Expression>,
    /// Initial values.
    pub starts: Vec<Start>,
    /// Its ports, in order.
    pub ports: Vec<Port>,
    /// The unit of its parameter.
    pub unit: Option<String>,
    /// What the text says about the element.
    pub description: String,
    /// Where the text declares it.
    pub span: Span,
}

/// The law of an element.
#[derive(Clone, Debug)]
pub enum Law {
    /// Of junctions and sensors.
    None,
    /// The value of a source, the parameter of a linear element, the ratio of a transformer or gyrator.
    Scalar(Expression),
    /// `e = M·f` of a resistor field, `q = M·e`, `p = M·f` of storage fields.
    Matrix(Vec<Vec<Expression>>),
    /// One equation for each port.
    Equations(Vec<LawEquation>),
    /// What is zero, one expression for each port, at a component that is none of the elements.
    Residuals(Vec<Expression>),
}

/// One equation of a law, with one variable of a port on its left.
#[derive(Clone, Debug)]
pub struct LawEquation {
    /// The left-hand side.
    pub left: Expression,
    /// Whether `left` is the effort, the flow or the state.
    pub variable: Variable,
    /// The port of that variable, from 0.
    pub port: u32,
    /// The right-hand side.
    pub right: Expression,
    /// Where the text has it.
    pub span: Span,
}

/// The variables at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    /// The effort.
    Effort,
    /// The flow.
    Flow,
    /// The stored quantity.
    State,
}

/// An initial value.
#[derive(Clone, Debug)]
pub struct Start {
    /// The port, from 0.
    pub port: u32,
    /// Which variable of the port has it.
    pub variable: Variable,
    /// The value.
    pub value: Expression,
    /// Where the text has it.
    pub span: Span,
}

/// An end of a bond at an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Port {
    /// The bond.
    pub bond: BondId,
    /// The arrow of the bond points to this element.
    pub head: bool,
}

/// Which end of a bond has the causal stroke: the end that receives the effort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stroke {
    /// Where the arrow begins.
    Tail,
    /// Where the arrow points to.
    Head,
}

impl Stroke {
    pub(crate) fn other(self) -> Stroke {
        match self {
            Stroke::Tail => Stroke::Head,
            Stroke::Head => Stroke::Tail,
        }
    }

    /// At this end of the bond.
    pub fn at(head: bool) -> Stroke {
        if head { Stroke::Head } else { Stroke::Tail }
    }
}

/// A bond, or a signal between elements.
#[derive(Clone, Debug)]
pub struct Bond {
    /// As the user named it.
    pub name: Option<String>,
    /// The element at which the arrow begins.
    pub tail: ElementId,
    /// The element to which the arrow points.
    pub head: ElementId,
    /// Carries a signal and no power.
    pub active: bool,
    /// As the user set it.
    pub stroke: Option<Stroke>,
    /// Units of effort and flow, as far as units of elements tell them.
    pub units: [Option<String>; 2],
    /// Where the text has it.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The hierarchical name.
    pub name: String,
    /// Its value, unless the text leaves it open.
    pub value: Option<Expression>,
    /// Its unit.
    pub unit: Option<String>,
    /// What the text says about it.
    pub description: String,
    /// The element it is the parameter of.
    pub element: Option<ElementId>,
    /// Where the text declares it.
    pub span: Span,
}

/// An input of the system.
#[derive(Clone, Debug)]
pub struct Input {
    /// The hierarchical name.
    pub name: String,
    /// The source it is the value of; none for declared inputs.
    pub source: Option<ElementId>,
    /// What a simulation takes unless told otherwise.
    pub value: Option<Expression>,
    /// Its unit.
    pub unit: Option<String>,
    /// Where the text declares it.
    pub span: Span,
}

/// A named expression.
#[derive(Clone, Debug)]
pub struct Signal {
    /// The hierarchical name.
    pub name: String,
    /// What it is equal to.
    pub value: Expression,
    /// Its unit.
    pub unit: Option<String>,
    /// Where the text declares it.
    pub span: Span,
}

/// An output of the system.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// What it is equal to.
    pub value: Expression,
    /// Where the text has it.
    pub span: Span,
}

impl Graph {
    /// The element at the other end of a bond.
    pub fn opposite(&self, port: Port) -> ElementId {
        let bond = &self.bonds[port.bond];
        if port.head { bond.tail } else { bond.head }
    }

    /// A bond in words: the name it has, or its ends.
    pub fn bond_text(&self, bond: BondId) -> String {
        let bond = &self.bonds[bond];
        let arrow = if bond.active { "=>" } else { "->" };
        let ends = format!("{} {arrow} {}", self.elements[bond.tail].name, self.elements[bond.head].name);
        match &bond.name {
            Some(name) => format!("{name}: {ends}"),
            None => ends,
        }
    }

    /// An element with its kind: `R d`.
    pub fn element_text(&self, element: ElementId) -> String {
        let element = &self.elements[element];
        if element.kind == Kind::Component {
            return element.name.clone();
        }
        format!("{}{} {}", if element.modulated { "M" } else { "" }, element.kind.symbol(), element.name)
    }

    /// Effort at a port, as the laws of the element see it.
    pub fn effort(&self, element: ElementId, port: usize) -> Expression {
        Expr::Leaf(Leaf::Effort(self.elements[element].ports[port].bond))
    }

    /// Flow at a port, as the laws of the element see it: into passive elements, along the bond elsewhere.
    pub fn flow(&self, element: ElementId, port: usize) -> Expression {
        let Port { bond, head } = self.elements[element].ports[port];
        let flow = Expr::Leaf(Leaf::Flow(bond));
        if self.elements[element].kind.is_passive() && !head { crate::expr::negated(flow) } else { flow }
    }

    /// The names that the user gave, for messages and results.
    pub fn leaf_name(&self, leaf: Leaf) -> String {
        match leaf {
            Leaf::Parameter(parameter) => self.parameters[parameter].name.clone(),
            Leaf::Effort(bond) => self.bond_variable(bond, "e"),
            Leaf::Flow(bond) => self.bond_variable(bond, "f"),
            Leaf::State(element, port) => self.state_name(element, port),
            Leaf::Input(input) => self.inputs[input].name.clone(),
            Leaf::Signal(signal) => self.signals[signal].name.clone(),
            Leaf::Time => "time".to_owned(),
            Leaf::Rate(element, port) => format!("der({})", self.state_name(element, port)),
            Leaf::InputRate(input) => format!("der({})", self.inputs[input].name),
        }
    }

    /// The stored quantity at a port of a storage.
    pub fn state_name(&self, element: ElementId, port: u32) -> String {
        let element = &self.elements[element];
        let state = element.kind.state();
        if element.ports.len() == 1 {
            format!("{}.{state}", element.name)
        } else {
            format!("{}[{}].{state}", element.name, port + 1)
        }
    }

    /// A variable of a bond by the element with one port at its end, where there is one.
    fn bond_variable(&self, id: BondId, variable: &str) -> String {
        let bond = &self.bonds[id];
        if let Some(name) = &bond.name {
            return format!("{name}.{variable}");
        }
        for end in [bond.head, bond.tail] {
            let element = &self.elements[end];
            let common = match element.kind {
                Kind::One => variable == "f",
                Kind::Zero => variable == "e",
                _ => element.ports.len() == 1,
            };
            if common {
                return format!("{}.{variable}", element.name);
            }
            if let Some(port) =
                element.ports.iter().position(|port| port.bond == id).filter(|_| !element.kind.is_junction())
            {
                return format!("{}[{}].{variable}", element.name, port + 1);
            }
        }
        format!("({}).{variable}", self.bond_text(id))
    }

    /// An expression as text, in the names of the user.
    pub fn print(&self, expression: &Expression) -> String {
        expression.print(&|leaf| self.leaf_name(*leaf))
    }

    /// The ports of all storages, in the order of their declaration.
    pub fn storages(&self) -> impl Iterator<Item = (ElementId, u32)> + '_ {
        self.elements
            .iter()
            .filter(|(_, element)| element.kind.is_storage())
            .flat_map(|(id, element)| (0..element.ports.len() as u32).map(move |port| (id, port)))
    }

    pub(crate) fn switched(&self) -> impl Iterator<Item = ElementId> + '_ {
        self.elements.iter().filter(|(_, element)| element.condition.is_some()).map(|(id, _)| id)
    }

    /// The element of a hierarchical name.
    pub fn element_named(&self, name: &str) -> Option<ElementId> {
        self.elements.iter().find(|(_, element)| element.name == name).map(|(id, _)| id)
    }
}
