//! Some hundred random models of each family: always the same ones, or those of the seed `GYRATOR_SEED`.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use oracles::{FAMILIES, Family};

const SEED: u64 = 20_240_229;

fn main() -> ExitCode {
    let given = std::env::var("GYRATOR_SEED").ok().and_then(|text| text.parse().ok());
    let seed = given.unwrap_or(SEED);
    let trials =
        FAMILIES.iter().map(|family| Trial::test(family.name, move || agrees(family, seed).map_err(Into::into)));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn agrees(family: &Family, seed: u64) -> Result<(), String> {
    let mut wrong = String::new();
    for number in 0..family.tested {
        let case = family.case(seed, number);
        if let Err(said) = case.check() {
            wrong += &format!("{} {number} of seed {seed}: {said}\n{}\n", family.name, case.text);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}
