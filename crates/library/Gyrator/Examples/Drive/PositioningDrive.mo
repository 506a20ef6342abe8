within Gyrator.Examples.Drive;
model PositioningDrive "A controlled motor turns a load over a gearbox"
  extends Icons.Example;
  Blocks.Sources.Ramp reference(height = 40, duration = 1, startTime = 0.1) annotation(Placement(transformation(extent = {{-90, -10}, {-70, 10}})));
  Controller controller annotation(Placement(transformation(extent = {{-55, -10}, {-35, 10}})));
  replaceable Motor motor constrainedby Motor "Motor" annotation(Placement(transformation(extent = {{-15, -10}, {5, 10}})));
  GearBox gearbox(ratio = 20) annotation(Placement(transformation(extent = {{25, -10}, {45, 10}})));
  Rotational.Basic.Inertia load(J = 5, phi(start = 0, fixed = true), w(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{65, -10}, {85, 10}})));
equation
  connect(reference.y, controller.reference) annotation(Line(points = {{-69, 0}, {-57, 0}}, color = {0, 0, 127}));
  connect(controller.u, motor.u) annotation(Line(points = {{-34, 0}, {-16, 0}}, color = {0, 0, 127}));
  connect(motor.y, controller.measured) annotation(Line(points = {{-5, -11}, {-5, -18}, {-45, -18}, {-45, -12}}, color = {0, 0, 127}));
  connect(motor.flange, gearbox.a) annotation(Line(points = {{5, 0}, {25, 0}}, color = {100, 100, 100}));
  connect(gearbox.b, load.a) annotation(Line(points = {{45, 0}, {65, 0}}, color = {100, 100, 100}));
initial equation
  motor.inertia.phi = 0;
  motor.inertia.w = 0;
  annotation(experiment(StopTime = 3),
    Documentation(info = "<html>
<p>The controller reads current, speed and angle of the motor and gives it a voltage; the load follows over gear, play and friction.</p>
</html>"));
end PositioningDrive;
