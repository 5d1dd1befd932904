//! The linker, over PTX: what it makes of several texts is one text, which loads as a module.

use super::arguments::{In, InMut, Out, handle};
use super::define::exports;
use super::image::ptx_of_file;
use crate::code::CuResult;
use crate::driver::Driver;
use crate::fat_binary;
use crate::objects::LinkState;
use cuda_driver::ReturnCode;
use cuda_driver::raw::CUlinkState;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{c_char, c_uint, c_void};

/// `CU_JIT_INPUT_PTX`, `CU_JIT_INPUT_FATBINARY`.
const TEXTS: [c_uint; 2] = [1, 2];

fn add(driver: &mut Driver, state: CUlinkState, kind: c_uint, bytes: Vec<u8>) -> CuResult {
    if !TEXTS.contains(&kind) {
        return Err(driver.unsupported("linking of anything but PTX"));
    }
    let architecture = driver.device().profile.architecture();
    if fat_binary::is_one(&bytes) && fat_binary::is_for_others(&bytes, architecture) {
        return Ok(());
    }
    let text = ptx_of_file(driver, bytes)?;
    driver.objects.links.get_mut(state.addr())?.texts.push(text);
    Ok(())
}

/// `CU_JIT_INFO_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER`; the option after each is the buffer's size, in which the driver
/// says how much it wrote.
const LOGS: [c_uint; 2] = [3, 5];

/// Makes the logs of a linker or of a module empty texts: a caller reads them, and not only after a failure.
///
/// # Safety
/// - `options` and `values` are null or have `count` elements, and a log's buffer has the bytes that its size says.
pub(super) unsafe fn clear_logs(count: c_uint, options: *mut c_uint, values: *mut *mut c_void) {
    if options.is_null() || values.is_null() {
        return;
    }
    // SAFETY: the caller says that both have so many elements.
    let (options, values) = unsafe {
        (
            std::slice::from_raw_parts(options, count as usize),
            std::slice::from_raw_parts_mut(values, count as usize),
        )
    };
    let place = |option: c_uint| options.iter().position(|one| *one == option);
    for log in LOGS {
        let (Some(buffer), Some(size)) = (place(log), place(log + 1)) else { continue };
        if !values[buffer].is_null() && values[size].addr() > 0 {
            // SAFETY: the buffer has a byte at least, as the caller says.
            unsafe { values[buffer].cast::<u8>().write(0) };
        }
        values[size] = std::ptr::null_mut();
    }
}

/// One text of several: the first with its head, the others without theirs and without the weak functions that one before
/// has defined. What is no PTX fails when it is loaded.
fn linked(texts: &[String]) -> Vec<u8> {
    let mut defined = HashSet::new();
    let mut linked = String::new();
    for (index, text) in texts.iter().enumerate() {
        let Ok(tree) = ptx::parse(text) else {
            linked.push_str(text);
            continue;
        };
        let mut own = String::new();
        let mut rest = if index > 0 { tree.body } else { text };
        for function in tree.functions.iter().filter(|function| function.body.is_some()) {
            let is_new = defined.insert(function.name.to_owned());
            if !is_new && function.text.starts_with(".weak") {
                let (before, after) = rest.split_once(function.text).unwrap_or((rest, ""));
                own.push_str(before);
                rest = after;
            }
        }
        own.push_str(rest);
        for line in own.lines() {
            linked.push_str(&with_own_places(line, index));
            linked.push('\n');
        }
    }
    let mut linked = linked.into_bytes();
    linked.push(0);
    linked
}

/// Numbers of files that a text may have of its own.
const FILES: usize = 100_000;

/// Returns a line of one of several texts, in which places name files by numbers of that text's own.
fn with_own_places(line: &str, index: usize) -> Cow<'_, str> {
    let is_place = [".file", ".loc"].iter().any(|it| line.trim_start().starts_with(it));
    if index == 0 || !is_place {
        return line.into();
    }
    let mut own = line.to_owned();
    for before in [".file", ".loc", "inlined_at"] {
        let Some((_, rest)) = own.split_once(before) else { continue };
        let number = rest.trim_start();
        let number =
            &number[..number.find(|it: char| !it.is_ascii_digit()).unwrap_or(number.len())];
        let Ok(file) = number.parse::<usize>() else { continue };
        let at = own.len() - rest.trim_start().len();
        own.replace_range(at..at + number.len(), &(file + index * FILES).to_string());
    }
    own.into()
}

exports! {
    fn cuLinkCreate_v2(
        driver, count: c_uint, options: *mut c_uint, values: *mut *mut c_void, state: Out<CUlinkState>
    ) {
        driver.context()?;
        // SAFETY: by the function's contract.
        unsafe { clear_logs(count, options, values) };
        state.write(handle(driver.objects.links.add(LinkState::default())))
    }
    fn cuLinkAddData_v2(
        driver, state: CUlinkState, kind: c_uint, data: InMut<c_void>, size: usize, _name: *const c_char,
        _count: c_uint, _options: *mut c_uint, _values: *mut *mut c_void
    ) {
        // SAFETY: by the function's contract the data has so many bytes.
        let bytes = unsafe { data.bytes(size) }?;
        add(driver, state, kind, bytes)
    }
    fn cuLinkAddFile_v2(
        driver, state: CUlinkState, kind: c_uint, path: In<c_char>, _count: c_uint, _options: *mut c_uint,
        _values: *mut *mut c_void
    ) {
        add(driver, state, kind, path.read_file()?)
    }
    fn cuLinkComplete(driver, state: CUlinkState, image: Out<*mut c_void>, size: Out<usize>) {
        let state = driver.objects.links.get_mut(state.addr())?;
        if state.texts.is_empty() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        state.linked = linked(&state.texts);
        image.write(state.linked.as_mut_ptr().cast())?;
        size.write(state.linked.len())
    }
    fn cuLinkDestroy(driver, state: CUlinkState) {
        driver.objects.links.remove(state.addr()).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    #[test]
    fn logs_begin_empty_in_whatever_order_their_options_come() {
        let (mut info, mut error) = ([7u8; 4], [7u8; 4]);
        let mut options = [5, 9, 6, 4, 3];
        let size = std::ptr::without_provenance_mut(4);
        let mut values = [
            error.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(1),
            size,
            size,
            info.as_mut_ptr().cast(),
        ];
        // SAFETY: both arrays have five elements, and the buffers four bytes.
        unsafe { super::clear_logs(5, options.as_mut_ptr(), values.as_mut_ptr()) };
        assert_eq!((info, error), ([0, 7, 7, 7], [0, 7, 7, 7]));
        assert_eq!(values.map(|value| value.addr())[1..4], [1, 0, 0]);
        // SAFETY: null is allowed.
        unsafe { super::clear_logs(0, null_mut(), null_mut()) };
    }

    #[test]
    fn places_of_two_texts_stay_apart() {
        let text = |name: &str| {
            format!(
                ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry {name}() {{\n\t.loc 1 7 3\n\tmembar.gl;\n\
                 \t.loc\t2 9 3, function_name $L__info_string0, inlined_at 1 8 3\n\tmembar.cta;\n\tret;\n}}\n\
                 \t.file\t1 \"{name}.cu\"\n\t.file\t2 \"{name}.h\"\n"
            )
        };
        let linked = String::from_utf8(super::linked(&[text("one"), text("last")])).unwrap();
        let module = simt::Module::parse(linked.trim_end_matches('\0')).unwrap();
        for name in ["one", "last"] {
            let launch = simt::Launch::new(name, [1, 1, 1], [1, 1, 1]);
            let options = simt::Options::default();
            let report =
                simt::run(&module, &mut simt::Memory::default(), &launch, &options).unwrap();
            let places: Vec<String> = report
                .instructions
                .iter()
                .filter(|it| it.text.starts_with("membar"))
                .map(|it| it.source.as_ref().map(ToString::to_string).unwrap_or_default())
                .collect();
            assert_eq!(places.len(), 2);
            assert!(places[0].contains(&format!("{name}.cu:7")), "{places:?}");
            assert!(places[1].contains(&format!("{name}.h:9")), "{places:?}");
            assert!(places[1].contains(&format!("{name}.cu:8")), "{places:?}");
        }
    }

    #[test]
    fn texts_become_one_with_one_head() {
        let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
        let text = |name: &str| format!("{head}.visible .entry {name}() {{ ret; }}\n");
        let linked = super::linked(&[text("one"), text("other")]);
        let linked = String::from_utf8(linked).unwrap();
        let module = simt::Module::parse(linked.trim_end_matches('\0')).unwrap();
        assert_eq!(module.kernels().len(), 2);
        // What several texts have of a template stays once.
        let weak =
            format!("{head}.weak .entry same() {{ ret; }}\n.visible .entry last() {{ ret; }}\n");
        let linked = String::from_utf8(super::linked(&[weak.clone(), text("one"), weak])).unwrap();
        assert_eq!(linked.matches("same").count(), 1);
        assert_eq!(linked.matches("last").count(), 2);
    }
}
