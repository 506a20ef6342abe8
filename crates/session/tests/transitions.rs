//! Transitions between modes, against closed forms: impacts and cascades of them, loops that a switch closes, coincidence with
//! the start, with samples and with the end; and what is said where the equations do not tell what comes next.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, run};
use expect_test::expect;
use session::Ending;

#[track_caller]
fn assert_close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

/// The message of a run that stops, without the time, and its notes.
fn refusal(text: &str) -> String {
    let run = run(text, 1.0);
    let diagnostic = match run.ending {
        Ending::Failed { diagnostic, .. } | Ending::NotInitialised(diagnostic) => diagnostic,
        ending => panic!("{ending:?}"),
    };
    let lines = std::iter::once(&diagnostic.message).chain(&diagnostic.notes).chain(diagnostic.hint.iter());
    lines.map(|line| format!("{}\n", rounded(line))).collect()
}

/// The words of a text, with digits of numbers left out that may be rounding errors.
fn rounded(text: &str) -> String {
    let word = |word: &str| match word.trim_end_matches(';').parse::<f64>() {
        Ok(value) => format!("{}{}", (value * 1e9).round() / 1e9, if word.ends_with(';') { ";" } else { "" }),
        Err(_) => word.to_owned(),
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Three masses, each pair of which has a law of impact between velocities.
fn cradle(third: f64) -> String {
    format!(
        "model Cradle
          Real x[3](start = {{-1, 0, {third}}}, each fixed = true);
          Real v[3](start = {{1, 0, 0}}, each fixed = true);
          Real f[2];
          Boolean touch[2], hit[2];
        equation
          der(x) = v;
          der(v[1]) = -f[1];
          der(v[2]) = f[1] - f[2];
          der(v[3]) = f[2];
          for k in 1:2 loop
            touch[k] = x[k + 1] - x[k] < 0.2;
            hit[k] = edge(touch[k]);
            if hit[k] then
              v[k + 1] - v[k] = -(pre(v[k + 1]) - pre(v[k]));
            else
              f[k] = 0;
            end if;
          end for;
        end Cradle;"
    )
}

#[test]
fn an_elastic_impact_passes_the_velocity_on() {
    let run = run(&cradle(1.0), 3.0);
    for (time, velocities) in [(0.8, [0.0, 1.0, 0.0]), (1.6, [0.0, 0.0, 1.0])] {
        for (k, velocity) in velocities.into_iter().enumerate() {
            assert_close(run.right(&format!("v[{}]", k + 1), time), velocity, 1e-12);
        }
    }
    assert_close(run.right("impulse(f[1])", 0.8), 1.0, 1e-12);
    assert_close(run.right("x[3]", 3.0), 1.0 + 1.4, 1e-9);
}

#[test]
fn masses_that_touch_pass_it_on_in_an_instant() {
    let run = run(&cradle(0.2), 3.0);
    for (k, velocity) in [0.0, 0.0, 1.0].into_iter().enumerate() {
        assert_close(run.right(&format!("v[{}]", k + 1), 0.8), velocity, 1e-12);
    }
    assert_close(run.right("impulse(f[1])", 0.8), 1.0, 1e-12);
    assert_close(run.right("impulse(f[2])", 0.8), 1.0, 1e-12);
    let modes: String =
        run.log.lines().filter(|line| line.contains("entered")).map(|line| format!("{}\n", rounded(line))).collect();
    expect![[r#"
        0.8 mode 1 left, mode 2 entered: hit[1] is true; decided: x[2] - x[1] < 0.2 by its crossing
        0.8 mode 2 left, mode 3 entered: hit[1] is false, hit[2] is true; decided: x[2] - x[1] < 0.2 by its crossing, x[3] - x[2] < 0.2 by its crossing
        0.8 mode 3 left, mode 1 entered: hit[2] is false; decided: x[2] - x[1] < 0.2 by its rest, x[3] - x[2] < 0.2 by its direction
    "#]]
    .assert_eq(&modes);
}

#[test]
fn an_inelastic_impact_needs_no_law() {
    let run = run(
        "model Contact
          Real x1(start = 0, fixed = true), x2(start = 1, fixed = true);
          Real v1(start = 2, fixed = true), v2(start = 0, fixed = true);
          Real f, s;
          Boolean contact = s < 0;
        equation
          der(x1) = v1;
          der(x2) = v2;
          der(v1) = -f;
          3*der(v2) = f + (if time < 1 then 0 else 1);
          x2 - x1 = if contact then 0 else s;
          f = if contact then -s else 0;
        end Contact;",
        2.0,
    );
    assert_close(run.right("v1", 0.5), 0.5, 1e-12);
    assert_close(run.right("v2", 0.5), 0.5, 1e-12);
    assert_close(run.right("impulse(f)", 0.5), 1.5, 1e-12);
    // From 1 on the second is pulled away.
    assert_close(run.right("v1", 2.0), 0.5, 1e-9);
    assert_close(run.right("x2", 2.0) - run.right("x1", 2.0), 1.0 / 6.0, 1e-8);
}

/// Rigid backlash between two inertias with a law of impact: the relative speed comes back as a part of what it was.
#[test]
fn b17_backlash_with_elastic_and_partly_elastic_stops() {
    for restitution in [1.0, 0.8, 0.5] {
        let run = run(
            &format!(
                "model Backlash
                  parameter Real J1 = 1, J2 = 2, b = 0.5, e = {restitution};
                  Real phi1(start = 0, fixed = true), phi2(start = 0, fixed = true);
                  Real w1(start = 1, fixed = true), w2(start = 0, fixed = true), tau, gap;
                  Boolean right, left, hit;
                equation
                  der(phi1) = w1;
                  der(phi2) = w2;
                  J1*der(w1) = -tau;
                  J2*der(w2) = tau;
                  gap = phi1 - phi2;
                  right = gap > b;
                  left = gap < -b;
                  hit = edge(right) or edge(left);
                  if hit then
                    w1 - w2 = -e*(pre(w1) - pre(w2));
                  else
                    tau = 0;
                  end if;
                end Backlash;"
            ),
            6.0,
        );
        let (w1, w2) = (run.column("w1"), run.column("w2"));
        let mut impacts = Vec::new();
        for (row, pair) in run.result.time.windows(2).enumerate() {
            if pair[0] != pair[1] || w1[row] == w1[row + 1] {
                continue;
            }
            impacts.push(pair[0]);
            let momentum = |row: usize| w1[row] + 2.0 * w2[row];
            let energy = |row: usize| 0.5 * (w1[row] * w1[row] + 2.0 * w2[row] * w2[row]);
            assert_close(momentum(row + 1), momentum(row), 1e-13);
            let relative = w1[row] - w2[row];
            // What is lost is the part of the energy in the relative speed.
            let lost = 0.5 * (2.0 / 3.0) * relative * relative * (1.0 - restitution * restitution);
            assert_close(energy(row) - energy(row + 1), lost, 1e-13);
        }
        // Half of the backlash at first, then the whole of it, each time slower.
        let mut expected = vec![0.5];
        let mut speed = restitution;
        while expected[expected.len() - 1] + 1.0 / speed < 6.0 {
            expected.push(expected[expected.len() - 1] + 1.0 / speed);
            speed *= restitution;
        }
        assert_eq!(impacts.len(), expected.len(), "{restitution}: {impacts:?}");
        impacts.iter().zip(&expected).for_each(|(&impact, &expected)| assert_close(impact, expected, 1e-8));
        assert_close(run.right("w1", 6.0) + 2.0 * run.right("w2", 6.0), 1.0, 1e-12);
    }
}

#[test]
fn a_switch_closes_a_loop_of_capacitors_and_a_source() {
    let run = run(
        "model Loop
          Real v1(start = 1, fixed = true), v2(start = 2, fixed = true), i, vs;
          Boolean closed = time > 0.5;
        equation
          0.001*der(v1) = i;
          0.002*der(v2) = i;
          10 = vs + v1 + v2;
          if closed then vs = 0; else i = 0; end if;
        end Loop;",
        1.0,
    );
    // The charge through the loop makes up for the 7 V that are missing, over both capacitors in series.
    let charge = 7.0 * 0.001 * 0.002 / 0.003;
    assert_close(run.right("impulse(i)", 0.5), charge, 1e-16);
    assert_close(run.right("v1", 0.5), 1.0 + charge / 0.001, 1e-13);
    assert_close(run.right("v2", 0.5), 2.0 + charge / 0.002, 1e-13);
}

#[test]
fn a_switch_puts_inductors_in_series() {
    let run = run(
        "model Series
          Real i1(start = 2, fixed = true), i2(start = 0.5, fixed = true), u, i;
          Boolean open = time > 0.25;
        equation
          der(i1) = -u;
          3*der(i2) = u - 2*i2;
          i1 = i2 + i;
          if open then i = 0; else u = 0; end if;
        end Series;",
        1.0,
    );
    let before = 0.5 * (-0.5f64 / 3.0).exp();
    let together = (2.0 + 3.0 * before) / 4.0;
    assert_close(run.right("i1", 0.25), together, 1e-6);
    assert_close(run.right("i1", 0.25), (2.0 + 3.0 * run.left("i2", 0.25)) / 4.0, 1e-14);
    assert_close(run.right("impulse(u)", 0.25), 2.0 - together, 1e-6);
    assert_close(run.right("i2", 1.0), together * (-0.5f64 * 0.75).exp(), 1e-6);
}

#[test]
fn two_switches_at_once_discharge_two_capacitors() {
    let run = run(
        "model Both
          Real v1(start = 3, fixed = true), v2(start = 6, fixed = true), iA, iB;
          Boolean A = time > 0.2, B = time > 0.2;
        equation
          der(v1) = -iA;
          2*der(v2) = iA - iB;
          if A then v1 = v2; else iA = 0; end if;
          if B then v2 = 0; else iB = 0; end if;
        end Both;",
        1.0,
    );
    assert_eq!((run.right("v1", 1.0), run.right("v2", 1.0)), (0.0, 0.0));
    assert_close(run.right("impulse(iA)", 0.2), 3.0, 1e-14);
    assert_close(run.right("impulse(iB)", 0.2), 15.0, 1e-13);
}

/// Between modes that are known a transition is one trial: for each half wave one diode takes over from the other, and the
/// one before it is found to be off.
#[test]
fn known_transitions_are_tried_once() {
    let run = run(
        "model Rectifier
          Real i(start = 0, fixed = true), u, s[2], v[2];
          Boolean off[2];
        equation
          u = 10*sin(100*time);
          0.01*der(i) + 0.2*i = v[1] + 1;
          v[1] = u - (if off[1] then s[1] else 0);
          v[2] = -(if off[2] then s[2] else 0);
          v[1] = v[2];
          i = (if off[1] then 0 else s[1]) + (if off[2] then 0 else s[2]);
          for k in 1:2 loop
            off[k] = s[k] < 0;
          end for;
        end Rectifier;",
        10.0,
    );
    let statistics = run.statistics;
    assert!(statistics.state_events > 250, "{statistics:?}");
    assert_eq!((statistics.modes, statistics.modes_made), (2, 4));
    let most = statistics.state_events + statistics.state_events / 10;
    assert!(statistics.mode_trials < most, "{statistics:?}");
}

/// A source that changes its sign every tenth of a second beside a clutch that engages once: events of the source are passed
/// in the mode that is in use, and discrete variables follow them there.
#[test]
fn events_that_change_no_mode_try_none() {
    let text = "model Clutch
          Real w1(start = 1, fixed = true), w2(start = 0, fixed = true), tau;
          Real x(start = 0, fixed = true);
          Boolean engaged = time > 5.05, high = mod(time, 0.2) < 0.1;
          discrete Integer n(start = 0, fixed = true);
          Integer flips;
        equation
          der(w1) = -tau;
          2*der(w2) = tau;
          if engaged then w1 = w2; else tau = 0; end if;
          der(x) = if high then 1 else -1;
          flips = if high <> pre(high) then pre(n) + 1 else pre(n);
          n = flips;
        end Clutch;";
    let run = run(text, 10.05);
    assert_eq!(run.ending, Ending::Complete);
    let (w1, w2, x, n) = (run.end("w1"), run.end("w2"), run.end("x"), run.end("n"));
    assert_close(w1, 1.0 / 3.0, 1e-12);
    assert_close(w2, 1.0 / 3.0, 1e-12);
    // A triangle that is 0 at multiples of 0.2 and 0.1 between them.
    assert_close(x, 0.05, 1e-9);
    // Before the start it was not high.
    assert_eq!(n, 101.0);
    assert_eq!(run.statistics.time_events, 101);
    assert!(run.statistics.mode_trials < 12, "{:?}", run.statistics);
}

/// A diode short-circuits the capacitor at the instant at which the other one interrupts the inductor: currents cancel at a
/// node, so that one constraint shows only after another was differentiated.
#[test]
fn impulses_of_voltage_and_of_current_in_one_instant() {
    let run = run(
        "model Diodes
          Real iL(start = 0.3), vC(start = 0.5), iC, vD, iD, sD, vE, iE, sE, u1, u2, u3;
          Boolean offD = sD < 0, offE = sE < 0;
        equation
          u1 = 10*sin(6*time + 0.3);
          -u2 = 0.5*der(iL);
          iC = 0.2*der(vC);
          vD = if offD then sD else 0;
          iD = if offD then 0 else sD;
          vE = if offE then sE else 0;
          iE = if offE then 0 else sE;
          vC = u2 - u3;
          vD = u1 - u2;
          vE = u2 - u3;
          0 = -iL + iC - iD + iE;
          0 = -iC - iE;
        end Diodes;",
        0.5,
    );
    assert_eq!((run.right("iL", 0.0), run.right("vC", 0.0)), (0.0, 0.0));
    assert_close(run.right("impulse(vD)", 0.0), -0.15, 1e-14);
    assert_close(run.right("impulse(iE)", 0.0), 0.1, 1e-14);
    // Then the first conducts at once: 0.5·iL' = −10·sin(6t + 0.3).
    assert_close(run.right("iL", 0.5), (10.0 / 3.0) * (3.3f64.cos() - 0.3f64.cos()), 1e-4);
}

const JOINED: &str = "2*der(v1) = -i; 3*der(v2) = i; if closed then v1 = v2; else i = 0; end if;";

#[test]
fn a_transition_at_the_start() {
    let run = run(
        &format!(
            "model Start
              Real v1(start = 10, fixed = true), v2(start = 4, fixed = true), i;
              Boolean closed = time >= 0;
            equation
              {JOINED}
            end Start;"
        ),
        1.0,
    );
    assert_close(run.right("v1", 1.0), 6.4, 1e-14);
    assert_eq!((run.right("impulse(i)", 0.0), run.right("impulse(i)", 1.0)), (7.2, 0.0));
    assert!(run.warnings[0].contains("taken for the values just before the start"), "{:?}", run.warnings);
}

#[test]
fn a_transition_at_a_sample() {
    let run = run(
        &format!(
            "model Sampled
              Real v1(start = 10, fixed = true), v2(start = 4, fixed = true), i;
              Boolean closed(start = false, fixed = true);
              discrete Real after(start = 0, fixed = true), before(start = 0, fixed = true);
            equation
              {JOINED}
              when sample(0.5, 0.5) then
                closed = not pre(closed);
                after = v1;
                before = pre(v1);
              end when;
            end Sampled;"
        ),
        1.2,
    );
    assert_eq!((run.right("before", 0.5), run.right("after", 0.5)), (10.0, 6.4));
    assert_eq!((run.right("before", 1.0), run.right("after", 1.0)), (6.4, 6.4));
    assert_eq!((run.right("closed", 0.5), run.right("closed", 1.0)), (1.0, 0.0));
}

#[test]
fn a_transition_at_the_end() {
    let run = run(
        &format!(
            "model End
              Real v1(start = 10, fixed = true), v2(start = 4, fixed = true), i;
              Boolean closed = time >= 1;
              discrete Real last(start = 0, fixed = true);
            equation
              {JOINED}
              when terminal() then last = v1; end when;
            end End;"
        ),
        1.0,
    );
    assert_eq!((run.left("v1", 1.0), run.right("v1", 1.0)), (10.0, 6.4));
    assert!(run.log.contains("last changed from 0 to 6.4"), "{}", run.log);
}

#[test]
fn friction_by_its_characteristic_under_steps() {
    let run = run(
        "model Steps
          Real v, f, u, s;
          Boolean forward = s > 1, backward = s < -1;
        equation
          u = if time < 1 then 2 else if time < 2 then 5 else if time < 3 then 0 else -5;
          2*der(v) = u - f;
          v = if forward then s - 1 else if backward then s + 1 else 0;
          f = if forward then 3 + 0.5*(s - 1) else if backward then -3 + 0.5*(s + 1) else 3*s;
        end Steps;",
        5.0,
    );
    assert_eq!((run.right("v", 0.9), run.right("f", 0.9)), (0.0, 2.0));
    let fast = 4.0 * (1.0 - (-0.25f64).exp());
    assert_close(run.right("v", 2.0), fast, 1e-5);
    let rest = 2.0 + 4.0 * ((6.0 + fast) / 6.0).ln();
    assert_close(run.right("v", rest), 0.0, 1e-9);
    assert_eq!((run.right("v", 2.9), run.right("f", 2.9)), (0.0, 0.0));
    assert_close(run.right("v", 5.0), -4.0 * (1.0 - (-0.5f64).exp()), 1e-5);
}

/// Friction as a machine of modes that sticks at the start, where the acceleration is given as well: that says the same
/// twice and leaves the force open, but the structure of the run is regular.
#[test]
fn initial_conditions_that_say_something_twice_call_for_no_modes() {
    let run = run(
        "model Stuck
          Real w, a, s, f, u;
          Boolean forward(start = false, fixed = true), stuck;
          Integer mode(start = 0, fixed = true);
        equation
          u = 2*time;
          a = der(w);
          2*a = u - f;
          forward = pre(mode) == 0 and s > 3;
          stuck = not (pre(mode) == 1 or forward);
          a = if stuck then 0 else s - 3;
          f = if stuck then s else 3;
          mode = if (pre(mode) == 1 or forward) and w > 0 then 1 else 0;
        initial equation
          w = 0;
          a = 0;
        end Stuck;",
        3.0,
    );
    assert_eq!(run.statistics.modes, 1);
    assert_close(run.right("w", 1.2), 0.0, 1e-9);
    assert_close(run.right("w", 3.0), 0.5 * 1.5 * 1.5, 1e-5);
}

#[test]
fn an_impact_without_a_law_is_refused() {
    expect![[r#"
        no mode is consistent at time 0.451523641; 2 were tried
        impact = true fails: 2 equations for the one unknown `q`; no equation determines `f`
        impact = false calls for impact = true
        each mode that was tried has no solution or calls for another one; an impact needs a law (what the velocity is afterwards), a source that ideal elements short-circuit or interrupt needs a resistance
    "#]]
    .assert_eq(&refusal(
        "model NoLaw
          Real h(start = 1, fixed = true), v(start = 0, fixed = true), f, q;
          Boolean down = h < 0, impact = edge(down);
        equation
          der(h) = v;
          der(v) = f - 9.81;
          q = if impact then 1 else 0;
          if impact then q = 0; else f = 0; end if;
        end NoLaw;",
    ));
}

#[test]
fn modes_that_call_for_each_other_are_listed() {
    expect![[r#"
        no mode is consistent at time 0.5; 2 were tried
        late and i < 0.5 = true calls for late and i < 0.5 = false
        late and i < 0.5 = false calls for late and i < 0.5 = true
        a condition depends on its own consequence; break the cycle with pre(…), or give it hysteresis or a delay
    "#]]
    .assert_eq(&refusal(
        "model Buzzer
          Real i(start = 0), u, x(start = 0, fixed = true);
          Boolean late = time > 0.5;
        equation
          der(x) = u;
          if late and i < 0.5 then u = i - 1; i = 1; else i = 0; u = x; end if;
        end Buzzer;",
    ));
}

/// A relay as it stands in a file.
const RELAY: &str = "model Relay \"A coil in series with the resting contact of another relay\"
  parameter Real L = 0.1;
  parameter Real R = 1;
  parameter Real pull = 0.5 \"Current at which it pulls\";
  Real i(start = 0, fixed = true);
  Real v;
  input Boolean opened \"Whether the contact in series is open\";
  output Boolean pulled = i > pull;
  input Real u;
  Real uContact;
equation
  L*der(i) + R*i = v;
  u = v + uContact;
  if opened then
    i = 0;
  else
    uContact = 0;
  end if;
end Relay;";

/// What is said, with digits of times left out that may be rounding errors.
fn said(text: &str) -> String {
    let failure = run(text, 1.0).failure();
    failure
        .lines()
        .map(|line| if line.contains(" at time ") { rounded(line) } else { line.trim_end().into() } + "\n")
        .collect()
}

#[test]
fn two_modes_that_are_both_consistent_are_named_with_their_places() {
    // Both relays pull at the same instant; either may be the one that opens the contact of the other.
    expect![[r#"
        error[ambiguous-mode]: 2 modes are consistent at time 0.069314717; the equations do not say which
           --> case.mo:14:3
            |
         14 |   if opened then
            |   ^^^^^^^^^^^^^^ decided by a.opened, in component `a`
            |   -------------- decided by b.opened, in component `b`
           = a.opened = false, b.opened = true
           = a.opened = true, b.opened = false
           = help: say which with `pre(…)` in the conditions, or with a law for the transition
    "#]]
    .assert_eq(&said(&format!(
        "{RELAY}
model Interlock
  Relay a, b;
equation
  a.u = 1;
  b.u = 1;
  a.opened = b.pulled;
  b.opened = a.pulled;
end Interlock;"
    )));
}

#[test]
fn a_relay_that_interrupts_itself_is_told_what_would_help() {
    expect![[r#"
        error[no-consistent-mode]: no mode is consistent at time 0.069314717; 2 were tried
           --> case.mo:14:3
            |
         14 |   if opened then
            |   ^^^^^^^^^^^^^^ decided by relay.opened, in component `relay`
           = relay.opened = true calls for relay.opened = false
           = relay.opened = false calls for relay.opened = true
           = help: a condition depends on its own consequence; break the cycle with pre(…), or give it hysteresis or a delay
    "#]].assert_eq(&said(&format!(
        "{RELAY}
model Buzzer
  Relay relay;
equation
  relay.u = 1;
  relay.opened = relay.pulled;
end Buzzer;"
    )));
}

/// The equation for the instant of the impact says nothing new, so that the impulse is open.
#[test]
fn an_impact_that_leaves_the_velocities_open_is_told_what_is_missing() {
    expect![[r#"
        error[missing-law]: no mode is consistent at time 0.8; 2 were tried
           --> case.mo:17:3
            |
         17 |   if hit then
            |   ^^^^^^^^^^^ decided by stop.hit, in component `stop`
           = stop.hit = true fails: nothing determines a.f, and so not how a.v, b.v changes
           = stop.hit = false calls for stop.hit = true
           = help: give the transition a law: an equation for what it leaves open, such as v = -e*pre(v) for the velocity after an impact
    "#]].assert_eq(&said(
        "model Mass
  parameter Real m = 1;
  Real x, v, f;
equation
  der(x) = v;
  m*der(v) = f;
end Mass;

model Stop \"Two masses that hit each other; what happens then is not said\"
  parameter Real d = 0.2;
  Real x1, x2, f;
  Boolean touch = x2 - x1 < d;
  Boolean hit = edge(touch);
  Real gap;
equation
  gap = x2 - x1 - d;
  if hit then
    gap = x2 - x1 - d;
  else
    f = 0;
  end if;
end Stop;

model Collision
  Mass a(x(start = 0, fixed = true), v(start = 1, fixed = true));
  Mass b(x(start = 1, fixed = true), v(start = 0, fixed = true));
  Stop stop;
equation
  stop.x1 = a.x;
  stop.x2 = b.x;
  a.f = -stop.f;
  b.f = stop.f;
end Collision;",
    ));
}

#[test]
fn a_source_that_two_switches_short_circuit_is_told_with_their_names() {
    expect![[r#"
        error[no-consistent-mode]: no mode is consistent at time 0.4; 4 were tried
          --> case.mo:5:3
           |
         5 |   v = if on then 0 else s;
           |   ^^^^^^^^^^^^^^^^^^^^^^^ decided by upper.on, in component `upper`
           |   ----------------------- decided by lower.on, in component `lower`
           = upper.on = true, lower.on = true fails: 3 equations for 2 unknowns: `upper.v`, `lower.v`; no equation determines `upper.i`
           = upper.on = false, lower.on = true calls for upper.on = true
           = upper.on = true, lower.on = false calls for lower.on = true
           = upper.on = false, lower.on = false calls for upper.on = true, lower.on = true
           = help: each mode that was tried has no solution or calls for another one; an impact needs a law (what the velocity is afterwards), a source that ideal elements short-circuit or interrupt needs a resistance
    "#]].assert_eq(&said(
        "model Switch
  Real v, i, s;
  input Boolean on;
equation
  v = if on then 0 else s;
  i = if on then s else 0;
end Switch;

model Leg
  Switch upper, lower;
  Real load;
equation
  upper.on = time < 0.5;
  lower.on = time > 0.4;
  upper.v + lower.v = 50;
  lower.v = 4*load;
  upper.i = lower.i + load;
end Leg;",
    ));
}

/// Two gates that hold each other, released at the same instant from where both are low.
const LATCH: &str = "model Gate
  input Real a;
  input Boolean enable;
  output Real y;
equation
  y = if enable and a < 0.5 then 1 else 0;
end Gate;

model Latch
  Gate left, right;
  Real x(start = 0, fixed = true);
equation
  left.enable = time > 0.5;
  right.enable = time > RELEASE;
  left.a = right.y;
  right.a = left.y;
  der(x) = left.y - right.y;
end Latch;";

#[test]
fn conditions_that_hold_in_two_ways_are_warned_of() {
    let run = run(&LATCH.replace("RELEASE", "0.5"), 1.0);
    assert_close(run.right("x", 1.0).abs(), 0.5, 1e-9);
    expect![[r#"
        warning[ambiguous-conditions]: more than one combination of conditions is consistent for left.y, left.a at time 0.5; the first one found was taken
          --> case.mo:6:3
           |
         6 |   y = if enable and a < 0.5 then 1 else 0;
           |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ decided by left.y < 0.5, in component `right`
           |   --------------------------------------- decided by left.a < 0.5, in component `left`
           = taken: left.y < 0.5 = false, left.a < 0.5 = true
           = as consistent: left.y < 0.5 = true, left.a < 0.5 = false
           = help: the equations do not say which; give the conditions a memory with `pre(…)`, or one of the elements a delay
    "#]].assert_eq(&run.said);
}

/// Where one way is left of itself, that is the way; and what holds stays, though another way would hold as well.
#[test]
fn conditions_with_a_history_are_not_ambiguous() {
    let run = run(&LATCH.replace("RELEASE", "0.6"), 1.0);
    assert_close(run.right("x", 1.0), 0.5, 1e-9);
    assert_eq!(run.said, "");
    let run = common::run(
        "model Trigger
          Real u = 2*sin(5*time), y(start = 1), x(start = 0, fixed = true);
        equation
          y = if u + y > 0 then 1 else -1;
          der(x) = y;
        end Trigger;",
        2.0,
    );
    // Its start value says where it begins. It turns where u passes −1 and +1, with a memory that nothing declares: from −1
    // to 1 either value would do.
    let jumps = run.jumps("y");
    let expected = [7.0, 13.0, 19.0].map(|sixths: f64| sixths * std::f64::consts::PI / 30.0);
    assert_eq!(jumps.len(), expected.len(), "{jumps:?}");
    jumps.iter().zip(expected).for_each(|(&jump, expected)| assert_close(jump, expected, 1e-9));
    assert_eq!(run.said, "");
}

#[test]
fn the_log_for_programs_tells_modes_jumps_and_impulses() {
    let run = common::run_logged(
        "model Joined
          Real v1(start = 10, fixed = true), v2(start = 4, fixed = true), i;
          Boolean closed = time >= 0.5;
        equation
          2*der(v1) = -i;
          3*der(v2) = i;
          if closed then v1 = v2; else i = 0; end if;
        end Joined;",
        1.0,
        session::EventLogFormat::JsonLines,
    );
    expect![[r#"
        {"event":"initialised","time":0}
        {"event":"begins","time":0,"variable":"closed","value":"false"}
        {"event":"mode","time":0.5,"left":1,"entered":2,"conditions":{"closed":true},"changed":["closed"],"decided":[{"relation":"time >= 0.5","sign":1,"by":"value"}]}
        {"event":"jump","time":0.5,"variable":"v1","from":10,"to":6.4}
        {"event":"jump","time":0.5,"variable":"v2","from":4,"to":6.4}
        {"event":"impulse","time":0.5,"variable":"i","value":7.2}
        {"event":"restart","time":0.5,"iterations":2}
    "#]]
    .assert_eq(&run.log);
}

impl Run {
    fn left(&self, name: &str, time: f64) -> f64 {
        self.in_row(name, self.result.time.iter().position(|&t| (t - time).abs() < 1e-6).unwrap())
    }

    fn right(&self, name: &str, time: f64) -> f64 {
        self.in_row(name, self.result.time.iter().rposition(|&t| (t - time).abs() < 1e-6).unwrap())
    }

    fn in_row(&self, name: &str, row: usize) -> f64 {
        self.result.get(name).unwrap_or_else(|| panic!("no {name}")).values[row]
    }
}

#[test]
fn a_condition_that_turns_does_not_return_at_the_same_instant() {
    // The condition falls where the rounding jumps upwards and where the fraction passes 0.6 downwards, and rises by both in turn:
    // 18 times in a second, three times in the tenth of a second after it.
    let text = "model M Boolean c; Integer n(start = 0, fixed = true); Real u = 1.5*sin(6.283185307179586*time);
          Real w1(start = 6, fixed = true), w2(start = 0, fixed = true), torque;
        equation
          c = mod(3*u, 1) > 0.6;
          when c then n = pre(n) + 1; end when;
          der(w1) = -torque; 2*der(w2) = torque;
          if c then w1 = w2; else torque = 0; end if;
        end M;";
    assert_eq!(run(text, 1.1).end("n"), 21.0);
    assert_eq!(run(text, 3.1).end("n"), 57.0);
}

/// At the end of a run there is no right limit: what is true at that instant has come about, in a model with modes as in others.
#[test]
fn a_mode_that_begins_at_the_stop_time() {
    let model = |condition: &str, rest: &str| {
        format!(
            "model M
               Real c(start = 2, fixed = true), v, i; Real y(start = 0, fixed = true), w = if {condition} then 1 else 0;
             equation
               der(c) = -i; v = c; der(y) = 0;
               if {condition} then v = 0; else i = 0; end if; {rest}
             end M;"
        )
    };
    for (condition, passed) in [("time >= 1", true), ("time > 1", false), ("time >= 0.5", true)] {
        let text = model(condition, "");
        let run = common::run(&text, 1.0);
        let expected = if passed { [0.0, 1.0] } else { [2.0, 0.0] };
        assert_eq!([run.end("v"), run.end("w")], expected, "{condition}");
    }
    // Both limits are in the result.
    let run = common::run(&model("time >= 1", ""), 1.0);
    assert!(run.jumps("v").contains(&1.0), "{:?}", run.jumps("v"));
    let run = common::run(&model("time >= 1", "when terminal() then reinit(y, v + 5); end when;"), 1.0);
    assert_eq!([run.end("v"), run.end("y")], [0.0, 5.0]);
}

/// The same where the condition stands in the branches of equations alone: in one structure that serves both branches, and where
/// the branch that begins has another one.
#[test]
fn branches_that_begin_at_the_stop_time() {
    let regular = |limit: &str| {
        format!(
            "model M parameter Real te = 1; Real x, y; equation if time {limit} then x = 1; else y = 2; end if; x + y = 5; end M;"
        )
    };
    for (limit, x) in [("< 1", 3.0), ("< te", 3.0), ("<= 1", 1.0), ("< 0.5", 3.0)] {
        let run = common::run(&regular(limit), 1.0);
        assert_eq!([run.end("x"), run.end("y")], [x, 5.0 - x], "{limit}");
    }
    let run = common::run(&regular("< 1"), 1.0);
    assert!(run.jumps("x").contains(&1.0), "{:?}", run.jumps("x"));
    for more in ["", "w = if time >= 1 then 1 else 0;"] {
        let text = format!(
            "model M
               Real v(start = 1, fixed = true), i{};
             equation
               der(v) = i; {more}
               if time >= 1 then v = 0; else i = 0; end if;
             end M;",
            if more.is_empty() { "" } else { ", w" }
        );
        assert_eq!(common::run(&text, 1.0).end("v"), 0.0, "{more}");
    }
}
