//! Arrays in expandable connectors (9.1.3): connections name some of their elements, and the others do not exist.

mod common;

const LIBRARY: &str = "
connector Input = input Real;
connector Output = output Real;
expandable connector Bus end Bus;
expandable connector Declared Real w[3]; end Declared;
block Source parameter Real k = 1; Output y = k + time; end Source;
block Sink Input u; Real z = 2*u; end Sink;
block Third Bus bus; Source s(k = 30); Sink r; equation connect(s.y, bus.w[3]); connect(bus.w[2], r.u); end Third;
block Second Bus bus; Source s(k = 20); Sink r; equation connect(s.y, bus.w[2]); connect(bus.w[3], r.u); end Second;
block First Bus bus; Source s(k = 10); equation connect(s.y, bus.w[1]); end First;
connector Pin Real v; flow Real i; end Pin;
model Resistor Pin p, n; equation p.v - n.v = 2*p.i; p.i + n.i = 0; end Resistor;
model Battery Pin p; equation p.v = 5; end Battery;
model Ground Pin p; equation p.v = 0; end Ground;
";

fn expect_ends(body: &str, expected: &[(&str, f64)]) {
    let text = format!("{LIBRARY} model M {body} end M;");
    let run = common::complete(&text, 1.0, 1e-6);
    for &(name, value) in expected {
        common::assert_near(run.end(name), value, 1e-9);
    }
}

#[test]
fn elements_that_no_connection_names_do_not_exist() {
    expect_ends("Source s; Sink r; Bus bus; equation connect(s.y, bus.w[2]); connect(bus.w[2], r.u);", &[("r.z", 4.0)]);
    expect_ends(
        "Source s; Sink r; Declared bus; equation connect(s.y, bus.w[2]); connect(bus.w[2], r.u);",
        &[("r.z", 4.0)],
    );
    expect_ends(
        "Source s[2](k = {1, 2}); Sink r[2]; Bus bus; equation
         connect(s.y, bus.w[{2, 4}]); for k in 1:2 loop connect(bus.w[2*k], r[k].u); end for;",
        &[("r[1].z", 4.0), ("r[2].z", 6.0)],
    );
    expect_ends(
        "Source s[2](k = {1, 2}); Sink r[2]; Bus bus[2]; equation
         for k in 1:2 loop connect(s[k].y, bus[k].w[2*k]); connect(bus[k].w[2*k], r[k].u); end for;",
        &[("r[1].z", 4.0), ("r[2].z", 6.0)],
    );
}

#[test]
fn connected_buses_have_the_elements_of_all() {
    let both = [("a.r.z", 42.0), ("b.r.z", 62.0)];
    expect_ends("Third a; Second b; equation connect(a.bus, b.bus);", &both);
    expect_ends("Bus bus; Third a; Second b; equation connect(bus, a.bus); connect(b.bus, bus);", &both);
    expect_ends(
        "Bus bus; First c; Third a; Second b; Sink r; equation
         connect(c.bus, bus); connect(bus, a.bus); connect(b.bus, bus); connect(bus.w[1], r.u);",
        &[("a.r.z", 42.0), ("b.r.z", 62.0), ("r.z", 22.0)],
    );
    expect_ends(
        "Bus bus, other; Source s, t(k = 2); Sink r, q; equation
         connect(s.y, bus.w[1]); connect(bus, other); connect(other.w[1], r.u); connect(t.y, other.w[3]);
         connect(bus.w[3], q.u);",
        &[("r.z", 4.0), ("q.z", 6.0)],
    );
    expect_ends(
        "First c; Declared bus; Sink r; equation connect(c.bus, bus); connect(bus.w[1], r.u);",
        &[("r.z", 22.0)],
    );
}

#[test]
fn elements_of_nested_buses() {
    expect_ends(
        "Bus bus, other; Source s, t(k = 2); Sink r, q; equation
         connect(s.y, bus.inner.w[2]); connect(bus, other); connect(other.inner.w[2], r.u);
         connect(t.y, other.inner.w[4]); connect(bus.inner.w[4], q.u);"
            .replace("inner", "inside")
            .as_str(),
        &[("r.z", 4.0), ("q.z", 6.0)],
    );
}

#[test]
fn pins_in_buses() {
    let currents = [("r.p.i", 2.5), ("v.p.i", -2.5), ("g.p.i", 2.5)];
    expect_ends(
        "Battery v; Resistor r; Ground g; Bus bus; equation
         connect(v.p, bus.pin[3]); connect(bus.pin[3], r.p); connect(r.n, bus.pin[5]); connect(bus.pin[5], g.p);",
        &currents,
    );
    expect_ends(
        "Battery v; Resistor r; Ground g; Bus bus, other; equation connect(bus, other);
         connect(v.p, bus.pin[3]); connect(other.pin[3], r.p); connect(r.n, other.pin[5]); connect(bus.pin[5], g.p);",
        &currents,
    );
}

#[test]
fn what_does_not_exist_is_not_read() {
    let text = format!(
        "{LIBRARY} model M Source s; Sink r; Bus bus; Real y = bus.w[1] + 1; equation
         connect(s.y, bus.w[2]); connect(bus.w[2], r.u); end M;"
    );
    let said = common::messages(&text);
    assert!(said.contains("nothing is connected to this element"), "{said}");
    // A larger subscript than that of a declared array.
    let text = format!(
        "{LIBRARY} model M Third a; expandable connector Small Real w[2]; end Small; Small bus; equation
         connect(a.bus, bus); end M;"
    );
    let said = common::messages(&text);
    assert!(said.contains("the sizes of `w`"), "{said}");
}
