//! The functions of `ModelicaUtilities.h`, which external code calls (specification 12.9.6). They are written in C, because an error
//! must leave the external code by a jump, which may not pass frames of Rust: it ends in the C function that made the call.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use super::compiler::{Compiler, Job};
use super::trampoline::Trampoline;

/// The header that external code includes.
pub const HEADER: (&str, &str) = ("ModelicaUtilities.h", include_str!("utilities.h"));
const CODE: (&str, &str) = ("utilities.c", include_str!("utilities.c"));

type Protected = unsafe extern "C" fn(Trampoline, *const (), *const u64, *mut u64) -> c_int;

/// The compiled functions. They stay for the life of the process, like the code that uses them.
pub struct Utilities {
    protected: Protected,
    error: unsafe extern "C" fn() -> *const c_char,
    printed: unsafe extern "C" fn() -> *const c_char,
    release: unsafe extern "C" fn(),
    /// The file, which code that uses the functions is linked with.
    pub file: std::path::PathBuf,
}

impl Utilities {
    /// Those of the process, compiled when they are first asked for.
    pub fn get(compiler: &Compiler) -> Result<&'static Self, String> {
        static MADE: OnceLock<Result<Utilities, String>> = OnceLock::new();
        MADE.get_or_init(|| Self::make(compiler)).as_ref().map_err(Clone::clone)
    }

    fn make(compiler: &Compiler) -> Result<Self, String> {
        let job = Job { name: "utilities", texts: vec![HEADER, CODE], compiled: vec![CODE.0], ..Job::default() };
        let file = compiler.make(&job)?;
        // Global, so that shared libraries that were made by others find the functions.
        let library = super::library::open(&file, super::library::Visibility::Global)?;
        // SAFETY: the file was compiled from the text above, which has functions of these types.
        let made = unsafe {
            let missing = |error: libloading::Error| error.to_string();
            Self {
                protected: *library.get::<Protected>(b"gyrator_protected").map_err(missing)?,
                error: *library.get(b"gyrator_error").map_err(missing)?,
                printed: *library.get(b"gyrator_printed").map_err(missing)?,
                release: *library.get(b"gyrator_release").map_err(missing)?,
                file,
            }
        };
        std::mem::forget(library);
        Ok(made)
    }

    /// Calls a function and looks at the results, which may be in memory that is freed afterwards; an error that it reports
    /// is one here.
    ///
    /// # Safety
    /// As that of the code.
    pub unsafe fn call<T>(
        &self,
        code: Trampoline,
        function: *const (),
        (words, answer): (&[u64], *mut u64),
        say: &mut dyn FnMut(&str),
        read: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        // SAFETY: the caller promises it. Texts are read before they are released.
        unsafe {
            let failed = (self.protected)(code, function, words.as_ptr(), answer) != 0;
            let text = |pointer: *const c_char| CStr::from_ptr(pointer).to_string_lossy().into_owned();
            text((self.printed)()).lines().for_each(say);
            let outcome = if failed { Err(text((self.error)()).trim_end().to_owned()) } else { read() };
            (self.release)();
            outcome
        }
    }
}
