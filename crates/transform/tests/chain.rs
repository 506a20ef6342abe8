//! A chain of rigid bodies with revolute joints, each turned by 90 degrees: the accelerations and forces of all of them are
//! one linear system that the accelerations of the joints tear.

mod show;

use std::fmt::Write as _;

use transform::{Block, SystemKind};

/// `left = a × b` by components, added to other terms.
fn cross(a: [&str; 3], b: [&str; 3]) -> [String; 3] {
    [0, 1, 2].map(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        format!("({}*{} - {}*{})", a[j], b[k], a[k], b[j])
    })
}

/// A vector resolved in the frame turned by the joint of body `k` (about y if it is odd, else about z), or turned back.
fn turned(k: usize, v: [&str; 3], back: bool) -> [String; 3] {
    let (c, s) = (format!("c[{k}]"), format!("s[{k}]"));
    let (plus, minus) = if back { ("-", "+") } else { ("+", "-") };
    if k % 2 == 1 {
        [format!("{c}*{} {minus} {s}*{}", v[0], v[2]), v[1].into(), format!("{c}*{} {plus} {s}*{}", v[2], v[0])]
    } else {
        [format!("{c}*{} {plus} {s}*{}", v[0], v[1]), format!("{c}*{} {minus} {s}*{}", v[1], v[0]), v[2].into()]
    }
}

fn vector(name: &str, k: usize) -> [String; 3] {
    [1, 2, 3].map(|i| format!("{name}{i}[{k}]"))
}

fn refs(v: &[String; 3]) -> [&str; 3] {
    [&v[0], &v[1], &v[2]]
}

fn chain(bodies: usize) -> String {
    let mut text =
        String::from("parameter m = 1\nparameter I = 0.1\nparameter L = 1\nparameter h = 0.5\nparameter d = 0.1\n");
    for (name, values) in [("w", ["0", "0", "0"]), ("z", ["0", "0", "0"]), ("p", ["0", "9.81", "0"])] {
        for (component, value) in vector(name, 0).iter().zip(values) {
            let _ = writeln!(text, "{component} = {value}");
        }
    }
    for k in 1..=bodies {
        let axis = if k % 2 == 1 { 1 } else { 2 };
        let (w, z, a, p, g, f, t) = (
            vector("w", k),
            vector("z", k),
            vector("a", k),
            vector("p", k),
            vector("g", k),
            vector("f", k),
            vector("t", k),
        );
        let (next_f, next_t) = (vector("nf", k), vector("nt", k));
        let _ = writeln!(
            text,
            "der(q[{k}]) = qd[{k}]\nder(qd[{k}]) = qdd[{k}]\nc[{k}] = cos(q[{k}])\ns[{k}] = sin(q[{k}])"
        );
        let (before_w, before_z, before_p) = (vector("w", k - 1), vector("z", k - 1), vector("p", k - 1));
        let (tw, tz, tp) =
            (turned(k, refs(&before_w), false), turned(k, refs(&before_z), false), turned(k, refs(&before_p), false));
        let along = |i: usize, what: &str| if i == axis { format!(" + {what}[{k}]") } else { String::new() };
        let mut unit = ["0", "0", "0"];
        unit[axis] = "1";
        let coriolis = cross(refs(&tw.clone().map(|c| format!("({c})"))), unit);
        let (r, middle) = (["L", "0", "0"], ["h", "0", "0"]);
        let (zr, zc, wr, wc) =
            (cross(refs(&z), r), cross(refs(&z), middle), cross(refs(&w), r), cross(refs(&w), middle));
        let (wwr, wwc) = (cross(refs(&w), refs(&wr)), cross(refs(&w), refs(&wc)));
        let inertia = w.clone().map(|c| format!("I*{c}"));
        let gyro = cross(refs(&w), refs(&inertia));
        let force = g.clone().map(|c| format!("m*{c}"));
        let (lever, tip) = (cross(middle, refs(&force)), cross(r, refs(&next_f)));
        for i in 0..3 {
            let _ = write!(
                text,
                "{} = {}{}\n{} = {}{} + {}*qd[{k}]\n{} = {}\n{} = {} + {} + {}\n{} = {} + {} + {}\n{} = m*{} + {}\n{} = I*{} + {} + {} + {} + {}\n",
                w[i],
                tw[i],
                along(i, "qd"),
                z[i],
                tz[i],
                along(i, "qdd"),
                coriolis[i],
                a[i],
                tp[i],
                p[i],
                a[i],
                zr[i],
                wwr[i],
                g[i],
                a[i],
                zc[i],
                wwc[i],
                f[i],
                g[i],
                next_f[i],
                t[i],
                z[i],
                gyro[i],
                lever[i],
                tip[i],
                next_t[i],
            );
        }
        let _ = writeln!(text, "{} = -d*qd[{k}]", t[axis]);
        let (after_f, after_t) = (vector("f", k + 1), vector("t", k + 1));
        for i in 0..3 {
            if k == bodies {
                let _ = writeln!(text, "{} = 0\n{} = 0", next_f[i], next_t[i]);
            } else {
                let (bf, bt) = (turned(k + 1, refs(&after_f), true), turned(k + 1, refs(&after_t), true));
                let _ = writeln!(text, "{} = {}\n{} = {}", next_f[i], bf[i], next_t[i], bt[i]);
            }
        }
    }
    text
}

#[test]
fn a11_chain_of_thirty_bodies_is_torn_to_thirty() {
    let schedule = show::schedule(&chain(30));
    assert_eq!(schedule.states.len(), 60);
    let systems: Vec<_> = schedule
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::System { system, .. } => Some(system),
            Block::Assign { .. } => None,
        })
        .collect();
    assert_eq!(systems.len(), 1);
    assert!(matches!(systems[0].kind, SystemKind::Linear(_)));
    assert!(systems[0].unknowns.len() > 500, "{}", systems[0].unknowns.len());
    assert_eq!(systems[0].iteration.len(), 30);
}

#[test]
fn tearing_of_long_chains_stays_quick() {
    let schedule = show::schedule(&chain(120));
    let guesses = schedule.blocks.iter().filter_map(|block| match block {
        Block::System { system, .. } => Some(system.iteration.len()),
        Block::Assign { .. } => None,
    });
    assert_eq!(guesses.max(), Some(120));
}
