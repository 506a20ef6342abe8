//! Derivatives of functions that are made from their statements, against closed forms. A count that is known at run time
//! only keeps the calls from being written out.

mod common;

use common::ending;
use simulate::Ending;

/// `y` must have the derivative `dy` by time from 0 to 1, and as a function of a state.
fn check(functions: &str, call: &str, derivative: &str) {
    let by_state = call.replace("time", "c");
    let text = format!(
        "{functions}
      model M
        Integer n = if time > 3 then 4 else 3;
        Real y = {call};
        Real dy = der(y);
        Real c(start = 0.5, fixed = true);
        Real z = {by_state};
        Real dz = der(z);
        Real dz_expected = {};
      equation
        der(c) = 0.5;
        assert(abs(dy - ({derivative})) < 1e-9, \"by time: \" + String(dy));
        assert(abs(dz - 0.5*dz_expected) < 1e-6, \"by a state: \" + String(dz));
      end M;",
        derivative.replace("time", "c")
    );
    assert_eq!(ending(&text), Ending::Complete, "{text}");
}

#[test]
fn functions_that_get_some_of_their_inputs() {
    let functions = "partial function Curve input Real u; output Real y; end Curve;
      partial function Surface input Real u; input Real c; output Real y; end Surface;
      function wave extends Surface; algorithm y := cos(c*u) - c; end wave;
      function apply input Curve f; input Real u; output Real y; algorithm y := f(u); end apply;
      function fix
        input Surface f;
        input Real u;
        input Real c;
        output Real y;
      algorithm
        y := apply(function f(c = c), u);
      end fix;
      function g
        input Real c;
        input Integer n;
        output Real y = 0;
      algorithm
        for i in 1:n loop
          y := y + apply(function wave(c = c), 0.5) + fix(wave, 0.5, c);
        end for;
      end g;";
    check(functions, "g(time, n)", "6*(-0.5*sin(0.5*time) - 1)");
    check(functions, "apply(function wave(c = time), time)", "-2*time*sin(time^2) - 1");
    check(functions, "fix(wave, 2, time)", "-2*sin(2*time) - 1");
}

#[test]
fn functions_with_annotations_and_defaults_as_arguments() {
    let functions = "partial function Curve input Real u; output Real y; end Curve;
      function line
        extends Curve;
        input Real c;
      algorithm
        y := c*u;
        annotation(derivative = line_der);
      end line;
      function line_der
        input Real u;
        input Real c;
        input Real der_u;
        input Real der_c;
        output Real der_y;
      algorithm
        der_y := 1.002*(c*der_u + der_c*u);
      end line_der;
      function wave extends Curve; input Real c = 3; algorithm y := sin(c*u); end wave;
      function apply input Curve f; input Real u; output Real y; algorithm y := f(u); end apply;
      function g
        input Real x;
        input Integer n;
        output Real y = 0;
      algorithm
        for i in 1:n loop
          y := y + apply(function line(c = x), x);
        end for;
      end g;
      function h
        input Real x;
        input Integer n;
        output Real y = 0;
      algorithm
        for i in 1:n loop
          y := y + apply(wave, x);
        end for;
      end h;";
    // The annotation is off by less than what is taken for an error, so that its use shows.
    check(functions, "g(time, n)", "6.012*time");
    check(functions, "h(time, n)", "9*cos(3*time)");
}

#[test]
fn loops_and_iterators_over_reals() {
    let functions = "function over
        input Real x;
        input Integer n;
        output Real y = 0;
      protected
        Real v[n];
      algorithm
        v := {x^i for i in 1:n};
        for z in v loop
          v[1] := 7;
          y := y + z^2;
        end for;
        for z in {1.5, 2.5} loop
          y := y + z*x;
        end for;
        y := y + sum(z*x for z in {x, 2*x}) + sum({z^2 for z in x:x + 2.25});
      end over;";
    // y = x² + x⁴ + x⁶ + 4x + 3x² + x² + (x + 1)² + (x + 2)²
    let derivative = "2*time + 4*time^3 + 6*time^5 + 4 + 6*time + 2*time + 2*(time + 1) + 2*(time + 2)";
    check(functions, "over(time, n)", derivative);
}

#[test]
fn products_and_extrema() {
    let functions = "function all
        input Real x;
        input Integer n;
        output Real y;
      protected
        Real A[2, n];
      algorithm
        for i in 1:n loop
          A[1, i] := i + x;
          A[2, i] := -i*x;
        end for;
        y := product(A[1, :]) + min(A) + 2*max(A) + max(i*x for i in 1:n) + min(z for z in A[1, :]);
        y := y + product(i*z for i in 1:2, z in {x, x^2}) + sum(max(A[1, :], {1.5, 2.5, 3.5}));
      end all;";
    // (1 + x)(2 + x)(3 + x) − 3x + 2(3 + x) + 3x + 1 + x + 4x⁶ + Σ max(i + x, i + ½)
    let derivative = "11 + 12*time + 3*time^2 + 2 + 1 + 24*time^5 + (if time > 0.5 then 3 else 0)";
    check(functions, "all(0.6 + 0.1*time, n)", &format!("0.1*({})", derivative.replace("time", "(0.6 + 0.1*time)")));
}

#[test]
fn powers_of_zero_and_of_matrices() {
    let functions = "function series
        input Real x;
        input Integer n;
        output Real y = 0;
      algorithm
        for i in 1:n loop
          y := y + i*x^(i - 1);
        end for;
      end series;
      function cube
        input Real x;
        input Integer n;
        output Real y;
      protected
        Real B[2, 2];
      algorithm
        B := [1, x; 0, x]^n;
        y := B[1, 2];
      end cube;";
    check(functions, "series(time - time, n)", "0");
    check(functions, "series(time, n)", "2 + 6*time");
    check(functions, "cube(time, n)", "1 + 2*time + 3*time^2");
}

#[test]
fn records_that_are_constant() {
    let functions = "record Inner Real a[2]; Integer k; end Inner;
      record Outer Inner part[2]; Real b; end Outer;
      function make
        input Integer n;
        output Outer o;
      algorithm
        o := Outer(part = {Inner(a = {i, n}, k = i) for i in 1:2}, b = n);
      end make;
      function use
        input Real x;
        input Integer n;
        output Real y;
      protected
        Outer o;
        Outer all[2];
        Inner part;
      algorithm
        o := make(n);
        all := {o, make(n)};
        part := o.part[2];
        o.b := x^2;
        o.part[1].a[2] := x;
        y := o.b*o.part[1].a[2] + part.k*part.a[1] + all[2].b*x;
      end use;";
    check(functions, "use(time, n)", "3*time^2 + 3");
}

#[test]
fn derivatives_where_the_argument_rests_at_the_end_of_a_domain() {
    let functions = "function rest
        input Real x;
        input Integer n;
        output Real y = 0;
      protected
        Real v[2];
      algorithm
        for i in 1:n loop
          y := y + i*x + sqrt(abs(x - x)) + asin(1 + (x - x)) + (x - x)^0.25;
        end for;
        v := sqrt({x - x, x});
        y := y + v[2];
      end rest;";
    check(functions, "rest(1 + time, n)", "6 + 1/(2*sqrt(1 + time))");
}

#[test]
fn loops_that_search_reduce_or_count() {
    let functions = "function search
        input Real x;
        input Integer n;
        output Real y = 0;
      protected
        Real u = x;
        Real t = 0;
        Integer i = 1;
        Integer low = 1;
        Integer high = 6;
        Integer middle;
        Real table[6] = {0, 0.3, 1.1, 2.2, 3.1, 4.5};
      algorithm
        // Piecewise linear, by a search one after the other and by halving.
        while i < 5 and x > table[i + 1] loop
          i := i + 1;
        end while;
        y := i*(x - table[i]);
        while high - low > 1 loop
          middle := div(low + high, 2);
          if x > table[middle] then
            low := middle;
          else
            high := middle;
          end if;
        end while;
        y := y + low*(x - table[low]);
        // Reduced to a range, by steps and by halves.
        while u > 0.5 loop
          u := u - 0.5;
        end while;
        y := y + u^2;
        u := x;
        while u > 0.4 loop
          u := u/2;
        end while;
        y := y + u^2;
        // Euler's method up to an instant.
        u := 1;
        while t < x loop
          u := u + 0.25*u*x;
          t := t + 0.25;
        end while;
        y := y + u;
        // Newton's method with so many turns, from the solution.
        u := x;
        for k in 1:n loop
          u := u - (u^2 - x^2)/(2*u);
        end for;
        y := y + u;
        // The largest.
        t := 0;
        for z in {x, 2*x, 0.5} loop
          if z > t then
            t := z;
          end if;
        end for;
        y := y + t;
      end search;";
    // At x between 0.6 and 0.7: two slopes of 2, u = x − 0.5, u = x/2, three steps (1 + x/4)³, x, 2x.
    let derivative = "4 + 2*(@ - 0.5) + 0.5*@ + 3*0.25*(1 + 0.25*@)^2 + 1 + 2".replace('@', "(0.6 + 0.1*time)");
    check(functions, "search(0.6 + 0.1*time, n)", &format!("0.1*({derivative})"));
}

/// The derivative of `y = f(time)` must be refused because of the loop in the function, by the local.
fn refused(body: &str, local: &str) {
    let text = format!(
        "function f
        input Real p;
        output Real y;
      protected
        Real x;
        Real d;
        Real low;
        Real high;
        Boolean found;
        Integer k;
      algorithm
        {body}
      end f;
      model M
        Real y = f(4 + time);
        Real dy = der(y);
      end M;"
    );
    let said = common::messages(&text);
    let reason = format!("a loop in it improves `{local}`");
    assert!(said.contains("not-differentiable") && said.contains(&reason), "{said}");
    assert!(said.contains("this iterates"), "{said}");
}

#[test]
fn loops_that_iterate_are_not_differentiated() {
    // From the solution itself there is no turn, and all derivatives would be zero.
    refused("x := 2; while abs(x^2 - p) > 1e-9 loop x := x - (x^2 - p)/(2*x); end while; y := x;", "x");
    let body = "x := 2; d := x^2 - p; while abs(d) > 1e-9 loop x := x - d/(2*x); d := x^2 - p; end while; y := x;";
    refused(body, "x");
    refused(
        "x := 2;
        for i in 1:50 loop
          d := (x^2 - p)/(2*x);
          x := x - d;
          if abs(d) < 1e-9 then
            break;
          end if;
        end for;
        y := x;",
        "x",
    );
    refused(
        "y := 2;
        for i in 1:50 loop
          if abs(y^2 - p) < 1e-9 then
            return;
          end if;
          y := y - (y^2 - p)/(2*y);
        end for;",
        "y",
    );
    refused(
        "x := 2;
        found := false;
        while not found loop
          d := (x^2 - p)/(2*x);
          found := abs(d) < 1e-9;
          x := x - d;
        end while;
        y := x;",
        "x",
    );
    // A series up to a small term.
    refused("k := 1; y := 0; while abs((p - 4)^k) > 1e-9 loop y := y + (p - 4)^k; k := k + 1; end while;", "y");
}

#[test]
fn recursion_that_iterates_is_not_differentiated() {
    let model = |body: &str| {
        format!(
            "function f input Real x; input Real p; output Real y; algorithm {body} end f;
          model M
            Real y = f(2, 4 + time);
            Real dy = der(y);
          end M;"
        )
    };
    let newton = "f(x - (x^2 - p)/(2*x), p)";
    for body in [
        format!("if abs(x^2 - p) < 1e-9 then y := x; else y := {newton}; end if;"),
        format!("y := if abs(x^2 - p) < 1e-9 then x else {newton};"),
    ] {
        let said = common::messages(&model(&body));
        assert!(said.contains("it calls itself with other values of `x`") && said.contains("this iterates"), "{said}");
    }
    // Reduced to a range, and a sum over the calls.
    let functions = "function reduce input Real x; input Integer n; output Real y;
      algorithm y := if x > 0.5 then reduce(x - 0.5, n) else x^2; end reduce;
      function series input Real x; input Integer n; output Real y;
      algorithm y := if n <= 0 then 1 else 1 + x*series(x, n - 1); end series;";
    check(functions, "reduce(0.6 + 0.1*time, n)", "0.2*(0.1 + 0.1*time)");
    check(functions, "series(time, n)", "1 + 2*time + 3*time^2");
}

#[test]
fn loops_that_halve_an_interval_have_no_derivative() {
    for loop_of in ["while high - low > 1e-9 loop", "for i in 1:40 loop"] {
        let end = &loop_of[..loop_of.find(' ').unwrap_or(0)];
        refused(
            &format!(
                "low := 0;
        high := 10;
        {loop_of}
          x := (low + high)/2;
          if x^2 > p then
            high := x;
          else
            low := x;
          end if;
        end {end};
        y := high;"
            ),
            "x",
        );
    }
    refused(
        "x := 2; d := 2; for i in 1:40 loop x := if x^2 > p then x - d else x + d; d := d/2; end for; y := x;",
        "x",
    );
}

#[test]
fn what_iterates_over_constants_is_differentiated() {
    let functions = "function root
        input Real p;
        output Real y = 2;
      algorithm
        while abs(y^2 - p) > 1e-12 loop
          y := y - (y^2 - p)/(2*y);
        end while;
      end root;
      function scaled
        input Real x;
        input Real p;
        input Integer n;
        output Real y = 0;
      algorithm
        for i in 1:n loop
          y := y + x*root(p);
        end for;
      end scaled;";
    check(functions, "scaled(time, 4, n)", "6");
}

/// What does not change has no derivative, also where that of what is done with it is not defined.
#[test]
fn inputs_that_do_not_change() {
    for inline in ["true", "false"] {
        let functions = format!(
            "function f input Real x; input Real k; output Real y; algorithm y := x + sqrt(k); annotation(Inline = {inline}); end f;
            function g input Real x; input Real k; output Real y; algorithm y := 2*f(x, k) + k^0.5; annotation(Inline = {inline}); end g;"
        );
        check(&functions, "f(time, 0*n)", "1");
        check(&functions, "g(time, 0*n)", "2");
    }
}

/// Records of annotations hold the Reals of the original alone (12.7.1), by name; a record with all fields does as well.
#[test]
fn annotations_with_records() {
    let functions = "record I Integer j; Real q; end I;
      record R Real h; Integer k; I i; Real p[2]; end R;
      record DI Real q; end DI;
      record D Real p[2]; DI i; Real h; end D;
      function f
        input R r;
        input Boolean c;
        input Real y;
        output Real z;
      algorithm
        z := r.h*r.i.q*y + r.k*r.p[2];
        annotation(Inline = false, derivative = DF);
      end f;
      function of_reals
        input R r;
        input Boolean c;
        input Real y;
        input D d;
        input Real dy;
        output Real dz;
      algorithm
        dz := d.h*r.i.q*y + r.h*d.i.q*y + r.h*r.i.q*dy + r.k*d.p[2];
      end of_reals;
      function of_all
        input R r;
        input Boolean c;
        input Real y;
        input R d;
        input Real dy;
        output Real dz;
      algorithm
        dz := d.h*r.i.q*y + r.h*d.i.q*y + r.h*r.i.q*dy + r.k*d.p[2];
      end of_all;";
    for derivative in ["of_reals", "of_all"] {
        let functions = functions.replace("DF", derivative);
        check(&functions, "f(R(time, n, I(n, time^2), {1, 5*time}), n > 0, 1 + time)", "3*time^2 + 4*time^3 + 15");
    }
}

/// What is a record in the derivative function too, alone and in arrays, with fields that are not Reals.
#[test]
fn annotations_with_records_as_results() {
    let functions = "record R Integer k; Real h; Boolean b; Real p; end R;
      record D Real h; Real p; end D;
      function make
        input Real h;
        input Integer k;
        output R r[2];
        output Integer m;
        output Real u;
      algorithm
        r := {R(k, h, true, h^2), R(2*k, 3*h, false, h^3)};
        m := k;
        u := 7*h;
        annotation(Inline = false, derivative = make_der);
      end make;
      function make_der
        input Real h;
        input Integer k;
        input Real dh;
        output D d[2];
        output Real du;
      algorithm
        d := {D(dh, 2*h*dh), D(3*dh, 3*h^2*dh)};
        du := 7*dh;
      end make_der;
      function take
        input R r[:];
        output Real z;
      algorithm
        z := sum(r[i].k*r[i].p for i in 1:size(r, 1));
        annotation(Inline = false, derivative = take_der);
      end take;
      function take_der
        input R r[:];
        input D d[:];
        output Real dz;
      algorithm
        dz := sum(r[i].k*d[i].p for i in 1:size(r, 1));
      end take_der;
      function both
        input Real h;
        input Integer k;
        output Real z;
      protected
        R r[2];
        Integer m;
        Real u;
      algorithm
        (r, m, u) := make(h, k);
        z := take(r) + u;
        annotation(Inline = false);
      end both;";
    check(functions, "both(time, n)", "6*time + 18*time^2 + 7");
    check(functions, "take(make(time, n))", "6*time + 18*time^2");
}

/// An annotation whose function does not fit is not used; the derivative comes from the statements.
#[test]
fn annotations_that_do_not_fit() {
    for wrong in [
        "input Real x; input Real y; input Real dx; output Real dz; algorithm dz := dx*y;",
        "input Real x; input Real dx; output Real dz; algorithm dz := dx;",
        "input Real x; output Real dz; algorithm dz := 7;",
        "input Real x; input Real y; input Integer dx; input Boolean dy; output Real dz; algorithm dz := 7;",
        "input Real x; input Real y; input Real dx; input Real dy; output Boolean dz; algorithm dz := true;",
        "input Real x; input Real y; input Real dx; input Real dy; output Real a; output Real b; algorithm a := 7; b := 8;",
        "input Real y; input Real x; input Real dx; input Real dy; output Real dz; algorithm dz := 7;",
        "input Real x; input Real y; input Real dx[2]; input Real dy; output Real dz; algorithm dz := 7;",
    ] {
        let functions = format!(
            "function f input Real x; input Real y; output Real z; algorithm z := x^2*y;
               annotation(Inline = false, derivative = df); end f;
             function df {wrong} end df;"
        );
        check(&functions, "f(time, 3 + time)", "6*time + 3*time^2");
    }
    let functions = "function f input Real x; output Real z; output Real q; algorithm z := x^2; q := x;
        annotation(Inline = false, derivative = df); end f;
      function df input Real x; input Real dx; output Real dz; algorithm dz := 2*x*dx; end df;
      function g input Real x; output Real q; protected Real z; algorithm (z, q) := f(x); end g;";
    check(functions, "g(2*time)", "2 + 0*time");
}

/// A pendulum along a curve `y = f(x)`: index reduction differentiates the constraint twice. What `f` is differentiated by is the
/// annotation, which may be wrong.
fn along_curve(statements: &str) -> String {
    format!(
        "function f input Real x; output Real y; algorithm y := x^2/2; annotation(Inline = false, derivative = df); end f;
         function df input Real x; input Real dx; output Real dy; algorithm {statements} end df;
         model M
           Real x(start = 1, fixed = true), y, vx(start = 0, fixed = true), vy, force;
           Real energy = (vx^2 + vy^2)/2 + 9.81*y;
         equation
           vx = der(x);
           vy = der(y);
           der(vx) = -force*x;
           der(vy) = force - 9.81;
           y = f(x);
           annotation(experiment(StopTime = 2));
         end M;"
    )
}

/// An annotation that is true is used without a word; one that is not gives way to the derivative of the statements, so that energy
/// is conserved, and is reported.
#[test]
fn an_annotation_that_is_not_true_is_not_used() {
    for (statements, is_true) in [("dy := x*dx;", true), ("dy := 2*x*dx;", false), ("dy := 0;", false)] {
        let text = along_curve(statements);
        let messages = common::messages(&text);
        assert_eq!(messages.contains("`df` is not the derivative of `f`"), !is_true, "{messages}");
        let run = common::complete(&text, 2.0, 1e-8);
        common::assert_near(run.end("energy"), 9.81 * 0.5, 1e-5);
    }
}
