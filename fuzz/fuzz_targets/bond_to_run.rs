//! Texts in the notation of bond graphs.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: String| gyrator_fuzz::run("case.bond", text));
