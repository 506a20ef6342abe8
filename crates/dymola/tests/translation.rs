//! What becomes Modelica of each construct, and where its pieces come from.

use base::SourceMap;
use dymola::Dymola;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let mut sources = SourceMap::default();
    let file = sources.add("model.dym", text);
    let (made, diagnostics) = Dymola.translate(file, text);
    let said: String = diagnostics.iter().map(|diagnostic| diagnostic.render(&sources)).collect();
    assert!(diagnostics.is_empty(), "{said}");
    expected.assert_eq(made.text());
}

#[test]
fn cuts_become_connectors_with_variables_bound_to_them() {
    check(
        "{ Electrical elements }

model class TwoPort   { two ends }
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  local u   -- from A to B

  { Kirchhoff }
  u = Va - Vb
end
model class (TwoPort) Resistor
  parameter R
  R * i = u
end
",
        expect![[r#"
            // Electrical elements

            connector Pin
              Real V;
              flow Real i;
            end Pin;

            partial model TwoPort
              // two ends
              Pin A, B;
              Real Va = A.V, i = A.i, Vb = B.V;
              Real u; // from A to B
            equation
              B.i = -i;
              // Kirchhoff
              u = Va - Vb;
            end TwoPort;

            model Resistor
              extends TwoPort;
              parameter Real R;
            equation
              R * i = u;
            end Resistor;
        "#]],
    );
}

#[test]
fn three_forms_of_connections() {
    check(
        "model class R
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  Va - Vb = 2*i
end
model Ground
  main cut A (V / i)
  V = 0
end
model Circuit
  submodel (R) a, b, c, d
  submodel Ground
  node n0, n1
  connect Ground at n0,
          a from n0 to n1
  connect b - (c // d), b.A at n0, d.B = n1
  connect loop(a - b)
end
",
        expect![[r#"
            connector Pin
              Real V;
              flow Real i;
            end Pin;

            model R
              Pin A, B;
              Real Va = A.V, i = A.i, Vb = B.V;
            equation
              B.i = -i;
              Va - Vb = 2*i;
            end R;

            model Ground
              Pin A;
              Real V = A.V, i = A.i;
            equation
              V = 0;
            end Ground;

            model Circuit
              R a, b, c, d;
              .Ground Ground;
              Pin n0, n1;
            equation
              connect(Ground.A, n0);
              connect(a.A, n0);
              connect(a.B, n1);
              connect(c.A, d.A);
              connect(c.B, d.B);
              connect(b.B, c.A);
              connect(b.A, n0);
              connect(d.B, n1);
              connect(a.B, b.A);
              connect(b.B, a.A);
            end Circuit;
        "#]],
    );
}

#[test]
fn the_ends_of_a_model_are_those_of_its_submodels() {
    check(
        "model class R
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  Va - Vb = 2*i
end
model class Two
  cut p (vp / ip), q (vq / iq)
  main path P < p - q >
  submodel (R) one, other
  connect p - one - other - q
end
model Top
  submodel (Two) t, s
  connect loop(t - s)
end
",
        expect![[r#"
            connector Pin
              Real V;
              flow Real i;
            end Pin;

            model R
              Pin A, B;
              Real Va = A.V, i = A.i, Vb = B.V;
            equation
              B.i = -i;
              Va - Vb = 2*i;
            end R;

            model Two
              Pin p, q;
              Real vp = p.V, ip = p.i, vq = q.V, iq = q.i;
              R one, other;
            equation
              connect(p, one.A);
              connect(one.B, other.A);
              connect(other.B, q);
            end Two;

            model Top
              Two t, s;
            equation
              connect(t.q, s.p);
              connect(s.q, t.p);
            end Top;
        "#]],
    );
}

#[test]
fn cuts_of_cuts() {
    check(
        "model class Plug
  cut A (Va / ia), B (Vb / ib)
  main cut C [A B]
  ia = Va
  ib = Vb
end
model Top
  submodel (Plug) one, two, three
  node n
  connect one at n, two at n, two at three
end
",
        expect![[r#"
            connector Pin
              Real V;
              flow Real i;
            end Pin;

            model Plug
              Pin A, B;
              Real Va = A.V, ia = A.i, Vb = B.V, ib = B.i;
            equation
              ia = Va;
              ib = Vb;
            end Plug;

            model Top
              Plug one, two, three;
              Pin n_A, n_B;
            equation
              connect(one.A, n_A);
              connect(one.B, n_B);
              connect(two.A, n_A);
              connect(two.B, n_B);
              connect(two.A, three.A);
              connect(two.B, three.B);
            end Top;
        "#]],
    );
}

#[test]
fn variables_without_partner_in_a_cut() {
    check(
        "model class Body
  main cut c (p v / f g)
  cut d (w)
  cut e (p / f g h)
  v = der(p)
  w = 2
end
model Top
  submodel (Body) one, two, three
  node n
  connect one at two, two at n, three at n, one.d at two.d, one.e at two.e
end
",
        expect![[r#"
            connector Cut_p_v_f_g
              Real p;
              Real v;
              flow Real f;
              flow Real g;
            end Cut_p_v_f_g;

            connector Flange
              Real p;
              flow Real f;
            end Flange;

            model Body
              Cut_p_v_f_g c;
              Real p = c.p, v = c.v, f = c.f, g = c.g;
              Real w;
              Flange e;
              Real h;
            equation
              e.p = p;
              e.f = f;
              v = der(p);
              w = 2;
            end Body;

            model Top
              Body one, two, three;
              Cut_p_v_f_g n;
            equation
              connect(one.c, two.c);
              connect(two.c, n);
              connect(three.c, n);
              one.w = two.w;
              connect(one.e, two.e);
              one.g + two.g = 0;
              one.h + two.h = 0;
              three.g = 0;
              three.h = 0;
            end Top;
        "#]],
    );
}

#[test]
fn discrete_states_and_restarts() {
    check(
        "model class Switch
  terminal Open, u, i
  0 = if Open then i else u
end
model class (Switch) Diode
  new(Open) = u <= 0 and not i > 0
end
model Counter
  submodel (Diode) D
  local n, x = 2, last, on = True, y
  parameter a = 3
  new(on) = not on and x > 1
  new(last) = if on then 1 else -1
  der(x) = -x
  when x < 1 and on then
    2 * new(n) / a - (x + 1) = n
    new(x) = -a * x + new(n)
    y = if D.Open then x else 0
  endwhen
end
",
        expect![[r#"
            model Switch
              Boolean Open(start = false, fixed = true);
              Real u, i;
            equation
              0 = if pre(Open) then i else u;
            end Switch;

            model Diode
              extends Switch;
            equation
              Open = u <= 0 and not i > 0;
            end Diode;

            model Counter
              Diode D;
              discrete Real n(start = 0, fixed = true);
              Real x(start = 2, fixed = true);
              Integer last(start = 0, fixed = true);
              Boolean on(start = true, fixed = true);
              discrete Real y(start = 0, fixed = true);
              parameter Real a = 3;
            equation
              on = not pre(on) and x > 1;
              last = if pre(on) then 1 else -1;
              der(x) = -x;
              when x < 1 and pre(on) then
                n = (pre(n) + (pre(x) + 1)) / 2 * a;
                reinit(x, -a * pre(x) + n);
                y = if pre(D.Open) then pre(x) else 0;
              end when;
            end Counter;
        "#]],
    );
}

#[test]
fn names_and_words_of_modelica() {
    check(
        "model class Real
  terminal time, flow
  time = flow ** 2 + .5
end
model Top
  submodel Real
  submodel (Real) block(flow = 3)
  local x, der_x
  x'' = -ln(Time)
  der_x = 1
  Real.flow = if True then x'
              else if x > 3 then 1 else 2
  -x = block.time
  if x > 1 then x else 2 = block.flow
end
",
        expect![[r#"
            model 'Real'
              Real 'time', 'flow';
            equation
              'time' = 'flow' ^ 2 + 0.5;
            end 'Real';

            model Top
              .'Real' 'Real';
              .'Real' 'block'('flow'(start = 3));
              Real x, der_x;
              Real der_x_ = der(x);
            equation
              der(der_x_) = -log(time);
              der_x = 1;
              'Real'.'flow' = if true then der(x)
                  elseif x > 3 then 1 else 2;
              -x = 'block'.'time';
              (if x > 1 then x else 2) = 'block'.'flow';
            end Top;
        "#]],
    );
}

/// What is found wrong later is reported in the file that was written.
#[test]
fn pieces_know_where_they_come_from() {
    let text = "model M\n  parameter k = 2\n  local x\n  der(x) = -k * x + Time\nend\n";
    let mut sources = SourceMap::default();
    let file = sources.add("model.dym", text);
    let (made, _) = Dymola.translate(file, text);
    for (piece, source) in [("k * x", "k"), ("time", "Time"), ("der(x)", "der(x)"), ("2;", "2"), ("x;", "x")] {
        let at = made.text().find(piece).map(|at| at as u32).unwrap_or_default();
        let origin = made.origin(at, at + 1);
        let found = &text[origin.start as usize..origin.end as usize];
        assert_eq!(found, source, "the origin of `{piece}`\n{}", made.text());
    }
}

/// `new` in a class below, and of one of two objects, leaves the other uses of the class continuous.
#[test]
fn a_class_has_a_form_for_each_use() {
    check(
        "{ Closed or open }
model class Switch
  terminal Open
  local i
  i = if Open then 0 else 1
end
model class (Switch) Relay
  new(Open) = Time > 0.5 or Open
end
model Both
  submodel (Switch) S, T
  submodel (Relay) R   { locks }
  S.Open = Time > 0.7
  new(T.Open) = Time > 0.8
end
",
        expect![[r#"
            // Closed or open
            model Switch
              Boolean Open;
              Real i;
            equation
              i = if Open then 0 else 1;
            end Switch;

            // Closed or open
            model Switch_new_Open
              Boolean Open(start = false, fixed = true);
              Real i;
            equation
              i = if pre(Open) then 0 else 1;
            end Switch_new_Open;

            model Relay
              extends Switch_new_Open;
            equation
              Open = time > 0.5 or pre(Open);
            end Relay;

            model Both
              Switch S;
              Switch_new_Open T;
              Relay R; // locks
            equation
              S.Open = time > 0.7;
              T.Open = time > 0.8;
            end Both;
        "#]],
    );
}

/// A variable that is the rate of another one with a second derivative begins where the user says.
#[test]
fn values_of_rates_and_derivatives_of_expressions() {
    check(
        "model A
  local x = 1, v = 2, q = 2, y
  x'' = -x
  v = x'
  (q^2)' = -1
  y = der(x * q)
end
",
        expect![[r#"
            model A
              Real x(start = 1, fixed = true), v(start = 2, fixed = true), q(start = 2, fixed = true),
                  y;
              Real der_x = der(x);
            equation
              der(der_x) = -x;
              v = der(x);
              der((q^2)) = -1;
              y = der(x * q);
            end A;
        "#]],
    );
}
