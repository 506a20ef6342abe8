//! Time of the transformations over the size of the model: `cargo run --release --example scale -- [sections ...]`.
//!
//! Three models written out flat: an electrical line, a string of masses, and a thermal plate.

use std::fmt::Write as _;
use std::time::Instant;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100, 1000, 10_000] } else { sizes };
    for (name, text) in [("line", line as fn(usize) -> String), ("masses", masses), ("plate", plate)] {
        for &size in &sizes {
            let model = match dae::testing::model(&text(size)) {
                Ok(model) => model,
                Err(message) => return eprintln!("{message}"),
            };
            let equations = model.equations.len();
            let start = Instant::now();
            match transform::transform(model, &transform::Options::default()) {
                Ok(schedule) => {
                    let seconds = start.elapsed().as_secs_f64();
                    let (states, blocks) = (schedule.states.len(), schedule.blocks.len());
                    println!("{name:8} {equations:8} equations {states:7} states {blocks:8} blocks {seconds:8.3} s");
                }
                Err(problems) => eprintln!("{name}: {}", problems[0].message),
            }
        }
    }
}

/// Resistor, inductor and capacitor of each section with their pins, and the connections.
fn line(sections: usize) -> String {
    let mut text = String::from("parameter R = 1\nparameter L = 0.1\nparameter C = 0.01\np[0].v = sin(time)\n");
    for k in 1..=sections {
        let before = k - 1;
        let _ = write!(
            text,
            "r[{k}].v = r[{k}].p - r[{k}].n\nr[{k}].i + r[{k}].j = 0\nr[{k}].v = R*r[{k}].i\n\
             l[{k}].v = l[{k}].p - l[{k}].n\nl[{k}].i + l[{k}].j = 0\nL*der(l[{k}].i) = l[{k}].v\n\
             c[{k}].v = c[{k}].p - c[{k}].n\nc[{k}].i + c[{k}].j = 0\nC*der(c[{k}].v) = c[{k}].i\n\
             r[{k}].p = p[{before}].v\nr[{k}].n = l[{k}].p\nr[{k}].j + l[{k}].i = 0\n\
             l[{k}].n = c[{k}].p\np[{k}].v = c[{k}].p\nl[{k}].j + c[{k}].i + p[{k}].i = 0\nc[{k}].n = 0\n"
        );
        if k < sections {
            let _ = writeln!(text, "p[{k}].i = r[{}].i", k + 1);
        }
    }
    let _ = writeln!(text, "p[{sections}].i = 0");
    text
}

fn masses(count: usize) -> String {
    let mut text = String::from("parameter m = 1\nparameter c = 100\nparameter d = 0.1\ns[0].b = 0\n");
    for k in 1..=count {
        let before = k - 1;
        let _ = write!(
            text,
            "der(b[{k}].s) = b[{k}].v\nder(b[{k}].v) = b[{k}].a\nm*b[{k}].a = b[{k}].f + b[{k}].g\n\
             s[{k}].a = s[{before}].b\ns[{k}].b = b[{k}].s\ns[{k}].x = s[{k}].b - s[{k}].a\nder(s[{k}].x) = s[{k}].w\n\
             s[{k}].f = c*s[{k}].x + d*s[{k}].w\nb[{k}].f + s[{k}].f = 0\n"
        );
        if k < count {
            let _ = writeln!(text, "b[{k}].g = s[{}].f", k + 1);
        }
    }
    let _ = writeln!(text, "b[{count}].g = 0");
    text
}

/// About `cells` cells in a square.
fn plate(cells: usize) -> String {
    let side = (cells as f64).sqrt().ceil() as usize;
    let mut text = String::from("parameter G = 1\nparameter C = 100\n");
    for i in 1..=side {
        for j in 1..=side {
            let _ = writeln!(
                text,
                "C*der(T[{i},{j}]) = qx[{i},{j}] - qx[{0},{j}] + qy[{i},{j}] - qy[{i},{1}]",
                i + 1,
                j + 1
            );
            let _ = writeln!(
                text,
                "qx[{i},{j}] = {}",
                if i == 1 { "1".into() } else { format!("G*(T[{},{j}] - T[{i},{j}])", i - 1) }
            );
            let _ = writeln!(
                text,
                "qy[{i},{j}] = {}",
                if j == 1 { "0".into() } else { format!("G*(T[{i},{}] - T[{i},{j}])", j - 1) }
            );
        }
        let _ = writeln!(text, "qx[{},{i}] = 0\nqy[{i},{}] = 0", side + 1, side + 1);
    }
    text
}
