//! `coalesce mcp`: the real program, spoken to over pipes.

use crate::program::*;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// A thread per element adds one, in each of `n` rounds.
const ADD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry add(.param .u64 x, .param .u32 n)\n{\n\
    .reg .pred %p;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
    ld.param.u64 %rd1, [x];\nld.param.u32 %r3, [n];\nmov.u32 %r1, %tid.x;\n\
    mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
    LOOP:\nld.global.u32 %r2, [%rd3];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd3], %r2;\n\
    sub.u32 %r3, %r3, 1;\nsetp.ne.u32 %p, %r3, 0;\n@%p bra LOOP;\nret;\n}\n";

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(options: &[&str]) -> Server {
        // So that what compilers there are is the same everywhere.
        Server::with_path(options, "/nonexistent")
    }

    fn with_path(options: &[&str], path: &str) -> Server {
        let mut program = program(&[&["mcp"], options].concat());
        program.env("PATH", path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = program.spawn().expect("the program starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Server { child, input, output }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the server reads");
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server writes");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.say(
            &json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": parameters })
                .to_string(),
        );
        let answer = self.line();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)), "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        answer["result"].clone()
    }

    /// The message of a tool that gave no result.
    fn fails(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().expect("a sentence").to_owned();
        assert!(text.starts_with("error: ") && !text.contains("panicked"), "{text}");
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn launch(rounds: u64, array: &str) -> Value {
    json!({ "ptx": ADD, "grid": 1, "block": "64", "args": [format!("x:u32*{array}"), format!("n={rounds}")] })
}

#[test]
fn a_client_learns_the_version_and_the_tools() {
    let mut server = Server::start(&[]);
    for (asked, given) in [("2025-03-26", "2025-03-26"), ("1999-01-01", "2025-11-25")] {
        let parameters = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let answer = server.ask("initialize", &parameters);
        assert_eq!(answer["result"]["protocolVersion"], given, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "coalesce");
    }
    // A notification has no answer, so the next one is the ping's.
    server.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    let tools = server.ask("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().expect("a list").clone();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["compile", "check", "explain", "compare"]);
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
}

#[test]
fn kernels_are_checked_explained_and_compared_and_always_alike() {
    let mut server = Server::start(&[]);
    let clean = server.call("check", &launch(1, "64=zeros"));
    assert_eq!(clean["isError"], false, "{clean}");
    assert_eq!(clean["structuredContent"]["found"], 0, "{clean}");
    // Nobody wrote what it reads; and an array that is too short ends it.
    for (array, part) in [("64=unset", "UninitializedGlobal"), ("32=zeros", "illegal address")] {
        let found = server.call("check", &launch(1, array));
        assert_ne!(found["structuredContent"]["found"], 0, "{found}");
        assert!(
            found["content"][0]["text"].as_str().is_some_and(|it| it.contains(part)),
            "{found}"
        );
    }
    let explained = server.call("explain", &launch(1, "64=zeros"));
    let profile: results::ProgramProfile =
        serde_json::from_value(explained["structuredContent"].clone()).expect("a profile");
    assert_eq!(profile.kernels[0].counters.global_load.sectors, 8);
    assert_eq!(explained, server.call("explain", &launch(1, "64=zeros")));
    assert_eq!(explained, Server::start(&[]).call("explain", &launch(1, "64=zeros")));
    let both = json!({ "before": launch(1, "64=zeros"), "after": launch(3, "64=zeros") });
    let compared = server.call("compare", &both);
    let differences = compared["structuredContent"]["differences"].as_array().expect("a list");
    let sectors = differences.iter().find(|one| one["counter"] == "global_load.sectors");
    assert_eq!(sectors.expect("they differ")["after"], 24, "{compared}");
}

#[test]
fn what_is_no_request_is_an_error_of_the_protocol() {
    let mut server = Server::start(&[]);
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("7", -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/burn"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"burn"}}"#, -32602),
    ] {
        server.say(line);
        let answer = server.line();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|it| it.len() > 10), "{answer}");
    }
    let deep = "[".repeat(100_000);
    server.say(&deep);
    assert_eq!(server.line()["error"]["code"], -32700);
    server.say(&"x".repeat((64 << 20) + 9));
    assert_eq!(server.line()["error"]["code"], -32600);
    // A batch, as one version of the protocol has it.
    server
        .say(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"x"}]"#);
    let batch = server.line();
    assert_eq!((&batch[0]["result"], &batch[1]["error"]["code"]), (&json!({}), &json!(-32601)));
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}), "it goes on");
}

#[test]
fn work_that_cannot_be_done_is_one_sentence_and_the_server_goes_on() {
    let mut server = Server::start(&["--seconds", "2", "--memory", "1024"]);
    for (tool, arguments, part) in [
        ("explain", json!({}), "missing field `grid`"),
        ("explain", json!({ "grid": 1, "block": 1, "shell": "rm" }), "unknown field `shell`"),
        ("explain", json!({ "grid": 1, "block": 1 }), "either `ptx`, a text, or `file`"),
        ("explain", json!({ "grid": 1, "block": 1, "file": "/etc/passwd" }), "ends in .ptx"),
        ("explain", json!({ "grid": 1, "block": 1, "file": "-x.ptx" }), "cannot read ./-x.ptx"),
        ("explain", json!({ "grid": 1, "block": 1, "ptx": "nonsense" }), "it is no PTX"),
        ("check", json!({ "grid": "--help", "block": 1, "ptx": ADD }), "is no shape"),
        ("check", json!({ "grid": 1, "block": 1, "ptx": ADD, "device": "gpu" }), "virtual one"),
        ("compare", json!({ "before": launch(1, "64=zeros"), "after": launch(1, "x") }), "after: "),
        ("compile", json!({ "source": "" }), "there is no compiler of CUDA here"),
        ("compile", json!({ "source": "", "options": ["-I/"] }), "`-I/` is not taken"),
        ("compile", json!({ "source": "", "target": "sm_80 -x" }), "is an architecture"),
    ] {
        let said = server.fails(tool, &arguments);
        assert!(said.contains(part), "{tool} {arguments}: {said}");
    }
    // Memory that the work may not have.
    let said = server.fails("explain", &launch(1, "2Gi=zeros"));
    assert!(said.contains("memory") || said.contains("MiB"), "{said}");
    // A kernel that never ends is ended by the number of its instructions, always at the same one.
    let endless = server.call("check", &launch(u64::from(u32::MAX), "64=zeros"));
    let begin = Instant::now();
    let mut slow = launch(u64::from(u32::MAX), "64=zeros");
    slow["limit"] = json!(u64::MAX);
    let ended = server.fails("explain", &slow);
    assert!(ended.contains("more than 2 seconds"), "{ended}");
    assert!(begin.elapsed() < Duration::from_secs(20));
    drop(endless);
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}), "it goes on");
}

/// A compiler is given its options and a source, and what it writes goes into the next tool.
#[test]
fn a_source_is_compiled_where_there_is_a_compiler() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let nvcc = folder.path().join("nvcc");
    let script = format!(
        "#!/bin/sh\nread -r line < kernel.cu\n[ \"$line\" = good ] || {{ echo 'kernel.cu(1): error: no' >&2; exit 1; }}\n\
         echo '// '\"$*\" > kernel.ptx\n/bin/cat >> kernel.ptx << 'END'\n{ADD}END\n"
    );
    std::fs::write(&nvcc, script).expect("a writable folder");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&nvcc, permissions).expect("ours");
    let mut server = Server::with_path(&[], &folder.path().display().to_string());
    let source = json!({ "source": "good\n", "target": "sm_90", "options": ["-DN=3"] });
    let compiled = server.call("compile", &source);
    let value = &compiled["structuredContent"];
    assert_eq!((&value["compiler"], &value["kernels"]), (&json!("nvcc"), &json!(["add"])));
    let ptx = value["ptx"].as_str().expect("a text");
    let options = "// --ptx -lineinfo -arch=sm_90 -DN=3 -o kernel.ptx kernel.cu";
    assert_eq!(ptx.lines().next(), Some(options));
    let mut checked = launch(1, "64=zeros");
    checked["ptx"] = json!(ptx);
    assert_eq!(server.call("check", &checked)["structuredContent"]["found"], 0);
    let said = server.fails("compile", &json!({ "source": "bad\n" }));
    assert_eq!(said, "error: nvcc: kernel.cu(1): error: no");
}
