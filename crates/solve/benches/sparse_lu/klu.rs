//! KLU of SuiteSparse, as far as the comparison needs it.
#![allow(unsafe_code)]

use solve::Pattern;
use std::ffi::c_void;

#[link(name = "klu")]
unsafe extern "C" {
    fn klu_defaults(common: *mut c_void) -> i32;
    fn klu_analyze(n: i32, starts: *const i32, rows: *const i32, common: *mut c_void) -> *mut c_void;
    fn klu_factor(
        starts: *const i32,
        rows: *const i32,
        values: *const f64,
        symbolic: *mut c_void,
        common: *mut c_void,
    ) -> *mut c_void;
    fn klu_refactor(
        starts: *const i32,
        rows: *const i32,
        values: *const f64,
        symbolic: *mut c_void,
        numeric: *mut c_void,
        common: *mut c_void,
    ) -> i32;
    fn klu_solve(
        symbolic: *mut c_void,
        numeric: *mut c_void,
        rows: i32,
        sides: i32,
        b: *mut f64,
        common: *mut c_void,
    ) -> i32;
    fn klu_free_symbolic(symbolic: *mut *mut c_void, common: *mut c_void) -> i32;
    fn klu_free_numeric(numeric: *mut *mut c_void, common: *mut c_void) -> i32;
}

/// Room for the structure `klu_common`, which is far smaller.
#[repr(align(16))]
struct Common([u8; 4096]);

pub struct Klu {
    starts: Vec<i32>,
    rows: Vec<i32>,
    common: Box<Common>,
    symbolic: *mut c_void,
    numeric: *mut c_void,
}

impl Klu {
    pub fn new(pattern: &Pattern, values: &[f64]) -> Klu {
        let starts: Vec<i32> = pattern.starts.iter().map(|start| *start as i32).collect();
        let rows: Vec<i32> = pattern.indices.iter().map(|row| *row as i32).collect();
        let mut common = Box::new(Common([0; 4096]));
        let shared = (&raw mut common.0).cast();
        // SAFETY: the arrays outlive the calls, and KLU keeps no pointer to them.
        let (symbolic, numeric) = unsafe {
            klu_defaults(shared);
            let symbolic = klu_analyze(pattern.columns as i32, starts.as_ptr(), rows.as_ptr(), shared);
            (symbolic, klu_factor(starts.as_ptr(), rows.as_ptr(), values.as_ptr(), symbolic, shared))
        };
        Klu { starts, rows, common, symbolic, numeric }
    }

    pub fn refactor(&mut self, values: &[f64]) {
        let (starts, rows) = (self.starts.as_ptr(), self.rows.as_ptr());
        // SAFETY: as above, with the handles KLU returned.
        unsafe {
            let common = (&raw mut self.common.0).cast();
            klu_refactor(starts, rows, values.as_ptr(), self.symbolic, self.numeric, common);
        }
    }

    pub fn solve(&mut self, b: &mut [f64]) {
        // SAFETY: `b` has as many places as the matrix has rows.
        unsafe {
            let common = (&raw mut self.common.0).cast();
            klu_solve(self.symbolic, self.numeric, b.len() as i32, 1, b.as_mut_ptr(), common);
        }
    }
}

impl Drop for Klu {
    fn drop(&mut self) {
        // SAFETY: both handles are freed once.
        unsafe {
            let common: *mut c_void = (&raw mut self.common.0).cast();
            klu_free_numeric(&raw mut self.numeric, common);
            klu_free_symbolic(&raw mut self.symbolic, common);
        }
    }
}
