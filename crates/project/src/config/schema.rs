//! The JSON schema of the file, for editors and checkers.

use serde_json::{Map, Value, json};

use super::Config;
use super::settings::{Kind, SECTIONS, SETTINGS, Setting};

/// The schema (draft 2020-12), indented.
pub fn json_schema() -> String {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let in_section = |section: &str| {
        let mut properties = Map::new();
        for setting in SETTINGS
            .iter()
            .filter(|setting| setting.section() == section)
        {
            properties.insert(setting.key().to_owned(), property(setting, &defaults));
        }
        properties
    };
    let mut top = in_section("");
    for (section, about) in SECTIONS {
        let object = json!({
            "type": "object",
            "description": one_line(about),
            "additionalProperties": false,
            "properties": in_section(section),
        });
        top.insert((*section).to_owned(), object);
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "parallax.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": top,
    });
    format!("{schema:#}\n")
}

fn property(setting: &Setting, defaults: &Value) -> Value {
    let pointer = format!("/{}", setting.path.replace('.', "/"));
    let mut property = match setting.kind {
        Kind::Text => json!({"type": "string"}),
        Kind::Words => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Count => json!({"type": "integer", "minimum": 0}),
        Kind::Size => {
            json!({"type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+([KkMmGgTt](i?[Bb])?|[Bb])?$"})
        }
        Kind::Time => {
            json!({"type": ["number", "string"], "exclusiveMinimum": 0, "pattern": "^[0-9.]+[smh]?$"})
        }
        Kind::Table => json!({"type": "object", "additionalProperties": {"type": "string"}}),
    };
    property["description"] = one_line(setting.about).into();
    property["default"] = defaults.pointer(&pointer).cloned().unwrap_or_default();
    property
}

fn one_line(text: &str) -> String {
    text.split('\n').collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_names_every_setting_with_its_default() {
        let schema: Value = serde_json::from_str(&json_schema()).unwrap();
        for setting in SETTINGS {
            let pointer = match setting.path.split_once('.') {
                None => format!("/properties/{}", setting.path),
                Some((section, key)) => format!("/properties/{section}/properties/{key}"),
            };
            let property = schema.pointer(&pointer).expect(setting.path);
            assert!(!property["default"].is_null(), "{}", setting.path);
            assert!(!property["description"].as_str().unwrap().contains('\n'));
        }
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(
            schema.pointer("/properties/limits/properties/memory/default"),
            Some(&json!(1u64 << 30))
        );
    }
}
