//! Functions as the program computes them while it runs.

use lang::{Libraries, Overrides};
use results::NullSink;
use simulate::{Ending, EventLog, Options};

fn ending(text: &str) -> Ending {
    let mut libraries = Libraries::default();
    libraries.add_text("case.mo", text);
    let model = lang::flatten(&mut libraries, "M", &Overrides::default()).model.expect("a flat model");
    let schedule = transform::transform(model, &Default::default()).expect("a schedule");
    let program = compile::Program::new(schedule).expect("a program");
    let mut watcher = |_: f64| true;
    let (mut sink, mut log) = (NullSink, EventLog::none());
    let outcome =
        simulate::simulate(&program, &Options::default(), &|_| true, &mut sink, &mut log, &mut watcher).expect("a run");
    outcome.ending
}

#[test]
fn functions_that_are_inputs_get_some_of_their_inputs() {
    // ∫∫ x·y over the unit square by the rectangle rule at the middles: exact for what is linear in each.
    let text = "partial function Curve input Real x; output Real z; end Curve;
      partial function Surface input Real x; input Real y; output Real z; end Surface;
      function middle
        input Curve f;
        input Integer n;
        output Real area = 0;
      algorithm
        for i in 1:n loop
          area := area + f((i - 0.5)/n)/n;
        end for;
      end middle;
      function once
        input Real x;
        input Surface f;
        input Integer n;
        output Real area;
      algorithm
        area := middle(function f(y = x), n);
      end once;
      function volume
        input Surface f;
        input Integer n;
        output Real y;
      algorithm
        y := middle(function once(f = f, n = n), n);
      end volume;
      function saddle
        extends Surface;
        input Real k;
      algorithm
        z := k*x*y;
      end saddle;
      model M
        Real v = volume(function saddle(k = 8*time), 10);
        Real z(start = 0, fixed = true);
      equation
        der(z) = v;
        assert(abs(v - 2*time) < 1e-12, \"the volume is wrong\");
      end M;";
    assert_eq!(ending(text), Ending::Complete);
}
