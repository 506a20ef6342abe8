within Gyrator.Examples;
package Domains "Small models of the other domains, and one of many domains at once"
  extends Icons.ExamplesFolder;

  model HydraulicLift "A pump lifts a load; a check valve holds it when the pump stops"
    extends Icons.Example;
    Rotational.Basic.PrescribedSpeed drive(w = if time < 2 then 100 else 0) annotation(Placement(transformation(origin = {-60, -60}, extent = {{-10, -10}, {10, 10}}, rotation = 90)));
    Hydraulic.Pump pump(D = 2e-6) annotation(Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
    Hydraulic.Tank tank annotation(Placement(transformation(extent = {{-100, -40}, {-80, -20}})));
    Hydraulic.Tank tank2 annotation(Placement(transformation(extent = {{70, -40}, {90, -20}})));
    Hydraulic.Orifice leak(A = 1e-7) annotation(Placement(transformation(extent = {{-70, 30}, {-50, 50}})));
    Hydraulic.CheckValve check1 annotation(Placement(transformation(extent = {{-30, -10}, {-10, 10}})));
    Hydraulic.Volume volume(V = 1e-3, p(start = 1e6, fixed = true)) annotation(Placement(transformation(extent = {{0, 30}, {20, 50}})));
    Hydraulic.Cylinder cylinder(A1 = 1e-3, A2 = 6e-4) annotation(Placement(transformation(extent = {{30, 30}, {50, 50}})));
    Translational.Basic.Weight load(m = 100, s(start = 0, fixed = true), v(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{70, 30}, {90, 50}})));
    Translational.Basic.Damper guide(d = 2000) "Friction of the guide" annotation(Placement(transformation(extent = {{70, 65}, {90, 85}})));
    Translational.Basic.Wall wall annotation(Placement(transformation(extent = {{30, 65}, {50, 85}})));
  equation
    connect(wall.flange, guide.a) annotation(Line(points = {{50, 75}, {70, 75}}, color = {0, 127, 0}));
    connect(guide.b, load.b) annotation(Line(points = {{90, 75}, {90, 40}}, color = {0, 127, 0}));
    connect(drive.flange, pump.flange) annotation(Line(points = {{-60, -50}, {-60, -10}}, color = {100, 100, 100}));
    connect(tank.port, pump.a) annotation(Line(points = {{-90, -20}, {-90, 0}, {-70, 0}}, color = {0, 127, 255}));
    connect(pump.b, leak.a) annotation(Line(points = {{-50, 0}, {-44, 0}, {-44, 20}, {-76, 20}, {-76, 40}, {-70, 40}}, color = {0, 127, 255}));
    connect(leak.b, tank.port) annotation(Line(points = {{-50, 40}, {-38, 40}, {-38, -16}, {-90, -16}, {-90, -20}}, color = {0, 127, 255}));
    connect(pump.b, check1.a) annotation(Line(points = {{-50, 0}, {-30, 0}}, color = {0, 127, 255}));
    connect(check1.b, volume.port) annotation(Line(points = {{-10, 0}, {10, 0}, {10, 30}}, color = {0, 127, 255}));
    connect(volume.port, cylinder.a) annotation(Line(points = {{10, 30}, {34, 30}}, color = {0, 127, 255}));
    connect(cylinder.b, tank2.port) annotation(Line(points = {{46, 30}, {46, 5}, {80, 5}, {80, -20}}, color = {0, 127, 255}));
    connect(cylinder.flange, load.a) annotation(Line(points = {{50, 40}, {70, 40}}, color = {0, 127, 0}));
    annotation(experiment(StopTime = 4),
      Documentation(info = "<html>
<p>While the pump runs the load rises; then the check valve closes and the oil in the cylinder holds it.</p>
</html>"));
  end HydraulicLift;

  model WaterHeating "Water flows through a heated pipe; a controller keeps its temperature"
    extends Icons.Example;
    Fluid.Basic.Ambient supply(p = 1.5e5, T = 283.15) annotation(Placement(transformation(extent = {{-90, -10}, {-70, 10}})));
    Fluid.Basic.Valve valve(mNominal = 0.1, dpNominal = 5e4, opening = if time < 60 then 1 else 0.5) annotation(Placement(transformation(extent = {{-55, -10}, {-35, 10}})));
    Fluid.Vessels.HeatedPipe pipe(n = 3, V = 1e-3, TStart = 283.15, pStart = 1.4e5) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
    Fluid.Basic.TurbulentPipe outletPipe(mNominal = 0.1, dpNominal = 1e4) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
    Fluid.Basic.Ambient drain annotation(Placement(transformation(origin = {80, 0}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
    Heat.PrescribedHeatFlow heater[3] annotation(Placement(transformation(origin = {0, -40}, extent = {{-10, -10}, {10, 10}}, rotation = 90)));
    Units.HeatFlow power "Power of the heater";
    Real x(start = 0, fixed = true) "Integral part of the controller";
  equation
    der(x) = (313.15 - pipe.volume[3].T)/20;
    power = 500*((313.15 - pipe.volume[3].T) + x);
    heater.Q_flow = fill(power/3, 3);
    connect(supply.port, valve.a) annotation(Line(points = {{-70, 0}, {-55, 0}}, color = {0, 127, 255}));
    connect(valve.b, pipe.a) annotation(Line(points = {{-35, 0}, {-10, 0}}, color = {0, 127, 255}));
    connect(pipe.b, outletPipe.a) annotation(Line(points = {{10, 0}, {30, 0}}, color = {0, 127, 255}));
    connect(outletPipe.b, drain.port) annotation(Line(points = {{50, 0}, {70, 1.22465e-15}}, color = {0, 127, 255}));
    connect(heater.port, pipe.heat) annotation(Line(points = {{6.12323e-16, -30}, {0, -10}}, color = {191, 0, 0}));
    annotation(experiment(StopTime = 200),
      Documentation(info = "<html>
<p>The valve closes half at 60 s; the controller takes power back until the water has 40 degrees again.</p>
</html>"));
  end WaterHeating;

  model HeatedRoom "A radiator with a thermostat keeps a room warm"
    extends Icons.Example;
    Heat.FixedTemperature outside(T = 273.15) annotation(Placement(transformation(extent = {{-90, -10}, {-70, 10}})));
    Heat.Conductor wall(G = 100) annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
    Heat.Capacity room(C = 5e5, T(start = 285.15, fixed = true)) annotation(Placement(transformation(extent = {{-10, 10}, {10, 30}})));
    Heat.TemperatureSensor thermometer annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
    Blocks.Logical.Hysteresis tooWarm(low = 292.15, high = 294.15) annotation(Placement(transformation(extent = {{60, -10}, {80, 10}})));
    Heat.PrescribedHeatFlow radiator(Q_flow = if tooWarm.y then 0 else 4000) annotation(Placement(transformation(extent = {{-30, -50}, {-10, -30}})));
  equation
    connect(outside.port, wall.a) annotation(Line(points = {{-70, 0}, {-50, 0}}, color = {191, 0, 0}));
    connect(wall.b, room.port) annotation(Line(points = {{-30, 0}, {0, 0}, {0, 10}}, color = {191, 0, 0}));
    connect(room.port, thermometer.port) annotation(Line(points = {{0, 10}, {0, 0}, {30, 0}}, color = {191, 0, 0}));
    connect(thermometer.y, tooWarm.u) annotation(Line(points = {{51, 0}, {58, 0}}, color = {0, 0, 127}));
    connect(radiator.port, room.port) annotation(Line(points = {{-10, -40}, {0, -40}, {0, 10}}, color = {191, 0, 0}));
    annotation(experiment(StopTime = 20000),
      Documentation(info = "<html>
<p>The temperature swings between 19 and 21 degrees.</p>
</html>"));
  end HeatedRoom;

  model Kinetics "Two reactions in a row: A to B to C"
    extends Icons.Example;
    Chemical.Substance A(cStart = 1000, V = 1) annotation(Placement(transformation(extent = {{-90, -10}, {-70, 10}})));
    Chemical.Substance B(cStart = 1e-3, V = 1, mu0 = -1.5e4) annotation(Placement(transformation(origin = {0, 40}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Chemical.Substance C(cStart = 1e-3, V = 1, mu0 = -4e4) annotation(Placement(transformation(origin = {80, 0}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
    Chemical.Reaction first(k = 1000) annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
    Chemical.Reaction second(k = 1e6) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
  equation
    connect(A.port, first.substances[1]) annotation(Line(points = {{-70, 0}, {-50, 0}}, color = {200, 100, 0}));
    connect(first.products[1], B.port) annotation(Line(points = {{-30, 0}, {6.12323e-16, 0}, {6.12323e-16, 30}}, color = {200, 100, 0}));
    connect(B.port, second.substances[1]) annotation(Line(points = {{6.12323e-16, 30}, {6.12323e-16, 0}, {30, 0}}, color = {200, 100, 0}));
    connect(second.products[1], C.port) annotation(Line(points = {{50, 0}, {70, 1.22465e-15}}, color = {200, 100, 0}));
    annotation(experiment(StopTime = 5),
      Documentation(info = "<html>
<p>B rises and falls again.</p>
</html>"));
  end Kinetics;

  model Engine "Part of a machine that a nested connector joins to its mount"
    Interfaces.EngineMount mount "Everything that joins the engine to the wing" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Electrical.Basic.Resistor ignition(R = 10, useHeatPort = true) annotation(Placement(transformation(extent = {{-50, 10}, {-30, 30}})));
    Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-30, -30}, {-10, -10}})));
    Hydraulic.LaminarResistance bearing(G = 1e-9) annotation(Placement(transformation(extent = {{10, 10}, {30, 30}})));
    Hydraulic.Tank sump annotation(Placement(transformation(extent = {{40, -30}, {60, -10}})));
  equation
    connect(mount.supply, ignition.p) annotation(Line(points = {{-100, 0}, {-75, 0}, {-75, 20}, {-50, 20}}, color = {0, 0, 255}));
    connect(ignition.n, ground.p) annotation(Line(points = {{-30, 20}, {-20, 20}, {-20, -10}}, color = {0, 0, 255}));
    connect(mount.oil, bearing.a) annotation(Line(points = {{-100, 0}, {-100, -36}, {0, -36}, {0, 20}, {10, 20}}, color = {0, 127, 255}));
    connect(bearing.b, sump.port) annotation(Line(points = {{30, 20}, {50, 20}, {50, -10}}, color = {0, 127, 255}));
    connect(mount.wall, ignition.heat) annotation(Line(points = {{-100, 0}, {-100, 5}, {-40, 5}, {-40, 10}}, color = {191, 0, 0}));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-80, 60}, {80, -60}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html>
<p>Electrical supply, oil and heat pass through one connector.</p>
</html>"));
  end Engine;

  model AllConnectors "Power flows through connectors of all domains: from electricity over mechanics and hydraulics to heat"
    extends Icons.Example;
    Electrical.Sources.ConstantVoltage battery(V = 24) annotation(Placement(transformation(origin = {-80, 40}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-105, -30}, {-85, -10}})));
    Electrical.Machines.PermanentMagnetMachine motor(R = 1, L = 0.01, k = 0.2, J = 0.01) annotation(Placement(transformation(extent = {{-55, 30}, {-35, 50}})));
    Rotational.Speed.FromAngle joint annotation(Placement(transformation(extent = {{-20, 50}, {0, 70}})));
    Rotational.Speed.Inertia fan(J = 0.02) annotation(Placement(transformation(extent = {{10, 50}, {30, 70}})));
    Rotational.Speed.Damper air(d = 1e-3) annotation(Placement(transformation(extent = {{40, 50}, {60, 70}})));
    Rotational.Speed.FromAngle joint2 annotation(Placement(transformation(origin = {75, 60}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
    Rotational.Basic.Housing housing annotation(Placement(transformation(extent = {{85, 30}, {105, 50}})));
    Hydraulic.Pump pump(D = 1e-6) annotation(Placement(transformation(extent = {{-20, 10}, {0, 30}})));
    Hydraulic.Tank tank annotation(Placement(transformation(extent = {{-34, -30}, {-14, -10}})));
    Hydraulic.LaminarResistance pipe(G = 1e-10) annotation(Placement(transformation(extent = {{15, 10}, {35, 30}})));
    Hydraulic.Tank tank2 annotation(Placement(transformation(extent = {{40, -10}, {60, 10}})));
    Electrical.Basic.HeatingResistor heater(R = 50, alpha = 0.001) annotation(Placement(transformation(origin = {-60, -40}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
    Heat.Entropy.FromHeat entropy annotation(Placement(transformation(extent = {{-40, -80}, {-20, -60}})));
    Heat.Entropy.Conductor wall(G = 0.2) annotation(Placement(transformation(extent = {{-10, -80}, {10, -60}})));
    Heat.Entropy.Capacity body(C = 10, T(start = 300, fixed = true)) annotation(Placement(transformation(extent = {{20, -60}, {40, -40}})));
    Heat.Entropy.FromHeat entropy2 annotation(Placement(transformation(origin = {75, -90}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
    Heat.FixedTemperature ambient annotation(Placement(transformation(origin = {95, -65}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
    Heat.Entropy.Conductor toAmbient(G = 0.1) annotation(Placement(transformation(extent = {{35, -100}, {55, -80}})));
    Units.Power supplied = -battery.u*battery.i "Power of the battery";
    Units.Power taken "Power that leaves as heat and work, and that is stored";
  equation
    taken = motor.resistor.loss + motor.inductor.u*motor.inductor.i + 0.01*motor.rotor.w*motor.rotor.alpha + 0.02*fan.w*der(fan.w) + air.loss + pipe.loss + heater.u*heater.i;
    connect(battery.p, motor.p) annotation(Line(points = {{-80, 50}, {-80, 56}, {-61, 56}, {-61, 46}, {-55, 46}}, color = {0, 0, 255}));
    connect(battery.n, motor.n) annotation(Line(points = {{-80, 30}, {-80, 24}, {-61, 24}, {-61, 34}, {-55, 34}}, color = {0, 0, 255}));
    connect(battery.n, ground.p) annotation(Line(points = {{-80, 30}, {-80, 10}, {-95, 10}, {-95, -10}}, color = {0, 0, 255}));
    connect(battery.p, heater.p) annotation(Line(points = {{-80, 50}, {-80, 56}, {-66, 56}, {-66, -12}, {-44, -12}, {-44, -40}, {-50, -40}}, color = {0, 0, 255}));
    connect(heater.n, battery.n) annotation(Line(points = {{-70, -40}, {-80, -40}, {-80, 30}}, color = {0, 0, 255}));
    connect(motor.flange, joint.a) annotation(Line(points = {{-35, 40}, {-27.5, 40}, {-27.5, 60}, {-20, 60}}, color = {100, 100, 100}));
    connect(joint.b, fan.a) annotation(Line(points = {{0, 60}, {10, 60}}, color = {100, 100, 100}));
    connect(fan.b, air.a) annotation(Line(points = {{30, 60}, {40, 60}}, color = {100, 100, 100}));
    connect(air.b, joint2.b) annotation(Line(points = {{60, 60}, {65, 60}}, color = {100, 100, 100}));
    connect(joint2.a, housing.flange) annotation(Line(points = {{85, 60}, {95, 60}, {95, 50}}, color = {100, 100, 100}));
    connect(motor.flange, pump.flange) annotation(Line(points = {{-35, 40}, {-29, 40}, {-29, 4}, {-10, 4}, {-10, 10}}, color = {100, 100, 100}));
    connect(tank.port, pump.a) annotation(Line(points = {{-24, -10}, {-24, 20}, {-20, 20}}, color = {0, 127, 255}));
    connect(pump.b, pipe.a) annotation(Line(points = {{0, 20}, {15, 20}}, color = {0, 127, 255}));
    connect(pipe.b, tank2.port) annotation(Line(points = {{35, 20}, {50, 20}, {50, 10}}, color = {0, 127, 255}));
    connect(heater.heat, entropy.a) annotation(Line(points = {{-60, -30}, {-60, -22}, {-40, -22}, {-40, -70}}, color = {191, 0, 0}));
    connect(entropy.b, wall.a) annotation(Line(points = {{-20, -70}, {-10, -70}}, color = {191, 0, 0}));
    connect(wall.b, body.port) annotation(Line(points = {{10, -70}, {30, -70}, {30, -60}}, color = {191, 0, 0}));
    connect(body.port, toAmbient.a) annotation(Line(points = {{30, -60}, {30, -90}, {35, -90}}, color = {191, 0, 0}));
    connect(toAmbient.b, entropy2.b) annotation(Line(points = {{55, -90}, {65, -90}}, color = {191, 0, 0}));
    connect(entropy2.a, ambient.port) annotation(Line(points = {{85, -90}, {85, -65}}, color = {191, 0, 0}));
  initial equation
    motor.inductor.i = 0;
    motor.rotor.w = 0;
    motor.rotor.phi = 0;
    annotation(experiment(StopTime = 5),
      Documentation(info = "<html>
<p>At every connection the sum of the power of all connectors is zero, so that what the battery gives is what the components take.</p>
</html>"));
  end AllConnectors;

  model MountedEngine "The engine on its mount"
    extends Icons.Example;
    Engine engine annotation(Placement(transformation(extent = {{10, -10}, {30, 10}})));
    Interfaces.EngineMount mount "Mount of the wing" annotation(Placement(transformation(extent = {{-30, -10}, {-10, 10}})));
    Electrical.Sources.ConstantVoltage battery(V = 28) annotation(Placement(transformation(origin = {-60, 40}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-70, 0}, {-50, 20}})));
    Hydraulic.PressureSource oil(p = 2e5) annotation(Placement(transformation(extent = {{-70, -30}, {-50, -10}})));
    Heat.FixedTemperature wing(T = 250) annotation(Placement(transformation(extent = {{-70, -70}, {-50, -50}})));
  equation
    connect(mount, engine.mount) annotation(Line(points = {{-20, 0}, {10, 0}}, color = {0, 0, 0}));
    connect(battery.p, mount.supply) annotation(Line(points = {{-60, 50}, {-60, 58}, {-20, 58}, {-20, 0}}, color = {0, 0, 255}));
    connect(battery.n, ground.p) annotation(Line(points = {{-60, 30}, {-60, 20}}, color = {0, 0, 255}));
    connect(oil.port, mount.oil) annotation(Line(points = {{-50, -20}, {-35, -20}, {-35, 0}, {-20, 0}}, color = {0, 127, 255}));
    connect(wing.port, mount.wall) annotation(Line(points = {{-50, -60}, {-20, -60}, {-20, 0}}, color = {191, 0, 0}));
    annotation(experiment(StopTime = 1),
      Documentation(info = "<html>
<p>One connection of nested connectors joins pins, oil and heat.</p>
</html>"));
  end MountedEngine;
end Domains;
