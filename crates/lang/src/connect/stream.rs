//! Stream connectors (specification 15): what flows in, mixed from the others of the connection set, and the equations
//! of outside connectors.

use dae::{Builtin, CompareOp, ExprId, Model, VarId};
use rustc_hash::FxHashMap;

use super::Side;
use super::sets::Face;

/// Below this sum of flows the mixture is regularised (15.2).
const SMALL_FLOW: f64 = 1e-10;

/// The connection sets of stream variables.
#[derive(Default)]
pub struct Streams {
    /// The flow variable that carries a stream variable.
    pub flows: FxHashMap<VarId, VarId>,
    sets: Vec<Vec<Face>>,
    set_of: FxHashMap<Face, usize>,
}

impl Streams {
    pub fn add_set(&mut self, set: Vec<Face>) {
        let number = self.sets.len();
        for &face in &set {
            self.set_of.insert(face, number);
        }
        self.sets.push(set);
    }

    /// `inStream(variable)` for the variable of a connector as seen from inside its component.
    pub fn in_stream(&self, model: &mut Model, variable: VarId) -> ExprId {
        // Hierarchies of connectors are as deep as the components; a cycle cannot arise in sets of different levels.
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.mixture(model, Face { variable, side: Side::Inside }))
    }

    /// The equations of the outside connectors: the stream variable and what it equals.
    pub fn outside_equations(&self, model: &mut Model) -> Vec<(VarId, ExprId)> {
        let mut equations = Vec::new();
        for set in &self.sets {
            for &face in set.iter().filter(|face| face.side == Side::Outside) {
                equations.push((face.variable, self.mixture(model, face)));
            }
        }
        equations
    }

    /// What the others of the set deliver to this face.
    fn mixture(&self, model: &mut Model, face: Face) -> ExprId {
        let Some(set) = self.set_of.get(&face).map(|&number| &self.sets[number]) else {
            return model.exprs.var(face.variable);
        };
        let others: Vec<Face> =
            set.iter().copied().filter(|&other| other != face && self.can_deliver(model, other)).collect();
        match *others.as_slice() {
            [] => match set.iter().find(|&&other| other != face) {
                Some(&other) => self.delivered(model, other),
                None => model.exprs.var(face.variable),
            },
            [only] => self.delivered(model, only),
            _ => self.mixed(model, &others),
        }
    }

    /// Whether the flow of a face can go into the connection at all, by the bounds of its flow variable.
    fn can_deliver(&self, model: &Model, face: Face) -> bool {
        let Some(&flow) = self.flows.get(&face.variable) else { return true };
        let attributes = &model.variables[flow].attributes;
        match face.side {
            Side::Inside => !attributes.min.and_then(|min| model.exprs.as_real(min)).is_some_and(|min| min >= 0.0),
            Side::Outside => !attributes.max.and_then(|max| model.exprs.as_real(max)).is_some_and(|max| max <= 0.0),
        }
    }

    /// The value that a face delivers when it delivers.
    fn delivered(&self, model: &mut Model, face: Face) -> ExprId {
        match face.side {
            Side::Inside => model.exprs.var(face.variable),
            Side::Outside => self.in_stream(model, face.variable),
        }
    }

    /// Σ positiveMax(mⱼ)·hⱼ / Σ positiveMax(mⱼ), with mⱼ counted into the connection.
    fn mixed(&self, model: &mut Model, others: &[Face]) -> ExprId {
        let zero = model.exprs.real(0.0);
        let mut delivered = Vec::new();
        let mut flows = Vec::new();
        for &face in others {
            delivered.push(self.delivered(model, face));
            let flow = match self.flows.get(&face.variable) {
                Some(&flow) => model.exprs.var(flow),
                None => zero,
            };
            let inwards = if face.side == Side::Inside { model.exprs.neg(flow) } else { flow };
            flows.push(model.exprs.builtin(Builtin::Max, &[inwards, zero]));
        }
        let weights = regularise(model, &flows);
        let products: Vec<ExprId> =
            weights.iter().zip(&delivered).map(|(&weight, &value)| model.exprs.mul(weight, value)).collect();
        let numerator = model.exprs.sum(&products);
        let denominator = model.exprs.sum(&weights);
        model.exprs.div(numerator, denominator)
    }
}

/// positiveMax of 15.2: α·max(m, 0) + (1 − α)·ε, where α goes smoothly to 0 with the sum of all flows.
fn regularise(model: &mut Model, flows: &[ExprId]) -> Vec<ExprId> {
    let exprs = &mut model.exprs;
    let small = exprs.real(SMALL_FLOW);
    let sum = exprs.sum(flows);
    let ratio = exprs.div(sum, small);
    let (one, two, three) = (exprs.real(1.0), exprs.real(2.0), exprs.real(3.0));
    let twice = exprs.mul(two, ratio);
    let bracket = exprs.sub(three, twice);
    let square = exprs.mul(ratio, ratio);
    let cubic = exprs.mul(square, bracket);
    let large = exprs.compare(CompareOp::Greater, false, sum, small);
    let alpha = exprs.if_(large, one, cubic);
    let rest = exprs.sub(one, alpha);
    let floor = exprs.mul(rest, small);
    flows
        .iter()
        .map(|&flow| {
            let scaled = exprs.mul(alpha, flow);
            exprs.add(scaled, floor)
        })
        .collect()
}
