//! Checks JSON documents against `parallax schema`.
//!
//! The keywords that our schema uses, and no others: what is not understood is an error, so that a new keyword in the
//! schema does not go unchecked.

use serde_json::{Map, Value};

use super::Folder;

/// The schema as the tool prints it.
pub struct Schema {
    root: Value,
}

impl Schema {
    pub fn of_the_tool(folder: &Folder) -> Schema {
        let (text, _) = folder.expect(0, &["schema"]);
        Schema {
            root: serde_json::from_str(&text).unwrap(),
        }
    }

    /// What is wrong with a document, each with the place where.
    pub fn faults(&self, document: &Value) -> Vec<String> {
        self.check(&self.root, document, "")
    }

    #[track_caller]
    pub fn assert_valid(&self, document: &Value) {
        let faults = self.faults(document);
        assert!(faults.is_empty(), "{faults:#?} in {document:#}");
    }

    fn check(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let rules = schema.as_object().expect("schemas are objects");
        let mut faults = Vec::new();
        for (keyword, rule) in rules {
            faults.extend(self.check_keyword(keyword, rule, value, at));
        }
        if let Value::Object(object) = value {
            faults.extend(self.check_fields(rules, object, at));
        }
        faults
    }

    fn check_keyword(&self, keyword: &str, rule: &Value, value: &Value, at: &str) -> Vec<String> {
        let wrong = |what: String| vec![format!("{at}: {what}")];
        match keyword {
            "$schema" | "$defs" | "title" | "description" | "contentEncoding" => vec![],
            // Together, in `check_fields`.
            "additionalProperties" | "properties" => vec![],
            "const" if rule == value => vec![],
            "const" => wrong(format!("{value} is not {rule}")),
            "enum" if rule.as_array().unwrap().contains(value) => vec![],
            "enum" => wrong(format!("{value} is none of {rule}")),
            "type" if has_type(value, rule) => vec![],
            "type" => wrong(format!("{value} is no {rule}")),
            "minimum" => match value.as_f64() {
                Some(number) if number < rule.as_f64().unwrap() => {
                    wrong(format!("{value} is less than {rule}"))
                }
                _ => vec![],
            },
            "required" => {
                let names = rule.as_array().unwrap().iter();
                let lacks = |name: &&Value| {
                    let object = value.as_object();
                    object.is_some_and(|object| !object.contains_key(name.as_str().unwrap()))
                };
                let missing = names.filter(lacks);
                missing
                    .map(|name| format!("{at}: {name} is missing"))
                    .collect()
            }
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                let faults = items
                    .flat_map(|(index, item)| self.check(rule, item, &format!("{at}/{index}")));
                faults.collect()
            }
            "oneOf" => {
                let fits = |rule: &&Value| self.check(rule, value, at).is_empty();
                match rule.as_array().unwrap().iter().filter(fits).count() {
                    1 => vec![],
                    count => wrong(format!("{value} fits {count} of {rule}")),
                }
            }
            "$ref" => {
                let pointer = rule.as_str().unwrap().trim_start_matches('#');
                let target = self.root.pointer(pointer);
                self.check(target.expect("references lead somewhere"), value, at)
            }
            other => panic!("this checker does not know the keyword {other}"),
        }
    }

    fn check_fields(
        &self,
        rules: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
    ) -> Vec<String> {
        let known = rules.get("properties").and_then(Value::as_object);
        let faults = object.iter().flat_map(|(name, field)| {
            let at = format!("{at}/{name}");
            let rule = known.and_then(|known| known.get(name));
            match (rule, rules.get("additionalProperties")) {
                (Some(rule), _) | (None, Some(rule @ Value::Object(_))) => {
                    self.check(rule, field, &at)
                }
                (None, Some(Value::Bool(false))) => vec![format!("{at}: not expected")],
                (None, _) => vec![],
            }
        });
        faults.collect()
    }
}

/// Whether a value is of a type, or of one of several.
fn has_type(value: &Value, rule: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "boolean" => value.is_boolean(),
        other => panic!("no type is called {other}"),
    };
    match rule {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}
