//! Errors: the codes of the runtime, and the last one of each thread.
//!
//! Since CUDA 10.1 a code that the driver has, too, has one number in both.

use cuda_driver::{ReturnCode, api};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int, c_uint};

/// An error of the runtime (`cudaError_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error(pub c_uint);

thread_local! {
    static LAST: Cell<c_int> = const { Cell::new(0) };
    /// The failure of the call under way is in the driver's list of mistakes.
    static IS_LISTED: Cell<bool> = const { Cell::new(false) };
    /// The reason for which the call under way fails, where more is known than its code.
    static WHY: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Begins a call: nothing has failed in it.
pub fn begin() {
    IS_LISTED.set(false);
    WHY.with_borrow_mut(|why| *why = None);
}

/// Takes note that the driver has listed why the call under way fails.
pub fn is_listed() {
    IS_LISTED.set(true);
}

/// Gives an error whose reason is known.
pub fn because(error: Error, why: String) -> Error {
    WHY.with_borrow_mut(|known| *known = Some(why));
    error
}

/// Returns why the call under way fails, unless the driver has listed it, or the error says that there is nothing to ask.
pub fn unlisted(error: Error) -> Option<CString> {
    if IS_LISTED.get() || [Error::NO_DEVICE, Error::INSUFFICIENT_DRIVER].contains(&error) {
        return None;
    }
    let why = WHY.with_borrow_mut(Option::take);
    let meaning = || {
        // SAFETY: what is returned ends with a zero and stays.
        let text = unsafe { CStr::from_ptr(cudaGetErrorString(error.0.cast_signed())) };
        text.to_string_lossy().into_owned()
    };
    CString::new(why.unwrap_or_else(meaning)).ok()
}

/// Makes an error the thread's last one, and returns its code.
pub fn keep(error: Error) -> c_int {
    LAST.set(error.0.cast_signed());
    error.0.cast_signed()
}

/// Gives the error of a driver's call.
pub fn check(code: ReturnCode) -> Result<(), Error> {
    let error = match code.0 {
        0 => return Ok(()),
        // The driver was not started or is gone, which a program cannot help.
        3 => Error::INITIALIZATION,
        code => Error(code),
    };
    is_listed();
    Err(error)
}

/// Defines the codes that the runtime names: its number, its name, and what it means where the driver has no such code.
macro_rules! codes {
    ($($number:literal $name:ident $(= $text:literal)?;)*) => {
        fn name_of(code: c_int) -> Option<&'static CStr> {
            match code {
                $($number => {
                    const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a name has no zero"),
                    };
                    Some(NAME)
                })*
                _ => None,
            }
        }

        fn text_of(code: c_int) -> Option<&'static CStr> {
            match code {
                $($($number => {
                    const TEXT: &CStr = match CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                        Ok(text) => text,
                        Err(_) => panic!("a text has no zero"),
                    };
                    Some(TEXT)
                })?)*
                _ => None,
            }
        }
    };
}

codes! {
    0 cudaSuccess = "no error";
    1 cudaErrorInvalidValue;
    2 cudaErrorMemoryAllocation;
    3 cudaErrorInitializationError;
    4 cudaErrorCudartUnloading;
    5 cudaErrorProfilerDisabled;
    6 cudaErrorProfilerNotInitialized;
    7 cudaErrorProfilerAlreadyStarted;
    8 cudaErrorProfilerAlreadyStopped;
    9 cudaErrorInvalidConfiguration = "the launch has a grid, a block or shared memory that the device does not take";
    10 cudaErrorVersionTranslation = "a function was asked for in a version that is not here";
    12 cudaErrorInvalidPitchValue = "the pitch is smaller than a row, or larger than the device takes";
    13 cudaErrorInvalidSymbol = "there is no such variable of the device";
    16 cudaErrorInvalidHostPointer = "a pointer is none of the host's";
    17 cudaErrorInvalidDevicePointer = "a pointer is none of the device's";
    18 cudaErrorInvalidTexture = "there is no such texture";
    19 cudaErrorInvalidTextureBinding = "the texture is bound to nothing";
    20 cudaErrorInvalidChannelDescriptor = "there is no such format of channels";
    21 cudaErrorInvalidMemcpyDirection = "there is no such direction of a copy";
    22 cudaErrorAddressOfConstant = "constant memory has no address here";
    23 cudaErrorTextureFetchFailed = "a texture cannot be read";
    24 cudaErrorTextureNotBound = "a texture is not bound";
    25 cudaErrorSynchronizationError = "a synchronization failed";
    26 cudaErrorInvalidFilterSetting = "the texture cannot be filtered so";
    27 cudaErrorInvalidNormSetting = "the texture cannot be read as normalized numbers";
    28 cudaErrorMixedDeviceExecution = "device code and code that stands for it are mixed";
    31 cudaErrorNotYetImplemented = "the function is not there yet";
    32 cudaErrorMemoryValueTooLarge = "a pointer is too large";
    34 cudaErrorStubLibrary;
    35 cudaErrorInsufficientDriver = "the driver is older than the runtime";
    36 cudaErrorCallRequiresNewerDriver = "the driver is older than the function";
    37 cudaErrorInvalidSurface = "there is no such surface";
    43 cudaErrorDuplicateVariableName = "two variables have one name";
    44 cudaErrorDuplicateTextureName = "two textures have one name";
    45 cudaErrorDuplicateSurfaceName = "two surfaces have one name";
    46 cudaErrorDevicesUnavailable;
    49 cudaErrorIncompatibleDriverContext = "the context was made for another device or interface";
    52 cudaErrorMissingConfiguration = "a kernel is launched without a grid";
    53 cudaErrorPriorLaunchFailure = "a launch before failed";
    65 cudaErrorLaunchMaxDepthExceeded = "kernels launch kernels too deeply";
    66 cudaErrorLaunchFileScopedTex = "the launched kernel uses textures of a file";
    67 cudaErrorLaunchFileScopedSurf = "the launched kernel uses surfaces of a file";
    68 cudaErrorSyncDepthExceeded = "kernels wait for kernels too deeply";
    69 cudaErrorLaunchPendingCountExceeded = "too many launches wait";
    98 cudaErrorInvalidDeviceFunction = "there is no such kernel: it was not registered, or its code is for another device";
    100 cudaErrorNoDevice;
    101 cudaErrorInvalidDevice;
    102 cudaErrorDeviceNotLicensed;
    103 cudaErrorSoftwareValidityNotEstablished = "the software could not be validated";
    127 cudaErrorStartupFailure = "the runtime cannot start";
    200 cudaErrorInvalidKernelImage;
    201 cudaErrorDeviceUninitialized;
    205 cudaErrorMapBufferObjectFailed;
    206 cudaErrorUnmapBufferObjectFailed;
    207 cudaErrorArrayIsMapped;
    208 cudaErrorAlreadyMapped;
    209 cudaErrorNoKernelImageForDevice;
    210 cudaErrorAlreadyAcquired;
    211 cudaErrorNotMapped;
    212 cudaErrorNotMappedAsArray;
    213 cudaErrorNotMappedAsPointer;
    214 cudaErrorECCUncorrectable;
    215 cudaErrorUnsupportedLimit;
    216 cudaErrorDeviceAlreadyInUse;
    217 cudaErrorPeerAccessUnsupported;
    218 cudaErrorInvalidPtx;
    219 cudaErrorInvalidGraphicsContext;
    220 cudaErrorNvlinkUncorrectable;
    221 cudaErrorJitCompilerNotFound;
    222 cudaErrorUnsupportedPtxVersion;
    223 cudaErrorJitCompilationDisabled;
    224 cudaErrorUnsupportedExecAffinity;
    225 cudaErrorUnsupportedDevSideSync;
    226 cudaErrorContained;
    227 cudaErrorInsufficientLoaderVersion;
    300 cudaErrorInvalidSource;
    301 cudaErrorFileNotFound;
    302 cudaErrorSharedObjectSymbolNotFound;
    303 cudaErrorSharedObjectInitFailed;
    304 cudaErrorOperatingSystem;
    400 cudaErrorInvalidResourceHandle;
    401 cudaErrorIllegalState;
    402 cudaErrorLossyQuery;
    500 cudaErrorSymbolNotFound;
    600 cudaErrorNotReady;
    700 cudaErrorIllegalAddress;
    701 cudaErrorLaunchOutOfResources;
    702 cudaErrorLaunchTimeout;
    703 cudaErrorLaunchIncompatibleTexturing;
    704 cudaErrorPeerAccessAlreadyEnabled;
    705 cudaErrorPeerAccessNotEnabled;
    708 cudaErrorSetOnActiveProcess;
    709 cudaErrorContextIsDestroyed;
    710 cudaErrorAssert;
    711 cudaErrorTooManyPeers;
    712 cudaErrorHostMemoryAlreadyRegistered;
    713 cudaErrorHostMemoryNotRegistered;
    714 cudaErrorHardwareStackError;
    715 cudaErrorIllegalInstruction;
    716 cudaErrorMisalignedAddress;
    717 cudaErrorInvalidAddressSpace;
    718 cudaErrorInvalidPc;
    719 cudaErrorLaunchFailure;
    720 cudaErrorCooperativeLaunchTooLarge;
    721 cudaErrorTensorMemoryLeak;
    800 cudaErrorNotPermitted;
    801 cudaErrorNotSupported;
    802 cudaErrorSystemNotReady;
    803 cudaErrorSystemDriverMismatch;
    804 cudaErrorCompatNotSupportedOnDevice;
    805 cudaErrorMpsConnectionFailed;
    806 cudaErrorMpsRpcFailure;
    807 cudaErrorMpsServerNotReady;
    808 cudaErrorMpsMaxClientsReached;
    809 cudaErrorMpsMaxConnectionsReached;
    810 cudaErrorMpsClientTerminated;
    811 cudaErrorCdpNotSupported;
    812 cudaErrorCdpVersionMismatch;
    900 cudaErrorStreamCaptureUnsupported;
    901 cudaErrorStreamCaptureInvalidated;
    902 cudaErrorStreamCaptureMerge;
    903 cudaErrorStreamCaptureUnmatched;
    904 cudaErrorStreamCaptureUnjoined;
    905 cudaErrorStreamCaptureIsolation;
    906 cudaErrorStreamCaptureImplicit;
    907 cudaErrorCapturedEvent;
    908 cudaErrorStreamCaptureWrongThread;
    909 cudaErrorTimeout;
    910 cudaErrorGraphExecUpdateFailure;
    911 cudaErrorExternalDevice;
    912 cudaErrorInvalidClusterSize;
    913 cudaErrorFunctionNotLoaded;
    914 cudaErrorInvalidResourceType;
    915 cudaErrorInvalidResourceConfiguration;
    917 cudaErrorStreamDetached;
    918 cudaErrorGraphRecaptureFailure;
    919 cudaErrorFabricNotReady;
    999 cudaErrorUnknown;
}

impl Error {
    /// `cudaErrorInvalidValue`.
    pub const INVALID_VALUE: Error = Error(1);
    /// `cudaErrorInitializationError`.
    pub const INITIALIZATION: Error = Error(3);
    /// `cudaErrorInvalidConfiguration`.
    pub const INVALID_CONFIGURATION: Error = Error(9);
    /// `cudaErrorInvalidPitchValue`.
    pub const INVALID_PITCH: Error = Error(12);
    /// `cudaErrorInvalidSymbol`.
    pub const INVALID_SYMBOL: Error = Error(13);
    /// `cudaErrorInvalidChannelDescriptor`.
    pub const INVALID_CHANNEL: Error = Error(20);
    /// `cudaErrorInvalidMemcpyDirection`.
    pub const INVALID_DIRECTION: Error = Error(21);
    /// `cudaErrorInsufficientDriver`.
    pub const INSUFFICIENT_DRIVER: Error = Error(35);
    /// `cudaErrorNoDevice`.
    pub const NO_DEVICE: Error = Error(100);
    /// `cudaErrorMissingConfiguration`.
    pub const MISSING_CONFIGURATION: Error = Error(52);
    /// `cudaErrorInvalidDeviceFunction`.
    pub const INVALID_FUNCTION: Error = Error(98);
    /// `cudaErrorInvalidDevice`.
    pub const INVALID_DEVICE: Error = Error(101);
    /// `cudaErrorInvalidResourceHandle`.
    pub const INVALID_HANDLE: Error = Error(400);
    /// `cudaErrorNotSupported`.
    pub const NOT_SUPPORTED: Error = Error(801);
}

/// Returns the thread's last error, and forgets it.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> c_int {
    LAST.replace(0)
}

/// Returns the thread's last error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> c_int {
    LAST.get()
}

/// Returns the name of a code.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(error: c_int) -> *const c_char {
    name_of(error).unwrap_or(c"unrecognized error code").as_ptr()
}

/// Returns what a code means.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(error: c_int) -> *const c_char {
    if let Some(text) = text_of(error) {
        return text.as_ptr();
    }
    let mut text = std::ptr::null();
    // SAFETY: the pointer is valid for the one pointer that is written.
    let known = unsafe { api::cuGetErrorString(error.cast_unsigned(), &raw mut text) };
    if known == ReturnCode::SUCCESS && !text.is_null() {
        return text;
    }
    name_of(error).unwrap_or(c"unrecognized error code").as_ptr()
}
