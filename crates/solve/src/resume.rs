//! Continuation of a step after an event that changed nothing.
//!
//! Many events (a relation nobody uses just now, an output sampled, a limit left again) change neither state nor
//! slopes. The part of the accepted step behind such an event is still the solution, so it is handed out as the next
//! step instead of being computed again.

/// The rest of the last accepted step, if it is still good.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resume {
    from: Option<f64>,
    x: Vec<f64>,
}

/// Differences in state below this fraction of the tolerance are no jump.
pub(crate) const SAME_STATE: f64 = 1e-4;
/// How far, in units of the tolerance, the slope of the dense output may lead away within a step. Dense output is
/// rough in its slopes, above all at the ends of a step; the end of the step is the finer test.
pub(crate) const SAME_SLOPE: f64 = 20.0;
/// As above for the end of the step, where the method has fulfilled its equation.
pub(crate) const SAME_END: f64 = 0.1;

impl Resume {
    pub(crate) fn new(size: usize) -> Self {
        Resume { from: None, x: vec![0.0; size] }
    }

    pub(crate) fn set(&mut self, t: f64, x: &[f64]) {
        self.from = Some(t);
        self.x.copy_from_slice(x);
    }

    pub(crate) fn clear(&mut self) {
        self.from = None;
    }

    pub(crate) fn take(&mut self) -> Option<f64> {
        self.from.take()
    }

    pub(crate) fn time(&self) -> Option<f64> {
        self.from
    }

    pub(crate) fn state(&self) -> &[f64] {
        &self.x
    }
}
