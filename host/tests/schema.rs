//! A reader of JSON schemas, for those that schemars writes.

use serde_json::Value;

/// Returns the first part of a value that a schema does not allow; nothing if all is well.
///
/// # Panics
/// At a keyword that it does not know, which would else allow anything.
pub fn violation(schema: &Value, value: &Value) -> Option<String> {
    at(schema, schema, value, "")
}

fn at(root: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    let rules = match schema {
        Value::Bool(true) => return None,
        Value::Bool(false) => return Some(format!("{path}: nothing may be here")),
        schema => schema.as_object().expect("a schema is an object"),
    };
    rules.iter().find_map(|(keyword, rule)| one(root, schema, (keyword, rule), value, path))
}

fn one(
    root: &Value,
    schema: &Value,
    (keyword, rule): (&str, &Value),
    value: &Value,
    path: &str,
) -> Option<String> {
    let wrong = |what: &str| Some(format!("{path}: {value:.80} {what}"));
    let below =
        |rule: &Value, value: &Value, part: &str| at(root, rule, value, &format!("{path}/{part}"));
    let list = |rule: &Value| rule.as_array().expect("a list").clone();
    match keyword {
        "$schema" | "$defs" | "title" | "description" | "default" | "format" | "deprecated" => None,
        "$ref" => {
            let pointer = rule.as_str().and_then(|rule| rule.strip_prefix('#')).expect("a place");
            at(root, root.pointer(pointer).expect("it is there"), value, path)
        }
        "type" => {
            let is = |name: &Value| match name.as_str().expect("a type") {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "null" => value.is_null(),
                "number" => value.is_number(),
                "integer" => value.is_i64() || value.is_u64(),
                name => panic!("there is no type {name}"),
            };
            let is = if rule.is_array() { list(rule).iter().any(is) } else { is(rule) };
            if is { None } else { wrong(&format!("is no {rule}")) }
        }
        "const" => {
            if value == rule {
                None
            } else {
                wrong(&format!("is not {rule}"))
            }
        }
        "enum" => {
            if list(rule).contains(value) {
                None
            } else {
                wrong("is none of the list")
            }
        }
        "minimum" | "maximum" => {
            let (Some(number), Some(limit)) = (value.as_f64(), rule.as_f64()) else { return None };
            let holds = if keyword == "minimum" { number >= limit } else { number <= limit };
            if holds { None } else { wrong(&format!("is beyond {limit}")) }
        }
        "minItems" | "maxItems" => {
            let (Some(items), Some(limit)) = (value.as_array(), rule.as_u64()) else { return None };
            let count = items.len() as u64;
            let holds = if keyword == "minItems" { count >= limit } else { count <= limit };
            if holds { None } else { wrong("has another number of items") }
        }
        "items" => {
            let first = schema["prefixItems"].as_array().map_or(0, Vec::len);
            let mut items = value.as_array()?.iter().enumerate().skip(first);
            items.find_map(|(index, item)| below(rule, item, &index.to_string()))
        }
        "prefixItems" => {
            let items = value.as_array()?.iter().zip(list(rule)).enumerate();
            let mut items = items;
            items.find_map(|(index, (item, rule))| below(&rule, item, &index.to_string()))
        }
        "uniqueItems" => {
            let items = value.as_array()?;
            let twice = items.iter().enumerate().any(|(i, item)| items[..i].contains(item));
            if twice { wrong("has an item twice") } else { None }
        }
        "properties" => {
            let parts = value.as_object()?;
            let mut rules = rule.as_object().expect("an object").iter();
            rules.find_map(|(name, rule)| below(rule, parts.get(name)?, name))
        }
        "required" => {
            let parts = value.as_object()?;
            let absent = list(rule)
                .into_iter()
                .find(|name| !parts.contains_key(name.as_str().expect("a name")))?;
            wrong(&format!("has no {absent}"))
        }
        "additionalProperties" => {
            let known = schema["properties"].as_object();
            let mut parts = value.as_object()?.iter();
            parts.find_map(|(name, part)| {
                let is_known = known.is_some_and(|known| known.contains_key(name));
                if is_known { None } else { below(rule, part, name) }
            })
        }
        "oneOf" | "anyOf" => {
            let fits =
                list(rule).iter().filter(|rule| at(root, rule, value, path).is_none()).count();
            let holds = if keyword == "oneOf" { fits == 1 } else { fits > 0 };
            if holds { None } else { wrong(&format!("fits {fits} of {keyword}")) }
        }
        "allOf" => list(rule).iter().find_map(|rule| at(root, rule, value, path)),
        keyword => panic!("{path}: the keyword {keyword} is not known here"),
    }
}
