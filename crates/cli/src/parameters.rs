//! Values of parameters from a file: JSON or TOML, names in full or nested.

use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Names and the texts of their values, as `--set` has them, without those that are set already.
pub fn of_file(path: &Path, set: &[(String, String)]) -> Result<Vec<(String, String)>, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    // The mark of the order of bytes that some editors write.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    let value = match ending.as_str() {
        "json" => serde_json::from_str(text).map_err(|error| format!("`{shown}`: {error}"))?,
        "toml" => toml::from_str::<toml::Value>(text)
            .map(Node::from)
            .map_err(|error| format!("`{shown}`: {}", error.to_string().trim_end()))?,
        _ => return Err(format!("`{shown}`: a file of parameters ends in `.json` or `.toml`")),
    };
    let Node::Members(members) = value else { return Err(format!("`{shown}` holds no names with values")) };
    let mut found = Vec::new();
    collect("", members, &mut found).map_err(|wrong| format!("`{shown}`: {wrong}"))?;
    found.retain(|(name, _)| !set.iter().any(|(known, _)| known == name));
    Ok(found)
}

/// What a file holds. Members keep their order, and a name that stands there twice is there twice.
#[derive(Debug)]
enum Node {
    /// A number or a truth value, as text.
    Plain(String),
    Text(String),
    List(Vec<Node>),
    Members(Vec<(String, Node)>),
    /// What no parameter can be, such as a date.
    Other(&'static str),
}

impl From<toml::Value> for Node {
    fn from(value: toml::Value) -> Self {
        match value {
            toml::Value::Integer(number) => Self::Plain(number.to_string()),
            toml::Value::Float(number) if number.is_finite() => Self::Plain(format!("{number:?}")),
            toml::Value::Float(_) => Self::Other("no finite number"),
            toml::Value::Boolean(truth) => Self::Plain(truth.to_string()),
            toml::Value::String(text) => Self::Text(text),
            toml::Value::Datetime(_) => Self::Other("a date or a time"),
            toml::Value::Array(elements) => Self::List(elements.into_iter().map(Self::from).collect()),
            toml::Value::Table(members) => {
                Self::Members(members.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("values of parameters")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Node, E> {
        Ok(Node::Plain(truth.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Plain(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Plain(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Plain(format!("{number:?}")))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Other("null"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            members.push(entry);
        }
        Ok(Node::Members(members))
    }
}

/// Adds the values of members under their full names.
fn collect(prefix: &str, members: Vec<(String, Node)>, found: &mut Vec<(String, String)>) -> Result<(), String> {
    for (name, member) in members {
        let path = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match member {
            Node::Members(members) => collect(&path, members, found)?,
            _ if found.iter().any(|(known, _)| *known == path) => return Err(format!("`{path}` has two values")),
            value => {
                let text = expression(&path, &value)?;
                found.push((path, text));
            }
        }
    }
    Ok(())
}

/// The expression for a value.
fn expression(name: &str, value: &Node) -> Result<String, String> {
    match value {
        Node::Plain(text) => Ok(text.clone()),
        Node::Text(text) => Ok(quoted(text)),
        Node::List(elements) => {
            let elements: Result<Vec<String>, String> = elements.iter().map(|it| expression(name, it)).collect();
            Ok(format!("{{{}}}", elements?.join(", ")))
        }
        Node::Members(_) => Err(format!("`{name}` has names in a list, which no parameter can be given")),
        Node::Other(what) => Err(format!("`{name}` is {what}, which no parameter can be")),
    }
}

/// A text in quotes. What is no String is understood without them.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for sign in text.chars() {
        match sign {
            '\\' | '"' => quoted.extend(['\\', sign]),
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            _ => quoted.push(sign),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(value: Node) -> String {
        let Node::Members(members) = value else { return "no names".to_owned() };
        let mut found = Vec::new();
        match collect("", members, &mut found) {
            Ok(()) => found.iter().map(|(name, text)| format!("{name}={text}")).collect::<Vec<_>>().join("; "),
            Err(message) => message,
        }
    }

    fn json(text: &str) -> String {
        said(serde_json::from_str(text).unwrap())
    }

    fn toml(text: &str) -> String {
        said(toml::from_str::<toml::Value>(text).unwrap().into())
    }

    #[test]
    fn nested_names_and_arrays() {
        let text = r#"{"R1": {"R": 10, "T": "25 degC"}, "x": [[1.5, 2], [3, -4]], "on": true}"#;
        assert_eq!(json(text), "R1.R=10; R1.T=\"25 degC\"; x={{1.5, 2}, {3, -4}}; on=true");
        assert_eq!(toml("R1.R = 1e300\nx = [1, 2]\non = false\n"), "R1.R=1e300; on=false; x={1, 2}");
        assert_eq!(json(r#"{"s": ["a\"b", "c\\d\ne"]}"#), r#"s={"a\"b", "c\\d\ne"}"#);
        assert_eq!(json(r#"{"a": null}"#), "`a` is null, which no parameter can be");
    }

    #[test]
    fn what_no_parameter_can_be() {
        assert_eq!(toml("R = 2020-01-01\n"), "`R` is a date or a time, which no parameter can be");
        assert_eq!(toml("a.R = [12:00:00]\n"), "`a.R` is a date or a time, which no parameter can be");
        assert_eq!(toml("R = nan\n"), "`R` is no finite number, which no parameter can be");
        assert_eq!(json(r#"{"r": [{"R": 1}]}"#), "`r` has names in a list, which no parameter can be given");
    }

    #[test]
    fn two_values_of_one_name() {
        assert_eq!(json(r#"{"R": 1, "C": 2, "R": 3}"#), "`R` has two values");
        assert_eq!(json(r#"{"a": {"R": 1}, "a.R": 2}"#), "`a.R` has two values");
        assert_eq!(toml("'a.R' = 2\n[a]\nR = 1\n"), "`a.R` has two values");
        // Two parts of one component are no two values.
        assert_eq!(json(r#"{"a": {"R": 1}, "a": {"C": 2}}"#), "a.R=1; a.C=2");
    }
}
