within Gyrator.Examples.Drive;
model Divider "Circuit whose resistors are of one class, which can be exchanged for all of them"
  extends Icons.Example;
  replaceable model Element = Electrical.Basic.Resistor constrainedby Electrical.Bases.TwoPin "Class of the resistors";
  Electrical.Sources.ConstantVoltage source(V = 60) annotation(Placement(transformation(origin = {-60, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  Element R1(R = 100) annotation(Placement(transformation(extent = {{-30, 30}, {-10, 50}})));
  Element R2(R = 200) annotation(Placement(transformation(extent = {{10, 30}, {30, 50}})));
  Element R3(R = 300) annotation(Placement(transformation(origin = {40, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-70, -70}, {-50, -50}})));
equation
  connect(source.p, R1.p) annotation(Line(points = {{-60, 10}, {-60, 40}, {-30, 40}}, color = {0, 0, 255}));
  connect(R1.n, R2.p) annotation(Line(points = {{-10, 40}, {10, 40}}, color = {0, 0, 255}));
  connect(R2.n, R3.p) annotation(Line(points = {{30, 40}, {40, 40}, {40, 10}}, color = {0, 0, 255}));
  connect(R3.n, source.n) annotation(Line(points = {{40, -10}, {-60, -10}}, color = {0, 0, 255}));
  connect(source.n, ground.p) annotation(Line(points = {{-60, -10}, {-60, -50}}, color = {0, 0, 255}));
  annotation(experiment(StopTime = 10),
    Documentation(info = "<html>
<p>The current is 0.1 A as long as all resistors are cold.</p>
</html>"));
end Divider;
