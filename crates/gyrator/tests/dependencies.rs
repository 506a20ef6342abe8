//! Which states and inputs act on derivatives and outputs.

use gyrator::Session;

/// The names of what acts on each derivative and output; `everything` where that cannot be said.
fn dependencies(text: &str) -> Vec<String> {
    let mut session = Session::new();
    session.replace_text("case.mo", text);
    let model = session.model("case.mo").unwrap_or_else(|error| panic!("{error}"));
    let mut lines: Vec<String> = (model.dependencies().iter())
        .map(|(variable, on)| {
            let names = on.as_ref().map(|on| {
                let mut names: Vec<&str> = on.iter().map(|known| known.name.as_str()).collect();
                names.sort_unstable();
                names.join(" ")
            });
            format!("{}: {}", variable.name, names.as_deref().unwrap_or("everything"))
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn conditions_act_like_values() {
    let found = dependencies(
        "model M
           input Boolean b;
           input Real u;
           Real x(start = 1, fixed = true);
           output Real o = if b then u else 0;
           output Integer n = if x > 0 then 1 else 2;
           output Boolean same = b;
         equation
           der(x) = if b then 1 else -x;
         end M;",
    );
    assert_eq!(found, ["der(x): b x", "n: x", "o: b u", "same: b"]);
}

#[test]
fn what_events_and_clocks_assign_is_followed() {
    let sampled = dependencies(
        "model M
           input Real u;
           Real x(start = 0, fixed = true);
           discrete Real d(start = 0, fixed = true);
           output Real held = d;
         equation
           der(x) = -x;
           when sample(0, 0.1) then d = pre(d) + x*u; end when;
         end M;",
    );
    assert_eq!(sampled, ["der(x): x", "held: u x"]);
    let clocked = dependencies(
        "model M
           input Real u;
           output Real y;
           Real x(start = 0);
         equation
           when Clock(0.1) then x = previous(x) + sample(u); end when;
           y = hold(x);
         end M;",
    );
    assert_eq!(clocked, ["y: u"]);
}

#[test]
fn values_of_parameters_do_not_matter() {
    let found = dependencies(
        "model M
           input Real u;
           parameter Real k = 0;
           Real x(start = 1, fixed = true), y(start = 1, fixed = true);
         equation
           der(x) = k*y - x;
           der(y) = k*u;
         end M;",
    );
    assert_eq!(found, ["der(x): x y", "der(y): u"]);
}

#[test]
fn candidates_stand_for_states_that_are_exchanged() {
    let found = dependencies(
        "model Pendulum
           input Real u;
           Real x(start = 0.6), y(start = 0.8), vx(start = 0), vy, T;
           output Real o = T;
         equation
           der(x) = vx;
           der(y) = vy;
           der(vx) = T*x + u;
           der(vy) = T*y - 9.81;
           x^2 + y^2 = 1;
         end Pendulum;",
    );
    assert_eq!(found.last().map(String::as_str), Some("o: u vx vy x y"));
}

#[test]
fn a_structure_that_changes_lets_everything_act() {
    let found = dependencies(
        "model Clutch
           input Real u;
           Real w1(start = 2, fixed = true), w2(start = 0, fixed = true), tau;
           output Real o = tau;
         equation
           der(w1) = u - tau;
           2*der(w2) = tau - w2;
           if time > 0.5 then w1 = w2; else tau = 0; end if;
         end Clutch;",
    );
    assert!(found.contains(&"o: everything".to_owned()), "{found:?}");
}
