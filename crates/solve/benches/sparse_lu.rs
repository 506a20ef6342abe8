//! Refactorisation and solve of sparse matrices: chains, grids and circuit-like matrices.
//!
//! Run with `cargo bench -p gyrator-solve --bench sparse_lu`.

use solve::SparseMatrix;
use solve::sparse_lu::SparseLu;
use std::time::Instant;

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

fn measure(name: &str, mut matrix: SparseMatrix) {
    let n = matrix.pattern.columns;
    let begin = Instant::now();
    let Ok(mut lu) = SparseLu::new(&matrix.pattern) else { return };
    let analysis = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    if lu.factor(&matrix.values).is_err() {
        return;
    }
    let factor = begin.elapsed().as_secs_f64();
    let rounds = (20_000_000 / lu.fill().max(1)).clamp(3, 2000);
    let (mut refactor, mut solve) = (f64::INFINITY, f64::INFINITY);
    let mut b = vec![1.0; n];
    for round in 0..rounds {
        let p = round % matrix.values.len();
        matrix.values[p] *= 1.0001;
        let begin = Instant::now();
        if lu.factor(&matrix.values).is_err() {
            return;
        }
        refactor = refactor.min(begin.elapsed().as_secs_f64());
        b.fill(1.0);
        let begin = Instant::now();
        lu.solve(&mut b);
        solve = solve.min(begin.elapsed().as_secs_f64());
    }
    println!(
        "{name:16} n {n:7} entries {:8} fill {:9} blocks {:6} analysis {:9.1} µs factor {:9.1} refactor {:9.1} solve {:8.1}",
        matrix.pattern.entries(),
        lu.fill(),
        lu.blocks(),
        analysis * 1e6,
        factor * 1e6,
        refactor * 1e6,
        solve * 1e6
    );
}

fn main() {
    measure("chain", chain(1000));
    measure("chain", chain(100_000));
    measure("grid", grid(30));
    measure("grid", grid(100));
    measure("grid", grid(300));
    measure("circuit", circuit(50, 40));
    measure("circuit", circuit(10, 500));
}
