//! Pictures of a study: quantiles over time (fan), a quantity over two parameters (heat map), what each parameter changes by itself
//! (tornado).

use std::sync::Arc;

use results::plot::{Axis, Band, Block, Curve, Figure, Key, Note, Panel, Scale, Side, Style, shade};
use results::{Table, Trajectories};
use study::{Factor, quantile};

use super::design::Varied;
use super::effects;
use super::variant::{Plan, trajectory};
use crate::arguments::{Sampling, StudyPicture, Sweep};
use crate::commands::plot::write;
use crate::exit::Failure;

/// As many instants a fan is drawn at.
const INSTANTS: usize = 500;

/// Refuses pictures that the study cannot give, before it runs.
pub fn check(arguments: &Sweep, plan: &Plan) -> Result<(), String> {
    for (kind, _) in &arguments.plot {
        match kind {
            StudyPicture::Fan if plan.kept.is_empty() => {
                return Err("a fan needs trajectories: name the variables with --keep".to_owned());
            }
            StudyPicture::Heatmap if grid_factors(plan).is_none() || arguments.samples.is_some() => {
                return Err("a heat map needs exactly two varied parameters with several values each, and no samples"
                    .to_owned());
            }
            StudyPicture::Heatmap | StudyPicture::Tornado if plan.kept.is_empty() && arguments.of.is_none() => {
                return Err("name the quantity of the picture with --of, such as `max(x)`".to_owned());
            }
            _ => {}
        }
    }
    Ok(())
}

pub fn draw(arguments: &Sweep, plan: &Plan, table: &Table) -> Result<(), Failure> {
    for (kind, path) in &arguments.plot {
        let figure = match kind {
            StudyPicture::Fan => fan(arguments, plan, table),
            StudyPicture::Heatmap => heat_map(arguments, plan, table),
            StudyPicture::Tornado => tornado(arguments, plan, table),
        };
        write(&figure.map_err(Failure::call)?, path)?;
    }
    Ok(())
}

fn fan(arguments: &Sweep, plan: &Plan, table: &Table) -> Result<Figure, String> {
    let names = match &arguments.of {
        Some(list) => crate::names::split(list),
        None => plan.kept.clone(),
    };
    // A fan of `max(x)` is one of `x`.
    let names: Vec<String> = names.iter().map(|name| variable_of(plan, name).to_owned()).collect();
    if let Some(unknown) = names.iter().find(|name| !plan.kept.contains(name)) {
        return Err(format!("a fan of `{unknown}` needs its trajectories: name it with --keep"));
    }
    let succeeded = super::succeeded(table);
    let numbers = table.numbers("variant").unwrap_or_default();
    let runs = numbers.iter().zip(succeeded).filter(|(_, ok)| *ok).map(|(number, _)| {
        results::read(&trajectory(&plan.trajectories, *number as usize)).map_err(|error| error.to_string())
    });
    let runs: Vec<Trajectories> = runs.collect::<Result<_, _>>()?;
    let options = &plan.programs.options;
    let (start, stop) = (options.start_time, options.stop_time);
    let time: Arc<[f64]> =
        (0..=INSTANTS).map(|k| start + (stop - start) * k as f64 / INSTANTS as f64).collect::<Vec<_>>().into();
    let mut panels = Vec::new();
    for name in &names {
        let column = runs.iter().find_map(|run| run.get(name)).map(|found| found.column.clone()).unwrap_or_default();
        let (unit, convert) = units::display(&column.unit, &column.display_unit);
        let values: Vec<Vec<f64>> =
            time.iter().map(|&at| runs.iter().filter_map(|run| run.at(name, at)).collect()).collect();
        let at =
            |share: f64| -> Vec<f64> { values.iter().map(|values| convert.apply(quantile(values, share))).collect() };
        let band = |name: &str, low: f64, high: f64, strength: f64| Band {
            name: name.to_owned(),
            x: time.clone(),
            lower: at(low),
            upper: at(high),
            colour: (0, strength),
        };
        panels.push(Panel {
            y: Axis::new(name.clone(), unit),
            bands: vec![band("all", 0.0, 1.0, 0.10), band("90 %", 0.05, 0.95, 0.22), band("50 %", 0.25, 0.75, 0.42)],
            curves: vec![Curve::new("median", time.clone(), at(0.5))],
            ..Panel::default()
        });
    }
    let count = runs.len();
    Ok(Figure { title: format!("{}: {count} variants", plan.model), x: Axis::new("time", "s"), panels, equal: false })
}

/// The two parameters of a grid that have several values.
fn grid_factors(plan: &Plan) -> Option<[(usize, &Varied); 2]> {
    let several = |k: usize| {
        let first = plan.variants.first().map(|point| point[k]);
        plan.variants.iter().any(|point| Some(point[k]) != first)
    };
    let found: Vec<(usize, &Varied)> = plan.varied.iter().enumerate().filter(|(k, _)| several(*k)).collect();
    <[_; 2]>::try_from(found).ok()
}

/// The levels of a parameter and the edges of their cells, in its displayUnit.
struct Levels {
    axis: Axis,
    /// As the variants have them.
    values: Vec<f64>,
    edges: Vec<f64>,
}

impl Levels {
    fn of(plan: &Plan, (k, varied): (usize, &Varied)) -> Self {
        let mut values: Vec<f64> = plan.variants.iter().map(|point| point[k]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        if let Some(texts) = &varied.texts {
            let axis = Axis { names: texts.clone(), ..Axis::new(varied.name.clone(), "") };
            let edges = (0..=values.len()).map(|edge| edge as f64 - 0.5).collect();
            return Self { axis, values, edges };
        }
        let logarithmic = matches!(varied.factor, Factor::Logarithmic { .. });
        let (unit, convert) = match units::display(&varied.unit, &varied.display_unit) {
            // A logarithmic axis stays one in units without an offset alone.
            (_, convert) if logarithmic && convert.offset != 0.0 => (varied.unit.as_str(), units::Conversion::NONE),
            shown => shown,
        };
        let mut axis = Axis::new(varied.name.clone(), unit);
        if logarithmic {
            axis.scale = Scale::Logarithmic;
        }
        let place = |value: f64| if logarithmic { convert.apply(value).ln() } else { convert.apply(value) };
        let back = |place: f64| if logarithmic { place.exp() } else { place };
        let places: Vec<f64> = values.iter().map(|&value| place(value)).collect();
        let inner: Vec<f64> = places.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
        // The outermost cells reach as far beyond their value as before it.
        let end = |at: usize, neighbour: usize| 2.0 * places[at] - inner.get(neighbour).copied().unwrap_or(places[at]);
        let last = places.len() - 1;
        let edges = std::iter::once(end(0, 0)).chain(inner.iter().copied());
        let edges = edges.chain([end(last, last.saturating_sub(1))]).map(back).collect();
        Self { axis, values, edges }
    }

    fn cell(&self, value: f64) -> (f64, f64) {
        let k = self.values.iter().position(|&level| level == value).unwrap_or(0);
        (self.edges[k], self.edges[k + 1])
    }
}

fn heat_map(arguments: &Sweep, plan: &Plan, table: &Table) -> Result<Figure, String> {
    let quantity =
        super::quantities(arguments, plan, table)?.into_iter().next().ok_or("name the quantity with --of")?;
    let (unit, values) = shown(plan, table, &quantity);
    let [first, second] = grid_factors(plan).ok_or("a heat map needs exactly two varied parameters")?;
    let (across, up) = (Levels::of(plan, first), Levels::of(plan, second));
    let succeeded = super::succeeded(table);
    let finite =
        || values.iter().zip(&succeeded).filter(|(value, ok)| **ok && value.is_finite()).map(|(value, _)| *value);
    let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)));
    if low > high {
        return Err(format!("`{quantity}` has no value in any variant"));
    }
    let share = |value: f64| if high > low { (value - low) / (high - low) } else { 0.5 };
    let block = |((point, &value), &ok): ((&Vec<f64>, &f64), &bool)| {
        let (x, y) = (point[first.0], point[second.0]);
        let said = if ok { units::number(value, 6) } else { "failed".to_owned() };
        let place = |(_, varied): (usize, &Varied), value: f64| format!("{} = {}", varied.name, varied.shown(value));
        let hint = format!("{}, {}: {said}", place(first, x), place(second, y));
        let colour = shade(if ok { share(value) } else { f64::NAN });
        Block { x: across.cell(x), y: up.cell(y), colour, hint }
    };
    let blocks = plan.variants.iter().zip(&values).zip(&succeeded).map(block).collect();
    let key = Key { axis: Axis::new(quantity.clone(), unit), low, high };
    let panel = Panel { y: up.axis, blocks, key: Some(key), ..Panel::default() };
    Ok(Figure { title: format!("{}: {quantity}", plan.model), x: across.axis, panels: vec![panel], equal: false })
}

/// The variable that a quantity such as `max(x)` is one of.
pub fn variable_of<'a>(plan: &Plan, quantity: &'a str) -> &'a str {
    let inner = quantity.split_once('(').and_then(|(function, rest)| {
        let is_statistic = ["final", "min", "max", "mean"].contains(&function);
        rest.strip_suffix(')').filter(|_| is_statistic)
    });
    match inner {
        Some(inner) if !plan.kept.iter().any(|name| name == quantity) => inner,
        _ => quantity,
    }
}

/// The values of a quantity in the displayUnit of its variable, which stands before them.
fn shown(plan: &Plan, table: &Table, quantity: &str) -> (String, Vec<f64>) {
    let name = variable_of(plan, quantity);
    let model = plan.programs.model();
    let id = model.variables.ids().find(|&id| model.variable_name(id) == name);
    let attributes = id.map(|id| model.variables[id].attributes.clone());
    let text = |unit: Option<base::Name>| unit.map_or(String::new(), |unit| unit.as_str().to_owned());
    let (unit, display_unit) = attributes.map_or(Default::default(), |it| (text(it.unit), text(it.display_unit)));
    let (unit, convert) = units::display(&unit, &display_unit);
    let values = table.numbers(quantity).unwrap_or_default();
    (unit.to_owned(), values.into_iter().map(|value| convert.apply(value)).collect())
}

/// What a parameter changes: its value and the quantity at the lowest and at the highest quantity.
struct Bar<'a> {
    varied: &'a Varied,
    low: (f64, f64),
    high: (f64, f64),
}

fn tornado(arguments: &Sweep, plan: &Plan, table: &Table) -> Result<Figure, String> {
    let quantity =
        super::quantities(arguments, plan, table)?.into_iter().next().ok_or("name the quantity with --of")?;
    let (unit, values) = shown(plan, table, &quantity);
    let (succeeded, is_one_at_a_time) = (super::succeeded(table), arguments.sampling == Some(Sampling::OneAtATime));
    let values: Vec<f64> =
        values.iter().zip(&succeeded).map(|(&value, &ok)| if ok { value } else { f64::NAN }).collect();
    let base = match is_one_at_a_time {
        true => values.first().copied().filter(|base| base.is_finite()).ok_or("the model as it is failed")?,
        false => effects::mean(values.iter().copied()).ok_or(format!("`{quantity}` has no value in any variant"))?,
    };
    let bar = |k: usize| {
        let varied = &plan.varied[k];
        // Samples of a list have its values.
        let are_spread = arguments.samples.is_some() && !matches!(varied.factor, Factor::List(_));
        let ends = match is_one_at_a_time {
            true => effects::moved(&plan.variants, &values, k),
            false => effects::by_itself(&plan.variants, &values, k, are_spread),
        };
        let (low, high) = effects::ends(&ends)?;
        Some(Bar { varied, low, high })
    };
    let mut bars: Vec<Bar> = (0..plan.varied.len()).filter_map(bar).collect();
    let swing = |bar: &Bar| bar.high.1.max(base) - bar.low.1.min(base);
    // From bottom to top.
    bars.sort_by(|a, b| swing(a).total_cmp(&swing(b)));
    let (mut blocks, mut notes) = (Vec::new(), Vec::new());
    let widest = bars.iter().map(swing).fold(0.0, f64::max);
    for (place, bar) in bars.iter().enumerate() {
        let place = place as f64;
        for (end, colour, side) in [(bar.low, [86, 180, 233], Side::Left), (bar.high, [213, 94, 0], Side::Right)] {
            let value = bar.varied.shown(end.0);
            let hint = format!("{} = {value}: {}", bar.varied.name, units::number(end.1, 6));
            blocks.push(Block { x: (base.min(end.1), base.max(end.1)), y: (place - 0.32, place + 0.32), colour, hint });
            // Beside the bar, and beside the line where there is none.
            let at = if side == Side::Left { base.min(end.1) } else { base.max(end.1) };
            notes.push(Note { at: (at, place), text: value, side });
        }
    }
    let axis = Axis { names: bars.iter().map(|bar| bar.varied.name.clone()).collect(), ..Axis::default() };
    let (bottom, top) = (-0.6, bars.len() as f64 - 0.4);
    let line = Curve::new("", vec![base, base].into(), vec![bottom, top]).style(Style::Companion);
    let panel = Panel {
        y: Axis { limits: Some((bottom, top)), ..axis },
        blocks,
        notes,
        curves: vec![line],
        ..Panel::default()
    };
    let mut x = Axis::new(quantity.clone(), unit.clone());
    let (low, high) = bars.iter().fold((base, base), |(low, high), bar| (low.min(bar.low.1), high.max(bar.high.1)));
    // Room for the values beside the bars.
    let air = if widest > 0.0 { 0.25 * (high - low) } else { base.abs().max(1.0) * 0.1 };
    x.limits = Some((low - air, high + air));
    let what = if is_one_at_a_time { "as it is" } else { "on average" };
    let title = format!("{}: {quantity}, {}{} {what}", plan.model, units::number(base, 5), units::behind_number(&unit));
    Ok(Figure { title, x, panels: vec![panel], equal: false })
}
