//! The reference interpreter: runs code at once, and is the measure of what compiled code computes.

use crate::code::{IMPATIENT, MOST_WORK, Op, Rounding};
use crate::layout::{BAND, IMPATIENCE, LIVE, SHIFT, TIME};
use crate::math::order;

/// What code needs besides memory.
pub trait Host {
    fn call(&mut self, call: u32, values: &mut [f64], arguments: u32, results: u32);
    /// Runs the code of a function.
    fn invoke(&mut self, chunk: u32, values: &mut [f64]);
    fn delay(&mut self, delay: u32, time: f64, value: f64, delay_time: f64) -> f64;
}

/// So much work in loops the interpreter does before machine code is worth its while.
const LITTLE_WORK: i64 = 10_000_000;

/// The operation at which a run stops that does not do all of the work.
const GIVEN_UP: usize = usize::MAX;

/// Runs relocated code from its first operation to the last.
pub fn run(ops: &[Op], values: &mut [f64], host: &mut impl Host) {
    let (mut next, mut left) = (0, work_left(values));
    while let Some(op) = ops.get(next) {
        next = step::<true>(op, (next, &mut left), values, host);
    }
}

/// The same as long as loops do not take long. False where they do: the results are to be computed in another way.
pub fn run_unless_long(ops: &[Op], values: &mut [f64], host: &mut impl Host) -> bool {
    if work_left(values) <= LITTLE_WORK {
        run(ops, values, host);
        return true;
    }
    let (mut next, mut left) = (0, LITTLE_WORK);
    while let Some(op) = ops.get(next) {
        next = step::<false>(op, (next, &mut left), values, host);
    }
    next != GIVEN_UP
}

fn work_left(values: &[f64]) -> i64 {
    MOST_WORK - values[IMPATIENCE as usize] as i64
}

/// Runs and notes which operations were executed, in order.
pub fn run_traced(ops: &[Op], values: &mut [f64], host: &mut impl Host) -> Vec<u32> {
    let mut trace = Vec::new();
    let (mut next, mut left) = (0, work_left(values));
    while let Some(op) = ops.get(next) {
        trace.push(next as u32);
        next = step::<true>(op, (next, &mut left), values, host);
    }
    trace
}

#[inline(always)]
fn step<const ALL: bool>(
    op: &Op,
    (position, left): (usize, &mut i64),
    values: &mut [f64],
    host: &mut impl Host,
) -> usize {
    match *op {
        Op::Move { to, a } => values[to as usize] = values[a as usize],
        Op::Unary { function, to, a } => values[to as usize] = function.apply(values[a as usize]),
        Op::Binary { function, to, a, b } => {
            values[to as usize] = function.apply(values[a as usize], values[b as usize]);
        }
        Op::Select { to, condition, a, b } => {
            let source = if values[condition as usize] != 0.0 { a } else { b };
            values[to as usize] = values[source as usize];
        }
        Op::If { condition, otherwise } => {
            if values[condition as usize] == 0.0 {
                return otherwise as usize;
            }
        }
        Op::Else { end } => return end as usize,
        Op::EndIf => {}
        Op::Relate { state, a, b } => {
            let (a, b) = (values[a as usize], values[b as usize]);
            relate(values, state, a, b);
        }
        Op::Round { rounding, state, a } => {
            let argument = values[a as usize];
            update_rounding(rounding, values, state, argument);
        }
        Op::Loop => {}
        Op::EndLoop { start, failed } => {
            *left -= (position - start as usize) as i64;
            if *left > 0 {
                return start as usize + 1;
            }
            if !ALL {
                return GIVEN_UP;
            }
            values[IMPATIENCE as usize] = IMPATIENT;
            values[failed as usize] = f64::NAN;
        }
        Op::Exit { target, .. } => return target as usize,
        Op::LoadAt { to, base, index, length } => {
            values[to as usize] = match element(values[index as usize], length) {
                Some(offset) => values[base as usize + offset],
                None => f64::NAN,
            };
        }
        Op::StoreAt { base, index, length, a } => match element(values[index as usize], length) {
            Some(offset) => values[base as usize + offset] = values[a as usize],
            None => values[base as usize] = f64::NAN,
        },
        Op::Invoke { chunk } => host.invoke(chunk, values),
        Op::Call { call, arguments, results } => host.call(call, values, arguments, results),
        Op::Delay { delay, to, a, b } => {
            let (time, value, delay_time) = (values[TIME as usize], values[a as usize], values[b as usize]);
            values[to as usize] = host.delay(delay, time, value, delay_time);
        }
    }
    position + 1
}

/// The offset of an element, if it is one of `length`.
#[inline]
fn element(index: f64, length: u32) -> Option<usize> {
    (index >= 0.0 && index < f64::from(length)).then_some(index as usize)
}

/// Sets the state of a comparison where memory is live.
#[inline]
pub fn relate(values: &mut [f64], state: u32, a: f64, b: f64) {
    let (band, shift) = (values[(state + BAND) as usize], values[(state + SHIFT) as usize]);
    // Two infinite sides are equal.
    let residue = if a == b { shift } else { a - b + shift };
    let stays = residue != 0.0 && residue.abs() <= band;
    if values[LIVE as usize] != 0.0
        && !stays
        && let Some(sign) = order(residue, 0.0)
    {
        values[state as usize] = sign;
    }
}

/// Sets the state of a rounding where memory is live.
#[inline]
pub fn update_rounding(rounding: Rounding, values: &mut [f64], state: u32, argument: f64) {
    let argument = argument + values[(state + SHIFT) as usize];
    if values[LIVE as usize] != 0.0 && !argument.is_nan() {
        values[state as usize] = round(rounding, argument);
    }
}

pub fn round(rounding: Rounding, value: f64) -> f64 {
    match rounding {
        Rounding::Floor => value.floor(),
        Rounding::Ceil => value.ceil(),
        Rounding::Truncate => value.trunc(),
    }
}
