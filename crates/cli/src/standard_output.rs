//! Standard output belongs to the program: its summary, its rows and its listings. External code that prints would write into the
//! middle of them, so where such code is allowed, the descriptor of the process leads to standard error, and the program keeps
//! another one for itself.

use std::io::Write;

/// Standard output of the program, whoever else prints.
pub fn standard_output() -> Box<dyn Write + Send> {
    #[cfg(unix)]
    if let Some(own) = unix::own() {
        return Box::new(own);
    }
    Box::new(std::io::stdout())
}

/// From now on what anybody else prints goes to standard error.
pub fn keep_from_others() {
    #[cfg(unix)]
    unix::keep_from_others();
}

/// The descriptor behind which a terminal may be.
#[cfg(unix)]
pub fn descriptor() -> std::os::fd::RawFd {
    unix::descriptor()
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
    use std::sync::OnceLock;

    static OWN: OnceLock<Option<File>> = OnceLock::new();

    pub fn own() -> Option<&'static File> {
        OWN.get().and_then(Option::as_ref)
    }

    pub fn keep_from_others() {
        OWN.get_or_init(redirect);
    }

    pub fn descriptor() -> RawFd {
        own().map_or(libc::STDOUT_FILENO, |file| file.as_raw_fd())
    }

    /// Where a descriptor cannot be had, everything stays as it is.
    #[allow(unsafe_code)]
    fn redirect() -> Option<File> {
        let own = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
        // SAFETY: both are the standard descriptors of the process; nothing that Rust owns is closed.
        let is_redirected = unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } >= 0;
        is_redirected.then(|| own.into())
    }
}
