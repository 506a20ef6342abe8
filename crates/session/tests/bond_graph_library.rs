//! The bond graphs of the shipped library: every element by a closed form, and the power over all ports of each in balance.
#![allow(clippy::unwrap_used)]

mod common;

use common::simulate;

#[track_caller]
fn assert_close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 2e-5 * (1.0 + expected.abs()), "{value} is not {expected}");
}

/// Force and weight on mass, spring and damper at one 1-junction.
#[test]
fn a_mass_on_a_spring() {
    let result = simulate(
        "model Oscillator
          import Gyrator.BondGraph.*;
          Se force(e0 = 2);
          Se weight(e0 = 1);
          I mass(i = 0.5, p(start = 0, fixed = true));
          C spring(c = 0.25, q(start = 0, fixed = true));
          R damper(r = 0.4);
          Junction1 v(nIn = 2, nOut = 3);
          Real power = force.e*force.f + weight.e*weight.f - mass.e*mass.f - spring.e*spring.f - damper.e*damper.f;
        equation
          connect(force.port, v.into[1]);
          connect(weight.port, v.into[2]);
          connect(mass.port, v.from[1]);
          connect(spring.port, v.from[2]);
          connect(damper.port, v.from[3]);
        end Oscillator;",
        2.0,
    );
    let (mass, stiffness, damping, force) = (0.5, 4.0, 0.4, 3.0);
    let decay: f64 = damping / (2.0 * mass);
    let frequency = (stiffness / mass - decay * decay).sqrt();
    for time in [0.5, 1.0, 2.0] {
        let (sine, cosine) = (frequency * time).sin_cos();
        let swing = (-decay * time).exp() * (cosine + decay / frequency * sine);
        assert_close(result.at("spring.q", time).unwrap(), force / stiffness * (1.0 - swing));
        assert!(result.at("power", time).unwrap().abs() < 1e-9, "power is conserved");
    }
}

/// A voltage drives, over a resistor, a motor (gyrator) with a gear (transformer), an inertia and a friction. A tank of charge
/// stands beside it at a 0-junction. All of it is linear: the stationary state is known.
#[test]
fn a_motor_with_a_gear_comes_to_its_stationary_speed() {
    let result = simulate(
        "model Drive
          import Gyrator.BondGraph.*;
          Se supply(e0 = 12);
          R winding(r = 2);
          Junction1 current(nIn = 1, nOut = 2);
          Junction0 node(nIn = 1, nOut = 2);
          C filter(c = 1e-3);
          GY motor(r = 0.5);
          TF gear(m = 0.1);
          Junction1 shaft(nIn = 1, nOut = 2);
          I inertia(i = 0.02);
          R friction(r = 0.3);
        equation
          connect(supply.port, current.into[1]);
          connect(current.from[1], winding.port);
          connect(current.from[2], node.into[1]);
          connect(node.from[1], filter.port);
          connect(node.from[2], motor.a);
          connect(motor.b, gear.a);
          connect(gear.b, shaft.into[1]);
          connect(shaft.from[1], inertia.port);
          connect(shaft.from[2], friction.port);
        end Drive;",
        60.0,
    );
    // e_gear = m e_shaft, f_shaft = m f_gear; e_motor = r f_gear, e_gear = r i; e_shaft = d f_shaft.
    let (supply, winding, motor, gear, friction) = (12.0, 2.0, 0.5, 0.1, 0.3);
    let at_gear = gear * gear * friction;
    let current = supply / (winding + motor * motor / at_gear);
    assert_close(result.last("winding.f").unwrap(), current);
    assert_close(result.last("friction.f").unwrap(), gear * motor * current / at_gear);
    assert!(result.last("filter.f").unwrap().abs() < 1e-5);
}

/// Two inertias on one junction have one state: the momenta are shared by their sizes.
#[test]
fn dependent_storage() {
    let result = simulate(
        "model Rigid
          import Gyrator.BondGraph.*;
          Se force(e0 = 6);
          I one(i = 1), two(i = 2);
          Junction1 v(nIn = 1, nOut = 2);
        initial equation
          one.p = 0;
        equation
          connect(force.port, v.into[1]);
          connect(v.from[1], one.port);
          connect(v.from[2], two.port);
        end Rigid;",
        1.0,
    );
    assert_close(result.last("one.p").unwrap(), 2.0);
    assert_close(result.last("two.p").unwrap(), 4.0);
}

/// Signals modulate sources, resistor, transformer and gyrator; sensors take no power.
#[test]
fn modulated_elements_and_sensors() {
    let result = simulate(
        "model Modulated
          import Gyrator.BondGraph.*;
          MSe e(e0 = 3*time);
          MTF tf(m = 1 + time);
          MGY gy(r = 2 + time);
          MR r(r = 4 - time);
          De voltage;
          MSf f(f0 = time^2);
          R load(r = 5);
          Df velocity;
          Junction1 j(nIn = 1, nOut = 2);
        equation
          connect(e.port, tf.a);
          connect(e.port, voltage.port);
          connect(tf.b, gy.a);
          connect(gy.b, r.port);
          connect(f.port, j.into[1]);
          connect(j.from[1], load.port);
          connect(j.from[2], velocity.port);
        end Modulated;",
        1.0,
    );
    // The transformer halves the effort 3; the gyrator makes the flow 1.5/3 of it, and the flow 1.5/3 of the effort 3*0.5.
    assert_close(result.last("voltage.e").unwrap(), 3.0);
    assert_close(result.last("r.f").unwrap(), 0.5);
    assert_close(result.last("r.e").unwrap(), 1.5);
    assert_close(result.last("e.f").unwrap(), 1.5 / 3.0 / 2.0);
    assert_close(result.last("velocity.f").unwrap(), 1.0);
    assert_close(result.last("load.e").unwrap(), 5.0);
}

/// Coupled inductors on two circuits, a capacitive field and a resistive one: the matrices are symmetric, so energy adds up.
#[test]
fn fields() {
    let result = simulate(
        "model Fields
          import Gyrator.BondGraph.*;
          Se supply(e0 = 10);
          Junction1 primary(nIn = 1, nOut = 3), secondary(nIn = 0, nOut = 3);
          IField coils(i = [2, 1; 1, 3], each p.fixed = true);
          CField plates(c = [0.5, 0.1; 0.1, 0.4], each q.fixed = true);
          RField losses(r = [1, 0.2; 0.2, 2]);
          Real stored = 0.5*(coils.p*coils.port.f + plates.q*plates.port.e);
          Real balance(start = 0, fixed = true);
        equation
          der(balance) = supply.e*supply.f - losses.port.e*losses.port.f;
          connect(supply.port, primary.into[1]);
          connect(primary.from[1], coils.port[1]);
          connect(secondary.from[1], coils.port[2]);
          connect(primary.from[2], plates.port[1]);
          connect(secondary.from[2], plates.port[2]);
          connect(primary.from[3], losses.port[1]);
          connect(secondary.from[3], losses.port[2]);
        end Fields;",
        3.0,
    );
    assert!(result.last("stored").unwrap() > 1.0);
    assert_close(result.last("stored").unwrap(), result.last("balance").unwrap());
}

/// A switched 1-junction parts source and inertia; a switched 0-junction shorts a flow.
#[test]
fn switched_junctions() {
    let result = simulate(
        "model Switched
          import Gyrator.BondGraph.*;
          Se supply(e0 = 4);
          Switched1 switch(nIn = 1, nOut = 1, on = time < 1);
          R r(r = 2);
          Sf pump(f0 = 3);
          Switched0 short(nIn = 1, nOut = 1, on = time < 1);
          R valve(r = 7);
        equation
          connect(supply.port, switch.into[1]);
          connect(switch.from[1], r.port);
          connect(pump.port, short.into[1]);
          connect(short.from[1], valve.port);
        end Switched;",
        2.0,
    );
    assert_close(result.at("r.f", 0.5).unwrap(), 2.0);
    assert_close(result.at("r.f", 1.5).unwrap(), 0.0);
    assert_close(result.at("valve.e", 0.5).unwrap(), 21.0);
    assert_close(result.at("valve.e", 1.5).unwrap(), 0.0);
}

/// Pins and flanges of the shape that the Modelica Standard Library uses, joined by a gyrator: a motor between both worlds.
#[test]
fn other_domains() {
    let result = simulate(
        "model Mixed
          connector Pin Real v; flow Real i; end Pin;
          connector Flange Real phi; flow Real tau; end Flange;
          connector Slide Real s; flow Real f; end Slide;
          model Battery Pin p, n; equation p.v - n.v = 8; p.i + n.i = 0; end Battery;
          model Ground Pin p; equation p.v = 0; end Ground;
          model Inertia Flange flange; Real w(start = 0, fixed = true);
          equation w = der(flange.phi); 0.1*der(w) = flange.tau; end Inertia;
          model Cart Slide flange; Real v(start = 0, fixed = true);
          equation v = der(flange.s); 2*der(v) = flange.f; end Cart;
          import Gyrator.BondGraph.*;
          Battery battery;
          Ground ground;
          Electrical electrical;
          GY motor(r = 0.5);
          R loss(r = 2);
          Junction1 current(nIn = 1, nOut = 2);
          Rotational rotational;
          Inertia inertia(flange.phi(start = 0, fixed = true));
          Se force(e0 = 6);
          Translational translational;
          Cart cart(flange.s(start = 0, fixed = true));
        equation
          connect(battery.p, electrical.p);
          connect(battery.n, electrical.n);
          connect(ground.p, battery.n);
          connect(electrical.port, current.into[1]);
          connect(current.from[1], loss.port);
          connect(current.from[2], motor.a);
          connect(motor.b, rotational.port);
          connect(rotational.flange, inertia.flange);
          connect(force.port, translational.port);
          connect(translational.flange, cart.flange);
        end Mixed;",
        2.0,
    );
    // 0.1 w' = 0.5 i, i = (8 - 0.5 w)/2.
    let (stationary, rate) = (16.0, 0.5 * 0.5 / 2.0 / 0.1);
    assert_close(result.last("inertia.w").unwrap(), stationary * (1.0 - (-rate * 2.0f64).exp()));
    assert_close(result.last("cart.v").unwrap(), 6.0);
}
