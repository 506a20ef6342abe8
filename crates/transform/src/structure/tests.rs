//! The structure algorithms against brute force on random graphs.

use proptest::prelude::*;

use super::offsets::{OffsetMethod, Pantelides, SigmaMethod, Signature};
use super::tearing::tear;
use super::*;

/// A random square pattern of up to `size` rows with a share of entries.
fn pattern(size: usize) -> impl Strategy<Value = (usize, Vec<Vec<u32>>)> {
    (1..=size, 1..=4u32).prop_flat_map(|(n, density)| {
        let row = proptest::collection::vec(0..8u32, n).prop_map(move |draws| {
            draws.iter().enumerate().filter(|&(_, &draw)| draw < density).map(|(column, _)| column as u32).collect()
        });
        (Just(n), proptest::collection::vec(row, n))
    })
}

/// The size of a maximum matching by dynamic programming over sets of columns.
fn brute_force_matching(rows: &[Vec<u32>], columns: usize) -> usize {
    let mut best = vec![0usize; 1 << columns];
    for row in rows {
        let mut next = best.clone();
        for (set, &size) in best.iter().enumerate() {
            for &column in row {
                if set & (1 << column) == 0 {
                    let with = set | (1 << column);
                    next[with] = next[with].max(size + 1);
                }
            }
        }
        best = next;
    }
    best.into_iter().max().unwrap_or(0)
}

/// `reach[a][b]`: row `a` needs row `b`, by Floyd and Warshall.
fn brute_force_reach(rows: &[Vec<u32>], matching: &Matching) -> Vec<Vec<bool>> {
    let n = rows.len();
    let mut reach = vec![vec![false; n]; n];
    for (row, columns) in rows.iter().enumerate() {
        for &column in columns {
            let owner = matching.row_of_column[column as usize];
            if owner != NONE {
                reach[row][owner as usize] = true;
            }
        }
    }
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                reach[from][to] |= reach[from][via] && reach[via][to];
            }
        }
    }
    reach
}

/// The size of the smallest set of columns from which all others follow.
fn fewest_guesses(system: &Incidence, solvable: &[bool]) -> usize {
    let n = system.columns();
    let follows = |set: u32| {
        let mut known = set;
        loop {
            let before = known;
            for row in 0..system.rows() {
                let open: Vec<usize> =
                    system.range(row).filter(|&entry| known >> system.column_of(entry) & 1 == 0).collect();
                if let [entry] = open[..]
                    && solvable[entry]
                {
                    known |= 1 << system.column_of(entry);
                }
            }
            if known == before {
                return known == (1 << n) - 1;
            }
        }
    };
    (0..1u32 << n).filter(|&set| follows(set)).map(u32::count_ones).min().unwrap_or(0) as usize
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn matching_is_maximum((n, rows) in pattern(9)) {
        let incidence = Incidence::from_rows(&rows, n);
        let matching = Matching::maximum(&incidence);
        for (row, entries) in rows.iter().enumerate() {
            let column = matching.column_of_row[row];
            if column != NONE {
                prop_assert!(entries.contains(&column));
                prop_assert_eq!(matching.row_of_column[column as usize], row as u32);
            }
        }
        prop_assert_eq!(matching.size(), brute_force_matching(&rows, n));
    }

    #[test]
    fn components_are_sorted_and_strong((n, rows) in pattern(9)) {
        let incidence = Incidence::from_rows(&rows, n);
        let matching = Matching::maximum(&incidence);
        let components = strong_components(&incidence, &matching);
        let reach = brute_force_reach(&rows, &matching);
        let mut place = vec![usize::MAX; n];
        for (index, group) in components.iter().enumerate() {
            for &row in group {
                prop_assert_eq!(place[row as usize], usize::MAX);
                place[row as usize] = index;
            }
        }
        for a in 0..n {
            for b in 0..n {
                if a != b {
                    prop_assert_eq!(place[a] == place[b], reach[a][b] && reach[b][a]);
                    prop_assert!(!reach[a][b] || place[b] <= place[a]);
                }
            }
        }
    }

    #[test]
    fn colouring_is_part_of_every_order((n, rows) in pattern(8)) {
        let incidence = Incidence::from_rows(&rows, n);
        let matching = Matching::maximum(&incidence);
        let steps = colouring::colour(&incidence);
        let mut numbers: Vec<u32> = steps.iter().map(|step| step.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        prop_assert_eq!(numbers.len(), steps.len());
        if matching.is_perfect() {
            // A red edge leaves no choice: every perfect matching has it, and it is a component of its own.
            let components = strong_components(&incidence, &matching);
            for step in &steps {
                prop_assert_eq!(matching.column_of_row[step.row as usize], step.column);
            }
            let single = components.iter().filter(|group| group.len() == 1).count();
            prop_assert!(steps.len() <= single);
        }
    }

    #[test]
    fn over_determined_set_is_minimal((n, rows) in pattern(8)) {
        let incidence = Incidence::from_rows(&rows, n);
        let matching = Matching::maximum(&incidence);
        let Some((set, columns)) = dulmage::smallest_over_determined(&incidence, &matching) else {
            prop_assert_eq!(matching.size(), n);
            return Ok(());
        };
        prop_assert_eq!(set.len(), columns.len() + 1);
        for left_out in 0..set.len() {
            let rest: Vec<Vec<u32>> =
                set.iter().enumerate().filter(|&(k, _)| k != left_out).map(|(_, &row)| rows[row as usize].clone()).collect();
            prop_assert_eq!(brute_force_matching(&rest, n), rest.len());
        }
        let parts = dulmage::decompose(&incidence, &matching);
        prop_assert_eq!(parts.over_rows.len() - parts.over_columns.len(), n - matching.size());
        prop_assert_eq!(parts.under_columns.len() - parts.under_rows.len(), n - matching.size());
    }

    #[test]
    fn pantelides_and_sigma_agree((n, rows) in pattern(8), draws in proptest::collection::vec(0..3u32, 64), needed in any::<u16>()) {
        let incidence = Incidence::from_rows(&rows, n);
        let orders = (0..incidence.len()).map(|entry| draws[entry % draws.len()]).collect();
        let lowest = (0..n).map(|column| u32::from(needed >> column & 7 == 0)).collect();
        let signature = Signature { incidence, orders, lowest };
        let (one, other) = (Pantelides.offsets(&signature), SigmaMethod.offsets(&signature));
        prop_assert_eq!(one.is_some(), other.is_some());
        if let (Some(one), Some(other)) = (one, other) {
            prop_assert_eq!(&one.equations, &other.equations);
            prop_assert_eq!(&one.variables, &other.variables);
            prop_assert!(one.matching.is_perfect());
        }
    }

    #[test]
    fn tearing_is_valid_and_minimal((n, rows) in pattern(8), marks in any::<u64>()) {
        let incidence = Incidence::from_rows(&rows, n);
        let solvable: Vec<bool> = (0..incidence.len()).map(|entry| marks >> (entry % 61) & 3 != 0).collect();
        let torn = tear(&incidence, &solvable, &vec![0; n], n).unwrap();
        let mut known = vec![false; n];
        for &column in &torn.iteration {
            prop_assert!(!std::mem::replace(&mut known[column as usize], true));
        }
        for &(row, column) in &torn.inner {
            let entry = incidence.range(row as usize).find(|&e| incidence.column_of(e) == column);
            prop_assert!(entry.is_some_and(|e| solvable[e]));
            prop_assert!(incidence.row(row as usize).iter().all(|&c| c == column || known[c as usize]));
            prop_assert!(!std::mem::replace(&mut known[column as usize], true));
        }
        prop_assert!(known.iter().all(|&k| k));
        prop_assert_eq!(torn.residual.len(), torn.iteration.len());
        prop_assert_eq!(torn.iteration.len(), fewest_guesses(&incidence, &solvable));
    }
}

/// The rank of a matrix of whole numbers, by elimination modulo a prime.
fn rank(rows: &[Vec<(u32, i64)>], columns: usize) -> usize {
    const PRIME: i128 = (1 << 61) - 1;
    let power = |mut base: i128, mut exponent: i128| {
        let mut result = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result * base % PRIME;
            }
            base = base * base % PRIME;
            exponent >>= 1;
        }
        result
    };
    let mut matrix = vec![vec![0i128; columns]; rows.len()];
    for (row, terms) in rows.iter().enumerate() {
        for &(column, value) in terms {
            matrix[row][column as usize] += i128::from(value).rem_euclid(PRIME);
        }
    }
    let mut rank = 0;
    for column in 0..columns {
        let Some(pivot) = (rank..rows.len()).find(|&row| matrix[row][column] % PRIME != 0) else { continue };
        matrix.swap(rank, pivot);
        let inverse = power(matrix[rank][column], PRIME - 2);
        for row in rank + 1..rows.len() {
            let factor = matrix[row][column] * inverse % PRIME;
            let pivot = matrix[rank].clone();
            for (value, above) in matrix[row].iter_mut().zip(&pivot) {
                *value = (*value - factor * above).rem_euclid(PRIME);
            }
        }
        rank += 1;
    }
    rank
}

fn numbers(rows: &[Vec<(u32, i64)>]) -> Vec<elimination::Terms> {
    rows.iter().map(|row| row.iter().map(|&(column, value)| (column, value as f64)).collect()).collect()
}

/// Random sparse rows, some of them replaced by combinations of others.
fn hidden_dependencies() -> impl Strategy<Value = (usize, Vec<Vec<(u32, i64)>>)> {
    let row = |n: usize| proptest::collection::vec(prop_oneof![6 => Just(0i64), 4 => -4..=4i64], n);
    let mix = |n: usize| proptest::collection::vec((0..n, 0..n, 0..n, -3..=3i64, -3..=3i64), 0..3);
    (1..=12usize).prop_flat_map(move |n| (Just(n), proptest::collection::vec(row(n), n), mix(n))).prop_map(
        |(n, mut rows, mixes)| {
            for (target, a, b, up, down) in mixes {
                rows[target] = (0..n).map(|k| up * rows[a][k] + down * rows[b][k]).collect();
            }
            let sparse = |row: &Vec<i64>| (0u32..).zip(row.iter().copied()).filter(|(_, value)| *value != 0).collect();
            (n, rows.iter().map(sparse).collect())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn elimination_finds_all_dependencies((n, rows) in hidden_dependencies()) {
        let found = elimination::dependencies(&numbers(&rows));
        prop_assert_eq!(found.len(), n - rank(&rows, n));
        for combination in &found {
            prop_assert!(!combination.is_empty());
            let mut sum = vec![0.0; n];
            for &(row, factor) in combination {
                prop_assert!(factor != 0.0 && factor.fract() == 0.0);
                for &(column, value) in &rows[row as usize] {
                    sum[column as usize] += factor * value as f64;
                }
            }
            prop_assert!(sum.iter().all(|&value| value == 0.0));
        }
        // They are independent of each other.
        let combinations: Vec<Vec<(u32, i64)>> = found.iter().map(|c| c.iter().map(|&(row, x)| (row, x as i64)).collect()).collect();
        prop_assert_eq!(rank(&combinations, n), found.len());
    }
}

#[test]
fn elimination_is_quick_where_nothing_depends() {
    // Kirchhoff's laws of a ladder: every second unknown is shared by three rows.
    let n = 300_000u32;
    let rows: Vec<Vec<(u32, i64)>> = (0..n).map(|i| vec![(i, 1), (i + 1, -1), (n + 1 + i / 2, 1)]).collect();
    let start = std::time::Instant::now();
    assert!(elimination::dependencies(&numbers(&rows)).is_empty());
    assert!(start.elapsed().as_secs() < 20);
    let grid = 60u32;
    let mut edges: Vec<Vec<(u32, i64)>> = vec![Vec::new(); (grid * grid) as usize];
    let mut edge = 0;
    for x in 0..grid {
        for y in 0..grid {
            for (next_x, next_y) in [(x + 1, y), (x, y + 1)] {
                if next_x < grid && next_y < grid {
                    edges[(x * grid + y) as usize].push((edge, 1));
                    edges[(next_x * grid + next_y) as usize].push((edge, -1));
                    edge += 1;
                }
            }
        }
    }
    // The currents into all nodes of a net sum up to zero.
    let found = elimination::dependencies(&numbers(&edges));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].len(), edges.len());
}

#[test]
fn elimination_sees_through_rounding_errors() {
    // The third row is the first times 0.7 plus the second times 1/π, the fourth is nearly that.
    let (a, b) = (std::f64::consts::E, std::f64::consts::PI);
    let rows = |off: f64| -> Vec<elimination::Terms> {
        vec![
            vec![(0, a), (1, 1e-9), (2, 3.7)],
            vec![(0, -2.1), (1, b * 1e-9), (2, 1e6)],
            vec![(0, 0.7 * a - 2.1 / b), (1, 0.7e-9 + 1e-9 + off), (2, 0.7 * 3.7 + 1e6 / b)],
        ]
    };
    let found = elimination::dependencies(&rows(0.0));
    assert_eq!(found.len(), 1);
    let factor = |row: u32| found[0].iter().find(|(own, _)| *own == row).map_or(0.0, |(_, value)| *value);
    assert!((factor(0) / factor(2) + 0.7).abs() < 1e-9 && (factor(1) / factor(2) + 1.0 / b).abs() < 1e-9);
    assert!(elimination::dependencies(&rows(1e-15)).is_empty());
}

/// Each row has one number near one; the others are anything down to 1e-15 of it, in any units of rows and columns.
fn weakly_coupled() -> impl Strategy<Value = Vec<elimination::Terms>> {
    let size = || (-1.0..1.0f64, 0.0..15.0f64).prop_map(|(factor, power)| 0.1 * factor * 10f64.powf(-power));
    (3..=8usize)
        .prop_flat_map(move |n| {
            let unit = || proptest::collection::vec(-9..=9i32, n);
            (proptest::collection::vec(proptest::collection::vec(size(), n), n), unit(), unit())
        })
        .prop_map(|(mut rows, row_units, column_units)| {
            (0..rows.len()).for_each(|place| rows[place][place] += 1.0);
            let scaled = |(row, unit): (&Vec<f64>, &i32)| -> elimination::Terms {
                let values = row.iter().zip(&column_units).map(|(value, own)| value * 10f64.powi(own + unit));
                (0u32..).zip(values).filter(|(_, value)| *value != 0.0).collect()
            };
            rows.iter().zip(&row_units).map(scaled).collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn elimination_loses_no_weak_coupling(mut rows in weakly_coupled(), factor in 0.1..1.0f64) {
        prop_assert!(elimination::dependencies(&rows).is_empty());
        let multiple: elimination::Terms = rows[0].iter().map(|(column, value)| (*column, factor * value)).collect();
        rows.extend([multiple]);
        prop_assert_eq!(elimination::dependencies(&rows).len(), 1);
    }
}

#[test]
fn constant_factors_become_whole() {
    assert_eq!(elimination::whole(&[0.5, -0.1, 2.0]), Some((vec![5, -1, 20], 10)));
    assert_eq!(elimination::whole(&[1.0 / 3.0, 1.0]), Some((vec![1, 3], 3)));
    assert_eq!(elimination::whole(&[std::f64::consts::PI]), None);
    assert_eq!(elimination::whole(&[f64::NAN]), None);
}

#[test]
fn long_chains_are_linear() {
    // Row i holds columns i and i+1; the greedy start has to be turned over along the whole chain.
    let n = 200_000u32;
    let rows: Vec<Vec<u32>> = (0..n).map(|i| if i + 1 < n { vec![i + 1, i] } else { vec![n - 1] }).collect();
    let incidence = Incidence::from_rows(&rows, n as usize);
    let matching = Matching::maximum(&incidence);
    assert!(matching.is_perfect());
    let components = strong_components(&incidence, &matching);
    assert_eq!(components.len(), n as usize);
    assert_eq!(components.group(0), [n - 1]);
}

#[test]
fn by_hand_example_of_five_equations() {
    // f1(z3,z4) f2(z2) f3(z2,z3,z5) f4(z1,z2) f5(z1,z3,z5)
    let rows = vec![vec![2, 3], vec![1], vec![1, 2, 4], vec![0, 1], vec![0, 2, 4]];
    let incidence = Incidence::from_rows(&rows, 5);
    let matching = Matching::maximum(&incidence);
    let components = strong_components(&incidence, &matching);
    let groups: Vec<Vec<u32>> = components
        .iter()
        .map(|group| {
            let mut group = group.to_vec();
            group.sort_unstable();
            group
        })
        .collect();
    assert_eq!(groups, [vec![1], vec![3], vec![2, 4], vec![0]]);
}

#[test]
fn by_hand_example_of_colouring() {
    // Mass and spring: the unknowns are s1, s2', vm', f1, f2, f3, s3, f4, s4, s5, f5; the equations (a) to (k).
    let rows = vec![
        vec![0],
        vec![1],
        vec![2, 3, 4],
        vec![5, 7],
        vec![7, 8, 6],
        vec![9],
        vec![3],
        vec![6],
        vec![4, 5],
        vec![8, 9],
        vec![7, 10],
    ];
    let steps = colouring::colour(&Incidence::from_rows(&rows, 11));
    let mut order: Vec<(u32, char)> = steps.iter().map(|step| (step.number, (b'a' + step.row as u8) as char)).collect();
    order.sort_unstable();
    assert_eq!(order.iter().map(|(_, name)| name).collect::<String>(), "abfghjekdic");
}

#[test]
fn by_hand_example_of_tearing() {
    // z1=f1(z5), z2=f2(z1), z3=f3(z1,z2), z4=f4(z2,z3), z5=f5(z4,z1); only the left sides are solvable.
    let rows = vec![vec![0, 4], vec![1, 0], vec![2, 0, 1], vec![3, 1, 2], vec![4, 3, 0]];
    let incidence = Incidence::from_rows(&rows, 5);
    let mut solvable = vec![false; incidence.len()];
    for row in 0..5 {
        solvable[incidence.range(row).start] = true;
    }
    let torn = tear(&incidence, &solvable, &[0; 5], 5).unwrap();
    assert_eq!(torn.iteration.len(), 1);
    assert_eq!(torn.inner.len(), 4);
}
