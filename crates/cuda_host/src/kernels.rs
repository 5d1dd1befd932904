use crate::error::GpuError;
use cuda_std::kernel::Kernel;
use cust::module::Module;
use std::collections::HashMap;
use std::ffi::CString;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

/// The beginning of a record in PTX, which `cuda_builder` writes: a name, a path and a signature.
const RECORD: &str = "// kernel: ";
/// The words of a signature before those of its parameters: whether the kernel is safe, its block, which lengths agree.
const HEAD: usize = 5;
/// The words of a parameter: its kind, and the size and alignment of its value or element.
const PARAMETER: usize = 3;

/// A module on the device, and what is known of its kernels.
pub struct Kernels {
    module: Module,
    prepared: &'static Prepared,
}

/// A text of PTX, read once however often it is loaded.
struct Prepared {
    ptx: &'static str,
    /// The text as the driver takes it.
    text: CString,
    /// By path, `crate$name$line`, and by the name alone.
    records: HashMap<&'static str, Record>,
}

/// The texts that were loaded, which a program carries until it ends.
static PREPARED: Mutex<Vec<&'static Prepared>> = Mutex::new(Vec::new());

/// The device build's record of a kernel.
#[derive(Clone)]
struct Record {
    name: &'static str,
    signature: Vec<u32>,
}

impl Deref for Kernels {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.module
    }
}

impl Kernels {
    /// Loads PTX into the current context.
    pub(crate) fn load(ptx: &'static str) -> Result<Kernels, GpuError> {
        let prepared = prepared(ptx);
        let module = Module::from_ptx_cstr(&prepared.text, &[])
            .map_err(|error| GpuError::driver("loading the kernels", error))?;
        Ok(Kernels { module, prepared })
    }

    /// The name of a kernel's entry, if the kernel that was loaded is the one that the token tells of.
    ///
    /// # Errors
    /// A sentence that says what the device build and the host's disagree on.
    pub(crate) fn entry<F>(&self, kernel: Kernel<F>) -> Result<&'static str, String> {
        let records = &self.prepared.records;
        let record = records.get(kernel.path()).or_else(|| records.get(kernel.name()));
        let signature = kernel.signature();
        match record {
            Some(record) if signature.is_empty() || record.signature == signature => {
                Ok(record.name)
            }
            Some(record) => Err(difference(&record.signature, signature)),
            None if signature.first() == Some(&1) => Err(
                "the loaded PTX says nothing of its parameters, on which a launch without `unsafe` rests: build the \
                 kernels by `cuda_builder`, or launch it as an `unsafe fn`"
                    .to_owned(),
            ),
            None => Ok(kernel.name()),
        }
    }
}

/// Returns a text with what it says, which is read when it is asked for first.
fn prepared(ptx: &'static str) -> &'static Prepared {
    let mut known = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(prepared) = known.iter().find(|one| std::ptr::eq(one.ptx, ptx)) {
        return prepared;
    }
    // A driver that cannot be asked is asked for the text as it is.
    let newest = cuda_driver::status().map_or((0, 0), |driver| driver.version.ptx());
    let directed = cuda_driver::shared_spills::directed(ptx, newest);
    let text = directed.map_or_else(|| CString::new(ptx), CString::new);
    let text = text.expect("PTX has no NUL");
    let prepared = Box::leak(Box::new(Prepared { ptx, text, records: records(ptx) }));
    known.push(prepared);
    prepared
}

/// The records in a text of PTX. A name that two crates have is that of the crate that was built.
fn records(ptx: &'static str) -> HashMap<&'static str, Record> {
    let mut records = HashMap::new();
    for line in ptx.lines().filter_map(|line| line.strip_prefix(RECORD)) {
        let mut words = line.split(' ');
        let (Some(name), Some(path)) = (words.next(), words.next()) else { continue };
        let signature = words.filter_map(|word| word.parse().ok()).collect();
        let record = Record { name, signature };
        records.insert(path, record.clone());
        records.insert(name, record);
    }
    records
}

/// Returns what two signatures of one kernel disagree on.
fn difference(device: &[u32], host: &[u32]) -> String {
    const CURE: &str = "the kernels were built with other sources, types or features than this program: build both \
                        together, and give a feature of the kernels to the crate that launches them by the same name";
    let parameters = |words: &[u32]| -> Vec<Vec<u32>> {
        words.get(HEAD..).unwrap_or_default().chunks(PARAMETER).map(<[u32]>::to_vec).collect()
    };
    let [of_device, of_host] = [parameters(device), parameters(host)];
    if of_device.len() != of_host.len() {
        return format!(
            "it takes {} parameters on the device and {} on the host; {CURE}",
            of_device.len(),
            of_host.len()
        );
    }
    for (position, pair) in of_device.iter().zip(&of_host).enumerate() {
        if let ([kind, bytes, align], [host_kind, host_bytes, host_align]) =
            (pair.0.as_slice(), pair.1.as_slice())
            && (kind, bytes, align) != (host_kind, host_bytes, host_align)
        {
            let what = if kind == host_kind {
                format!(
                    "has {bytes} bytes, aligned to {align}, on the device and {host_bytes}, aligned to {host_align}, on \
                     the host"
                )
            } else {
                "is of another kind on the device than on the host".to_owned()
            };
            return format!("its parameter {position} {what}; {CURE}");
        }
    }
    format!("its block or its contract is another on the device than on the host; {CURE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_by_path_and_by_name() {
        let found = records(
            ".version 8.0\n// kernel: scale mine$scale$3 1 256 1 1 0 1 4 4\n// kernel: theirs_scale theirs$scale$3 0 0 0 0 0\n",
        );
        assert_eq!(found["mine$scale$3"].name, "scale");
        assert_eq!(found["scale"].signature, [1, 256, 1, 1, 0, 1, 4, 4]);
        assert_eq!(found["theirs$scale$3"].name, "theirs_scale");
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn a_difference_names_the_parameter_and_both_sizes() {
        let device = [1, 256, 1, 1, 0, 0, 4, 4, 1, 4, 4];
        let said = |host: &[u32]| difference(&device, host);
        assert!(said(&[1, 256, 1, 1, 0, 0, 4, 4, 1, 8, 8]).starts_with(
            "its parameter 1 has 4 bytes, aligned to 4, on the device and 8, aligned to 8, on the host; the kernels"
        ));
        assert!(
            said(&[1, 256, 1, 1, 0, 0, 4, 4, 8, 4, 4]).contains("parameter 1 is of another kind")
        );
        assert!(
            said(&[1, 256, 1, 1, 0, 0, 4, 4]).contains("takes 2 parameters on the device and 1")
        );
        assert!(said(&[1, 128, 1, 1, 0, 0, 4, 4, 1, 4, 4]).contains("its block"));
    }
}
