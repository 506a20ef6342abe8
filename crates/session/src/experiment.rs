//! How long and how finely to run: what the call says, else the experiment annotation, else 0 to 1 s in 500 intervals.

use dae::Experiment;
use solve::Method;

/// What the call says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings {
    /// In place of that of the model.
    pub start_time: Option<f64>,
    /// In place of that of the model.
    pub stop_time: Option<f64>,
    /// The distance of output points, in place of that of the model.
    pub interval: Option<f64>,
    /// How many output intervals, instead of their length.
    pub intervals: Option<usize>,
    /// In place of that of the model.
    pub tolerance: Option<f64>,
    /// The name of the method.
    pub solver: Option<String>,
    /// The step of fixed-step methods.
    pub step: Option<f64>,
    /// The longest step of the others.
    pub max_step: Option<f64>,
    /// Measure where the time goes.
    pub measure: bool,
    /// Let time pass as on the wall.
    pub real_time: bool,
}

const INTERVALS: f64 = 500.0;
const TOLERANCE: f64 = 1e-6;

impl Settings {
    /// The options of the run; the error says what is wrong with the call.
    pub fn resolve(&self, experiment: &Experiment) -> Result<simulate::Options, String> {
        let start_time = self.start_time.or(experiment.start_time).unwrap_or(0.0);
        let default_stop = if start_time < 1.0 { 1.0 } else { start_time + 1.0 };
        let stop_time = self.stop_time.or(experiment.stop_time).unwrap_or(default_stop);
        for (name, time) in [("start", start_time), ("stop", stop_time)] {
            if !time.is_finite() {
                return Err(format!("the {name} time {time} must be a finite number"));
            }
        }
        if stop_time < start_time {
            return Err(format!("the stop time {stop_time} must not be before the start time {start_time}"));
        }
        let duration = stop_time - start_time;
        // The annotation's interval belongs to the annotation's duration.
        let interval = match (self.interval, self.intervals) {
            (Some(interval), _) => interval,
            (None, Some(intervals)) => duration / intervals.max(1) as f64,
            (None, None) => experiment.interval.filter(|&interval| interval > 0.0).unwrap_or(duration / INTERVALS),
        };
        let interval = if duration == 0.0 && interval == 0.0 { 1.0 } else { interval };
        if !(interval.is_finite() && interval > 0.0) {
            return Err(format!("the interval {interval} must be greater than zero"));
        }
        let tolerance = self.tolerance.or(experiment.tolerance).unwrap_or(TOLERANCE);
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(format!("the tolerance {tolerance} must be between 0 and 1"));
        }
        let solver = match &self.solver {
            None => Method::Auto,
            Some(name) => name.parse()?,
        };
        self.check_steps(solver)?;
        Ok(simulate::Options {
            start_time,
            stop_time,
            interval,
            tolerance,
            solver,
            step: self.step,
            max_step: self.max_step,
            measure: self.measure,
            real_time: self.real_time,
            ..simulate::Options::default()
        })
    }

    /// A step that the method has no use for would be believed to be in force.
    fn check_steps(&self, method: Method) -> Result<(), String> {
        if let Some(step) = self.step.or(self.max_step).filter(|&step| !(step.is_finite() && step > 0.0)) {
            return Err(format!("the step {step} must be greater than zero"));
        }
        let name = method.name();
        if self.step.is_some() && !method.is_fixed_step() {
            return Err(format!(
                "the solver `{name}` chooses its steps by the tolerance; limit them by a longest step, \
                 or take a method with a fixed step such as rk4"
            ));
        }
        if self.max_step.is_some() && method.is_fixed_step() {
            return Err(format!("the solver `{name}` has a fixed step; set that, and no longest step"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_wins_over_the_annotation_and_that_over_the_defaults() {
        let annotation = Experiment { stop_time: Some(4.0), interval: Some(0.1), ..Experiment::default() };
        let resolve = |settings: Settings, experiment: &Experiment| {
            let options = settings.resolve(experiment).unwrap();
            (options.start_time, options.stop_time, options.interval, options.tolerance)
        };
        assert_eq!(resolve(Settings::default(), &Experiment::default()), (0.0, 1.0, 0.002, 1e-6));
        assert_eq!(resolve(Settings::default(), &annotation), (0.0, 4.0, 0.1, 1e-6));
        let call =
            Settings { stop_time: Some(10.0), intervals: Some(100), tolerance: Some(1e-3), ..Settings::default() };
        assert_eq!(resolve(call, &annotation), (0.0, 10.0, 0.1, 1e-3));
    }

    #[test]
    fn senseless_settings_are_refused() {
        let message = |settings: Settings| settings.resolve(&Experiment::default()).unwrap_err();
        let backwards = Settings { start_time: Some(2.0), stop_time: Some(1.0), ..Settings::default() };
        assert_eq!(message(backwards), "the stop time 1 must not be before the start time 2");
        let endless = Settings { stop_time: Some(f64::INFINITY), ..Settings::default() };
        assert_eq!(message(endless), "the stop time inf must be a finite number");
        let still = Settings { interval: Some(0.0), ..Settings::default() };
        assert_eq!(message(still), "the interval 0 must be greater than zero");
        let fixed = Settings { step: Some(0.1), ..Settings::default() };
        assert_eq!(
            message(fixed),
            "the solver `auto` chooses its steps by the tolerance; limit them by a longest step, \
             or take a method with a fixed step such as rk4"
        );
        let limited = Settings { solver: Some("rk4".to_owned()), max_step: Some(0.1), ..Settings::default() };
        assert_eq!(message(limited), "the solver `rk4` has a fixed step; set that, and no longest step");
        let none = Settings { max_step: Some(0.0), ..Settings::default() };
        assert_eq!(message(none), "the step 0 must be greater than zero");
        let loose = Settings { tolerance: Some(f64::NAN), ..Settings::default() };
        assert_eq!(message(loose), "the tolerance NaN must be between 0 and 1");
    }
}
