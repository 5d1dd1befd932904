//! Several devices: whether one can access another's memory, and letting it.
//!
//! ```no_run
//! # fn f(one: &cust::device::Device, other: &cust::device::Device) -> cust_ext::Result<()> {
//! if cust_ext::peer::can_access(one, other)? {
//!     let facts = cust_ext::peer::info(one, other)?;
//! }
//! # Ok(())
//! # }
//! ```

use crate::error::{Result, call};
use cuda_driver::ReturnCode;
use cust::context::{Context, ContextHandle, CurrentContext};
use cust::device::Device;
use cust::memory::{DeviceCopy, DeviceSlice};
use cust::stream::Stream;
use cust::sys::CUcontext;
use std::ffi::{c_int, c_uint};

/// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`.
const ALREADY_ENABLED: ReturnCode = ReturnCode(704);

/// Returns whether kernels on `device` can access the memory of `peer` (over NVLink or PCIe).
///
/// # Errors
/// When the driver does not know one of them.
pub fn can_access(device: &Device, peer: &Device) -> Result<bool> {
    let mut can: c_int = 0;
    // SAFETY: a local to write to.
    unsafe { call!(cuDeviceCanAccessPeer(&mut can, device.as_raw(), peer.as_raw()))? };
    Ok(can != 0)
}

/// The connection of two devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerInfo {
    /// Relative performance of the link, 0 is the best.
    pub performance_rank: i32,
    /// True when atomics work over the link.
    pub native_atomics: bool,
}

/// Returns how `device` is connected to `peer`.
///
/// # Errors
/// When the driver does not tell one of the facts.
pub fn info(device: &Device, peer: &Device) -> Result<PeerInfo> {
    let get = |attribute: c_uint| -> Result<c_int> {
        let mut value: c_int = 0;
        // SAFETY: a local to write to.
        unsafe {
            call!(cuDeviceGetP2PAttribute(&mut value, attribute, device.as_raw(), peer.as_raw()))?
        };
        Ok(value)
    };
    Ok(PeerInfo { performance_rank: get(1)?, native_atomics: get(3)? != 0 })
}

/// Lets one context access another's memory; dropping it ends that.
#[derive(Debug)]
#[must_use = "peer access ends when this is dropped"]
pub struct PeerAccess<'a> {
    context: &'a Context,
    peer: &'a Context,
}

impl<'a> PeerAccess<'a> {
    /// Lets kernels and copies of `context` access the memory of `peer` directly. It makes `context` current.
    ///
    /// # Errors
    /// When the two cannot access each other.
    pub fn enable(context: &'a Context, peer: &'a Context) -> Result<PeerAccess<'a>> {
        CurrentContext::set_current(context)?;
        // SAFETY: both contexts are alive.
        unsafe { call!(cuCtxEnablePeerAccess(peer.get_inner(), 0))? };
        Ok(PeerAccess { context, peer })
    }
}

impl Drop for PeerAccess<'_> {
    fn drop(&mut self) {
        let mut before = std::ptr::null_mut();
        // SAFETY: both contexts are alive, `before` is a local to write to, and the context that was current becomes
        // current again. An error cannot be reported from here.
        unsafe {
            let _ = call!(cuCtxGetCurrent(&mut before));
            if CurrentContext::set_current(self.context).is_ok() {
                let _ = call!(cuCtxDisablePeerAccess(self.peer.get_inner()));
            }
            let _ = call!(cuCtxSetCurrent(before));
        }
    }
}

/// Lets each of several devices access the memory of each other, in their primary contexts; dropping it ends that.
///
/// A library such as NCCL enables access, too, and leaves it enabled. That is taken over here, and ends with the rest.
#[must_use = "peer access ends when this is dropped"]
pub struct MutualAccess {
    /// Kept because access ends with a context.
    contexts: Vec<Context>,
}

impl MutualAccess {
    /// Enables every pair of devices. The current context stays current.
    ///
    /// # Errors
    /// The driver's, such as where a device cannot access another's memory.
    pub fn enable(devices: &[Device]) -> Result<MutualAccess> {
        let access = MutualAccess { contexts: contexts(devices)? };
        access.each_pair(|peer| {
            // SAFETY: the peer's context is alive.
            match unsafe { call!(cuCtxEnablePeerAccess(peer, 0)) } {
                Err(error) if error.code() == Some(ALREADY_ENABLED) => Ok(()),
                enabled => enabled,
            }
        })?;
        Ok(access)
    }

    /// Ends all access among devices, whoever enabled it: copies between them go through the host from here on.
    ///
    /// # Errors
    /// When a primary context cannot be made current.
    pub fn end(devices: &[Device]) -> Result<()> {
        drop(MutualAccess { contexts: contexts(devices)? });
        Ok(())
    }

    /// Runs `body` with each other context while one is current, for all of them.
    fn each_pair(&self, mut body: impl FnMut(CUcontext) -> Result<()>) -> Result<()> {
        for (one, context) in self.contexts.iter().enumerate() {
            for (_, peer) in self.contexts.iter().enumerate().filter(|(other, _)| *other != one) {
                with_current(context, || body(peer.get_inner()))??;
            }
        }
        Ok(())
    }
}

impl Drop for MutualAccess {
    fn drop(&mut self) {
        let _ = self.each_pair(|peer| {
            // SAFETY: the peer's context is alive. That access was not enabled is no error here, and another cannot be
            // reported.
            let _ = unsafe { call!(cuCtxDisablePeerAccess(peer)) };
            Ok(())
        });
    }
}

/// The primary contexts of devices. The current context stays current.
fn contexts(devices: &[Device]) -> Result<Vec<Context>> {
    let before = current()?;
    // Making a context makes it current.
    let contexts = devices.iter().map(|device| Context::new(*device));
    let contexts = contexts.collect::<std::result::Result<Vec<_>, _>>();
    make_current(before)?;
    Ok(contexts?)
}

/// Runs `body` while a context is current on this thread; the one that was becomes current again.
///
/// # Errors
/// When the driver does not make one of the two current.
pub fn with_current<R>(context: &Context, body: impl FnOnce() -> R) -> Result<R> {
    let before = current()?;
    CurrentContext::set_current(context)?;
    let done = body();
    make_current(before)?;
    Ok(done)
}

/// The context that is current on this thread.
fn current() -> Result<CUcontext> {
    let mut context = std::ptr::null_mut();
    // SAFETY: a local to write to.
    unsafe { call!(cuCtxGetCurrent(&mut context))? };
    Ok(context)
}

fn make_current(context: CUcontext) -> Result<()> {
    // SAFETY: it was current on this thread, and nobody ended it since.
    unsafe { call!(cuCtxSetCurrent(context)) }
}

/// Copies between two devices, directly where peer access is possible and through the host elsewhere.
///
/// # Errors
/// When the lengths differ, and the driver's.
///
/// # Safety
/// - Both slices stay allocated until the stream has finished the copy, and no one else writes them meanwhile.
pub unsafe fn copy<T: DeviceCopy>(
    source: (&DeviceSlice<T>, &Context),
    target: (&mut DeviceSlice<T>, &Context),
    stream: &Stream,
) -> Result<()> {
    if source.0.len() != target.0.len() {
        let (source, target) = (source.0.len(), target.0.len());
        return crate::error::argument(format!(
            "a copy between {source} and {target} values: make both sides equally long"
        ));
    }
    let (from, to) = (source.0.as_device_ptr().as_raw(), target.0.as_device_ptr().as_raw());
    let bytes = source.0.len() * size_of::<T>();
    // SAFETY: both ranges have `bytes` bytes, contexts and stream are alive; the rest is this function's contract.
    unsafe {
        call!(cuMemcpyPeerAsync(
            to,
            target.1.get_inner(),
            from,
            source.1.get_inner(),
            bytes,
            stream.as_inner()
        ))
    }
}
