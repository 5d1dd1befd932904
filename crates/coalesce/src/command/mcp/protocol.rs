//! JSON-RPC 2.0 a line a message, and the methods of the protocol.

use super::tools::{CallError, Tools};
use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use std::io::{BufRead, Read, Write};

/// Versions of the protocol, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Bytes that a message has at most: four times those of the largest PTX that compilers are known to write.
const MAX_BYTES: u64 = 64 << 20;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

/// An error of the protocol.
struct RpcError(i32, String);

/// Answers messages until their end.
///
/// # Errors
/// Input or output that fails.
pub fn serve(mut input: impl BufRead, mut output: impl Write, tools: &Tools) -> Result<()> {
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(MAX_BYTES + 1).read_until(b'\n', &mut line);
        if read.context("cannot read standard input")? == 0 {
            return Ok(());
        }
        let answer = if line.len() as u64 > MAX_BYTES {
            if !line.ends_with(b"\n") {
                input.skip_until(b'\n').context("cannot read standard input")?;
            }
            let message = format!("a message has more than {MAX_BYTES} bytes");
            Some(failure(Value::Null, &RpcError(INVALID_REQUEST, message)))
        } else if line.iter().all(u8::is_ascii_whitespace) {
            None
        } else {
            match serde_json::from_slice(&line) {
                Ok(message) => answer(message, tools),
                Err(error) => {
                    let error = RpcError(PARSE_ERROR, format!("this is no JSON: {error}"));
                    Some(failure(Value::Null, &error))
                }
            }
        };
        if let Some(answer) = answer {
            writeln!(output, "{answer}")
                .and_then(|()| output.flush())
                .context("cannot write to standard output")?;
        }
    }
}

/// Answers a message, or a batch of them as the version 2025-03-26 has it; notifications get no answer.
fn answer(message: Value, tools: &Tools) -> Option<Value> {
    match message {
        Value::Array(batch) if !batch.is_empty() => {
            let answers: Vec<Value> =
                batch.into_iter().filter_map(|one| answer_one(one, tools)).collect();
            (!answers.is_empty()).then_some(Value::Array(answers))
        }
        one => answer_one(one, tools),
    }
}

fn answer_one(message: Value, tools: &Tools) -> Option<Value> {
    let refused = |id, what: &str| {
        Some(failure(id, &RpcError(INVALID_REQUEST, format!("this is no request: {what}"))))
    };
    let Value::Object(mut message) = message else {
        return refused(Value::Null, "it is no object");
    };
    let id = message.remove("id");
    let is_id = |id: &Value| id.is_string() || id.is_number();
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return refused(Value::Null, "`id` is a string or a number");
    }
    // An answer to a request that this server never makes.
    if message.contains_key("result") || message.contains_key("error") {
        return None;
    }
    let shown = id.clone().unwrap_or(Value::Null);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refused(shown, "`jsonrpc` is \"2.0\"");
    }
    let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else {
        return refused(shown, "`method` is a string");
    };
    // A notification.
    let id = id?;
    let parameters = match message.remove("params") {
        None => Map::new(),
        Some(Value::Object(parameters)) => parameters,
        Some(_) => {
            let error = RpcError(INVALID_PARAMS, "`params` is an object".to_owned());
            return Some(failure(id, &error));
        }
    };
    Some(match call(&method, parameters, tools) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => failure(id, &error),
    })
}

fn failure(id: Value, RpcError(code, message): &RpcError) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

fn call(
    method: &str,
    mut parameters: Map<String, Value>,
    tools: &Tools,
) -> Result<Value, RpcError> {
    let wrong = |message: &str| RpcError(INVALID_PARAMS, message.to_owned());
    match method {
        "initialize" => {
            let asked = parameters.get("protocolVersion").and_then(Value::as_str);
            let asked = asked.ok_or_else(|| wrong("`protocolVersion` is a string"))?;
            // The client ends the connection where it does not know the version that it is offered.
            let version = VERSIONS.into_iter().find(|one| *one == asked).unwrap_or(VERSIONS[0]);
            Ok(json!({
                "protocolVersion": version,
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "coalesce", "version": env!("CARGO_PKG_VERSION") },
                "instructions": "CUDA kernels as PTX, executed without a GPU: results and counts are exact, times are predictions.",
            }))
        }
        "ping" => Ok(json!({})),
        "tools/list" if parameters.contains_key("cursor") => {
            Err(wrong("the list of tools has one page, so no `cursor`"))
        }
        "tools/list" => Ok(json!({ "tools": Tools::described() })),
        "tools/call" => {
            let name = parameters.get("name").and_then(Value::as_str).map(str::to_owned);
            let name = name.ok_or_else(|| wrong("`name` is a string"))?;
            let arguments = match parameters.remove("arguments") {
                None => Map::new(),
                Some(Value::Object(arguments)) => arguments,
                Some(_) => return Err(wrong("`arguments` is an object")),
            };
            match tools.call(&name, arguments) {
                Ok(done) => Ok(json!({
                    "content": [{ "type": "text", "text": done.text }],
                    "structuredContent": done.value,
                    "isError": false,
                })),
                Err(CallError::Failed(text)) => {
                    Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
                }
                Err(CallError::Unknown) => {
                    let names = super::tools::NAMES.join("`, `");
                    Err(wrong(&format!("there is no tool `{name}`: the tools are `{names}`")))
                }
            }
        }
        _ => Err(RpcError(METHOD_NOT_FOUND, format!("there is no method `{method}`"))),
    }
}
