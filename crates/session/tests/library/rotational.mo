package RotationalTests "Each model: `balance` is power in minus power stored and lost, `error` the distance from a closed form"
  import Gyrator.Rotational.*;

  model Oscillator "An inertia on an elastic and damped shaft in the housing"
    Basic.Housing housing(phi0 = 0.5);
    Basic.Spring spring(c = 5, phi0 = 0.1);
    Basic.Damper damper(d = 0.8);
    Basic.Inertia inertia(J = 0.4, phi(start = 1, fixed = true), w(start = 0, fixed = true));
    Real kinetic = 0.2*inertia.w^2;
    Real elastic = 2.5*(spring.phi - 0.1)^2;
    Real w = inertia.w;
    Real balance[3] = {
      (inertia.a.tau + inertia.b.tau)*w - der(kinetic),
      spring.b.tau*w - der(elastic),
      damper.b.tau*w - damper.loss};
    Real error = inertia.phi - 0.6 - 0.4*exp(-time)*(cos(sqrt(11.5)*time) + sin(sqrt(11.5)*time)/sqrt(11.5));
  equation
    connect(housing.flange, spring.a);
    connect(housing.flange, damper.a);
    connect(spring.b, inertia.a);
    connect(damper.b, inertia.a);
    annotation(experiment(StopTime = 4));
  end Oscillator;

  model TwoShafts "Torque on two inertias with a spring and damper between them: the sum moves freely, the difference swings"
    Basic.ConstantTorque drive(tau = 6);
    Basic.Inertia first(J = 1, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Basic.SpringDamper shaft(c = 8, d = 0.4);
    Basic.Inertia second(J = 2, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Real elastic = 4*shaft.phi^2;
    Real swing = sqrt(12 - 0.09);
    Real balance = shaft.a.tau*first.w + shaft.b.tau*second.w - shaft.loss - der(elastic);
    Real error[2] = {(first.phi + 2*second.phi)/3 - time^2,
      first.phi - second.phi - 0.5*(1 - exp(-0.3*time)*(cos(swing*time) + 0.3/swing*sin(swing*time)))};
  equation
    connect(drive.flange, first.a);
    connect(first.b, shaft.a);
    connect(shaft.b, second.a);
    annotation(experiment(StopTime = 4));
  end TwoShafts;

  model Play "An inertia that swings in an elastic play: half turns at the stops, straight ways between them"
    Basic.Housing housing;
    Basic.ElasticBacklash backlash(play = 2, c = 4);
    Basic.Inertia inertia(J = 1, phi(start = 0, fixed = true), w(start = 2, fixed = true));
    Real elastic = 2*backlash.deflection^2;
    Real balance = backlash.b.tau*inertia.w - der(elastic);
    Real error[2] = {0.5*inertia.w^2 + elastic - 2,
      noEvent(if time < 0.5 then inertia.phi - 2*time else if time < 0.5 + 3.14159265358979/2 then inertia.phi - 1 - sin(2*(time - 0.5)) else 0)};
  equation
    connect(housing.flange, backlash.a);
    connect(backlash.b, inertia.a);
    annotation(experiment(StopTime = 8));
  end Play;

  model DampedPlay "The same with losses in the stops, which press and do not pull"
    Basic.Housing housing;
    Basic.ElasticBacklash backlash(play = 2, c = 4, d = 0.5);
    Basic.Inertia inertia(J = 1, phi(start = 0, fixed = true), w(start = 2, fixed = true));
    Real lost(start = 0, fixed = true);
    Real right = inertia.phi - 1;
    Real left = inertia.phi + 1;
    Real error[2] = {0.5*inertia.w^2 + 2*backlash.deflection^2 + lost - 2, noEvent(min(0, backlash.tau*backlash.deflection))};
  equation
    der(lost) = inertia.w*noEvent(if right > 0 then max(0, 4*right + 0.5*inertia.w) - 4*right else if left < 0 then min(0, 4*left + 0.5*inertia.w) - 4*left else 0);
    connect(housing.flange, backlash.a);
    connect(backlash.b, inertia.a);
    annotation(experiment(StopTime = 8));
  end DampedPlay;

  model SignalsAndSensors "Torque, angle and speed as signals; all sensors"
    Basic.ExternalTorque torque(tau = 6*time);
    Sensors.TorqueSensor meter;
    Basic.Inertia inertia(J = 2, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Sensors.AngleSensor angle;
    Sensors.SpeedSensor speed;
    Sensors.AccelerationSensor acceleration;
    Basic.PrescribedAngle prescribed(phi = sin(time));
    Basic.Inertia follower(J = 3);
    Basic.PrescribedSpeed prescribedSpeed(w = time, phi0 = 2);
    Basic.Damper damper(d = 0.5);
    Basic.ConstantSpeed constantSpeed(w = 4, phi0 = 1);
    Real balance[2] = {meter.a.tau + meter.b.tau, angle.flange.tau + speed.flange.tau + acceleration.flange.tau};
    Real error[7] = {angle.y - 0.5*time^3, speed.y - 1.5*time^2, acceleration.y - 3*time, meter.y - 6*time,
      prescribed.flange.tau - 3*sin(time), damper.tau - 0.5*(4 - time), damper.phi + 1 - 4*time + 0.5*time^2};
  equation
    connect(torque.flange, meter.a);
    connect(meter.b, inertia.a);
    connect(inertia.b, angle.flange);
    connect(inertia.b, speed.flange);
    connect(inertia.b, acceleration.flange);
    connect(prescribed.flange, follower.a);
    connect(prescribedSpeed.flange, damper.a);
    connect(constantSpeed.flange, damper.b);
    annotation(experiment(StopTime = 2));
  end SignalsAndSensors;

  model GearTrain "A torque on two inertias with a gear between them"
    Basic.ConstantTorque drive(tau = 3);
    Basic.Inertia first(J = 0.5);
    Gears.SpurGear gear(ratio = 4);
    Basic.Inertia second(J = 8, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Real balance = gear.a.tau*first.w + gear.b.tau*second.w;
    Real error[2] = {second.w - 12*time/16, first.w - 4*second.w};
  equation
    connect(drive.flange, first.a);
    connect(first.b, gear.a);
    connect(gear.b, second.a);
    annotation(experiment(StopTime = 2));
  end GearTrain;

  model Planetary "Sun and ring driven with given speeds, an inertia at the carrier"
    Basic.ConstantSpeed sun(w = 10);
    Basic.PrescribedSpeed ring(w = 2*time);
    Gears.StandardPlanetary gear(zs = 30, zr = 60);
    Basic.Inertia load(J = 3);
    Real balance = gear.sun.tau*10 + gear.ring.tau*2*time + gear.carrier.tau*load.w;
    Real error[3] = {load.w - (10 + 4*time)/3, sun.flange.tau + 4/3, ring.flange.tau + 8/3};
  equation
    connect(sun.flange, gear.sun);
    connect(ring.flange, gear.ring);
    connect(gear.carrier, load.a);
    annotation(experiment(StopTime = 2));
  end Planetary;

  model Wheels "A differential drives two wheels of different inertia"
    Basic.ConstantTorque drive(tau = 4);
    Gears.Differential differential;
    Basic.Inertia left(J = 1, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Basic.Inertia right(J = 2, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Real balance = differential.drive.tau*der(differential.drive.phi) + differential.left.tau*left.w + differential.right.tau*right.w;
    Real error[2] = {left.w - 2*time, right.w - time};
  equation
    connect(drive.flange, differential.drive);
    connect(differential.left, left.a);
    connect(differential.right, right.a);
    annotation(experiment(StopTime = 2));
  end Wheels;

  model MeshingWheels "Both meshings between driven wheels and a carrier with an inertia"
    Basic.ConstantSpeed first(w = 6);
    Basic.PrescribedSpeed second(w = 3*time);
    Meshings.OuterOuter out(z1 = 20, z2 = 40);
    Meshings.OuterInner into(z1 = 20, z2 = 60);
    Basic.Inertia outerCarrier(J = 2);
    Basic.Inertia innerCarrier(J = 2);
    Real balance[2] = {
      out.wheel1.tau*6 + out.wheel2.tau*3*time + out.carrier.tau*outerCarrier.w,
      into.wheel1.tau*6 + into.wheel2.tau*3*time + into.carrier.tau*innerCarrier.w};
    Real error[4] = {60*outerCarrier.w - 20*6 - 40*3*time, 40*innerCarrier.w - 60*3*time + 20*6,
      out.wheel1.tau - 4/3, into.wheel1.tau + 4.5};
  equation
    connect(first.flange, out.wheel1);
    connect(second.flange, out.wheel2);
    connect(out.carrier, outerCarrier.a);
    connect(first.flange, into.wheel1);
    connect(second.flange, into.wheel2);
    connect(into.carrier, innerCarrier.a);
    annotation(experiment(StopTime = 2));
  end MeshingWheels;

  model SteppedPlanet "A planetary set with a stepped planet, the carrier held"
    Basic.ConstantSpeed sun(w = 10);
    Meshings.PlanetarySet gear(zs = 30, zp1 = 20, zp2 = 15, zr = 65, Jp = 0.1);
    Basic.Housing housing;
    Basic.Damper brake(d = 2);
    Basic.Housing wall;
    Real balance = gear.sun.tau*10 + gear.ring.tau*der(gear.ring.phi);
    Real error[2] = {der(gear.ring.phi) + 10*30/20*15/65, sun.flange.tau + 2*10*(30/20*15/65)^2};
  equation
    connect(sun.flange, gear.sun);
    connect(gear.carrier, housing.flange);
    connect(gear.ring, brake.b);
    connect(brake.a, wall.flange);
    annotation(experiment(StopTime = 1));
  end SteppedPlanet;

  model SetIsStandard "With equal planets a planetary set is a standard planetary gear"
    Basic.ConstantTorque drive(tau = 2);
    Meshings.PlanetarySet set(zs = 30, zp1 = 20, zp2 = 20, zr = 70);
    Gears.StandardPlanetary standard(zs = 30, zr = 70);
    Basic.ConstantTorque drive2(tau = 2);
    Basic.Inertia sun[2](each J = 0.1);
    Basic.Inertia ring[2](each J = 2, each phi(start = 0, fixed = true), each w(start = 0, fixed = true));
    Basic.Inertia carrier[2](each J = 3, each phi(start = 0, fixed = true), each w(start = 0, fixed = true));
    Real error[3] = {sun[1].w - sun[2].w, ring[1].w - ring[2].w, carrier[1].w - carrier[2].w};
  equation
    connect(drive.flange, sun[1].a);
    connect(drive2.flange, sun[2].a);
    connect(sun[1].b, set.sun);
    connect(sun[2].b, standard.sun);
    connect(set.ring, ring[1].a);
    connect(standard.ring, ring[2].a);
    connect(set.carrier, carrier[1].a);
    connect(standard.carrier, carrier[2].a);
    annotation(experiment(StopTime = 2));
  end SetIsStandard;

  model Ravigneaux "Ratios of the teeth: once with the carrier at rest, once with the large sun at rest"
    Basic.ConstantSpeed drive(w = 10);
    Meshings.RavigneauxSet first(zs1 = 30, zs2 = 38, zp1 = 20, zp2 = 19, zr = 76);
    Meshings.RavigneauxSet second(zs1 = 30, zs2 = 38, zp1 = 20, zp2 = 19, zr = 76);
    Basic.Housing housing;
    Basic.Damper load[2](each d = 1);
    Real ring1 = der(first.ring.phi);
    Real ring2 = der(second.ring.phi);
    Real balance[2] = {
      first.sun1.tau*10 + first.ring.tau*ring1 + first.sun2.tau*der(first.sun2.phi),
      second.sun1.tau*10 + second.ring.tau*ring2 + second.carrier.tau*der(second.carrier.phi)};
    Real error[4] = {10/ring1 - 76/30, der(first.sun2.phi)/ring1 + 76/38,
      10/ring2 - (1 + 38/30)*76/(76 + 38), der(second.carrier.phi)/ring2 - 76/(76 + 38)};
  equation
    connect(drive.flange, first.sun1);
    connect(drive.flange, second.sun1);
    connect(first.carrier, housing.flange);
    connect(second.sun2, housing.flange);
    connect(first.ring, load[1].b);
    connect(second.ring, load[2].b);
    connect(load[1].a, housing.flange);
    connect(load[2].a, housing.flange);
    annotation(experiment(StopTime = 1));
  end Ravigneaux;

  model MeshLoss "A gear with mesh loss: driven from a, at rest between, driven from b"
    Basic.ConstantTorque drive(tau = 2);
    Gears.LossyGear gear(ratio = 3, eta1 = 0.9, eta2 = 0.8);
    Basic.Inertia inertia(J = 1, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Basic.ExternalTorque load(tau = if time < 1 then 0 else if time < 2.8 then -11.4 else if time < 3.8 then -6 else -8.5);
    Real balance = gear.a.tau*gear.w + gear.b.tau*inertia.w - gear.loss;
    Real error = inertia.w - noEvent(if time < 1 then 5.4*time else if time < 1.9 then 5.4 - 6*(time - 1)
      else if time < 2.8 then -(11.4 - 7.5)*(time - 1.9) else if time < 2.8 + 3.51/1.5 then 0*time - 3.51 + 1.5*(time - 2.8) else 0);
    parameter Real tolerance = 2e-5;
  equation
    connect(drive.flange, gear.a);
    connect(gear.b, inertia.a);
    connect(inertia.b, load.flange);
    annotation(experiment(StopTime = 3.7));
  end MeshLoss;

  model Bearing "A shaft slows down by dry and viscous friction, rests, and is torn loose"
    Friction.BearingFriction bearing(tauCoulomb = 2, d = 1, peak = 1.5);
    Basic.Inertia inertia(J = 1, phi(start = 0, fixed = true), w(start = 2, fixed = true));
    Basic.ExternalTorque torque(tau = if time < 2 then 0 else 2*(time - 2));
    Real stop = log(2);
    Real balance = bearing.a.tau*inertia.w - bearing.loss;
    Real t = time - 3.5;
    Real error = inertia.w - noEvent(if time < stop then -2 + 4*exp(-time) else if time < 3.5 then 0 else 2*t - 1 + exp(-t));
  equation
    connect(bearing.a, inertia.a);
    connect(torque.flange, inertia.b);
    annotation(experiment(StopTime = 5));
  end Bearing;

  model Engaging "A clutch takes an inertia along, sticks, and slips again when it is pressed less"
    Basic.ConstantTorque drive(tau = 2);
    Basic.Inertia first(J = 1, phi(start = 0, fixed = true), w(start = 5, fixed = true));
    Friction.Clutch clutch(mu0 = 0.4, fMax = 10, n = 2, ri = 0.4, ra = 0.6, f = if time < 1 then 0 else if time < 3 then 1 else 0.1);
    Basic.Inertia second(J = 2, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Real stick = 1 + 7/4 "Pressed with 4 Nm: the first slows down by 2, the second gains 2";
    Real balance = clutch.a.tau*first.w + clutch.b.tau*second.w - clutch.loss;
    Real error[2] = {
      first.w - noEvent(if time < 1 then 5 + 2*time else if time < stick then 7 - 2*(time - 1) else if time < 3 then 3.5 + 2/3*(time - stick) else 3.5 + 2/3*(3 - stick) + 1.6*(time - 3)),
      second.w - noEvent(if time < 1 then 0 else if time < stick then 2*(time - 1) else if time < 3 then 3.5 + 2/3*(time - stick) else 3.5 + 2/3*(3 - stick) + 0.2*(time - 3))};
  equation
    connect(drive.flange, first.a);
    connect(first.b, clutch.a);
    connect(clutch.b, second.a);
    annotation(experiment(StopTime = 4));
  end Engaging;

  model Braking "A brake holds an inertia against a torque and lets it go"
    Basic.ConstantTorque drive(tau = 1);
    Basic.Inertia inertia(J = 0.5, phi(start = 0, fixed = true), w(start = 3, fixed = true));
    Friction.Brake brake(mu0 = 0.5, fMax = 40, ri = 0.1, ra = 0.15, f = if time < 2 then 1 else 0);
    Real balance = brake.a.tau*inertia.w - brake.loss;
    Real error = inertia.w - noEvent(if time < 1 then 3 - 3*time else if time < 2 then 0 else 2*(time - 2));
  equation
    connect(drive.flange, inertia.a);
    connect(inertia.b, brake.a);
    annotation(experiment(StopTime = 3));
  end Braking;

  model Overrunning "A freewheel drives an inertia and lets it overrun"
    Basic.Inertia first(J = 1, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Friction.Freewheel freewheel(creep = 1e-6);
    Basic.Inertia second(J = 1, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Basic.ExternalTorque torque(tau = if time < 1 then -2 else 2);
    Real balance = freewheel.a.tau*first.w + freewheel.b.tau*second.w;
    Real error[2] = {first.w - noEvent(if time < 1 then -time else -1 + 2*(time - 1)), second.w - noEvent(if time < 1 then -time else -1)};
  equation
    connect(torque.flange, first.a);
    connect(first.b, freewheel.a);
    connect(freewheel.b, second.a);
    annotation(experiment(StopTime = 3));
  end Overrunning;

  model IdealClutch "Inertias jump to the common speed: angular momentum is conserved"
    Basic.Inertia first(J = 1, phi(start = 0, fixed = true), w(start = 6, fixed = true));
    Ideal.Clutch clutch(engaged = time >= 1 and time < 2);
    Basic.Inertia second(J = 2, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Basic.ConstantTorque torque(tau = 3);
    Real balance = clutch.a.tau*first.w + clutch.b.tau*second.w;
    Real error[2] = {
      first.w - noEvent(if time < 1 then 6 + 3*time else if time < 2 then 3 + (time - 1) else 4 + 3*(time - 2)),
      second.w - noEvent(if time < 1 then 0 else if time < 2 then 3 + (time - 1) else 4)};
  equation
    connect(torque.flange, first.a);
    connect(first.b, clutch.a);
    connect(clutch.b, second.a);
    annotation(experiment(StopTime = 3));
  end IdealClutch;

  model IdealBrake "A shaft stops at once, is held, and goes on"
    Basic.ConstantTorque drive(tau = 1);
    Basic.Inertia inertia(J = 0.5, phi(start = 0, fixed = true), w(start = 3, fixed = true));
    Ideal.Brake brake(engaged = time >= 1 and time < 2);
    Real balance = brake.a.tau*inertia.w;
    Real error = inertia.w - noEvent(if time < 1 then 3 + 2*time else if time < 2 then 0 else 2*(time - 2));
  equation
    connect(drive.flange, inertia.a);
    connect(inertia.b, brake.a);
    annotation(experiment(StopTime = 3));
  end IdealBrake;

  model IdealFreewheel "As with the automaton"
    Basic.Inertia first(J = 1, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Ideal.Freewheel freewheel;
    Basic.Inertia second(J = 1, phi(start = 0, fixed = true), w(start = 0));
    Basic.ExternalTorque torque(tau = if time < 1 then -2 else 2);
    Real balance = freewheel.a.tau*first.w + freewheel.b.tau*second.w;
    Real error[2] = {first.w - noEvent(if time < 1 then -time else -1 + 2*(time - 1)), second.w - noEvent(if time < 1 then -time else -1)};
  equation
    connect(torque.flange, first.a);
    connect(first.b, freewheel.a);
    connect(freewheel.b, second.a);
    annotation(experiment(StopTime = 3));
  end IdealFreewheel;

  model IdealFriction "The slowing down of the bearing, from the characteristic alone"
    Basic.Housing housing;
    Ideal.Friction friction(tauCoulomb = 2, d = 1);
    Basic.Inertia inertia(J = 1, phi(start = 0, fixed = true), w(start = 2, fixed = true));
    Basic.ExternalTorque torque(tau = if time < 2 then 0 else 2*(time - 2));
    Real stop = log(2);
    Real balance = friction.a.tau*inertia.w - friction.loss;
    Real t = time - 3;
    Real error = inertia.w - noEvent(if time < stop then -2 + 4*exp(-time) else if time < 3 then 0 else 2*t - 2 + 2*exp(-t));
  equation
    connect(friction.a, inertia.a);
    connect(friction.b, housing.flange);
    connect(torque.flange, inertia.b);
    annotation(experiment(StopTime = 5));
  end IdealFriction;

  model IdealBacklash "Inelastic impacts at rigid stops"
    Basic.Inertia first(J = 1, phi(start = 0, fixed = true), w(start = 1, fixed = true));
    Ideal.Backlash backlash(play = 1);
    Basic.Inertia second(J = 2, phi(start = 0, fixed = true), w(start = 0, fixed = true));
    Basic.ExternalTorque torque(tau = if time < 2 then 0 else -1);
    Real balance = backlash.a.tau*first.w + backlash.b.tau*second.w;
    Real t = time - 2;
    Real hit = 2 + sqrt(2) "The way of the first back through the play";
    Real error[2] = {
      first.w - noEvent(if time < 0.5 then 1 else if time < 2 then 1/3 else if time < hit then 1/3 - t else (1 - t)/3),
      second.w - noEvent(if time < 0.5 then 0 else if time < hit then 1/3 else (1 - t)/3)};
  equation
    connect(torque.flange, first.a);
    connect(first.b, backlash.a);
    connect(backlash.b, second.a);
    annotation(experiment(StopTime = 4.99));
  end IdealBacklash;

  model BySpeed "Power drives: a torque, inertias, a gear and a damper, joined to a flange with an angle"
    Speed.Torque torque(tau = 4);
    Speed.Inertia first(J = 1, w(start = 0, fixed = true));
    Speed.Gear gear(ratio = 2);
    Speed.Inertia second(J = 4);
    Speed.Damper damper(d = 4);
    Speed.FromAngle joint;
    Basic.Housing housing;
    Real balance[3] = {gear.a.tau*gear.a.w + gear.b.tau*gear.b.w, damper.a.tau*damper.a.w + damper.b.tau*damper.b.w - damper.loss,
      joint.a.tau*0 + joint.b.tau*joint.b.w};
    Real error = first.w - 4*(1 - exp(-time/2));
  equation
    connect(torque.flange, first.a);
    connect(first.b, gear.a);
    connect(gear.b, second.a);
    connect(second.b, damper.a);
    connect(damper.b, joint.b);
    connect(joint.a, housing.flange);
    annotation(experiment(StopTime = 5));
  end BySpeed;

  model Converting "A torque converter between given speeds: stall, conversion, coupling, overrun"
    Basic.ConstantSpeed pump(w = 100);
    Basic.PrescribedSpeed turbine(w = 60*time);
    Vehicles.TorqueConverter converter;
    Real nu = 0.6*time;
    Real balance = converter.a.tau*100 + converter.b.tau*60*time - converter.loss;
    Real error[2] = {
      converter.a.tau - 26*noEvent(if nu < 0.85 then 1 - 0.3*nu/0.85 else 0.7*(1 - nu)/0.15),
      converter.b.tau + converter.a.tau*noEvent(if nu < 0.85 then 2 - nu/0.85 else 1)};
  equation
    connect(pump.flange, converter.a);
    connect(converter.b, turbine.flange);
    annotation(experiment(StopTime = 2));
  end Converting;

  model Rolling "A vehicle rolls out: only drag, then the speed is v0/(1 + c v0 t/m)"
    Vehicles.RoadVehicle vehicle(m = 1000, cRoll = 0, cAir = 2, s(start = 0, fixed = true), v(start = 30, fixed = true));
    Basic.ConstantTorque none(tau = 0);
    Real kinetic = 500*vehicle.v^2;
    Real balance = vehicle.flange.tau*vehicle.v/0.3 - vehicle.fAir*vehicle.v - vehicle.fRoll*vehicle.v - der(kinetic);
    Real error = vehicle.v - 30/(1 + 0.06*time);
    parameter Real tolerance = 1e-4;
  equation
    connect(none.flange, vehicle.flange);
    annotation(experiment(StopTime = 20));
  end Rolling;

  model Idling "An engine keeps its idling speed, and runs up with the throttle"
    Vehicles.Engine engine(throttle = if time < 1 then 0 else 0.5, w(start = 80, fixed = true));
    Basic.ExternalTorque load(tau = if time < 1 then 0 else -64.8);
    Real kinetic = 0.1*engine.w^2;
    Real balance = (engine.tauFuel - engine.tauFriction + engine.flange.tau)*engine.w - der(kinetic);
    Real error = engine.w - 80;
  equation
    connect(engine.flange, load.flange);
    annotation(experiment(StopTime = 2));
  end Idling;
end RotationalTests;
