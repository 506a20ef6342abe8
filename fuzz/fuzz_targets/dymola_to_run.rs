//! Texts in the Dymola language of 1993.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: String| gyrator_fuzz::run("case.dym", text));
