//! Values of parameters from a file: JSON or TOML, names in full or nested.

use std::path::Path;

use serde_json::Value;

/// Names and the texts of their values, as `--set` has them, without those that are set already.
pub fn of_file(path: &Path, set: &[(String, String)]) -> Result<Vec<(String, String)>, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    let value = match ending.as_str() {
        "json" => serde_json::from_str(&text).map_err(|error| format!("`{shown}`: {error}"))?,
        "toml" => {
            toml::from_str::<Value>(&text).map_err(|error| format!("`{shown}`: {}", error.to_string().trim_end()))?
        }
        _ => return Err(format!("`{shown}`: a file of parameters ends in `.json` or `.toml`")),
    };
    let mut found = Vec::new();
    match value {
        Value::Object(_) => collect("", &value, &mut found).map_err(|wrong| format!("`{shown}`: {wrong}"))?,
        _ => return Err(format!("`{shown}` holds no names with values")),
    }
    found.retain(|(name, _)| !set.iter().any(|(known, _)| known == name));
    Ok(found)
}

fn collect(prefix: &str, value: &Value, found: &mut Vec<(String, String)>) -> Result<(), String> {
    let Value::Object(members) = value else {
        found.push((prefix.to_owned(), text(prefix, value)?));
        return Ok(());
    };
    for (name, member) in members {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        collect(&path, member, found)?;
    }
    Ok(())
}

/// The expression for a value.
fn text(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::String(text) if !text.trim().is_empty() => Ok(text.clone()),
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(|element| text(name, element)).collect::<Result<_, _>>()?;
            Ok(format!("{{{}}}", elements.join(", ")))
        }
        _ => Err(format!("`{name}` has no value that a parameter can have")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_names_and_arrays() {
        let value: Value = serde_json::json!({
            "R1": { "R": 10, "T": "25 degC" },
            "x": [[1.5, 2], [3, 4]],
            "on": true
        });
        let mut found = Vec::new();
        collect("", &value, &mut found).unwrap();
        let found: Vec<String> = found.iter().map(|(name, text)| format!("{name}={text}")).collect();
        assert_eq!(found, ["R1.R=10", "R1.T=25 degC", "x={{1.5, 2}, {3, 4}}", "on=true"]);
        assert!(collect("", &serde_json::json!({ "a": null }), &mut Vec::new()).is_err());
    }
}
