//! Ideal diodes whose conditions belong to the same system as their voltages and currents (no `pre`): one that conducts has the
//! voltage zero, and one that blocks has the current zero, so a relation of each stays at zero. At every row the conditions are
//! what the values say.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, complete, run};

/// Ways to write a diode with the voltage `u` and the current `i`: declarations and equations.
const SPELLINGS: [(&str, &str); 10] = [
    ("Boolean open;", "equation 0 = if open then i else u; open = u <= 0 and not i > 0;"),
    ("Boolean open;", "equation 0 = if open then i else u; open = u < 0 or i < 0;"),
    ("Boolean closed;", "equation 0 = if closed then u else i; closed = u > 0 or i > 0;"),
    ("Boolean open;", "equation 0 = if open then i else u; open = not (i > 0 or u > 0);"),
    ("", "equation if u <= 0 and i <= 0 then i = 0; else u = 0; end if;"),
    ("", "equation 0 = if u > 0 or i > 0 then u else i;"),
    ("Boolean open;", "algorithm open := u <= 0 and i <= 0; equation if open then i = 0; else u = 0; end if;"),
    (
        "Boolean open;",
        "algorithm if u > 0 or i > 0 then open := false; else open := true; end if; equation 0 = if open then i else u;",
    ),
    ("Integer m;", "equation 0 = if m == 1 then i else u; m = if u <= 0 and i <= 0 then 1 else 0;"),
    ("Real s;", "equation u = if s > 0 then 0 else s; i = if s > 0 then s else 0;"),
];

/// A diode conducts with the voltage zero or blocks with the current zero, in every row.
#[track_caller]
fn assert_conducts_or_blocks(run: &Run, spelling: &str) {
    let rows = run.result.time.iter().zip(run.column("u").iter().zip(run.column("i")));
    for (time, (u, i)) in rows {
        let holds = u.abs() < 1e-9 && *i > -1e-9 || i.abs() < 1e-9 && *u < 1e-9;
        assert!(holds, "u = {u}, i = {i} at {time}: {spelling}");
    }
}

#[test]
fn a_rectifier_has_one_answer_however_its_diode_is_written() {
    for (declared, diode) in SPELLINGS {
        let text = format!(
            "model M
               Real u, i, q(start = 0, fixed = true);
               {declared}
             {diode}
             equation
               sin(time) = 2*i + u;
               der(q) = i;
             end M;"
        );
        let run = complete(&text, 6.0 * std::f64::consts::PI - 1.0, 1e-8);
        assert_conducts_or_blocks(&run, diode);
        // Each half wave carries the charge 1.
        assert!((run.end("q") - 3.0).abs() < 1e-6, "{}: {diode}", run.end("q"));
    }
}

/// Where the diode blocks, the current of the coil is no state any more.
#[test]
fn a_coil_behind_a_diode() {
    for (declared, diode) in SPELLINGS {
        let text = format!(
            "model M
               Real u, i(start = 0, fixed = true), q(start = 0, fixed = true);
               {declared}
             {diode}
             equation
               (if mod(time, 4) < 1 then 1 else -1) = der(i) + u;
               der(q) = i;
             end M;"
        );
        let run = complete(&text, 11.0, 1e-8);
        assert_conducts_or_blocks(&run, diode);
        // From 0 to 1 the current rises to 1, from 1 to 2 it falls; three times.
        assert!((run.end("q") - 3.0).abs() < 1e-6, "{}: {diode}", run.end("q"));
    }
}

/// A diode that looks at its voltage alone: while it conducts, its voltage is zero, and it ought to block.
#[test]
fn what_contradicts_itself_is_refused() {
    let text = "model M
       Real u, i, q(start = 0, fixed = true);
       Boolean open;
     equation
       0 = if open then i else u;
       open = u <= 0;
       sin(time) = 2*i + u;
       der(q) = i;
     end M;";
    let failure = run(text, 10.0).failure();
    assert!(failure.contains("no mode is consistent") || failure.contains("no value of it agrees"), "{failure}");
    assert!(failure.contains("pre(") && failure.contains("open"), "{failure}");
}

/// Diodes that remember their position (`pre`), several in one circuit, and a source that begins at zero: it decides behind the
/// start which of them conduct. Each circuit with its source, the current through the resistor and its closed form.
#[test]
fn several_diodes_begin_at_zero() {
    let parts = "connector Pin Real v; flow Real i; end Pin;
        partial model TwoPin Pin p, n; Real u, i; equation u = p.v - n.v; p.i = i; n.i = -i; end TwoPin;
        model Diode extends TwoPin; Boolean open(start = START, fixed = true);
          equation 0 = if pre(open) then i else u; open = u <= 0 and not i > 0; end Diode;
        model Resistor extends TwoPin; parameter Real R = 1; equation u = R*i; end Resistor;
        model Source extends TwoPin; equation u = SIGNAL; end Source;
        model Ground Pin p; equation p.v = 0; end Ground;";
    let series = "Diode a, b; Source s; Ground g; Resistor r(R = 10); equation connect(s.p, a.p); connect(a.n, b.p);
        connect(b.n, r.p); connect(r.n, s.n); connect(s.n, g.p);";
    let antiparallel =
        "Diode a, b; Source s; Ground g; Resistor r(R = 2); equation connect(s.p, a.p); connect(s.p, b.n);
        connect(a.n, r.p); connect(b.p, r.p); connect(r.n, s.n); connect(s.n, g.p);";
    let bridge = "Diode a, b, c, d; Source s; Ground g; Resistor r(R = 5); equation connect(s.p, a.p); connect(a.n, r.p);
        connect(s.n, b.p); connect(b.n, r.p); connect(r.n, c.p); connect(c.n, s.p); connect(r.n, d.p); connect(d.n, s.n);
        connect(r.n, g.p);";
    let circuits: [(&str, &str, fn(f64) -> f64); 5] = [
        (series, "time", |t| t / 10.0),
        (series, "-sin(time)", |t| (-t.sin()).max(0.0) / 10.0),
        (antiparallel, "sin(time)", |t| t.sin() / 2.0),
        (antiparallel, "-time", |t| -t / 2.0),
        (bridge, "sin(time)", |t| t.sin().abs() / 5.0),
    ];
    for (circuit, signal, expected) in circuits {
        for start in ["false", "true"] {
            let text = format!("{parts} model M {circuit} end M;").replace("SIGNAL", signal).replace("START", start);
            let run = complete(&text, 5.0, 1e-6);
            for (time, i) in run.result.time.iter().zip(run.column("r.i")) {
                assert!((i - expected(*time)).abs() < 1e-6, "{circuit} {signal} {start}: {i} at {time}");
            }
        }
    }
}
