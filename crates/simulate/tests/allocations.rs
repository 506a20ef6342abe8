//! Case A22: once it is under way, a run with fixed steps takes no memory from the system, so that no step waits for it.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use compile::Program;
use results::CsvSink;
use simulate::{Ending, EventLog, Options};

/// Counts what this thread asks for. Machine code is made in a thread of its own.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: all calls are handed on to the system's allocator as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The steps during which memory was taken, and how often.
fn allocations(text: &str, solver: &str, name: &str) -> Vec<(usize, u64)> {
    let (step, steps) = (1e-3, 600);
    let stop_time = step * steps as f64;
    let options = Options {
        stop_time,
        interval: step,
        solver: solver.parse().expect("a known solver"),
        step: Some(step),
        ..Options::default()
    };
    let transformations = transform::Options { inline_step: options.inline_step(), ..transform::Options::default() };
    let model = dae::testing::model(text).expect("a model");
    let schedule = transform::transform(model, &transformations).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let program = std::sync::Arc::new(Program::new(schedule).expect("a program"));
    let path = std::env::temp_dir().join(format!("gyrator-{name}-{solver}-{}.csv", std::process::id()));
    let mut sink = CsvSink::create(&path).expect("a file");
    let mut counts = Vec::with_capacity(2 * steps);
    let mut watcher = |_: f64| {
        counts.push(COUNT.with(Cell::get));
        true
    };
    let outcome = simulate::simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut watcher);
    assert_eq!(outcome.expect("a result").ending, Ending::Complete);
    std::fs::remove_file(path).expect("it was written");
    let each = counts.windows(2).map(|pair| pair[1] - pair[0]).enumerate();
    each.filter(|&(step, count)| count > 0 && step > FIRST).collect()
}

/// Until then solvers have been made, and machine code has been asked for.
const FIRST: usize = 200;

const SOLVERS: [&str; 7] =
    ["euler", "rk4", "implicit-euler", "linearly-implicit-euler", "inline-euler", "inline-trapezoid", "inline-bdf2"];

/// A drive train whose second inertia is coupled by a gear, with friction, a nonlinear load and a controller.
const MODEL: &str = "parameter J1 = 0.1
    parameter J2 = 0.2
    parameter c = 100
    parameter d = 2
    Real phi1(start = 0, fixed = true)
    Real w1(start = 0, fixed = true)
    Real phi2(start = 0, fixed = true)
    Real w2(start = 0, fixed = true)
    Real i(start = 0, fixed = true)
    der(phi1) = w1
    der(phi2) = w2
    der(i) = 10*(sin(time) - w2)
    J1*der(w1) = motor - tau
    J2*der(w2) = tau - load
    tau = c*(phi1 - phi2) + d*(w1 - w2)
    motor + 0.1*gain*motor = 3*(sin(time) - w2) + i
    gain = 0.5*motor
    load + 0.3*load^3 = 0.2*w2
    p1 + 2*p2 + p3 = w1
    2*p1 - p2 + p3*cos(phi1) = w2
    p1 + p2 - 3*p3 = i";

#[test]
fn a_step_allocates_nothing() {
    for solver in SOLVERS {
        assert_eq!(allocations(MODEL, solver, "plain"), [], "{solver}");
    }
}

/// Matrices that are sparse, in a system of the model and in the method.
#[test]
fn a_step_of_a_line_allocates_nothing() {
    let mut text = String::from("i1 = sin(time) - v1\ni31 = 0\n");
    for k in 1..=30 {
        text += &format!("Real v{k}(start = 0, fixed = true)\nder(v{k}) = i{k} - i{}\n", k + 1);
        if k > 1 {
            text += &format!("i{k} = v{} - v{k} + 0.1*i{}\n", k - 1, k % 30 + 1);
        }
    }
    for solver in SOLVERS {
        assert_eq!(allocations(&text, solver, "line"), [], "{solver}");
    }
}

/// Relations are watched in each step; nothing happens.
#[test]
fn a_step_that_watches_for_events_allocates_nothing() {
    let text = format!(
        "{MODEL}
        Boolean fast
        fast = w2 > 100
        y = if fast then 1 else 2
        when sample(0.1, 10) then n = pre(n) + 1"
    );
    for solver in SOLVERS {
        assert_eq!(allocations(&text, solver, "events"), [], "{solver}");
    }
}
