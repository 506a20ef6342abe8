//! Runs many random models: `oracles FAMILY|all [--cases N] [--seed S] [--case K] [--show] [--text]`.

use std::process::ExitCode;

use oracles::{FAMILIES, Family};

struct Call {
    families: Vec<&'static Family>,
    cases: std::ops::Range<u64>,
    seed: u64,
    /// Print the text of each failing case.
    show: bool,
    /// Print the texts of all cases and run none.
    text: bool,
}

fn main() -> ExitCode {
    let call = match read_call(std::env::args().skip(1)) {
        Ok(call) => call,
        Err(message) => {
            eprintln!("{message}\nusage: oracles FAMILY|all [--cases N] [--seed S] [--case K] [--show] [--text]");
            FAMILIES.iter().for_each(|family| eprintln!("  {:12} {}", family.name, family.about));
            return ExitCode::from(2);
        }
    };
    // A panic is a failure of its case and told with it.
    std::panic::set_hook(Box::new(|_| {}));
    let failures: u64 = call.families.iter().map(|family| run(family, &call)).sum();
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the cases of one family; returns how many failed.
fn run(family: &Family, call: &Call) -> u64 {
    let mut failed = 0;
    for number in call.cases.clone() {
        let case = family.case(call.seed, number);
        if call.text {
            println!("{}// {:?}", case.text, case.settings);
            continue;
        }
        if let Err(wrong) = case.check() {
            failed += 1;
            println!("{} {number}: {wrong}", family.name);
            if call.show {
                println!("{}", case.text);
            }
        } else if call.show && call.cases.end - call.cases.start == 1 {
            println!("{}", case.text);
        }
    }
    println!("{}: {} passed, {failed} failed", family.name, call.cases.end - call.cases.start - failed);
    failed
}

fn read_call(mut words: impl Iterator<Item = String>) -> Result<Call, String> {
    let mut call = Call { families: Vec::new(), cases: 0..100, seed: 1, show: false, text: false };
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse().ok()).ok_or(format!("{word} takes a number"));
        match word.as_str() {
            "--cases" => call.cases = 0..number()?,
            "--seed" => call.seed = number()?,
            "--case" => call.cases = number().map(|case| case..case + 1)?,
            "--show" => call.show = true,
            "--text" => call.text = true,
            "all" => call.families.extend(FAMILIES),
            name => call.families.push(Family::named(name).ok_or(format!("there is no family `{name}`"))?),
        }
    }
    if call.families.is_empty() { Err("name a family".into()) } else { Ok(call) }
}
