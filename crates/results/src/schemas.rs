//! The schemas of what commands print and write as JSON.

use crate::{
    CheckedTasks, Comparison, Counts, FleetReport, PatternList, ProgramProfile, VerifyReport,
};
use schemars::{JsonSchema, schema_for};

/// The JSON schemas of the commands' outputs, each with its name; that of measurements is [`json_schema`](crate::json_schema).
pub fn schemas() -> [(&'static str, String); 7] {
    [
        // `run --json`, `explain FILE.ptx --json`.
        ("profile", text::<ProgramProfile>()),
        // `count --output`, `explain PATTERN --json`.
        ("counts", text::<Counts>()),
        // `verify --json`.
        ("verify", text::<VerifyReport>()),
        // `list --json`.
        ("list", text::<PatternList>()),
        // `compare --json`.
        ("compare", text::<Comparison>()),
        // `compare --fleet --json`.
        ("fleet", text::<FleetReport>()),
        // `learn check --json`.
        ("learn", text::<CheckedTasks>()),
    ]
}

fn text<T: JsonSchema>() -> String {
    serde_json::to_string_pretty(&schema_for!(T)).unwrap_or_default() + "\n"
}
