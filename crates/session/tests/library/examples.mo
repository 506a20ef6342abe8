package ExamplesTests "Models of the examples with what must come out of them"
  import Gyrator.Examples.*;
  constant Real pi = 3.14159265358979;

  model TwoBranches "Responses of first order to a sine"
    extends Circuits.TwoBranches;
    Real w = 2*pi;
    Real error[2] = {C.u - 100/(100 + w^2)*(10*sin(w*time) - w*cos(w*time) + w*exp(-10*time)),
      L.i - 100/(1000^2 + w^2)*(1000*sin(w*time) - w*cos(w*time) + w*exp(-1000*time))};
    annotation(experiment(StopTime = 2));
  end TwoBranches;

  model Rectifier "The voltage after five periods, computed independently"
    extends Circuits.Rectifier;
    Real error = noEvent(if time > 0.0999999 then C.u - 0.456011 else 0);
    parameter Real tolerance = 1e-6;
    annotation(experiment(StopTime = 0.1));
  end Rectifier;

  model SwitchCircuit "The capacitor is charged while the contact is closed"
    extends Circuits.SwitchCircuit;
    Real closed = noEvent(max(0, min(time, 2.5e-6) - 1e-6) + max(0, min(time, 9e-6) - 5e-6));
    Real error = C.u - 100*(1 - exp(-closed/1.2e-5));
    annotation(experiment(StopTime = 1.2e-5));
  end SwitchCircuit;

  model ThyristorBridge "Power of the mains against what choke, machine and load take"
    extends Circuits.ThyristorBridge;
    Real i = choke.i;
    Real balance = -source.u*source.i - T1.loss - T2.loss - T3.loss - T4.loss - choke.u*i - machine.resistor.loss - machine.inductor.u*i
      - 0.1*machine.rotor.w*machine.rotor.alpha - load.loss;
    Real error = noEvent(min(0, i));
    parameter Real tolerance = 2e-3;
    annotation(experiment(StopTime = 0.2));
  end ThyristorBridge;

  model MotorStart "Power of the mains against fields, losses and shaft; at the end the torque of the phasors at the slip that is left"
    extends Circuits.MotorStart;
    Real stored = 3/4*(machine.psi*machine.i + machine.psir*machine.ir) + 0.15*fan.w^2;
    Real balance = (-mains.u*mains.i - machine.loss - der(stored) - 1e-3*abs(fan.w)^3)/1e4;
    Real we = 100*pi;
    Real slip = noEvent(max(0.01, 1 - 2*fan.w/we));
    Real n = (0.4/slip)^2 + (we*0.062)^2;
    Real re = 0.5 + (we*0.058)^2*(0.4/slip)/n;
    Real im = we*0.06 - (we*0.058)^2*(we*0.062)/n;
    Real i2 = 325^2/(re^2 + im^2) "Square of the current";
    Real torque = 3*0.4/slip*i2*(we*0.058)^2/n/we;
    Real error = noEvent(if time > 0.99 then (torque - machine.tau)/torque else 0);
    parameter Real tolerance = 1e-4;
    annotation(experiment(StopTime = 1));
  end MotorStart;

  model Chopper "Power of the battery against what machine and load take"
    extends Circuits.Chopper;
    Real i = machine.inductor.i;
    Real balance = (-battery.u*battery.i - machine.resistor.loss - machine.inductor.u*i - 20*machine.rotor.w*machine.rotor.alpha - load.loss)/1e3;
    annotation(experiment(StopTime = 0.05));
  end Chopper;

  model PositioningDrive "The load comes to its angle, but for play and friction"
    extends Drive.PositioningDrive;
    Real error = noEvent(if time > 2.8 then load.phi - 2 else 0);
    parameter Real tolerance = 5e-3;
    annotation(experiment(StopTime = 3));
  end PositioningDrive;

  model HeatedDrive "Heat of the winding: what is stored and carried away is what was lost"
    extends Drive.HeatedDrive;
    Real lost(start = 0, fixed = true);
    Real error = 20*(motor.mass.T - 293.15) - lost;
    parameter Real tolerance = 1e-4;
  equation
    der(lost) = motor.R.u*motor.R.i - 2*(motor.mass.T - 293.15);
    annotation(experiment(StopTime = 3));
  end HeatedDrive;

  model Dividers "Cold resistors, and resistors that warm up"
    Drive.Divider cold;
    Drive.HeatedDivider warm;
    Real supplied(start = 0, fixed = true);
    Real error[3] = {cold.R1.i - 0.1, 0.5*sum(warm.mass.T) - 1.5*293.15 - supplied, noEvent(if time > 1 and warm.R1.i > 0.099 then 1 else 0)};
  equation
    der(supplied) = 60*warm.R1.i;
    annotation(experiment(StopTime = 10));
  end Dividers;

  model Ravigneaux "The ratios of the teeth"
    extends DriveTrains.RavigneauxRatios;
    Real error[2] = {ratio1 - 76/30, ratio2 - (1 + 38/30)/(1 + 38/76)};
    annotation(experiment(StopTime = 1));
  end Ravigneaux;

  model Gears "All gears of the vehicle have their ratios, and it stops"
    extends DriveTrains.FourSpeedVehicle;
    constant Real i0 = 73/35;
    Real error[6] = noEvent({
      if time > 4 and time < 5 then ratio - (1 + 2*i0)/i0 else 0,
      if time > 7 and time < 9 then ratio - 1 - 1/i0 else 0,
      if time > 11 and time < 14 then ratio - 1 else 0,
      if time > 16 and time < 20 then ratio - 91/125 else 0,
      if time > 31 then vehicle.v else 0,
      if time > 19 and time < 20 and vehicle.v < 15 then 1 else 0});
    parameter Real tolerance = 1e-4;
    annotation(experiment(StopTime = 32));
  end Gears;

  model Reverse "Third, fourth and reverse gear at a constant speed of the turbine"
    Gyrator.Rotational.Basic.ConstantSpeed drive(w = 100);
    DriveTrains.Shifter shifter[3](gear = {3, 4, 5});
    DriveTrains.GearSet gearbox[3];
    Gyrator.Rotational.Basic.Damper load[3](each d = 0.1);
    Gyrator.Rotational.Basic.Housing housing;
    Real error[3] = noEvent(if time < 2 then zeros(3) else gearbox.output1.w - {100, 100*125/91, -100*35/73});
    parameter Real tolerance = 1e-3;
  equation
    for k in 1:3 loop
      connect(drive.flange, gearbox[k].a);
      connect(gearbox[k].b, load[k].a);
      connect(load[k].b, housing.flange);
      connect(shifter[k].f, gearbox[k].f);
    end for;
    annotation(experiment(StopTime = 2.5));
  end Reverse;

  model IdealReverse "All gears with ideal clutches and brakes"
    Gyrator.Rotational.Basic.ConstantSpeed drive(w = 100);
    DriveTrains.Shifter shifter[5](gear = {1, 2, 3, 4, 5});
    DriveTrains.IdealGearSet gearbox[5];
    Gyrator.Rotational.Basic.Damper load[5](each d = 0.1);
    Gyrator.Rotational.Basic.Housing housing;
    constant Real i0 = 73/35;
    Real error[5] = noEvent(if time < 0.5 then zeros(5) else gearbox.output1.w - 100*{i0/(1 + 2*i0), i0/(1 + i0), 1, 125/91, -1/i0});
  equation
    for k in 1:5 loop
      connect(drive.flange, gearbox[k].a);
      connect(gearbox[k].b, load[k].a);
      connect(load[k].b, housing.flange);
      connect(shifter[k].f, gearbox[k].f);
    end for;
    annotation(experiment(StopTime = 1));
  end IdealReverse;

  model Blocks "Friction in both formulations"
    extends FrictionAndImpact.BlocksCompared;
    Real error = difference;
    annotation(experiment(StopTime = 5));
  end Blocks;

  model TwoBlocks "Coupled friction in both formulations"
    extends FrictionAndImpact.TwoBlocksCompared;
    Real error[2] = difference;
    annotation(experiment(StopTime = 10));
  end TwoBlocks;

  model Backlash "Elastic and rigid stops, but for the duration of the impacts"
    extends FrictionAndImpact.BacklashCompared;
    Real error = noEvent(if abs(time - 0.5) < 0.02 or abs(time - 3.4142) < 0.02 then 0 else difference);
    parameter Real tolerance = 2e-3;
    annotation(experiment(StopTime = 5));
  end Backlash;

  model Balls "Bounces in both formulations"
    extends FrictionAndImpact.BallsCompared;
    Real error = difference;
    annotation(experiment(StopTime = 1.5));
  end Balls;

  model Arm "The joints come to their angles"
    extends Robots.Arm;
    Real error[3] = noEvent(if time > 1.9 then {base.phi - 1.2, shoulder.phi + 0.8, elbow.phi - 1.5} else zeros(3));
    parameter Real tolerance = 5e-3;
    annotation(experiment(StopTime = 2));
  end Arm;

  model Chain "Energy of a chain, with what the joints lost"
    extends Robots.Chain(n = 5);
    Real lost(start = 0, fixed = true);
    Real error = sum(rod.body.kinetic) + sum(rod.body.potential) + lost;
    parameter Real tolerance = 1e-4;
  equation
    der(lost) = sum(joint.loss);
    annotation(experiment(StopTime = 1));
  end Chain;

  model Lift "What the pump delivers lifts the load; when it stops, the load stays"
    extends Domains.HydraulicLift;
    Real error[2] = noEvent({if time > 3 then load.s - 0.4 else 0, if time > 3.5 then 10*load.v else 0});
    parameter Real tolerance = 0.02;
    annotation(experiment(StopTime = 4));
  end Lift;

  model Temperatures "Controllers keep water and a room warm"
    Domains.WaterHeating water;
    Domains.HeatedRoom room(room.T(start = 293.15));
    Real error[2] = {noEvent(if time > 190 then water.pipe.volume[3].T - 313.15 else 0),
      noEvent(max(0, room.room.T - 294.151) + max(0, 292.149 - room.room.T))};
    parameter Real tolerance = 0.1;
    annotation(experiment(StopTime = 200));
  end Temperatures;

  model Matter "No substance is lost"
    extends Domains.Kinetics;
    Real error = A.c + B.c + C.c - 1000.002;
    annotation(experiment(StopTime = 5));
  end Matter;

  model AllDomains "What the battery gives is what the components take; a nested connector"
    Domains.AllConnectors all;
    Domains.MountedEngine engine;
    Real balance = all.supplied - all.taken;
    Real error[2] = {engine.wing.port.Q_flow - 78.4, 1e4*(engine.engine.bearing.q - 2e-4)};
    annotation(experiment(StopTime = 5));
  end AllDomains;

  model Light "Four instants red, five green, two yellow"
    extends Gyrator.StateMachines.TrafficLight;
    Real phase = mod(floor(time), 11);
    Real error = noEvent(colour - (if phase < 4 then 1 else if phase < 9 then 2 else 3));
    annotation(experiment(StopTime = 21.9));
  end Light;

  model Tank "The level, worked out by hand"
    extends Gyrator.StateMachines.Tank;
    Real phase = mod(floor(time), 12);
    Real error = noEvent(level - (if phase < 6 then phase + 1 else if phase < 9 then 6 else 6 - 2*(phase - 8)));
    annotation(experiment(StopTime = 23.9));
  end Tank;
end ExamplesTests;
