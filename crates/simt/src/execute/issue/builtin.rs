//! Functions that the driver provides to kernels: printf, assertions, the device heap.

use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::run::Run;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::request::space_of;
use crate::operation::{Builtin, Space};
use crate::windows::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW};

/// Longest string that is read from the device.
const STRING_MAX: usize = 4096;
/// Longest output that a block may print.
const PRINTED_MAX: usize = 1 << 20;
/// Widest field and highest precision; more is taken for this.
const FIELD_MAX: usize = 1 << 17;
/// A double has no digits but zeros behind so many decimals.
const DIGITS_MAX: usize = 1100;

impl Run<'_> {
    /// A byte of device memory, if it is allocated.
    pub fn device_byte(&self, address: u64) -> Option<u8> {
        let region = self.memory.region(self.memory.find(address, 1)?);
        let pointer = region.pointer.wrapping_add((address - region.base) as usize);
        // SAFETY: the byte lies in the region, whose grains are valid, and all workers use the
        // launch's granularity.
        Some(unsafe { self.granularity.load(pointer, 1) } as u8)
    }
}

impl Worker<'_> {
    pub fn builtin(
        &mut self,
        issue: Issue<'_>,
        which: Builtin,
        parameters: &[u32],
        result: Option<u32>,
    ) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
            let argument = |warp: &Warp, index: usize| warp.read_local(lane, parameters[index], 8);
            let value = match which {
                Builtin::Print => {
                    let (format, arguments) = (argument(warp, 0), argument(warp, 1));
                    self.print(block, warp, lane, format, arguments) as u64
                }
                Builtin::AssertFail => {
                    let message = self.string(block, warp, lane, argument(warp, 0));
                    let file = self.string(block, warp, lane, argument(warp, 1));
                    let line = warp.read_local(lane, parameters[2], 4);
                    let place = self.run.place(block.index, warp.index, 1 << lane, pc);
                    return Err(Error::Trap {
                        place: Box::new(place),
                        message: format!("{message} ({file}:{line})"),
                    });
                }
                Builtin::Allocate => {
                    let heap = self.run.memory.heaps.get(&self.run.memory.selected());
                    heap.map_or(0, |heap| heap.allocate(argument(warp, 0)))
                }
                Builtin::Free => {
                    let address = argument(warp, 0);
                    let is_known = self
                        .run
                        .memory
                        .heaps
                        .get(&self.run.memory.selected())
                        .is_none_or(|heap| heap.free(address));
                    if !is_known {
                        let place = self.run.place(block.index, warp.index, 1 << lane, pc);
                        return Err(Error::Trap {
                            place: Box::new(place),
                            message: format!(
                                "free of {address:#x}, which `malloc` did not give or got back already"
                            ),
                        });
                    }
                    0
                }
            };
            if let Some(result) = result {
                let bytes = if which == Builtin::Allocate { 8 } else { 4 };
                warp.write_local(lane, result, bytes, value);
                warp.mark_local(lane, result as u64, bytes);
            }
        }
        Ok(())
    }

    /// Prints, and gives what CUDA's `printf` returns: the number of arguments, or -1 without a
    /// format.
    fn print(
        &mut self,
        block: &Block,
        warp: &Warp,
        lane: usize,
        format: u64,
        arguments: u64,
    ) -> i64 {
        if format == 0 {
            return -1;
        }
        let format = self.string(block, warp, lane, format);
        let (text, count) = self.format(block, warp, lane, &format, arguments);
        match self.printed.last_mut() {
            Some((of, printed)) if *of == block.linear => {
                if printed.len() < PRINTED_MAX {
                    printed.push_str(&text);
                }
            }
            _ => self.printed.push((block.linear, text)),
        }
        count
    }

    /// A byte at a generic address, as one lane sees it.
    /// A byte at a generic address, as far as there is one.
    pub fn byte(&self, block: &Block, warp: &Warp, lane: usize, address: u64) -> Option<u8> {
        match space_of(address) {
            Space::Shared => block.shared.get((address - SHARED_WINDOW) as usize).copied(),
            Space::Local => {
                let offset = (address - LOCAL_WINDOW) as u32;
                (offset < self.run.program.local_bytes)
                    .then(|| warp.read_local(lane, offset, 1) as u8)
            }
            Space::Parameter => {
                self.run.parameters.get((address - PARAMETER_WINDOW) as usize).copied()
            }
            _ => self.run.device_byte(address),
        }
    }

    fn string(&self, block: &Block, warp: &Warp, lane: usize, address: u64) -> String {
        let bytes: Vec<u8> = (0..STRING_MAX as u64)
            .map_while(|i| self.byte(block, warp, lane, address.wrapping_add(i)))
            .take_while(|byte| *byte != 0)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn number(&self, block: &Block, warp: &Warp, lane: usize, address: u64, bytes: u64) -> u64 {
        (0..bytes).rev().fold(0, |value, i| {
            let byte = self.byte(block, warp, lane, address.wrapping_add(i)).unwrap_or(0);
            value << 8 | byte as u64
        })
    }

    /// C's printf with arguments laid out as in a struct.
    fn format(
        &self,
        block: &Block,
        warp: &Warp,
        lane: usize,
        format: &str,
        arguments: u64,
    ) -> (String, i64) {
        let mut out = String::new();
        let mut offset = 0u64;
        let mut count = 0;
        let mut take = |bytes: u64| {
            offset = offset.next_multiple_of(bytes);
            let value = self.number(block, warp, lane, arguments.wrapping_add(offset), bytes);
            offset += bytes;
            count += 1;
            value
        };
        let mut rest = format.chars().peekable();
        while let Some(c) = rest.next() {
            if out.len() > PRINTED_MAX {
                break;
            }
            if c != '%' {
                out.push(c);
                continue;
            }
            let mut flags = String::new();
            while let Some(flag) = rest.next_if(|c| "-+ #0".contains(*c)) {
                flags.push(flag);
            }
            let mut field = |take: &mut dyn FnMut(u64) -> u64| {
                if rest.next_if_eq(&'*').is_some() {
                    return Some((take(4) as usize).min(FIELD_MAX));
                }
                let mut number = None;
                while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                    let digit = digit as usize - '0' as usize;
                    number = Some((number.unwrap_or(0) * 10 + digit).min(FIELD_MAX));
                }
                number
            };
            let width = field(&mut take).unwrap_or(0);
            let has_precision = rest.next_if_eq(&'.').is_some();
            let precision = has_precision.then(|| {
                let mut number = 0;
                while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                    number = (number * 10 + digit as usize - '0' as usize).min(FIELD_MAX);
                }
                number
            });
            let mut long = false;
            while let Some(size) = rest.next_if(|c| "hlzjtL".contains(*c)) {
                long |= size != 'h';
            }
            let Some(kind) = rest.next() else { break };
            let bytes = if long { 8 } else { 4 };
            let text = match kind {
                '%' => "%".into(),
                'd' | 'i' => {
                    let value = take(bytes);
                    let value = if long { value as i64 } else { value as i32 as i64 };
                    let plus = if value >= 0 && flags.contains('+') { "+" } else { "" };
                    format!("{plus}{value}")
                }
                'u' => take(bytes).to_string(),
                'x' => format!("{:x}", take(bytes)),
                'X' => format!("{:X}", take(bytes)),
                'o' => format!("{:o}", take(bytes)),
                'c' => char::from(take(4) as u8).to_string(),
                'p' => format!("{:#x}", take(8)),
                's' => {
                    let address = take(8);
                    let text = self.string(block, warp, lane, address);
                    text.chars().take(precision.unwrap_or(usize::MAX)).collect()
                }
                'f' | 'F' => fixed(f64::from_bits(take(8)), precision.unwrap_or(6)),
                'e' | 'E' => exponent(f64::from_bits(take(8)), precision.unwrap_or(6)),
                'g' | 'G' => general(f64::from_bits(take(8)), precision.unwrap_or(6)),
                other => format!("%{other}"),
            };
            pad(&mut out, &text, width, &flags);
        }
        (out, count)
    }
}

fn pad(out: &mut String, text: &str, width: usize, flags: &str) {
    let missing = width.saturating_sub(text.chars().count());
    if flags.contains('-') {
        out.push_str(text);
        out.extend(std::iter::repeat_n(' ', missing));
    } else if flags.contains('0') {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text),
        };
        out.push_str(sign);
        out.extend(std::iter::repeat_n('0', missing));
        out.push_str(digits);
    } else {
        out.extend(std::iter::repeat_n(' ', missing));
        out.push_str(text);
    }
}

/// Zeros behind the last digit that a double can have, which is as many as are asked for.
fn zeros(value: f64, precision: usize) -> String {
    let missing = if value.is_finite() { precision.saturating_sub(DIGITS_MAX) } else { 0 };
    "0".repeat(missing)
}

/// `%f`.
fn fixed(value: f64, precision: usize) -> String {
    format!("{value:.*}{}", precision.min(DIGITS_MAX), zeros(value, precision))
}

/// `%e`: at least two digits of exponent, with a sign.
fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.*e}", precision.min(DIGITS_MAX));
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let number: i32 = exponent.parse().unwrap_or(0);
            let sign = if number < 0 { '-' } else { '+' };
            format!("{mantissa}{}e{sign}{:02}", zeros(value, precision), number.abs())
        }
        None => text,
    }
}

/// `%g`: the shorter of `%e` and `%f`, without trailing zeros.
fn general(value: f64, precision: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { format!("{value}").to_lowercase() };
    }
    // Zeros at the end are cut off, so that more digits than there are change nothing.
    let precision = precision.clamp(1, DIGITS_MAX);
    let scientific = exponent(value, precision - 1);
    let power: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        } else {
            text.to_string()
        }
    };
    if power < -4 || power >= precision as i32 {
        let (mantissa, rest) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{rest}", trim(mantissa));
    }
    let decimals = (precision as i32 - 1 - power).max(0) as usize;
    trim(&fixed(value, decimals))
}
