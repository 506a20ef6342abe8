//! Code of others that ends the process: by a signal of the machine, such as an access to memory that is not there, by `abort`, or by
//! `exit`. What it leaves behind cannot be relied on, so the process ends, but with a message that names the function and its library,
//! and with the status of a run that stopped early. Signals outside of such a call go to whom they went before.
//!
//! A handler of a signal may do little: it writes texts that are there already. It runs on the alternate stack that the standard
//! library gives to every thread, since the stack may be what is exhausted. Code that is compiled here seldom gets this far: what would
//! end the process ends the call (`utilities.c`).

#![allow(unsafe_code)]

#[cfg(unix)]
pub use unix::{Watched, watch};

#[cfg(not(unix))]
pub use elsewhere::{Watched, watch};

#[cfg(unix)]
mod unix {
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::mem::MaybeUninit;
    use std::sync::OnceLock;

    /// The status of a run that stopped early.
    const STOPPED: c_int = 3;

    const SIGNALS: [(c_int, &str); 6] = [
        (libc::SIGSEGV, "it reads or writes memory that is not its own, or its stack is too small (SIGSEGV)"),
        (libc::SIGBUS, "it reads or writes memory that is not there (SIGBUS)"),
        (libc::SIGFPE, "a division of integers by zero (SIGFPE)"),
        (libc::SIGILL, "an instruction that the machine does not have (SIGILL)"),
        (libc::SIGTRAP, "a trap (SIGTRAP)"),
        (libc::SIGABRT, "it called `abort`, or the C library found its memory destroyed (SIGABRT)"),
    ];

    /// What was done about a signal before.
    static BEFORE: OnceLock<[Option<libc::sigaction>; SIGNALS.len()]> = OnceLock::new();

    /// A name, copied to where code that writes behind its arrays seldom gets; long ones lose their end.
    #[derive(Clone, Copy)]
    struct Text {
        bytes: [u8; 120],
        length: usize,
    }

    impl Text {
        fn new(text: &str) -> Self {
            let mut bytes = [0; 120];
            let length = text.len().min(bytes.len());
            bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
            Self { bytes, length }
        }
    }

    /// What a thread is calling.
    #[derive(Clone, Copy)]
    struct Called {
        symbol: Text,
        library: Text,
        /// A process that the code forks is its own affair.
        process: libc::pid_t,
    }

    thread_local! {
        static CALLED: Cell<Option<Called>> = const { Cell::new(None) };
    }

    /// Looks out for what ends the process, from now on.
    pub fn watch() {
        BEFORE.get_or_init(|| {
            // SAFETY: the function has the type that is asked for.
            unsafe { libc::atexit(ended) };
            SIGNALS.map(|(signal, _)| {
                let mut before = MaybeUninit::<libc::sigaction>::uninit();
                // SAFETY: an action without flags but these is valid when it is zero; the function has the type that
                // `SA_SIGINFO` asks for; the former action is written where the answer is zero.
                unsafe {
                    let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                    action.sa_sigaction = crashed as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
                    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                    (libc::sigaction(signal, &raw const action, before.as_mut_ptr()) == 0).then(|| before.assume_init())
                }
            })
        });
    }

    /// A call that is under way on this thread.
    pub struct Watched {
        outer: Option<Called>,
    }

    impl Watched {
        pub fn begin(symbol: &str, library: &str) -> Self {
            // SAFETY: it only asks.
            let process = unsafe { libc::getpid() };
            let called = Called { symbol: Text::new(symbol), library: Text::new(library), process };
            Self { outer: CALLED.replace(Some(called)) }
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            CALLED.set(self.outer);
        }
    }

    /// The call of this thread, in the process that made it.
    fn present() -> Option<Called> {
        // SAFETY: it only asks.
        CALLED.get().filter(|called| called.process == unsafe { libc::getpid() })
    }

    extern "C" fn crashed(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
        let known = SIGNALS.iter().position(|&(known, _)| known == signal).unwrap_or(0);
        if let Some(called) = present() {
            tell(called, " crashed: ", SIGNALS[known].1);
            // SAFETY: ends the process without anything that the code may have destroyed.
            unsafe { libc::_exit(STOPPED) };
        }
        // What raised the signal raises it once more.
        let before = BEFORE.get().and_then(|before| before[known]);
        // SAFETY: the action is the one that the system gave, or that of zeroes, the default.
        unsafe {
            let before = before.unwrap_or_else(|| MaybeUninit::zeroed().assume_init());
            libc::sigaction(signal, &raw const before, std::ptr::null_mut());
        }
    }

    extern "C" fn ended() {
        let Some(called) = present() else { return };
        tell(called, " failed: ", "it called `exit`, which ends the program");
        // SAFETY: what the code has printed is written; then the process ends with another status than it wanted.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(STOPPED);
        }
    }

    fn tell(called: Called, failed: &str, reason: &str) {
        let say = |text: &[u8]| {
            // SAFETY: the text is as long as that. Where nothing can be written, nothing can be done.
            unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        };
        let name = |text: &Text| say(text.bytes.get(..text.length).unwrap_or_default());
        say(b"error[");
        say("external-crash".as_bytes());
        say(b"]: the external function `");
        name(&called.symbol);
        say(b"` of `");
        name(&called.library);
        say(b"`");
        say(failed.as_bytes());
        say(reason.as_bytes());
        say(b"\n  the result is not complete\n");
    }
}

#[cfg(not(unix))]
mod elsewhere {
    /// Nothing is watched here: the system tells about a crash.
    pub fn watch() {}

    pub struct Watched;

    impl Watched {
        pub fn begin(_: &str, _: &str) -> Self {
            Self
        }
    }
}
