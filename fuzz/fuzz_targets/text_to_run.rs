//! Texts in Modelica.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: String| gyrator_fuzz::run("case.mo", text));
