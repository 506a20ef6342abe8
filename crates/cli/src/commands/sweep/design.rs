//! From what `--vary` says to the values of each variant, in the units of the parameters.

use dae::{VarId, Variability, VariableType};
use study::Factor;
use units::Conversion;

use super::vary::{Quantity, Values, Vary};
use crate::arguments::{Sampling, Sweep};
use crate::names;

/// More variants than these are a slip of the pen.
const MOST: usize = 10_000_000;

/// A parameter that varies.
#[derive(Clone, Debug)]
pub struct Varied {
    pub name: String,
    /// That of the parameter.
    pub unit: String,
    /// The unit to show its values in; may be empty.
    pub display_unit: String,
    pub factor: Factor,
    /// How many levels a grid has of it.
    pub count: Option<usize>,
    pub how: How,
    /// Where values are no numbers: their texts, and the factor holds their positions.
    pub texts: Option<Vec<String>>,
    /// The text of the value that the model has, where values are texts.
    own_text: String,
    ty: VariableType,
}

/// How a parameter gets its value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum How {
    /// The program takes it.
    Tuned(VarId),
    /// The model is translated with it.
    Translated,
}

impl Varied {
    /// A value for people: in its displayUnit, or its text.
    pub fn shown(&self, value: f64) -> String {
        if self.texts.is_some() || self.ty == VariableType::Boolean {
            return self.text(value);
        }
        let (unit, convert) = units::display(&self.unit, &self.display_unit);
        units::number(convert.apply(value), 5) + &units::behind_number(unit)
    }

    /// The text of a value, as `--set` has it.
    pub fn text(&self, value: f64) -> String {
        match &self.texts {
            Some(_) if value.is_nan() => self.own_text.clone(),
            Some(texts) => texts.get(value as usize).cloned().unwrap_or_default(),
            None if self.ty == VariableType::Boolean => (value != 0.0).to_string(),
            None if value.fract() == 0.0 && value.abs() < 1e15 => format!("{}", value as i64),
            None => format!("{value:?}"),
        }
    }
}

/// Finds the parameter that is to vary. `is_difference` tells whether values in a unit with an offset, such as degC, are differences
/// of this parameter.
pub fn resolve(
    vary: &Vary,
    program: &compile::Program,
    is_difference: &dyn Fn(&str, &str) -> Result<bool, String>,
) -> Result<Varied, String> {
    let model = program.model();
    let find = |name: &str| model.variables.ids().find(|&id| model.variable_name(id) == name);
    // `x.start` is set by a translation.
    let attribute = || {
        let (parent, attribute) = vary.name.rsplit_once('.')?;
        ["start", "nominal", "min", "max", "fixed"].contains(&attribute).then(|| find(parent)).flatten()
    };
    // A whole array is set by a translation, too; its first element tells what it is.
    let array = || {
        let elements = format!("{}[", vary.name);
        model.variables.ids().find(|&id| model.variable_name(id).starts_with(&elements))
    };
    let scalar = find(&vary.name);
    let own = scalar.or_else(array);
    let Some(id) = own.or_else(attribute) else {
        let known: Vec<String> = model
            .variables
            .ids()
            .filter(|&id| model.variables[id].variability == Variability::Parameter)
            .map(|id| model.variable_name(id))
            .collect();
        let near = session::nearest(&vary.name, known.iter().map(String::as_str));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        return Err(format!("there is no parameter `{}`{hint}", vary.name));
    };
    let declared = &model.variables[id];
    if own.is_some() && declared.variability != Variability::Parameter {
        return Err(format!("`{}` is no parameter; to vary where it begins, vary `{0}.start`", vary.name));
    }
    if own.is_some() && declared.is_final {
        return Err(format!("`{}` is final, so it cannot vary", vary.name));
    }
    let text = |unit: Option<base::Name>| unit.map_or(String::new(), |unit| unit.as_str().to_owned());
    let (unit, display_unit) = (text(declared.attributes.unit), text(declared.attributes.display_unit));
    let number = |quantity: &Quantity| in_unit(&vary.name, quantity, &unit, is_difference);
    let is_boolean = declared.ty == VariableType::Boolean;
    let mut texts = None;
    let is_range = !matches!(vary.values, Values::List(_));
    if is_range && own.is_some() && !matches!(declared.ty, VariableType::Real | VariableType::Integer) {
        let (name, example) = (&vary.name, examples(declared.ty, model));
        return Err(format!("`{name}` is no number, so it has no range: list its values, `{name}={example}`"));
    }
    let factor = match &vary.values {
        Values::Linear(low, high) if declared.ty == VariableType::Integer => {
            Factor::Whole { low: number(low)?, high: number(high)? }
        }
        Values::Linear(low, high) => Factor::Linear { low: number(low)?, high: number(high)? },
        Values::Logarithmic(low, high) => Factor::Logarithmic { low: number(low)?, high: number(high)? },
        Values::Normal(mean, deviation) => {
            let zero = Quantity { number: 0.0, ..deviation.clone() };
            Factor::Normal { mean: number(mean)?, deviation: number(deviation)? - number(&zero)? }
        }
        Values::List(list) => match list.iter().map(|it| value(it, is_boolean, &number)).collect::<Option<Vec<_>>>() {
            Some(numbers) => Factor::List(numbers.into_iter().collect::<Result<_, _>>()?),
            None => {
                let text = |it: &Result<Quantity, String>| match it {
                    Ok(quantity) => match &quantity.unit {
                        Some(unit) => format!("{:?} {unit}", quantity.number),
                        None => format!("{:?}", quantity.number),
                    },
                    Err(text) => text.clone(),
                };
                texts = Some(list.iter().map(text).collect());
                Factor::List((0..list.len()).map(|k| k as f64).collect())
            }
        },
    };
    if let Some(problem) = factor.problem() {
        return Err(format!("`{}`: {problem}", vary.name));
    }
    let tuned = scalar.filter(|&id| texts.is_none() && program.is_tunable(id));
    let how = tuned.map_or(How::Translated, How::Tuned);
    let own_text = if texts.is_some() { own_text(&vary.name, model) } else { String::new() };
    let (name, count, ty) = (vary.name.clone(), vary.count, declared.ty);
    Ok(Varied { name, unit, display_unit, factor, count, how, texts, own_text, ty })
}

/// The value that a parameter has in the model, as it would be set: `E.one`, `{1, 2*a}`.
fn own_text(name: &str, model: &dae::Model) -> String {
    let scalar = |id: VarId| {
        let declared = &model.variables[id];
        let Some(value) = declared.binding.or(declared.attributes.start) else { return String::new() };
        let literal = || {
            let VariableType::Enumeration(index) = declared.ty else { return None };
            let place = usize::try_from(model.exprs.as_real(value)? as i64 - 1).ok()?;
            Some(model.enumerations.get(index as usize)?.literals.get(place)?.to_string())
        };
        literal().unwrap_or_else(|| model.expression_text(value))
    };
    let elements = format!("{name}[");
    let mut found: Vec<(Vec<usize>, String)> = Vec::new();
    for id in model.variables.ids() {
        let own = model.variable_name(id);
        if own == name {
            return scalar(id);
        }
        let inside = own.strip_prefix(&elements).and_then(|rest| rest.strip_suffix(']'));
        let subscripts = inside.map(|inside| inside.split(',').map(|it| it.trim().parse()).collect::<Result<_, _>>());
        if let Some(Ok(subscripts)) = subscripts {
            found.push((subscripts, scalar(id)));
        }
    }
    found.sort();
    array_text(&found, 0)
}

/// Elements by their subscripts, in order, as an expression.
fn array_text(elements: &[(Vec<usize>, String)], level: usize) -> String {
    match elements {
        [(subscripts, text)] if subscripts.len() <= level => text.clone(),
        _ => {
            let parts = elements.chunk_by(|(a, _), (b, _)| a.get(level) == b.get(level));
            let parts: Vec<String> = parts.map(|part| array_text(part, level + 1)).collect();
            format!("{{{}}}", parts.join(", "))
        }
    }
}

/// Two values of a type, as they are written.
fn examples(ty: VariableType, model: &dae::Model) -> String {
    match ty {
        VariableType::Boolean => "true,false".to_owned(),
        VariableType::Enumeration(index) => {
            let literals = model.enumerations.get(index as usize).map(|it| it.literals.iter().take(2));
            literals.into_iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(",")
        }
        _ => "\"a\",\"b\"".to_owned(),
    }
}

impl Varied {
    /// The value of a sample: an Integer is the next whole number.
    fn sampled(&self, share: f64) -> f64 {
        let value = self.factor.quantile(share);
        if self.ty == VariableType::Integer && self.texts.is_none() { value.round() } else { value }
    }

    /// Levels of an Integer have to be whole; rounding errors of a logarithmic scale are none of the user's.
    fn checked(&self, levels: Vec<f64>) -> Result<Vec<f64>, String> {
        if self.ty != VariableType::Integer || self.texts.is_some() {
            return Ok(levels);
        }
        let whole = |level: &f64| {
            let near = level.round();
            let is_whole = (level - near).abs() <= 1e-9 * near.abs().max(1.0);
            is_whole.then_some(near).ok_or_else(|| {
                format!(
                    "`{}` is an Integer, and {} is not whole; choose other ends or another number of values",
                    self.name, level
                )
            })
        };
        levels.iter().map(whole).collect()
    }
}

/// An element of a list as a number; `None` for an expression.
fn value(
    element: &Result<Quantity, String>,
    is_boolean: bool,
    number: &dyn Fn(&Quantity) -> Result<f64, String>,
) -> Option<Result<f64, String>> {
    match element {
        Ok(quantity) => Some(number(quantity)),
        Err(text) if is_boolean && text == "true" => Some(Ok(1.0)),
        Err(text) if is_boolean && text == "false" => Some(Ok(0.0)),
        Err(_) => None,
    }
}

fn in_unit(
    name: &str,
    quantity: &Quantity,
    declared: &str,
    is_difference: &dyn Fn(&str, &str) -> Result<bool, String>,
) -> Result<f64, String> {
    let Some(unit) = &quantity.unit else { return Ok(quantity.number) };
    let Some(conversion) = Conversion::between(unit, declared).filter(|_| !declared.is_empty()) else {
        return Err(match declared {
            "" => format!("`{name}` has no unit, so `{unit}` cannot be converted to it"),
            _ => format!("`{name}` has the unit `{declared}`, to which `{unit}` cannot be converted"),
        });
    };
    match conversion.offset != 0.0 && is_difference(name, unit)? {
        true => Ok(quantity.number * conversion.factor),
        false => Ok(conversion.apply(quantity.number)),
    }
}

/// The values of all variants. `f64::NAN` stands for the value that the model has.
pub fn variants(arguments: &Sweep, varied: &[Varied]) -> Result<Vec<Vec<f64>>, String> {
    let counted = |size: Option<usize>| match size {
        Some(size) if size <= MOST => Ok(()),
        _ => Err(format!("these are more than {MOST} variants")),
    };
    let levels = |least: Option<usize>| -> Result<Vec<Vec<f64>>, String> {
        let of = |it: &Varied| match (&it.factor, it.count.or(least)) {
            (Factor::List(values), _) => it.checked(values.clone()),
            (_, Some(count)) if count <= MOST => it.checked(it.factor.levels(count)),
            (_, Some(_)) => Err(format!("these are more than {MOST} variants")),
            (_, None) => {
                let name = &it.name;
                Err(format!("how many values of `{name}`? Write `{name}=…:N`, or draw samples with `--samples N`"))
            }
        };
        varied.iter().map(of).collect()
    };
    let sampled = |points: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
        let value = |(it, share): (&Varied, &f64)| it.sampled(*share);
        points.iter().map(|point| varied.iter().zip(point).map(value).collect()).collect()
    };
    let needs_samples = || arguments.samples.ok_or("say with `--samples N` how many samples to draw".to_owned());
    let dimensions = varied.len();
    let seed = arguments.seed;
    match (arguments.sampling, arguments.samples) {
        (None, None) => {
            let levels = levels(None)?;
            counted(study::grid_size(&levels))?;
            Ok(study::grid(&levels))
        }
        (Some(Sampling::OneAtATime), None) => {
            let levels = levels(Some(2))?;
            counted(Some(levels.iter().map(Vec::len).sum()))?;
            Ok(study::one_at_a_time(&vec![f64::NAN; dimensions], &levels))
        }
        (Some(Sampling::OneAtATime), Some(_)) => Err(
            "`--sampling one-at-a-time` moves each parameter over its own values, `NAME=A..B:N`; leave out `--samples`"
                .to_owned(),
        ),
        (Some(Sampling::Saltelli), _) => {
            let samples = needs_samples()?;
            counted(study::saltelli_size(samples, dimensions))?;
            check_dimensions(2 * dimensions)?;
            Ok(sampled(study::saltelli(samples, dimensions, seed)))
        }
        (sampling, _) => {
            let samples = needs_samples()?;
            counted(samples.checked_mul(dimensions))?;
            match sampling {
                Some(Sampling::Random) => Ok(sampled(study::random(samples, dimensions, seed))),
                Some(Sampling::Sobol) => {
                    check_dimensions(dimensions)?;
                    Ok(sampled(study::sobol(samples, dimensions, seed)))
                }
                _ => Ok(sampled(study::latin_hypercube(samples, dimensions, seed))),
            }
        }
    }
}

fn check_dimensions(count: usize) -> Result<(), String> {
    let most = study::DIMENSIONS;
    if count > most {
        Err(format!("a Sobol' sequence has at most {most} coordinates here; vary fewer parameters"))
    } else {
        Ok(())
    }
}

/// The names of what is kept, with ranges of subscripts.
pub fn kept(list: &str, model: &dae::Model) -> Result<Vec<String>, String> {
    let known: Vec<String> = model.variables.ids().map(|id| model.variable_name(id)).collect();
    let mut found = Vec::new();
    for text in names::split(list) {
        for name in results::expression::expanded(&text, known.iter().map(String::as_str))? {
            if !known.contains(&name) {
                return Err(names::unknown(&name, "the model", known.iter().map(String::as_str)).message);
            }
            found.push(name);
        }
    }
    Ok(found)
}
