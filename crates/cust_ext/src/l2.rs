//! Keeping hot data in L2: the persisting set-aside and access-policy windows, of a stream or of a launch.
//!
//! ```no_run
//! use cust_ext::l2::{AccessProperty, AccessWindow, PersistingLimit, WindowPolicy};
//! # fn f(stream: &cust::stream::Stream, table: &cust::memory::DeviceBuffer<f32>) -> cust_ext::Result<()> {
//! let _limit = PersistingLimit::set(4 << 20)?;
//! let policy = WindowPolicy { hit_ratio: 1.0, hit: AccessProperty::Persisting, miss: AccessProperty::Streaming };
//! // Until it is dropped, kernels on the stream keep the table in L2.
//! let window = AccessWindow::set(stream, &**table, policy)?;
//! # Ok(())
//! # }
//! ```

use crate::device::{DeviceAttribute, attribute};
use crate::error::{Result, argument, call};
use cuda_driver::types::LaunchAttributeValue;
use cust::context::CurrentContext;
use cust::memory::{DeviceCopy, DeviceSlice};
use cust::stream::Stream;
use std::borrow::Borrow;
use std::ffi::{c_uint, c_void};
use std::ops::Deref;

const PERSISTING_LIMIT: c_uint = 6;
/// `CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW`.
const ACCESS_POLICY_WINDOW: c_uint = 1;

/// L2 set aside for persisting accesses; dropping it makes persisting lines normal and restores the size of before.
#[derive(Debug)]
#[must_use = "the set-aside ends when this is dropped"]
pub struct PersistingLimit {
    before_bytes: usize,
    bytes: usize,
}

impl PersistingLimit {
    /// Sets `bytes` of the current device's L2 aside, at most [`DeviceAttribute::MaxPersistingL2CacheBytes`].
    ///
    /// This belongs to the context, not to a stream: all its work has that much less L2 for everything else.
    ///
    /// # Errors
    /// More bytes than the device sets aside, and the driver's.
    pub fn set(bytes: usize) -> Result<PersistingLimit> {
        let device = CurrentContext::get_device()?;
        let most = usize::try_from(attribute(&device, DeviceAttribute::MaxPersistingL2CacheBytes)?)
            .unwrap_or(0);
        if bytes > most {
            return argument(format!(
                "{bytes} bytes of L2 cannot persist: this device sets aside at most {most}"
            ));
        }
        let mut before_bytes = 0;
        // SAFETY: a local to write to.
        unsafe { call!(cuCtxGetLimit(&mut before_bytes, PERSISTING_LIMIT))? };
        // SAFETY: a limit of the current context, no memory is involved.
        unsafe { call!(cuCtxSetLimit(PERSISTING_LIMIT, bytes))? };
        let mut limit = PersistingLimit { before_bytes, bytes: 0 };
        // SAFETY: a local to write to. The driver may have rounded.
        unsafe { call!(cuCtxGetLimit(&mut limit.bytes, PERSISTING_LIMIT))? };
        Ok(limit)
    }

    /// Returns how many bytes the driver set aside.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for PersistingLimit {
    fn drop(&mut self) {
        // Errors cannot be reported from here. Lines of a launch's window persist until someone returns them.
        let _ = reset_persisting();
        // SAFETY: as in `set`.
        let _ = unsafe { call!(cuCtxSetLimit(PERSISTING_LIMIT, self.before_bytes)) };
    }
}

/// The meaning of an access for L2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum AccessProperty {
    /// As usual.
    Normal = 0,
    /// Evicted first.
    Streaming = 1,
    /// Kept in the part that was set aside.
    Persisting = 2,
}

/// The treatment of accesses inside a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowPolicy {
    /// Part of the accesses, chosen by address hash, that gets `hit`: at most set-aside bytes / window bytes, else the
    /// window evicts itself.
    pub hit_ratio: f32,
    /// The property of the chosen accesses.
    pub hit: AccessProperty,
    /// That of the others.
    pub miss: AccessProperty,
}

impl WindowPolicy {
    /// Persist all of the window, stream the rest.
    pub const PERSIST: WindowPolicy = WindowPolicy {
        hit_ratio: 1.0,
        hit: AccessProperty::Persisting,
        miss: AccessProperty::Streaming,
    };
}

/// Addresses whose accesses have a policy: what a stream or a launch is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccessPolicyWindow {
    address: u64,
    bytes: usize,
    policy: WindowPolicy,
}

impl AccessPolicyWindow {
    /// Over all of `memory`, at most [`DeviceAttribute::MaxAccessPolicyWindowBytes`] of the current device.
    ///
    /// It borrows nothing: accesses to whatever lies at these addresses later are treated alike.
    ///
    /// # Errors
    /// A window that is larger than the device allows, or shares that cannot be; and the driver's.
    pub fn over<T: DeviceCopy>(
        memory: &DeviceSlice<T>,
        policy: WindowPolicy,
    ) -> Result<AccessPolicyWindow> {
        let bytes = memory.len() * size_of::<T>();
        let device = CurrentContext::get_device()?;
        let most =
            usize::try_from(attribute(&device, DeviceAttribute::MaxAccessPolicyWindowBytes)?)
                .unwrap_or(0);
        check_window(bytes, most, policy)?;
        Ok(AccessPolicyWindow { address: memory.as_device_ptr().as_raw(), bytes, policy })
    }

    /// No addresses.
    const NONE: AccessPolicyWindow = AccessPolicyWindow {
        address: 0,
        bytes: 0,
        policy: WindowPolicy {
            hit_ratio: 0.0,
            hit: AccessProperty::Normal,
            miss: AccessProperty::Normal,
        },
    };

    /// As the driver takes it. CUDA 12 has 64 bytes, cust_raw's union half of them: a newer driver may read all.
    pub(crate) fn value(&self) -> LaunchAttributeValue {
        let mut value = LaunchAttributeValue { pad: [0; 64] };
        // SAFETY: the union is zeroed and its window filled in; the two properties are written as C's integers.
        unsafe {
            let window = &raw mut value.access_policy_window;
            (*window).base_ptr = std::ptr::without_provenance_mut::<c_void>(self.address as usize);
            (*window).num_bytes = self.bytes;
            (*window).hitRatio = self.policy.hit_ratio;
            (&raw mut (*window).hitProp).cast::<c_uint>().write(self.policy.hit as c_uint);
            (&raw mut (*window).missProp).cast::<c_uint>().write(self.policy.miss as c_uint);
        }
        value
    }

    /// Gives it to the later kernels of a stream.
    fn apply(&self, stream: &Stream) -> Result<()> {
        let value = self.value();
        // SAFETY: the stream is alive, and the driver copies the value.
        unsafe {
            call!(cuStreamSetAttribute(
                stream.as_inner(),
                ACCESS_POLICY_WINDOW,
                (&raw const value).cast()
            ))
        }
    }
}

/// A stream's access-policy window; dropping it removes the window and returns all persisting lines to normal.
///
/// It holds the stream `S` and the memory `M`, owned or borrowed, so that a window never points to freed memory.
#[derive(Debug)]
#[must_use = "the window ends when this is dropped"]
pub struct AccessWindow<S: Borrow<Stream>, M> {
    stream: S,
    memory: M,
}

impl<S: Borrow<Stream>, M> AccessWindow<S, M> {
    /// Gives the accesses of later kernels on `stream` to `memory` the `policy`.
    ///
    /// # Errors
    /// When the device allows no such window, or the policy is none.
    pub fn set<T: DeviceCopy>(stream: S, memory: M, policy: WindowPolicy) -> Result<Self>
    where
        M: Deref<Target = DeviceSlice<T>>,
    {
        AccessPolicyWindow::over(&memory, policy)?.apply(stream.borrow())?;
        Ok(AccessWindow { stream, memory })
    }

    /// The stream.
    pub fn stream(&self) -> &Stream {
        self.stream.borrow()
    }

    /// The memory.
    pub fn memory(&self) -> &M {
        &self.memory
    }
}

impl<S: Borrow<Stream>, M> Drop for AccessWindow<S, M> {
    fn drop(&mut self) {
        // An error cannot be reported from here.
        let _ = remove_window(self.stream.borrow());
    }
}

/// Returns all lines that persist in L2 to normal. Without it they stay until something evicts them.
///
/// # Errors
/// When the device cannot set L2 aside.
pub fn reset_persisting() -> Result<()> {
    // SAFETY: no memory is involved.
    unsafe { call!(cuCtxResetPersistingL2Cache()) }
}

/// Leaves L2 as it is by default: nothing set aside, no window on `stream`, no line that persists.
///
/// Returns the bytes that were set aside until now.
///
/// # Errors
/// When the driver refuses one of the three.
pub fn restore_default(stream: &Stream) -> Result<usize> {
    let mut bytes = 0;
    // SAFETY: a local to write to.
    unsafe { call!(cuCtxGetLimit(&mut bytes, PERSISTING_LIMIT))? };
    if bytes > 0 {
        // SAFETY: a limit of the current context, no memory is involved.
        unsafe { call!(cuCtxSetLimit(PERSISTING_LIMIT, 0))? };
        remove_window(stream)?;
    }
    Ok(bytes)
}

/// Removes a stream's window and returns all lines that persist to normal.
fn remove_window(stream: &Stream) -> Result<()> {
    AccessPolicyWindow::NONE.apply(stream)?;
    reset_persisting()
}

fn check_window(bytes: usize, most: usize, policy: WindowPolicy) -> Result<()> {
    if bytes == 0 || bytes > most {
        return argument(format!(
            "a window of {bytes} bytes: this device allows 1 to {most}, give a smaller part of the buffer"
        ));
    }
    if !(0.0..=1.0).contains(&policy.hit_ratio) {
        return argument(format!(
            "a hit ratio of {}: it is a fraction from 0 to 1",
            policy.hit_ratio
        ));
    }
    if policy.miss == AccessProperty::Persisting {
        return argument(
            "the accesses outside the hit ratio cannot persist: choose Normal or Streaming",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cust::memory::DeviceBuffer;

    #[test]
    fn a_window_that_the_device_cannot_have_is_refused() {
        let good = WindowPolicy::PERSIST;
        assert_eq!(check_window(100, 100, good), Ok(()));
        assert_eq!(
            check_window(101, 100, good).unwrap_err().to_string(),
            "a window of 101 bytes: this device allows 1 to 100, give a smaller part of the buffer"
        );
        assert!(check_window(100, 100, WindowPolicy { hit_ratio: 1.5, ..good }).is_err());
        assert!(check_window(100, 100, WindowPolicy { hit_ratio: f32::NAN, ..good }).is_err());
        assert!(
            check_window(100, 100, WindowPolicy { miss: AccessProperty::Persisting, ..good })
                .is_err()
        );
    }

    #[test]
    fn the_set_aside_is_restored() {
        let _context = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let buffer = DeviceBuffer::<u32>::zeroed(1 << 18).unwrap();
        let before = {
            let limit = PersistingLimit::set(1 << 20).unwrap();
            assert!(limit.bytes() >= 1 << 20);
            let _window = AccessWindow::set(&stream, &*buffer, WindowPolicy::PERSIST).unwrap();
            limit.before_bytes
        };
        let again = PersistingLimit::set(1 << 20).unwrap();
        assert_eq!(again.before_bytes, before);
    }
}
