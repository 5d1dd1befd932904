//! The standard streams of this process, set aside: one half for Unix, one for Windows.

pub use half::set_aside;

#[cfg(unix)]
mod half {
    use std::fs::File;
    use std::io::Error;
    use std::os::fd::{AsFd, AsRawFd, RawFd};

    /// Returns what standard input and output are connected to. From here on the input is empty, and output goes to the errors.
    pub fn set_aside() -> Result<[File; 2], Error> {
        let null = File::open("/dev/null")?;
        let input = aside(libc::STDIN_FILENO, &std::io::stdin(), null.as_raw_fd())?;
        Ok([input, aside(libc::STDOUT_FILENO, &std::io::stdout(), libc::STDERR_FILENO)?])
    }

    fn aside(number: RawFd, stream: &impl AsFd, instead: RawFd) -> Result<File, Error> {
        let aside = stream.as_fd().try_clone_to_owned()?;
        // SAFETY: both are open, and nobody has used the first yet.
        if unsafe { libc::dup2(instead, number) } < 0 {
            return Err(Error::last_os_error());
        }
        Ok(aside.into())
    }
}

#[cfg(windows)]
mod half {
    use std::fs::File;
    use std::io::Error;
    use std::os::windows::io::{AsHandle, AsRawHandle, IntoRawHandle, RawHandle};
    use windows_sys::Win32::System::Console::{
        STD_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle,
    };

    pub fn set_aside() -> Result<[File; 2], Error> {
        // Stays open as long as the process.
        let null = File::open("NUL")?.into_raw_handle();
        let input = aside(STD_INPUT_HANDLE, &std::io::stdin(), null)?;
        let errors = std::io::stderr().as_raw_handle();
        Ok([input, aside(STD_OUTPUT_HANDLE, &std::io::stdout(), errors)?])
    }

    fn aside(which: STD_HANDLE, stream: &impl AsHandle, instead: RawHandle) -> Result<File, Error> {
        let aside = stream.as_handle().try_clone_to_owned()?;
        // SAFETY: the handle is open as long as the process, and nobody has used the stream yet.
        if unsafe { SetStdHandle(which, instead) } == 0 {
            return Err(Error::last_os_error());
        }
        Ok(aside.into())
    }
}
