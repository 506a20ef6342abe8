//! Functions as the program computes them while it runs.

mod common;

use common::ending;
use simulate::Ending;

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
