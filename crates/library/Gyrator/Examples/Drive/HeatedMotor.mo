within Gyrator.Examples.Drive;
model HeatedMotor "The motor with a winding that warms up"
  extends Motor(redeclare Electrical.Basic.HeatingResistor R(R = 0.5, alpha = 0.004, Tref = 293.15));
  Heat.FixedTemperature ambient(T = 293.15) annotation(Placement(transformation(extent = {{-100, 80}, {-80, 100}})));
  Heat.Conductor cooling(G = 2) annotation(Placement(transformation(extent = {{-80, 65}, {-60, 85}})));
  Heat.Capacity mass(C = 20, T(start = 293.15, fixed = true)) annotation(Placement(transformation(extent = {{-30, 70}, {-10, 90}})));
equation
  connect(ambient.port, cooling.a) annotation(Line(points = {{-80, 90}, {-80, 75}}, color = {191, 0, 0}));
  connect(cooling.b, R.heat) annotation(Line(points = {{-60, 75}, {-54, 75}, {-54, 24}, {-40, 24}, {-40, 30}}, color = {191, 0, 0}));
  connect(mass.port, R.heat) annotation(Line(points = {{-20, 70}, {-20, 24}, {-40, 24}, {-40, 30}}, color = {191, 0, 0}));
  annotation(Documentation(info = "<html>
<p>The resistor is exchanged, and what takes its heat is added by inheritance.</p>
</html>"));
end HeatedMotor;
