within Gyrator.Examples.DriveTrains;
model FourSpeedVehicle "A vehicle with engine, torque converter, four-speed automatic gearbox and differential drives away, shifts and stops"
  extends Icons.Example;
  replaceable GearSet gearbox constrainedby GearboxInterface "Gearbox" annotation(Placement(transformation(extent = {{0, -10}, {20, 10}})));
  Driver driver annotation(Placement(transformation(extent = {{-80, 50}, {-60, 70}})));
  Shifter shifter annotation(Placement(transformation(extent = {{0, 40}, {20, 60}})));
  Rotational.Vehicles.Engine engine(w(start = 80, fixed = true)) annotation(Placement(transformation(extent = {{-80, -10}, {-60, 10}})));
  Rotational.Vehicles.TorqueConverter converter annotation(Placement(transformation(extent = {{-40, -10}, {-20, 10}})));
  Rotational.Gears.SpurGear axleDrive(ratio = 3.5) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
  Rotational.Gears.Differential differential annotation(Placement(transformation(extent = {{55, -10}, {75, 10}})));
  Rotational.Basic.Inertia leftWheel(J = 1) annotation(Placement(transformation(extent = {{80, 10}, {100, 30}})));
  Rotational.Basic.Inertia rightWheel(J = 1) annotation(Placement(transformation(extent = {{80, -30}, {100, -10}})));
  Rotational.Friction.Brake brake(mu0 = 0.4, fMax = 2e4, n = 2, ri = 0.1, ra = 0.14) annotation(Placement(transformation(extent = {{110, -10}, {130, 10}})));
  Rotational.Vehicles.RoadVehicle vehicle(m = 1500, s(start = 0, fixed = true), v(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{140, -10}, {160, 10}})));
  Real ratio "Speed of the turbine by speed of the output";
equation
  ratio = converter.wTurbine/(axleDrive.ratio*noEvent(if abs(leftWheel.w) > 0.1 then leftWheel.w else 1));
  connect(driver.throttle, engine.throttle) annotation(Line(points = {{-59, 66}, {-53, 66}, {-53, 33}, {-87, 33}, {-87, 0}, {-81, 0}}, color = {0, 0, 127}));
  connect(driver.gear, shifter.gear) annotation(Line(points = {{-59, 60}, {-30.5, 60}, {-30.5, 50}, {-2, 50}}, color = {255, 127, 0}));
  connect(driver.brake, brake.f) annotation(Line(points = {{-59, 54}, {120, 54}, {120, 11}}, color = {0, 0, 127}));
  connect(shifter.f, gearbox.f) annotation(Line(points = {{21, 50}, {27, 50}, {27, 17}, {10, 17}, {10, 11}}, color = {0, 0, 127}));
  connect(engine.flange, converter.a) annotation(Line(points = {{-60, 0}, {-40, 0}}, color = {100, 100, 100}));
  connect(converter.b, gearbox.a) annotation(Line(points = {{-20, 0}, {0, 0}}, color = {100, 100, 100}));
  connect(gearbox.b, axleDrive.a) annotation(Line(points = {{20, 0}, {30, 0}}, color = {100, 100, 100}));
  connect(axleDrive.b, differential.drive) annotation(Line(points = {{50, 0}, {55, 0}}, color = {100, 100, 100}));
  connect(differential.left, leftWheel.a) annotation(Line(points = {{75, 6}, {77.5, 6}, {77.5, 20}, {80, 20}}, color = {100, 100, 100}));
  connect(differential.right, rightWheel.a) annotation(Line(points = {{75, -6}, {77.5, -6}, {77.5, -20}, {80, -20}}, color = {100, 100, 100}));
  connect(leftWheel.b, brake.a) annotation(Line(points = {{100, 20}, {105, 20}, {105, 0}, {110, 0}}, color = {100, 100, 100}));
  connect(rightWheel.b, brake.a) annotation(Line(points = {{100, -20}, {105, -20}, {105, 0}, {110, 0}}, color = {100, 100, 100}));
  connect(brake.b, vehicle.flange) annotation(Line(points = {{130, 0}, {140, 0}}, color = {100, 100, 100}));
  annotation(Diagram(coordinateSystem(extent = {{-100, -100}, {180, 100}})),
    experiment(StopTime = 32, Tolerance = 1e-6),
    Documentation(info = "<html>
<p>The engine drives the gearbox over a torque converter; both wheels roll without slip, so that the differential divides the torque only.</p>
</html>"));
end FourSpeedVehicle;
