//! The usual diagrams as figures, which `results` draws in the terminal, as SVG, PNG or HTML.

use std::sync::Arc;

use results::plot::{Axis, Curve, Figure, Marks, Note, Panel, Scale, Shape, Style};

use crate::export::short_number;
use crate::{
    Complex, Error, FrequencyResponse, Margins, RANK_TOLERANCE, RootLocus, StateSpace, TimeResponse, transfer_function,
};

/// The largest order for which the phase is shifted to what follows from poles and zeros.
const LARGEST_PHASE: usize = 60;

/// Magnitude and phase of all pairs of inputs and outputs.
pub fn bode(system: &StateSpace, response: &FrequencyResponse) -> Figure {
    let frequencies: Arc<[f64]> = response.frequencies.as_slice().into();
    let mut magnitude = Panel { y: Axis::new("magnitude", "dB"), ..Panel::default() };
    let mut phase = Panel { y: Axis::new("phase", "deg").scale(Scale::Degrees), ..Panel::default() };
    for (output, input) in pairs(system) {
        let name = pair_name(system, output, input);
        magnitude.curves.push(Curve::new(name.clone(), frequencies.clone(), response.magnitude(output, input)));
        phase.curves.push(Curve::new(name, frequencies.clone(), natural_phase(system, response, output, input)));
    }
    // The names stand once, above the magnitudes.
    if magnitude.curves.len() == 1 {
        phase.curves.iter_mut().for_each(|curve| curve.name.clear());
    }
    Figure {
        title: title("Bode diagram", system),
        x: Axis::new("frequency", "rad/s").scale(Scale::Logarithmic),
        panels: vec![magnitude, phase],
        equal: false,
    }
}

/// The Bode diagram of a single loop with its margins.
pub fn bode_with_margins(system: &StateSpace, response: &FrequencyResponse, margins: &Margins) -> Figure {
    let mut figure = bode(system, response);
    let [magnitude, phase] = figure.panels.as_mut_slice() else { return figure };
    let range = (response.frequencies.first().copied(), response.frequencies.last().copied());
    let (Some(low), Some(high)) = range else { return figure };
    let line = |level: f64| Curve::new("", [low, high].as_slice().into(), vec![level; 2]).style(Style::Guide);
    magnitude.curves.push(line(0.0));
    let turns = phase.curves.first().and_then(|curve| curve.y.first().copied()).unwrap_or(0.0);
    let critical = -180.0 + 360.0 * (turns / 360.0).round().min(0.0);
    phase.curves.push(line(critical));
    let inside = |frequency: f64| (low..=high).contains(&frequency);
    if let Some(margin) = margins.smallest_gain().filter(|margin| inside(margin.frequency)) {
        let at = (margin.frequency, -crate::frequency::decibel(margin.factor));
        let text = format!("gain margin {} dB", short_number(round(-at.1)));
        magnitude.marks.push(Marks { name: String::new(), shape: Shape::Circle, points: vec![at] });
        magnitude.notes.push(Note::new(at, text));
    }
    if let Some(margin) = margins.smallest_phase().filter(|margin| inside(margin.frequency)) {
        let nearest = phase.curves[0].x.iter().zip(&phase.curves[0].y).find(|(x, _)| **x >= margin.frequency);
        let near = nearest.map_or(critical, |(_, &y)| y);
        let level = critical + margin.degrees;
        let at = (margin.frequency, level + 360.0 * ((near - level) / 360.0).round());
        phase.marks.push(Marks { name: String::new(), shape: Shape::Circle, points: vec![at] });
        phase.notes.push(Note::new(at, format!("phase margin {} deg", short_number(round(margin.degrees)))));
    }
    figure
}

/// To one decimal, as margins are read.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// The response in the complex plane, for positive frequencies and, thin, for negative ones.
pub fn nyquist(system: &StateSpace, response: &FrequencyResponse) -> Figure {
    let mut panel = Panel { y: Axis::new("imaginary part", ""), ..Panel::default() };
    // With the decades that each holds for: points crowd around resonances.
    let mut sizes: Vec<(f64, f64)> = Vec::new();
    let decades = |k: usize| {
        let frequency = |k: usize| response.frequencies[k.min(response.frequencies.len() - 1)].max(f64::MIN_POSITIVE);
        (frequency(k + 1) / frequency(k.saturating_sub(1))).log10()
    };
    for (output, input) in pairs(system) {
        let curve = response.curve(output, input);
        let weighted = curve.iter().enumerate().map(|(k, value)| (value.norm(), decades(k)));
        sizes.extend(weighted.filter(|(size, _)| size.is_finite()));
        let x: Arc<[f64]> = curve.iter().map(|value| value.re).collect();
        let upper: Vec<f64> = curve.iter().map(|value| value.im).collect();
        let lower = upper.iter().map(|value| -value).collect();
        panel.curves.push(Curve::new(pair_name(system, output, input), x.clone(), upper));
        panel.curves.push(Curve::new("", x, lower).style(Style::Companion));
    }
    let circle = |k: i32| Complex::from_polar(1.0, f64::from(k) * std::f64::consts::TAU / 90.0);
    let x = (0..=90).map(|k| circle(k).re).collect();
    panel.curves.push(Curve::new("", x, (0..=90).map(|k| circle(k).im).collect()).style(Style::Guide));
    panel.marks.push(Marks { name: "-1".to_owned(), shape: Shape::Plus, points: vec![(-1.0, 0.0)] });
    let mut x = Axis::new("real part", "");
    // Integrators and undamped resonances lead to infinity; what matters is near -1.
    sizes.sort_by(|x, y| x.0.total_cmp(&y.0));
    let half = sizes.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    let middle = sizes.iter().find(|(_, weight)| {
        below += weight;
        below >= half
    });
    let (median, largest) = (middle.map_or(1.0, |it| it.0), sizes.last().map_or(1.0, |it| it.0));
    let reach = 3.0 * median.max(1.0);
    if largest > 10.0 * reach {
        x.limits = Some((-reach, reach));
        panel.y.limits = Some((-reach, reach));
    }
    Figure { title: title("Nyquist diagram", system), x, panels: vec![panel], equal: true }
}

/// Magnitude over phase.
pub fn nichols(system: &StateSpace, response: &FrequencyResponse) -> Figure {
    let mut panel = Panel { y: Axis::new("magnitude", "dB"), ..Panel::default() };
    for (output, input) in pairs(system) {
        let phase = natural_phase(system, response, output, input);
        let name = pair_name(system, output, input);
        panel.curves.push(Curve::new(name, phase.into(), response.magnitude(output, input)));
    }
    let phases = panel.curves.iter().flat_map(|curve| curve.x.iter().copied()).filter(|phase| phase.is_finite());
    let (low, high) = phases.fold((-180.0f64, -180.0f64), |(low, high), phase| (low.min(phase), high.max(phase)));
    // -1 lies at every odd multiple of 180° that the curves come to.
    let (first, last) = (((low - 180.0) / 360.0).round() as i64, ((high + 180.0) / 360.0).round() as i64);
    let critical = (first..=last).map(|turn| 360.0 * turn as f64 + 180.0);
    let points =
        critical.filter(|phase| (low - 60.0..=high + 60.0).contains(phase)).map(|phase| (phase, 0.0)).collect();
    panel.marks.push(Marks { name: "critical point".to_owned(), shape: Shape::Plus, points });
    let x = Axis::new("phase", "deg").scale(Scale::Degrees);
    Figure { title: title("Nichols diagram", system), x, panels: vec![panel], equal: false }
}

/// Poles as crosses, zeros as circles.
pub fn pole_zero(system: &StateSpace, poles: &[Complex], zeros: &[Complex]) -> Figure {
    let mut panel = Panel { y: Axis::new("imaginary part", "rad/s"), ..Panel::default() };
    push_roots(&mut panel, poles, zeros);
    let all = poles.iter().chain(zeros);
    let reach = all.map(|root| root.re.abs().max(root.im.abs())).fold(0.0, f64::max) * 100.0;
    let reach = if reach > 0.0 { reach } else { 100.0 };
    push_axes(&mut panel, reach);
    // The origin and the imaginary axis are always in sight: they decide about stability.
    panel.curves.push(Curve::new("", vec![0.0].into(), vec![0.0]).style(Style::Companion));
    let title = title("Poles and zeros", system);
    let points = poles.iter().chain(zeros).map(|root| (root.re, root.im));
    let equal = is_square(points.chain([(0.0, 0.0)]));
    Figure { title, x: Axis::new("real part", "1/s"), panels: vec![panel], equal }
}

fn push_roots(panel: &mut Panel, poles: &[Complex], zeros: &[Complex]) {
    for (name, shape, roots) in [("poles", Shape::Cross, poles), ("zeros", Shape::Circle, zeros)] {
        if roots.is_empty() {
            continue;
        }
        let mut distinct: Vec<(Complex, usize)> = Vec::new();
        for root in roots {
            match distinct.iter_mut().find(|(other, _)| other == root) {
                Some((_, count)) => *count += 1,
                None => distinct.push((*root, 1)),
            }
        }
        let points = distinct.iter().map(|(root, _)| (root.re, root.im)).collect();
        panel.marks.push(Marks { name: name.to_owned(), shape, points });
        for (root, count) in distinct.into_iter().filter(|(_, count)| *count > 1) {
            panel.notes.push(Note::new((root.re, root.im), format!("{count} {name}")));
        }
    }
}

/// Both axes of the plane.
fn push_axes(panel: &mut Panel, reach: f64) {
    let (line, nothing) = (vec![-reach, reach], vec![0.0; 2]);
    panel.curves.push(Curve::new("", line.as_slice().into(), nothing.clone()).style(Style::Guide));
    panel.curves.push(Curve::new("", nothing.into(), line).style(Style::Guide));
}

/// The branches of a root locus, with poles and zeros.
pub fn locus(system: &StateSpace, locus: &RootLocus) -> Figure {
    let mut panel = Panel { y: Axis::new("imaginary part", "rad/s"), ..Panel::default() };
    for branch in &locus.branches {
        let x = branch.iter().map(|pole| pole.re).collect();
        panel.curves.push(Curve::new("", x, branch.iter().map(|pole| pole.im).collect()));
    }
    push_roots(&mut panel, &locus.poles, &locus.zeros);
    for (name, points) in [("breakaway", &locus.breakaways), ("crossing", &locus.crossings)] {
        if points.is_empty() {
            continue;
        }
        let shape = if name == "breakaway" { Shape::Square } else { Shape::Plus };
        let places = points.iter().map(|point| (point.point.re, point.point.im)).collect();
        panel.marks.push(Marks { name: name.to_owned(), shape, points: places });
        let noted = points.iter().filter(|point| point.gain > 0.0 && point.point.im >= 0.0);
        panel.notes.extend(noted.map(|point| {
            let gain = short_number(three_digits(point.gain));
            Note::new((point.point.re, point.point.im), format!("k = {gain}"))
        }));
    }
    // Branches run to infinity: the picture ends where nothing else happens.
    let marked = panel.marks.iter().flat_map(|marks| &marks.points).copied();
    let around = |low: f64, high: f64, reach: f64| {
        let air = 0.35 * (high - low).max(0.1 * reach);
        (low - air, high + air)
    };
    let (mut left, mut right, mut high) = (0.0f64, 0.0f64, 0.0f64);
    for (re, im) in marked {
        (left, right, high) = (left.min(re), right.max(re), high.max(im.abs()));
    }
    if left == right && high == 0.0 {
        // Roots at the origin alone have no size; the branches are followed around it.
        (left, right, high) = (-1.0, 1.0, 1.0);
    }
    let reach = (right - left).max(2.0 * high);
    let mut x = Axis::new("real part", "1/s");
    x.limits = Some(around(left, right, reach));
    panel.y.limits = Some(around(-high, high, reach));
    push_axes(&mut panel, 100.0 * reach);
    let equal = is_square([(left, -high), (right, high)].into_iter());
    Figure { title: title("Root locus", system), x, panels: vec![panel], equal }
}

/// Whether equal scales leave enough to see in both directions.
fn is_square(points: impl Iterator<Item = (f64, f64)>) -> bool {
    let infinite = (f64::INFINITY, f64::NEG_INFINITY);
    let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    let (x, y) = points.fold((infinite, infinite), |(x, y), point| (wider(x, point.0), wider(y, point.1)));
    let (width, height) = (x.1 - x.0, y.1 - y.0);
    width <= 5.0 * height && height <= 5.0 * width
}

fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// A panel for each output with a curve for each input.
pub fn time(system: &StateSpace, response: &TimeResponse, name: &str) -> Figure {
    let time: Arc<[f64]> = response.time.as_slice().into();
    let mut panels = Vec::new();
    for (output, signal) in system.outputs.iter().enumerate() {
        let mut panel = Panel { y: Axis::new(signal.name.clone(), signal.unit.clone()), ..Panel::default() };
        for input in 0..system.inputs.len() {
            let curve = Curve::new(pair_name(system, output, input), time.clone(), response.curve(output, input));
            panel.curves.push(curve);
        }
        panels.push(panel);
    }
    Figure { title: title(name, system), x: Axis::new("time", "s"), panels, equal: false }
}

fn pairs(system: &StateSpace) -> impl Iterator<Item = (usize, usize)> {
    let inputs = system.inputs.len();
    (0..system.outputs.len()).flat_map(move |output| (0..inputs).map(move |input| (output, input)))
}

fn pair_name(system: &StateSpace, output: usize, input: usize) -> String {
    format!("{} -> {}", system.inputs[input].name, system.outputs[output].name)
}

fn title(kind: &str, system: &StateSpace) -> String {
    match (system.inputs.as_slice(), system.outputs.as_slice()) {
        ([input], [output]) => format!("{kind}: {} -> {}", input.name, output.name),
        _ => kind.to_owned(),
    }
}

/// Without jumps, shifted by full turns to the sum of the angles of poles and zeros: -90° for each integrator.
fn natural_phase(system: &StateSpace, response: &FrequencyResponse, output: usize, input: usize) -> Vec<f64> {
    let mut phase = response.phase(output, input);
    let Some(at) = phase.iter().position(|value| value.is_finite()) else { return phase };
    if system.order() > LARGEST_PHASE {
        return phase;
    }
    let function: Result<_, Error> = transfer_function(system, output, input, RANK_TOLERANCE);
    if let Ok(function) = function {
        let wanted = function.natural_phase(response.frequencies[at]);
        let turns = ((wanted - phase[at]) / 360.0).round() * 360.0;
        if turns.is_finite() {
            phase.iter_mut().for_each(|value| *value += turns);
        }
    }
    phase
}
