package TranslationalTests "Each model: `balance` is power in minus power stored and lost, `error` the distance from a closed form"
  import Gyrator.Translational.*;

  model Oscillator "A mass on a spring and a damper at a wall"
    Basic.Wall wall(s0 = 1);
    Basic.Spring spring(c = 5, s0 = 0.2);
    Basic.Damper damper(d = 0.8);
    Basic.Mass mass(m = 0.4, s(start = 2, fixed = true), v(start = 0, fixed = true));
    Real kinetic = 0.2*mass.v^2;
    Real elastic = 2.5*(spring.s - 0.2)^2;
    Real balance[3] = {(mass.a.f + mass.b.f)*mass.v - der(kinetic), spring.b.f*mass.v - der(elastic), damper.b.f*mass.v - damper.loss};
    Real error = mass.s - 1.2 - 0.8*exp(-time)*(cos(sqrt(11.5)*time) + sin(sqrt(11.5)*time)/sqrt(11.5));
  equation
    connect(wall.flange, spring.a);
    connect(wall.flange, damper.a);
    connect(spring.b, mass.a);
    connect(damper.b, mass.a);
    annotation(experiment(StopTime = 4));
  end Oscillator;

  model Hanging "A weight on a spring with damper hangs from a wall and creeps to its rest"
    Basic.Wall wall;
    Basic.SpringDamper support(c = 20, d = 3);
    Basic.Weight weight(m = 2, g = 10, s(start = 0, fixed = true), v(start = 0, fixed = true));
    Real stored = weight.v^2 + 20*weight.s + 10*support.s^2;
    Real swing = sqrt(10 - 0.75^2);
    Real balance = (weight.a.f + weight.b.f)*weight.v + support.b.f*weight.v + support.a.f*0 - support.loss - der(stored);
    Real error = weight.s + 1 - exp(-0.75*time)*(cos(swing*time) + 0.75/swing*sin(swing*time));
  equation
    connect(wall.flange, support.a);
    connect(support.b, weight.a);
    annotation(experiment(StopTime = 4));
  end Hanging;

  model SignalsAndSensors "Forces, positions, levers and racks; all sensors"
    Basic.ExternalForce force(f = 6*time);
    Sensors.ForceSensor meter;
    Basic.Mass mass(m = 2, s(start = 0, fixed = true), v(start = 0, fixed = true));
    Sensors.PositionSensor position;
    Sensors.VelocitySensor velocity;
    Basic.PrescribedPosition prescribed(s = sin(time));
    Basic.Mass follower(m = 3);
    Basic.ConstantForce constantForce(f = 4);
    Basic.Lever lever(ratio = -2);
    Basic.Mass levered(m = 1, s(start = 0, fixed = true), v(start = 0, fixed = true));
    Gyrator.Rotational.Basic.ConstantTorque torque(tau = 3);
    Basic.Rack rack(r = 0.5);
    Basic.Mass racked(m = 2, s(start = 0, fixed = true), v(start = 0, fixed = true));
    Real balance[3] = {meter.a.f + meter.b.f + position.flange.f + velocity.flange.f,
      lever.a.f*der(lever.a.s) + lever.b.f*der(lever.b.s), rack.pinion.tau*der(rack.pinion.phi) + rack.rack.f*racked.v};
    Real error[6] = {position.y - 0.5*time^3, velocity.y - 1.5*time^2, meter.y - 6*time, prescribed.flange.f - 3*sin(time),
      levered.v + 8*time, racked.v - 3*time};
  equation
    connect(force.flange, meter.a);
    connect(meter.b, mass.a);
    connect(mass.b, position.flange);
    connect(mass.b, velocity.flange);
    connect(prescribed.flange, follower.a);
    connect(constantForce.flange, lever.a);
    connect(lever.b, levered.a);
    connect(torque.flange, rack.pinion);
    connect(rack.rack, racked.a);
    annotation(experiment(StopTime = 2));
  end SignalsAndSensors;

  model ElasticPlay "A mass between elastic stops, and one on an elastic rope: energy is conserved"
    Basic.Wall wall;
    Basic.ElasticStop stop(sMin = -1, sMax = 2, c = 9);
    Basic.Mass mass(m = 1, s(start = 0, fixed = true), v(start = 3, fixed = true));
    Basic.ElasticRope rope(length = 1, c = 4);
    Basic.Mass second(m = 1, s(start = 0, fixed = true), v(start = 2, fixed = true));
    Real elastic = 4.5*stop.deflection^2;
    constant Real pi = 3.14159265358979;
    Real balance = stop.b.f*mass.v - der(elastic);
    Real error[3] = {0.5*mass.v^2 + elastic - 4.5,
      noEvent(if time < 2/3 then mass.s - 3*time else if time < 2/3 + pi/3 then mass.s - 2 - sin(3*(time - 2/3)) else 0),
      noEvent(if time < 0.5 then second.v - 2 else if time > 0.5 + pi/2 then second.v + 2 else second.s - 1 - sin(2*(time - 0.5)))};
  equation
    connect(wall.flange, stop.a);
    connect(stop.b, mass.a);
    connect(wall.flange, rope.a);
    connect(rope.b, second.a);
    annotation(experiment(StopTime = 3));
  end ElasticPlay;

  model StickSlip "Dry friction by the automaton: slides, sticks, is torn loose at its peak"
    Basic.Wall wall;
    Friction.DryFriction friction(f0 = 2, f1 = 1, peak = 1.5);
    Basic.Mass mass(m = 1, s(start = 0, fixed = true), v(start = 2, fixed = true));
    Basic.ExternalForce force(f = if time < 2 then 0 else 2*(time - 2));
    Real t = time - 3.5;
    Real balance = friction.a.f*mass.v - friction.loss;
    Real error = mass.v - noEvent(if time < log(2) then -2 + 4*exp(-time) else if time < 3.5 then 0 else 2*t - 1 + exp(-t));
  equation
    connect(friction.a, mass.a);
    connect(friction.b, wall.flange);
    connect(force.flange, mass.b);
    annotation(experiment(StopTime = 5));
  end StickSlip;

  model Declarative "Dry friction by its characteristic: slides, sticks, slides backward"
    Basic.Wall wall;
    Ideal.DryFriction friction(f0 = 2, f1 = 1);
    Basic.Mass mass(m = 1, s(start = 0, fixed = true), v(start = 2, fixed = true));
    Basic.ExternalForce force(f = if time < 2 then 0 else -2*(time - 2));
    Real t = time - 3;
    Real balance = friction.a.f*mass.v - friction.loss;
    Real error = mass.v - noEvent(if time < log(2) then -2 + 4*exp(-time) else if time < 3 then 0 else -2*t + 2 - 2*exp(-t));
  equation
    connect(friction.a, mass.a);
    connect(friction.b, wall.flange);
    connect(force.flange, mass.b);
    annotation(experiment(StopTime = 5));
  end Declarative;

  model Jerk "A rope jerks a mass along, and becomes slack when the other one is braked"
    Basic.Mass first(m = 1, s(start = 0, fixed = true), v(start = 0, fixed = true));
    Ideal.Rope rope(length = 1);
    Basic.Mass second(m = 2, s(start = 0.5, fixed = true), v(start = 3, fixed = true));
    Basic.ExternalForce brake(f = if time < 1 then 0 else -1);
    Real balance = rope.a.f*first.v + rope.b.f*second.v;
    Real error[2] = {first.v - noEvent(if time < 1/6 then 0 else 2), second.v - noEvent(if time < 1/6 then 3 else if time < 1 then 2 else 2 - 0.5*(time - 1))};
  equation
    connect(first.b, rope.a);
    connect(rope.b, second.a);
    connect(second.b, brake.flange);
    annotation(experiment(StopTime = 2));
  end Jerk;

  model RigidStop "A mass hits a stop of another one: the impact is inelastic"
    Basic.Mass first(m = 1, s(start = 0, fixed = true), v(start = 0, fixed = true));
    Ideal.Stop stop(sMin = -1, sMax = 0.5);
    Basic.Mass second(m = 2, s(start = 0, fixed = true), v(start = 3, fixed = true));
    Basic.ExternalForce force(f = if time < 1 then 0 else -6);
    Real balance = stop.a.f*first.v + stop.b.f*second.v;
    Real hit = 1 + 1 "The second comes back through the play of 1.5";
    Real t = time - 1;
    Real error[2] = {first.v - noEvent(if time < 1/6 then 0 else if time < hit then 2 else 0 - 2*(time - hit)),
      second.v - noEvent(if time < 1/6 then 3 else if time < 1 then 2 else if time < hit then 2 - 3*t else -2*(time - hit))};
  equation
    connect(first.b, stop.a);
    connect(stop.b, second.a);
    connect(second.b, force.flange);
    annotation(experiment(StopTime = 2.99));
  end RigidStop;

  model Bounce "A weight falls on the ground and jumps with half of its velocity"
    Basic.Wall ground;
    Ideal.Impact impact(e = 0.5);
    Basic.Weight ball(m = 3, g = 10, s(start = 5, fixed = true), v(start = 0, fixed = true));
    Real error = ball.s - noEvent(if time < 1 then 5 - 5*time^2 else if time < 2 then 5*(time - 1) - 5*(time - 1)^2 else if time < 2.5 then 2.5*(time - 2) - 5*(time - 2)^2 else 0);
  equation
    connect(ground.flange, impact.a);
    connect(impact.b, ball.a);
    annotation(experiment(StopTime = 2.49));
  end Bounce;

  model Resting "Weights that come to rest on the ground, at once or after many bounces"
    Basic.Wall ground;
    Ideal.Impact soft(e = 0);
    Basic.Weight first(m = 3, g = 10, s(start = 5, fixed = true), v(start = 0, fixed = true));
    Ideal.Impact hard(e = 0.6);
    Basic.Weight second(m = 2, g = 10, s(start = 5, fixed = true), v(start = 0, fixed = true));
    Real error[3] = {first.s - noEvent(max(0, 5 - 5*time^2)), noEvent(if time > 1 then soft.f - 30 else soft.f), noEvent(if time > 4 then abs(second.s) + abs(hard.f - 20) else 0)};
  equation
    connect(ground.flange, soft.a);
    connect(soft.b, first.a);
    connect(ground.flange, hard.a);
    connect(hard.b, second.a);
    annotation(experiment(StopTime = 6));
  end Resting;

  model Lifted "A weight rests on a table until a force lifts it"
    Basic.Wall table;
    Ideal.Impact impact(e = 0);
    Basic.Weight weight(m = 1, g = 10, s(start = 0.2, fixed = true), v(start = 0, fixed = true));
    Basic.ExternalForce lift(f = if time < 1 then 0 else 16);
    Real error[2] = {weight.s - noEvent(if time < 0.2 then 0.2 - 5*time^2 else if time < 1 then 0 else 3*(time - 1)^2), noEvent(if time < 0.2 or time > 1 then impact.f else impact.f - 10)};
  equation
    connect(table.flange, impact.a);
    connect(impact.b, weight.a);
    connect(lift.flange, weight.b);
    annotation(experiment(StopTime = 3));
  end Lifted;
end TranslationalTests;
