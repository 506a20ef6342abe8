//! Macros in texts (specification 18.6.5.5): `%name`, `%class`, `%par` and `%{a.par}`, `%%`.

use base::Name;
use syntax::ast;

use super::Painter;
use crate::instance::{BindingSource, ClassId, CompId, ComponentType, Member};
use crate::library::name_parts;
use crate::symbolic::{Mode, Symbolic};
use crate::typed::Base;

/// Whose name and parameters a text shows.
pub(super) struct Subject {
    pub name: String,
    pub class: ClassId,
}

/// Values of arrays and expressions that take more letters are not written out.
const LONGEST: usize = 40;
/// Digits of numbers that count.
const DIGITS: usize = 6;

impl Painter {
    /// The text with its macros replaced.
    pub(super) fn with_macros(&mut self, text: &str, subject: &Subject) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('%') {
            result.push_str(before);
            if let Some(after) = behind.strip_prefix('%') {
                result.push('%');
                rest = after;
                continue;
            }
            let (name, after) = match behind.strip_prefix('{').and_then(closing) {
                Some((name, after)) => (name, after),
                None => {
                    let end = behind.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                    behind.split_at(end.unwrap_or(behind.len()))
                }
            };
            match name {
                "" => result.push('%'),
                "name" => result.push_str(&subject.name),
                "class" => {
                    let class = self.instances().definition(subject.class).name.name;
                    result.push_str(class.as_str());
                }
                parameter => match self.parameter(subject.class, parameter) {
                    Some(value) => result.push_str(&value),
                    // Without a value its name stands for it.
                    None => result.push_str(parameter),
                },
            }
            rest = after;
        }
        result.push_str(rest);
        result
    }

    /// The text of the value of a parameter, or of an attribute of one; `None` without a value.
    fn parameter(&mut self, class: ClassId, path: &str) -> Option<String> {
        let mut current = class;
        let mut parts = name_parts(path).into_iter().map(|part| part.split('[').next().unwrap_or(part)).peekable();
        while let Some(part) = parts.next() {
            let Some(Member::Component(component)) = self.instances().member(current, Name::new(part)) else {
                return None;
            };
            let Some(&next) = parts.peek() else { return self.value_text(component) };
            match self.quietly(|elaborator| elaborator.instances.component_type(component).ok())? {
                ComponentType::Class(inner) => current = inner,
                ComponentType::Builtin { .. } => return self.attribute_text(component, next),
                ComponentType::Object(_) => return None,
            }
        }
        None
    }

    fn attribute_text(&mut self, component: CompId, attribute: &str) -> Option<String> {
        let above = self.above(component);
        let value = self.quietly(|elaborator| {
            elaborator.attribute(component, Name::new(attribute), &above, Mode::Evaluate).ok().flatten()
        })?;
        self.shown(component, &value)
    }

    /// The value of a parameter with its unit; of what cannot be evaluated the expression.
    fn value_text(&mut self, component: CompId) -> Option<String> {
        let source = self.instances().binding(component)?;
        let written = match &source {
            BindingSource::Expression(binding) => binding.expr.as_ref().map(|text| text.to_string()),
            BindingSource::Field(_) => None,
        };
        let variability = self.instances().variability(component);
        if matches!(variability, ast::Variability::Parameter | ast::Variability::Constant) {
            let above = self.above(component);
            let value = self.quietly(|elaborator| elaborator.value(component, &above).ok());
            if let Some(text) = value.and_then(|value| self.shown(component, &value)) {
                return Some(text);
            }
        }
        written.map(|written| if written.chars().count() <= LONGEST { written } else { "…".to_owned() })
    }

    /// A value as text: numbers in the display unit, literals by their own name.
    fn shown(&mut self, component: CompId, value: &Symbolic) -> Option<String> {
        let base = self.quietly(|elaborator| Some(elaborator.component_type(component).ok()?.base))?;
        let unit = self.display_unit(component);
        let exprs = &self.elaborator.flat.model.exprs;
        let mut text = String::new();
        write_value(exprs, &base, value, unit.as_ref().map(|unit| unit.1), &mut text)?;
        if text.chars().count() > LONGEST {
            return None;
        }
        if let Some((unit, _)) = unit {
            text.push_str(&units::behind_number(&unit));
        }
        Some(text)
    }

    /// The unit in which the values of a component are shown, and how to get to it.
    pub(super) fn display_unit(&mut self, component: CompId) -> Option<(String, units::Conversion)> {
        let unit = self.text_attribute(component, "unit").filter(|unit| !unit.is_empty() && unit != "1")?;
        let shown = self.text_attribute(component, "displayUnit").unwrap_or_default();
        let (shown, mut conversion) = units::display(&unit, &shown);
        if conversion.offset != 0.0 && self.instances().is_difference(component) {
            conversion.offset = 0.0;
        }
        Some((shown.to_owned(), conversion))
    }

    fn text_attribute(&mut self, component: CompId, attribute: &str) -> Option<String> {
        let name = Name::new(attribute);
        let ComponentType::Builtin { attributes, .. } =
            self.quietly(|elaborator| elaborator.instances.component_type(component).ok())?
        else {
            return None;
        };
        // Most are literals, which need no evaluation.
        if let ast::ExprKind::String(text) = &attributes.child(name)?.binding.as_ref()?.expr.as_ref()?.kind {
            return Some(text.to_string());
        }
        let above = self.above(component);
        self.quietly(|elaborator| {
            let value = elaborator.attribute(component, name, &above, Mode::Evaluate).ok()??;
            let first = value.elements().first()?.scalar()?;
            Some(elaborator.flat.model.exprs.as_string(first)?.to_owned())
        })
    }
}

/// What stands before the brace that closes, and what stands behind it. Braces in quoted names do not count.
fn closing(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '\'' => quoted = !quoted,
            '}' if !quoted => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

fn write_value(
    exprs: &dae::Exprs,
    base: &Base,
    value: &Symbolic,
    unit: Option<units::Conversion>,
    text: &mut String,
) -> Option<()> {
    match value {
        Symbolic::Scalar(id) => {
            if let Base::Enumeration(enumeration) = base {
                let at = usize::try_from(exprs.as_integer(*id)?).ok()?.checked_sub(1)?;
                text.push_str(enumeration.literals.get(at)?.as_str());
            } else if let Some(string) = exprs.as_string(*id) {
                text.push_str(string);
            } else if let Some(value) = exprs.as_boolean(*id) {
                text.push_str(if value { "true" } else { "false" });
            } else {
                let value = exprs.as_real(*id)?;
                text.push_str(&units::number(unit.map_or(value, |unit| unit.apply(value)), DIGITS));
            }
        }
        Symbolic::Array(array) => {
            let [size, inner @ ..] = array.sizes.as_slice() else { return None };
            let step = inner.iter().product::<usize>();
            text.push('{');
            for at in 0..*size {
                if text.len() > 4 * LONGEST {
                    return None;
                }
                if at > 0 {
                    text.push(',');
                }
                let part = array.elements.get(at * step..(at + 1) * step)?;
                write_value(exprs, base, &Symbolic::array(inner, part.to_vec()), unit, text)?;
            }
            text.push('}');
        }
        Symbolic::Record(_) | Symbolic::Function(_) => return None,
    }
    Some(())
}
