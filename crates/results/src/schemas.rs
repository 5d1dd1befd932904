//! The schemas of what commands print and write as JSON.

use crate::{Counts, PatternList, ProgramProfile, VerifyReport};
use schemars::{JsonSchema, schema_for};

/// The JSON schemas of the commands' outputs, each with its name; that of measurements is [`json_schema`](crate::json_schema).
pub fn schemas() -> [(&'static str, String); 4] {
    [
        // `run --json`, `explain FILE.ptx --json`.
        ("profile", text::<ProgramProfile>()),
        // `count --output`, `explain PATTERN --json`.
        ("counts", text::<Counts>()),
        // `verify --json`.
        ("verify", text::<VerifyReport>()),
        // `list --json`.
        ("list", text::<PatternList>()),
    ]
}

fn text<T: JsonSchema>() -> String {
    serde_json::to_string_pretty(&schema_for!(T)).unwrap_or_default() + "\n"
}
