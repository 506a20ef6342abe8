//! A mutating fuzzer: takes the seeds, changes them by bytes, tokens and pieces, and checks what must hold for every text.
//! An input that fails is written to `tests/seeds`, where the tests run it from then on.
//!
//! `cargo run --release -p gyrator-syntax --example fuzz -- SECONDS [RANDOM-SEED]`

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base::{FileId, Id};

/// Reading one small text may take this long; more is a fault as well.
const PATIENCE: Duration = Duration::from_millis(1500);
const LONGEST: usize = 40_000;

/// A small generator of pseudo-random numbers (Marsaglia's xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next() >> 16) as usize % limit }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|argument| argument.parse().ok()).unwrap_or(10);
    let random_seed = arguments.next().and_then(|argument| argument.parse().ok()).unwrap_or(1);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds");
    let mut pool = read_seeds(&folder);
    let words = vocabulary(&pool);
    let mut random = Random(random_seed | 1);
    let start = Instant::now();
    let (mut runs, mut failures, mut slowest) = (0u64, 0u32, Duration::ZERO);
    let (mut sampled, mut sound) = (0u64, 0u64);
    while start.elapsed() < Duration::from_secs(seconds) && failures < 20 {
        let mut text = pool[random.below(pool.len())].clone();
        for _ in 0..=random.below(6) {
            text = mutate(&text, &pool, &words, &mut random);
        }
        let before = Instant::now();
        let outcome = std::panic::catch_unwind(|| common::problem(&text));
        let time = before.elapsed();
        slowest = slowest.max(time);
        runs += 1;
        if runs.is_multiple_of(64) {
            sampled += 1;
            if !syntax::parse(FileId::from_index(0), &text).has_errors() {
                // Texts without errors reach the formatter; more of them are wanted.
                sound += 1;
                if text.len() < 4_000 && pool.len() < 2_000 {
                    pool.push(text.clone());
                }
            }
        }
        let problem = match outcome {
            Err(_) => Some("a panic".to_owned()),
            Ok(None) if time > PATIENCE => Some(format!("{time:?} for {} bytes", text.len())),
            Ok(problem) => problem,
        };
        if let Some(problem) = problem {
            failures += 1;
            let path = folder.join(format!("found_{:016x}.mo", random.next()));
            println!("{problem}: {}", path.display());
            if let Err(error) = std::fs::write(&path, &text) {
                println!("cannot write it: {error}");
            }
        } else if text.len() < 4_000 && random.below(50) == 0 {
            // Sound mutants become seeds of this run, so that it wanders off.
            let place = random.below(2_000);
            match pool.get_mut(place).filter(|_| place > 50) {
                Some(old) => *old = text,
                None => pool.push(text),
            }
        }
    }
    println!("{runs} texts in {:?}, {failures} failures, the slowest took {slowest:?}", start.elapsed());
    println!("{sound} of {sampled} sampled texts were free of errors, so that the formatter ran");
    std::process::exit(i32::from(failures > 0));
}

fn read_seeds(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![String::new()] };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut seeds = vec![String::new()];
    seeds.extend(
        paths.iter().filter_map(|path| std::fs::read(path).ok()).map(|b| String::from_utf8_lossy(&b).into_owned()),
    );
    seeds
}

/// All distinct tokens of the seeds.
fn vocabulary(pool: &[String]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for text in pool {
        let tree = syntax::parse(FileId::from_index(0), text).tree;
        words.extend(tree.tokens().map(|token| tree.token_text(token).to_owned()).filter(|word| word.len() < 60));
    }
    words.sort();
    words.dedup();
    words
}

/// The nearest place at or before `place` that is between two characters.
fn boundary(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

fn mutate(text: &str, pool: &[String], words: &[String], random: &mut Random) -> String {
    let mut result = match random.below(9) {
        0 => change_byte(text, random),
        1 => {
            let (start, end) = range(text, random);
            text[..start].to_owned() + &text[end..]
        }
        2 => {
            let (start, end) = range(text, random);
            let most = if random.below(20) == 0 { 500 } else { 3 };
            let repeats = 1 + random.below(most);
            text[..start].to_owned() + &text[start..end].repeat(repeats) + &text[start..]
        }
        3 => {
            let other = &pool[random.below(pool.len())];
            let (start, end) = range(other, random);
            let place = boundary(text, random.below(text.len() + 1));
            text[..place].to_owned() + &other[start..end] + &text[place..]
        }
        4 => {
            let place = boundary(text, random.below(text.len() + 1));
            let word = words.get(random.below(words.len())).map_or("", String::as_str);
            format!("{} {word} {}", &text[..place], &text[place..])
        }
        5 => text[..boundary(text, random.below(text.len() + 1))].to_owned(),
        _ => change_tokens(text, words, random),
    };
    result.truncate(boundary(&result, LONGEST.min(result.len())));
    result
}

const MARKS: &[u8] = b"()[]{};,.:=\"'\\/*+-<>^ \n\r\te0";

fn change_byte(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if bytes.is_empty() {
        return "\"".to_owned();
    }
    let place = random.below(bytes.len());
    bytes[place] = match random.below(3) {
        0 => (random.next() >> 32) as u8,
        1 => MARKS[random.below(MARKS.len())],
        _ => bytes[random.below(bytes.len())],
    };
    String::from_utf8_lossy(&bytes).into_owned()
}

fn range(text: &str, random: &mut Random) -> (usize, usize) {
    let start = boundary(text, random.below(text.len() + 1));
    let longest = if random.below(4) == 0 { 400 } else { 20 };
    (start, boundary(text, (start + random.below(longest)).min(text.len())))
}

/// Deletes, doubles, swaps or replaces a token.
fn change_tokens(text: &str, words: &[String], random: &mut Random) -> String {
    let tree = syntax::parse(FileId::from_index(0), text).tree;
    let mut tokens: Vec<&str> = tree.tokens().map(|token| tree.token_text(token)).collect();
    if tokens.is_empty() {
        return words.get(random.below(words.len())).cloned().unwrap_or_default();
    }
    let (first, second) = (random.below(tokens.len()), random.below(tokens.len()));
    match random.below(4) {
        0 => {
            tokens.remove(first);
        }
        1 => tokens.insert(first, tokens[second]),
        2 => tokens.swap(first, second),
        _ => tokens[first] = words.get(random.below(words.len())).map_or("", String::as_str),
    }
    tokens.concat()
}
