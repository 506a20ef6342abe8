//! Ctrl-C and the request to terminate: they end a run in order, everything else at once.
//!
//! A run looks at a flag after each step. What takes longer than a person waits is ended where it is: result files can be
//! read at every moment.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::Exit;
use crate::style::tell;

static STOP: AtomicBool = AtomicBool::new(false);
static RUNNING: AtomicBool = AtomicBool::new(false);

/// The time that a run has to end in order.
const PATIENCE: Duration = Duration::from_millis(120);

/// As shells count it for a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Where no handler can be set, signals end the program as usual.
pub fn install() {
    let hang_up = ignores_hang_up();
    let _ = ctrlc::set_handler(|| {
        if !RUNNING.load(Ordering::Relaxed) || STOP.swap(true, Ordering::Relaxed) {
            results::remove_hidden();
            packages::remove_unfinished();
            std::process::exit(INTERRUPTED);
        }
        std::thread::sleep(PATIENCE);
        results::remove_hidden();
        tell("error: interrupted; the result file holds what was written until then\n");
        std::process::exit(Exit::Stopped as i32);
    });
    if hang_up {
        ignore_hang_up();
    }
}

/// The flag that a run looks at; from now on it is asked to end in order.
pub fn flag() -> &'static AtomicBool {
    RUNNING.store(true, Ordering::Relaxed);
    &STOP
}

/// Whether the program was started by `nohup`, to go on when the terminal is closed.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: asks for the present action, which is written where the answer is zero.
    unsafe {
        libc::sigaction(libc::SIGHUP, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(unix)]
fn ignore_hang_up() {
    // SAFETY: no function is called when the signal comes.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
}

#[cfg(not(unix))]
fn ignores_hang_up() -> bool {
    false
}

#[cfg(not(unix))]
fn ignore_hang_up() {}
