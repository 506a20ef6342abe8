//! What `--vary` says: `R=10..100:20`, `C=log(1e-9..1e-6):10`, `K=1,2,5`, `T=normal(25,2) degC`.

use crate::names;

/// A parameter and its values as they are written.
#[derive(Clone, PartialEq, Debug)]
pub struct Vary {
    pub name: String,
    pub values: Values,
    /// How many of them a grid has.
    pub count: Option<usize>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    Linear(Quantity, Quantity),
    Logarithmic(Quantity, Quantity),
    /// Mean and deviation.
    Normal(Quantity, Quantity),
    /// Elements that are no numbers are expressions of Modelica.
    List(Vec<Result<Quantity, String>>),
}

/// A number and its unit; that of the parameter where there is none.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity {
    pub number: f64,
    pub unit: Option<String>,
}

impl Vary {
    pub fn parse(text: &str) -> Result<Self, String> {
        let usage = "write it as NAME=A..B:N, NAME=log(A..B):N or NAME=V1,V2,…, for example `R=10..100:20`; units stand behind numbers";
        let wrong = || format!("`--vary {text}`: {usage}");
        let (name, values) = text.split_once('=').ok_or_else(wrong)?;
        let (name, values) = (name.trim(), values.trim());
        if name.is_empty() || values.is_empty() {
            return Err(wrong());
        }
        let (body, count) = split_count(values);
        let range = |ends: &str, unit: &str| {
            let (low, high) = ends.split_once("..")?;
            let (low, high) = (quantity(low)?, quantity(high)?);
            // A unit behind the last number is that of both.
            let unit = if unit.is_empty() { high.unit.clone().or(low.unit.clone()) } else { Some(unit.to_owned()) };
            let with_unit = |it: Quantity| Quantity { unit: it.unit.or_else(|| unit.clone()), ..it };
            Some((with_unit(low), with_unit(high)))
        };
        let values = if let Some((inside, unit)) = call(body, "log") {
            let (low, high) = range(inside, unit).ok_or_else(wrong)?;
            Values::Logarithmic(low, high)
        } else if let Some((inside, unit)) = call(body, "normal") {
            let (mean, deviation) = range(&inside.replacen(',', "..", 1), unit).ok_or_else(wrong)?;
            Values::Normal(mean, deviation)
        } else if body.contains("..") && !body.starts_with(['"', '{']) {
            let (low, high) = range(body, "").ok_or_else(wrong)?;
            Values::Linear(low, high)
        } else {
            let element = |text: String| quantity(&text).ok_or(text);
            let list: Vec<_> = names::split(values).into_iter().map(element).collect();
            if let Some(odd) = list.iter().filter_map(|it| it.as_ref().err()).find(|it| is_no_finite_number(it)) {
                return Err(format!("`--vary {text}`: `{odd}` is no finite number"));
            }
            return match list.is_empty() {
                true => Err(wrong()),
                false => Ok(Self { name: name.to_owned(), values: Values::List(with_last_unit(list)), count: None }),
            };
        };
        if count == Some(0) {
            return Err(format!("`--vary {text}`: there has to be at least one value"));
        }
        Ok(Self { name: name.to_owned(), values, count })
    }
}

/// `10..100:20` as `10..100` and 20.
fn split_count(values: &str) -> (&str, Option<usize>) {
    match values.rsplit_once(':') {
        Some((body, count)) if count.trim().parse::<usize>().is_ok() => (body.trim(), count.trim().parse().ok()),
        _ => (values, None),
    }
}

/// `log(1..10) nF` as `1..10` and `nF`.
fn call<'a>(body: &'a str, function: &str) -> Option<(&'a str, &'a str)> {
    let rest = body.strip_prefix(function)?.trim_start().strip_prefix('(')?;
    let (inside, unit) = rest.rsplit_once(')')?;
    Some((inside, unit.trim()))
}

fn quantity(text: &str) -> Option<Quantity> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(Quantity { number, unit: None });
    }
    let (number, unit) = text.split_once(char::is_whitespace)?;
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite())?;
    let unit = unit.trim();
    let is_unit = unit.starts_with(|c: char| c.is_alphabetic() || c == '%');
    is_unit.then(|| Quantity { number, unit: Some(unit.to_owned()) })
}

/// `nan` and `inf`, which read like numbers and are none.
fn is_no_finite_number(text: &str) -> bool {
    let number = text.split_whitespace().next().unwrap_or(text);
    number.parse::<f64>().is_ok_and(|number| !number.is_finite())
}

/// `1, 2, 5 kOhm`: a unit at the end is that of the numbers before it that have none.
fn with_last_unit(mut list: Vec<Result<Quantity, String>>) -> Vec<Result<Quantity, String>> {
    let unit = match list.last() {
        Some(Ok(last)) => last.unit.clone(),
        _ => None,
    };
    let bare = list.iter().rev().skip(1).all(|it| it.as_ref().is_ok_and(|it| it.unit.is_none()));
    if bare && unit.is_some() {
        list.iter_mut().flatten().for_each(|it| it.unit = unit.clone());
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let shown = |it: &Quantity| format!("{}{}", it.number, it.unit.as_deref().unwrap_or(""));
        match Vary::parse(text) {
            Err(message) => message,
            Ok(vary) => {
                let values = match &vary.values {
                    Values::Linear(low, high) => format!("linear {} {}", shown(low), shown(high)),
                    Values::Logarithmic(low, high) => format!("log {} {}", shown(low), shown(high)),
                    Values::Normal(mean, deviation) => format!("normal {} {}", shown(mean), shown(deviation)),
                    Values::List(list) => {
                        let list: Vec<String> =
                            list.iter().map(|it| it.as_ref().map_or_else(|text| format!("<{text}>"), shown)).collect();
                        format!("list {}", list.join(" "))
                    }
                };
                format!("{} {values} {:?}", vary.name, vary.count)
            }
        }
    }

    #[test]
    fn promised_forms() {
        assert_eq!(said("R=10..100:20"), "R linear 10 100 Some(20)");
        assert_eq!(said("C=log(1e-9..1e-6):10"), "C log 0.000000001 0.000001 Some(10)");
        assert_eq!(said("K=1,2,5"), "K list 1 2 5 None");
        assert_eq!(said("a.b[1].R = -5 .. 5"), "a.b[1].R linear -5 5 None");
    }

    #[test]
    fn units_stand_behind_numbers() {
        assert_eq!(said("T=20..80 degC:7"), "T linear 20degC 80degC Some(7)");
        assert_eq!(said("T=20 degC..353 K:7"), "T linear 20degC 353K Some(7)");
        assert_eq!(said("C=log(1..100) nF:3"), "C log 1nF 100nF Some(3)");
        assert_eq!(said("T=25 degC,80 degC"), "T list 25degC 80degC None");
        assert_eq!(said("R=1,2,5 kOhm"), "R list 1kOhm 2kOhm 5kOhm None");
        assert_eq!(said("T=normal(25,2) degC"), "T normal 25degC 2degC None");
    }

    #[test]
    fn texts_are_expressions() {
        assert_eq!(said("on=true,false"), "on list <true> <false> None");
        assert_eq!(said("table={1,2},{3,4}"), "table list <{1,2}> <{3,4}> None");
        assert_eq!(said("file=\"a.txt\",\"b.txt\""), "file list <\"a.txt\"> <\"b.txt\"> None");
    }

    #[test]
    fn wrong_forms() {
        for text in ["R", "R=", "=1..2:3", "R=a..b:3", "R=log(1):3"] {
            let told = said(text);
            assert!(told.starts_with(&format!("`--vary {text}`")) || text == "R=log(1):3", "{told}");
        }
        assert!(said("R=1..2:0").contains("at least one value"));
        assert_eq!(said("R=1,nan,3"), "`--vary R=1,nan,3`: `nan` is no finite number");
        assert_eq!(said("R=1,-inf V"), "`--vary R=1,-inf V`: `-inf V` is no finite number");
    }
}
