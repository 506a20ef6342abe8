//! Models whose conditions stand on their edges: at rest between events, or brought there by discrete variables, `reinit` and
//! start values. Whether a parameter moves them, and whether that matters, differs from model to model. For derivatives of
//! trajectories (`crate::trajectories`).

use fastrand::Rng;

/// What decides by the sign of its argument, with one derivative at zero or two.
const LAWS: [&str; 22] = [
    "abs(#)",
    "sign(#)",
    "max(#, 0)",
    "min(-2*(#), 3*(#))",
    "(#)*abs(#)",
    "abs(#)^1.5",
    "sqrt((#)^2)",
    "((#)^2)^0.5",
    "sqrt((#)^4 + 1)",
    "atan2(#, -1)",
    "atan2(#, 1)",
    "semiLinear(#, 2, 3)",
    "semiLinear(#, 2, 2)",
    "if # > 0 then 2 else 1",
    "if # >= 0 then # else 3*(#)",
    "if # >= 0 then (#) + (#)^2 else (#) - (#)^2",
    "if # < 0 then 1 + (#) else 1",
    "noEvent(if # > 0 then # else -2*(#))",
    "kinked(#, 2)",
    "looped(#)",
    "max(abs(#), 0.5*(#))",
    "abs(#) - max(#, -(#))",
];

/// How the argument stands on its edge, as declarations and equations, and the argument. `#e` is the value of the parameter `p` at the edge.
const WAYS: [(&str, &str, &str); 13] = [
    ("Real x(start = 0, fixed = true);", "der(x) = p - #e;", "x"),
    ("Real x(start = 0, fixed = true);", "der(x) = (p - #e)*sin(3*time);", "x"),
    ("Real x(start = 0, fixed = true);", "der(x) = if time > 0.3 then p - #e else 0;", "x"),
    ("Real x(start = p - #e, fixed = true);", "der(x) = -2*x;", "x"),
    ("Real x(start = 0, fixed = true);", "der(x) = q - q*(p - #e + 1);", "x"),
    ("Real x(start = 1, fixed = true), v(start = 1 + p - #e, fixed = true);", "der(x) = -q*x; der(v) = -q*v;", "x - v"),
    ("Real x(start = 1, fixed = true), v(start = 1, fixed = true);", "der(x) = -q*x; der(v) = -q*v;", "x - v"),
    ("discrete Real d(start = 0, fixed = true);", "when time > 0.35*q then d = p; end when;", "d - #e"),
    (
        "discrete Real d(start = 0, fixed = true);",
        "when sample(0.1, 0.25) then d = pre(d) + 0.1*p; end when;",
        "d - 0.3*#e",
    ),
    ("discrete Real d(start = p, fixed = true);", "when time > 0.6*q then d = 3; end when;", "d - #e"),
    ("Real x(start = 5, fixed = true);", "der(x) = 0; when time > 0.4*q then reinit(x, p); end when;", "x - #e"),
    ("Real x(start = 5, fixed = true);", "der(x) = q; when time > 0.4 then reinit(x, p); end when;", "x - #e"),
    ("discrete Real d(start = 0, fixed = true);", "when time > 0.35 then d = p; end when;", "pre(d) - #e"),
];

/// What follows from the law: a slope, an algebraic variable, what a when clause assigns, or when it does so.
const EFFECTS: [&str; 6] = [
    "der(y) = z;",
    "y + y^3 = z + w; der(w) = 1 - w;",
    "der(y) = z + y;",
    "der(y) = m; when time > 0.7 then m = z + pre(m); end when;",
    "der(y) = m - y; when w > 0.2 + 0.1*z then m = 1 + pre(m); end when; der(w) = q;",
    "der(y) = (if z > 0.9 then 2 else 1)*w; der(w) = -w;",
];

pub fn text(rng: &mut Rng) -> String {
    let law = LAWS[rng.usize(..LAWS.len())];
    let (declared, way, argument) = WAYS[rng.usize(..WAYS.len())];
    let effect = EFFECTS[rng.usize(..EFFECTS.len())];
    let edge = [0.0, 1.0, 0.5, 2.0][rng.usize(..4)];
    // Sometimes beside the edge.
    let value = if rng.u8(..4) == 0 { edge + 0.25 } else { edge };
    let q = [1.0, 0.8, 1.1][rng.usize(..3)];
    let more = [
        (effect.contains("w"), "Real w(start = 0.3, fixed = true);"),
        (effect.contains("m"), "discrete Real m(start = 0, fixed = true);"),
        (effect.contains("y^3"), "Real y;"),
        (!effect.contains("y^3"), "Real y(start = 0, fixed = true);"),
    ];
    let more: Vec<&str> = more.iter().filter(|(counts, _)| *counts).map(|(_, text)| *text).collect();
    let law = law.replace('#', argument);
    format!(
        "model Resting
  function kinked input Real u; input Real s; output Real r; algorithm r := if u > 0 then s*u else u; annotation(Inline = false); end kinked;
  function looped input Real u; output Real r; algorithm r := 0; for k in 1:3 loop if u < 0 then r := r - u; end if; end for;
    annotation(Inline = false); end looped;
  parameter Real p = {value}; parameter Real q = {q};
  {declared} {}
  Real z;
equation
  z = {law};
  {way}
  {effect}
end Resting;
",
        more.join(" ")
    )
    .replace("#e", &edge.to_string())
}
