//! The functions ModelicaRandom_*: the xorshift generators of S. Vigna (*An experimental exploration of Marsaglia's
//! xorshift generators, scrambled*, 2014) in the variants of Modelica.Math.Random, whose numbers are reproduced bit by
//! bit: xorshift64* and xorshift128+ keep the scrambled value as their state.

use std::time::{SystemTime, UNIX_EPOCH};

use dae::Value;

use crate::Native;
use crate::arguments::Arguments;

type Answer = Result<Option<Value>, String>;

/// `None` if the symbol is none of them.
pub fn call(native: &mut Native, arguments: &mut Arguments<'_>) -> Option<Answer> {
    let name = arguments.symbol.strip_prefix("ModelicaRandom_")?;
    Some(match name {
        "xorshift64star" => step(arguments, xorshift64star),
        "xorshift128plus" => step(arguments, xorshift128plus),
        "xorshift1024star" => step(arguments, xorshift1024star),
        "setInternalState_xorshift1024star" if native.without_effects => {
            Err("the generator of random numbers is set when the model runs".into())
        }
        "setInternalState_xorshift1024star" => arguments.integers(0).map(|state| {
            native.random_state = state;
            None
        }),
        "impureRandom_xorshift1024star" => impure(native),
        "convertRealToIntegers" => halves(arguments),
        "automaticGlobalSeed" => Ok(Some(Value::Integer(automatic_seed()))),
        _ => return None,
    })
}

/// The states are 64-bit numbers, each as two Integers of 32 bits, the lower one first.
fn word(state: &[i64], index: usize) -> Result<u64, String> {
    match (state.get(2 * index), state.get(2 * index + 1)) {
        (Some(&low), Some(&high)) => Ok(u64::from(low as u32) | u64::from(high as u32) << 32),
        _ => Err("the state of a random number generator is too short".into()),
    }
}

fn set_word(state: &mut [i64], index: usize, word: u64) {
    state[2 * index] = i64::from(word as u32 as i32);
    state[2 * index + 1] = i64::from((word >> 32) as u32 as i32);
}

/// A number between 0 and 1.
fn uniform(word: u64) -> f64 {
    const STEP: f64 = 1.0 / 18_446_744_073_709_551_616.0;
    (word as i64) as f64 * STEP + 0.5
}

fn xorshift64star(state: &mut [i64]) -> Result<f64, String> {
    let mut x = word(state, 0)?;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    x = x.wrapping_mul(2_685_821_657_736_338_717);
    set_word(state, 0, x);
    Ok(uniform(x))
}

fn xorshift128plus(state: &mut [i64]) -> Result<f64, String> {
    let (mut a, b) = (word(state, 0)?, word(state, 1)?);
    a ^= a << 23;
    let sum = (a ^ b ^ (a >> 17) ^ (b >> 26)).wrapping_add(b);
    set_word(state, 0, b);
    set_word(state, 1, sum);
    Ok(uniform(sum))
}

fn xorshift1024star(state: &mut [i64]) -> Result<f64, String> {
    const WORDS: usize = 16;
    let position = *state.get(2 * WORDS).ok_or("the state of a random number generator is too short")?;
    let position = position as usize % WORDS;
    let next = (position + 1) % WORDS;
    let (mut a, mut b) = (word(state, position)?, word(state, next)?);
    b ^= b << 31;
    b ^= b >> 11;
    a ^= a >> 30;
    set_word(state, next, a ^ b);
    state[2 * WORDS] = next as i64;
    Ok(uniform((a ^ b).wrapping_mul(1_181_783_497_276_652_981)))
}

fn step(arguments: &mut Arguments<'_>, generator: fn(&mut [i64]) -> Result<f64, String>) -> Answer {
    let mut state = arguments.integers(0)?;
    let number = generator(&mut state)?;
    arguments.set_integers(1, state)?;
    arguments.set(2, Value::Real(number))?;
    Ok(None)
}

fn impure(native: &mut Native) -> Answer {
    if native.random_state.is_empty() {
        return Err("impureRandom is called before initializeImpureRandom".into());
    }
    xorshift1024star(&mut native.random_state).map(|number| Some(Value::Real(number)))
}

/// The bits of a Real as two Integers, the lower half first.
fn halves(arguments: &mut Arguments<'_>) -> Answer {
    let mut state = vec![0; 2];
    set_word(&mut state, 0, arguments.real(0)?.to_bits());
    arguments.set_integers(1, state)?;
    Ok(None)
}

/// From the time and the process.
fn automatic_seed() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mixed = now.as_nanos() as u64 ^ u64::from(std::process::id()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    i64::from((mixed ^ mixed >> 32) as u32 as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The initial state by the strategy that Modelica.Math.Random describes.
    fn initial(local: i64, global: i64, size: usize) -> Vec<i64> {
        let mut pair = vec![local, global];
        for _ in 0..10 {
            xorshift64star(&mut pair).unwrap();
        }
        let mut state = pair.clone();
        while state.len() < size {
            xorshift64star(&mut pair).unwrap();
            state.extend(&pair);
        }
        state.truncate(size);
        state
    }

    #[test]
    fn the_sequences_are_pinned() {
        let mut state = initial(10, 67_867_967, 4);
        let numbers: Vec<f64> = (0..3).map(|_| xorshift128plus(&mut state).unwrap()).collect();
        assert_eq!(numbers, [0.30054272234002594, 0.26137829408542035, 0.37016805886203585]);
        let mut state = initial(715_827_883, 67_867_967, 33);
        assert_eq!(xorshift1024star(&mut state).unwrap(), 0.018660680846204425);
        assert_eq!(xorshift1024star(&mut state).unwrap(), 0.18502447944342726);
    }

    /// 1.0 is 0x3FF0000000000000 and −2.5 is 0xC004000000000000 (IEEE 754); 0.1 has bits in both halves.
    #[test]
    fn a_real_number_has_two_halves() {
        for (number, expected) in [
            (1.0, [0, 0x3FF0_0000]),
            (-2.5, [0, 0xC004_0000_u32 as i32 as i64]),
            (0.1, [0x9999_999A_u32 as i32 as i64, 0x3FB9_9999]),
        ] {
            let values = &mut [Value::Real(number), Value::integers([0, 0])];
            let symbol = "ModelicaRandom_convertRealToIntegers";
            call(&mut Native::new(), &mut Arguments { symbol, values }).unwrap().unwrap();
            assert_eq!(values[1], Value::integers(expected));
        }
    }

    #[test]
    fn short_states_are_errors() {
        assert!(xorshift128plus(&mut [1, 2, 3]).is_err());
        assert!(xorshift1024star(&mut [0; 32]).is_err());
        assert!(xorshift1024star(&mut [-1; 33]).is_ok());
    }
}
