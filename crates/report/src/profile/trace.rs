//! A timeline as a trace that `chrome://tracing` and <https://ui.perfetto.dev> show.

use results::{Engine, Interval, OperationKind, Timeline};
use std::fmt::Write as _;

/// The trace: one row per engine and one per stream.
pub fn chrome_trace(timeline: &Timeline) -> String {
    let mut events: Vec<String> = Vec::new();
    let mut rows: Vec<String> = Vec::new();
    for interval in &timeline.intervals {
        for row in rows_of(interval) {
            let place = rows.iter().position(|known| *known == row).unwrap_or_else(|| {
                rows.push(row);
                rows.len() - 1
            });
            let Interval { start_us, end_us, .. } = interval;
            events.push(format!(
                "{{\"name\":{},\"ph\":\"X\",\"ts\":{start_us:.3},\"dur\":{:.3},\"pid\":0,\"tid\":{place}}}",
                quoted(&name(&interval.kind)),
                end_us - start_us
            ));
        }
    }
    for (place, row) in rows.iter().enumerate() {
        events.push(format!(
            "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":{place},\"args\":{{\"name\":{}}}}}",
            quoted(row)
        ));
    }
    format!(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"device\":{}}},\"traceEvents\":[\n{}\n]}}\n",
        quoted(&timeline.device),
        events.join(",\n")
    )
}

/// The rows that an interval is shown in.
fn rows_of(interval: &Interval) -> Vec<String> {
    let engine = interval.kind.engine().map(|engine| match engine {
        Engine::Host => "host",
        Engine::HostToDevice => "copies to the device",
        Engine::Kernel => "kernels",
        Engine::DeviceToHost => "copies to the host",
    });
    let stream = interval.stream.map(|stream| format!("stream {stream}"));
    engine.map(str::to_owned).into_iter().chain(stream).collect()
}

fn name(kind: &OperationKind) -> String {
    match kind {
        OperationKind::HostToDevice(bytes) => format!("H2D {bytes} B"),
        OperationKind::DeviceToHost(bytes) => format!("D2H {bytes} B"),
        OperationKind::DeviceCopy(bytes) => format!("D2D {bytes} B"),
        OperationKind::HostCopy(bytes) => format!("host copy {bytes} B"),
        OperationKind::HostRead(bytes) => format!("host reads {bytes} B"),
        OperationKind::Fill(bytes) => format!("fill {bytes} B"),
        OperationKind::Kernel(name) => name.clone(),
        OperationKind::Call(name) => name.to_string(),
        OperationKind::Graph => "graph".to_owned(),
        OperationKind::HostFunction => "host function".to_owned(),
        OperationKind::Wait | OperationKind::Event => "wait".to_owned(),
    }
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
