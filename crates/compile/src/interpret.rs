//! The reference interpreter: runs code at once, and is the measure of what compiled code computes.

use crate::code::{IMPATIENT, MOST_TURNS, Op, Rounding};
use crate::layout::{BAND, IMPATIENCE, LIVE, SHIFT, TIME};
use crate::math::order;

/// What code needs besides memory.
pub trait Host {
    fn call(&mut self, call: u32, values: &mut [f64], arguments: u32, results: u32);
    /// Runs the code of a function.
    fn invoke(&mut self, chunk: u32, values: &mut [f64]);
    fn delay(&mut self, delay: u32, time: f64, value: f64, delay_time: f64) -> f64;
}

/// Runs relocated code from its first operation to the last.
pub fn run(ops: &[Op], values: &mut [f64], host: &mut impl Host) {
    let (mut next, mut turns) = (0, MOST_TURNS - values[IMPATIENCE as usize] as i64);
    while let Some(op) = ops.get(next) {
        next = step(op, (next, &mut turns), values, host);
    }
}

/// Runs and notes which operations were executed, in order.
pub fn run_traced(ops: &[Op], values: &mut [f64], host: &mut impl Host) -> Vec<u32> {
    let mut trace = Vec::new();
    let (mut next, mut turns) = (0, MOST_TURNS - values[IMPATIENCE as usize] as i64);
    while let Some(op) = ops.get(next) {
        trace.push(next as u32);
        next = step(op, (next, &mut turns), values, host);
    }
    trace
}

#[inline(always)]
fn step(op: &Op, (position, turns): (usize, &mut i64), values: &mut [f64], host: &mut impl Host) -> usize {
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
        Op::EndLoop { start, failed: None } => return start as usize + 1,
        Op::EndLoop { start, failed: Some(failed) } => {
            *turns -= 1;
            if *turns > 0 {
                return start as usize + 1;
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
