//! The kinds of elements.

/// What an element is, apart from whether signals modulate it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A 0-junction: one effort, flows add up.
    Zero,
    /// A 1-junction: one flow, efforts add up.
    One,
    /// `Se`: sets the effort.
    EffortSource,
    /// `Sf`: sets the flow.
    FlowSource,
    /// `R`: relates effort and flow.
    Resistor,
    /// `C`: stores the integral of the flow.
    Capacitor,
    /// `I`: stores the integral of the effort.
    Inertia,
    /// `TF`: efforts and flows of two ports have one ratio.
    Transformer,
    /// `GY`: the effort of one port follows from the flow of the other.
    Gyrator,
    /// `De`: shows the effort.
    EffortSensor,
    /// `Df`: shows the flow.
    FlowSensor,
    /// A part of a model that is none of these, known by its name; it has no law here.
    Component,
}

const NAMES: [(&str, Kind); 18] = [
    ("0", Kind::Zero),
    ("1", Kind::One),
    ("Se", Kind::EffortSource),
    ("Sf", Kind::FlowSource),
    ("R", Kind::Resistor),
    ("C", Kind::Capacitor),
    ("I", Kind::Inertia),
    ("TF", Kind::Transformer),
    ("GY", Kind::Gyrator),
    ("De", Kind::EffortSensor),
    ("Df", Kind::FlowSensor),
    ("MSe", Kind::EffortSource),
    ("MSf", Kind::FlowSource),
    ("MR", Kind::Resistor),
    ("MC", Kind::Capacitor),
    ("MI", Kind::Inertia),
    ("MTF", Kind::Transformer),
    ("MGY", Kind::Gyrator),
];

impl Kind {
    pub(crate) fn named(name: &str) -> Option<Kind> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// As it is written where no signal modulates it.
    pub fn symbol(self) -> &'static str {
        NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    pub(crate) fn is_junction(self) -> bool {
        matches!(self, Kind::Zero | Kind::One)
    }

    pub(crate) fn is_source(self) -> bool {
        matches!(self, Kind::EffortSource | Kind::FlowSource)
    }

    pub(crate) fn is_storage(self) -> bool {
        matches!(self, Kind::Capacitor | Kind::Inertia)
    }

    /// Laws of these are written for power that flows in.
    pub fn is_passive(self) -> bool {
        matches!(self, Kind::Resistor | Kind::Capacitor | Kind::Inertia)
    }

    /// Carries power from one bond to the other.
    pub fn is_two_port(self) -> bool {
        matches!(self, Kind::Transformer | Kind::Gyrator)
    }

    pub(crate) fn is_sensor(self) -> bool {
        matches!(self, Kind::EffortSensor | Kind::FlowSensor)
    }

    /// What the parameter is called in equations that name none: `R`, `C`, `I`, the ratio `m`, the ratio `r`.
    pub fn parameter(self) -> &'static str {
        match self {
            Kind::Resistor => "R",
            Kind::Capacitor => "C",
            Kind::Inertia => "I",
            Kind::Transformer => "m",
            Kind::Gyrator => "r",
            Kind::EffortSource => "e",
            Kind::FlowSource => "f",
            _ => "",
        }
    }

    /// The name of the state of a storage.
    pub fn state(self) -> &'static str {
        if self == Kind::Inertia { "p" } else { "q" }
    }
}
