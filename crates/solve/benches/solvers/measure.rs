//! CPU time, and the comparison of two methods at equal achieved error.

/// One run at one tolerance.
#[derive(Clone, Debug)]
pub struct Run {
    pub tolerance: f64,
    pub error: f64,
    pub seconds: f64,
    /// Counts that explain the time, for the long form of the table.
    pub effort: String,
}

/// CPU time of this thread in seconds. The system call is declared here because the workspace does without the crate `libc`.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn cpu_time() -> f64 {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    const THREAD: i32 = 3;
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    // SAFETY: `time` has the layout of `struct timespec` on 64-bit Linux and lives through the call.
    unsafe { clock_gettime(THREAD, &raw mut time) };
    time.seconds as f64 + 1e-9 * time.nanoseconds as f64
}

#[cfg(not(target_os = "linux"))]
pub fn cpu_time() -> f64 {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

/// Runs of several contestants at several tolerances. Each is measured several times in turn, so that a slow moment of
/// the machine meets all of them; the shortest time counts.
pub fn sweep(tolerances: &[f64], contestants: &mut [&mut dyn FnMut(f64) -> Run]) -> Vec<Vec<Run>> {
    let mut all: Vec<Vec<Run>> = contestants.iter().map(|_| Vec::new()).collect();
    for tolerance in tolerances {
        let mut best: Vec<Run> = contestants.iter_mut().map(|run| run(*tolerance)).collect();
        let mut spent: f64 = best.iter().map(|run| run.seconds).sum();
        let mut rounds = 1;
        while rounds < 25 && (rounds < 2 || spent < 0.3) {
            for (best, run) in best.iter_mut().zip(contestants.iter_mut()) {
                let again = run(*tolerance);
                spent += again.seconds;
                best.seconds = best.seconds.min(again.seconds);
            }
            rounds += 1;
        }
        all.iter_mut().zip(best).for_each(|(list, run)| list.push(run));
    }
    all
}

/// The runs that no other beats in both error and time, by falling error.
fn front(runs: &[Run]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = runs
        .iter()
        .filter(|run| run.error.is_finite() && run.error > 0.0)
        .map(|run| (run.error.ln(), run.seconds.ln()))
        .collect();
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut front: Vec<(f64, f64)> = Vec::new();
    for point in points {
        if front.last().is_none_or(|last| point.0 < last.0) {
            front.push(point);
        }
    }
    front
}

/// Seconds to reach an error, interpolated between the best runs; the cheapest run where that is better already, and
/// nothing where no run came so far.
pub fn time_at(runs: &[Run], error: f64) -> Option<f64> {
    let front = front(runs);
    let wanted = error.ln();
    let cheapest = front.first()?;
    if cheapest.0 <= wanted {
        return Some(cheapest.1.exp());
    }
    let pair = front.windows(2).find(|pair| pair[0].0 >= wanted && wanted >= pair[1].0)?;
    let fraction = (wanted - pair[0].0) / (pair[1].0 - pair[0].0);
    Some((pair[0].1 + fraction * (pair[1].1 - pair[0].1)).exp())
}

/// For each half power of ten between the loosest and the tightest both reach: the error and the seconds of both.
pub fn at_equal_error(ours: &[Run], theirs: &[Run]) -> Vec<(f64, f64, f64)> {
    let loosest = ours.iter().chain(theirs).map(|run| run.error).filter(|error| error.is_finite()).fold(0.0, f64::max);
    let errors = (-24..4).rev().map(|half| 10f64.powf(0.5 * f64::from(half))).filter(|error| *error <= loosest);
    errors.filter_map(|error| Some((error, time_at(ours, error)?, time_at(theirs, error)?))).collect()
}

pub fn mean_ratio(points: &[(f64, f64, f64)]) -> f64 {
    let sum: f64 = points.iter().map(|(_, ours, theirs)| (ours / theirs).ln()).sum();
    (sum / points.len().max(1) as f64).exp()
}
