//! Time events that rounding alone separates are one event, at the last of their instants: what computes its next instant from
//! `time`, as the tables of the Modelica Standard Library do, must not see a time before the instant that it waited for.
#![allow(clippy::unwrap_used)]

mod common;

use common::complete;
use proptest::prelude::*;

/// A clock that finds its next instant from `time`, beside others whose instants are the same numbers, rounded in other ways:
/// sums, quotients, and a pulse by `integer`.
fn clocks(period: &str, parts: u32, near: &str) -> String {
    format!(
        "model Clocks
  function next \"The first multiple of 1/{parts} behind t\"
    input Real t;
    output Real instant;
  protected
    Integer i;
  algorithm
    i := integer({parts}*t) - 1;
    instant := i/{parts};
    while instant <= t loop
      i := i + 1;
      instant := i/{parts};
    end while;
  end next;
  discrete Real n(start = 1/{parts}, fixed = true);
  discrete Real s(start = {period}, fixed = true);
  discrete Real m(start = {near}, fixed = true);
  Integer found(start = 0, fixed = true), summed(start = 0, fixed = true), counted(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when time >= pre(n) then
    n = next(time);
    found = pre(found) + 1;
  end when;
  when time >= pre(s) then
    s = pre(s) + {period};
    summed = pre(summed) + 1;
  end when;
  when time >= pre(m) then
    m = pre(m) + 100;
  end when;
  when integer(time/{period}) > pre(counted) then
    counted = pre(counted) + 1;
  end when;
end Clocks;"
    )
}

#[test]
fn a_clock_goes_on_behind_an_event_that_comes_a_rounding_error_before_it() {
    for near in
        ["0.1", "0.09999999999999999", "0.09999999999999998", "0.10000000000000002", "0.30000000000000004 - 0.2"]
    {
        let run = complete(&clocks("0.1", 10, near), 3.05, 1e-6);
        assert_eq!((run.at("found", 3.05), run.at("summed", 3.05)), (30.0, 30.0), "{near}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn clocks_with_instants_of_other_roundings_do_not_stop(parts in 2u32..60, ulps in -4i32..5) {
        let period = 1.0/f64::from(parts);
        let near = (0..ulps.abs()).fold(period, |t, _| if ulps < 0 { t.next_down() } else { t.next_up() });
        let stop = 2.0 + period/2.0;
        let run = complete(&clocks(&period.to_string(), parts, &near.to_string()), stop, 1e-6);
        let expected = f64::from(2*parts);
        prop_assert_eq!((run.at("found", stop), run.at("summed", stop), run.at("counted", stop)), (expected, expected, expected));
    }
}
