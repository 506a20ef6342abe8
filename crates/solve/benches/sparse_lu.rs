//! Refactorisation and solve of sparse matrices: chains, grids of resistors and capacitors, circuit-like matrices.
//!
//! Run with `cargo bench -p gyrator-solve --bench sparse_lu`; with `RUSTFLAGS="--cfg klu"` and SuiteSparse installed
//! (`libsuitesparse-dev`), KLU runs beside it on the same matrices.

#[cfg(klu)]
#[path = "sparse_lu/klu.rs"]
mod klu;
#[allow(dead_code)]
#[path = "solvers/measure.rs"]
mod measure;

use measure::cpu_time;
use solve::sparse_lu::SparseLu;
use solve::{LinearSolver, SparseMatrix};

fn chain(n: usize) -> SparseMatrix {
    let entries = (0..n).flat_map(|i| [(i, i, 2.1), (i, (i + 1).min(n - 1), -1.0), ((i + 1).min(n - 1), i, -1.0)]);
    SparseMatrix::from_triplets(n, n, &entries.collect::<Vec<_>>())
}

fn grid(side: usize) -> SparseMatrix {
    let mut triplets = Vec::new();
    for k in 0..side * side {
        triplets.push((k, k, 4.1));
        if k % side + 1 < side {
            triplets.extend([(k, k + 1, -1.0), (k + 1, k, -1.0)]);
        }
        if k + side < side * side {
            triplets.extend([(k, k + side, -1.0), (k + side, k, -1.0)]);
        }
    }
    SparseMatrix::from_triplets(side * side, side * side, &triplets)
}

/// Blocks of random nodal matrices coupled one way, with unsymmetric pattern.
fn circuit(blocks: usize, size: usize) -> SparseMatrix {
    let n = blocks * size;
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    let mut triplets = Vec::new();
    for b in 0..blocks {
        let base = b * size;
        for i in 0..size {
            triplets.push((base + i, base + i, 5.0));
            for _ in 0..2 {
                let j = random(size);
                triplets.push((base + i, base + j, -0.7));
                triplets.push((base + j, base + i, -0.6));
            }
            if b + 1 < blocks {
                triplets.push((base + i, base + size + random(size), 0.3));
            }
        }
    }
    SparseMatrix::from_triplets(n, n, &triplets)
}

/// The shortest of several times for `count` calls each, in microseconds for one.
fn shortest(count: usize, mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        let begin = cpu_time();
        (0..count).for_each(|_| call());
        best = best.min(cpu_time() - begin);
    }
    best * 1e6 / count as f64
}

fn measure(name: &str, matrix: &SparseMatrix) {
    let n = matrix.pattern.columns;
    let Ok(mut general) = SparseLu::new(&matrix.pattern) else { return };
    let Ok(mut lu) = LinearSolver::new(n, Some(&matrix.pattern)) else { return };
    let analysis = shortest(1, || {
        let _ = LinearSolver::new(n, Some(&matrix.pattern));
    });
    let factor = shortest(1, || {
        let _ = general.factor_with_pivoting(&matrix.values);
    });
    let count = (300_000 / general.fill().max(1)).clamp(1, 1000);
    let mut b = vec![1.0; n];
    let run = |lu: &mut LinearSolver, b: &mut [f64], factor: bool, solve: bool| {
        if factor {
            let _ = lu.factor(&matrix.values);
        }
        if solve {
            b.fill(1.0);
            lu.solve(b);
        }
    };
    let refactor = shortest(count, || run(&mut lu, &mut b, true, false));
    let solve = shortest(count, || run(&mut lu, &mut b, false, true));
    let both = shortest(count, || run(&mut lu, &mut b, true, true));
    print!(
        "{name:16} n {n:7} entries {:8} fill {:9} blocks {:6} analysis {analysis:9.1} µs factor {factor:9.1} refactor {refactor:9.2} solve {solve:8.2} both {both:8.2}",
        matrix.pattern.entries(),
        general.fill(),
        general.blocks(),
    );
    #[cfg(klu)]
    {
        let mut klu = klu::Klu::new(&matrix.pattern, &matrix.values);
        let refactor = shortest(count, || klu.refactor(&matrix.values));
        let mut solve_only = |b: &mut [f64]| {
            b.fill(1.0);
            klu.solve(b);
        };
        let solve = shortest(count, || solve_only(&mut b));
        let theirs = shortest(count, || {
            klu.refactor(&matrix.values);
            b.fill(1.0);
            klu.solve(&mut b);
        });
        print!(" | klu refactor {refactor:9.2} solve {solve:8.2} both {theirs:8.2} ratio {:.2}", both / theirs);
    }
    println!();
}

fn main() {
    measure("chain", &chain(50));
    measure("chain", &chain(1000));
    measure("chain", &chain(100_000));
    measure("grid", &grid(10));
    measure("grid", &grid(30));
    measure("grid", &grid(100));
    measure("grid", &grid(300));
    measure("circuit", &circuit(50, 40));
    measure("circuit", &circuit(10, 500));
    measure("circuit", &circuit(1000, 5));
}
