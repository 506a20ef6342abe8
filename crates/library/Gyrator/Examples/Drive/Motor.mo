within Gyrator.Examples.Drive;
model Motor "DC motor with sensors for the controller"
  Interfaces.RealInput u(unit = "V") "Voltage" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
  Interfaces.Flange flange "Shaft" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Interfaces.RealOutput y[3] "Current, speed and angle" annotation(Placement(transformation(origin = {0, -110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  Electrical.Sources.SignalVoltage supply annotation(Placement(transformation(origin = {-70, 0}, extent = {{-10, 10}, {10, -10}}, rotation = -90)));
  replaceable Electrical.Basic.Resistor R(R = 0.5) constrainedby Electrical.Bases.TwoPin "Winding" annotation(Placement(transformation(extent = {{-50, 30}, {-30, 50}})));
  Electrical.Basic.Inductor L(L = 0.05, i(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{-20, 30}, {0, 50}})));
  Electrical.Sensors.Ammeter ammeter annotation(Placement(transformation(extent = {{10, 30}, {30, 50}})));
  Electrical.Machines.EMF emf(k = 1) annotation(Placement(transformation(origin = {40, 0}, extent = {{10, -10}, {-10, 10}}, rotation = 90)));
  Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-80, -60}, {-60, -40}})));
  Rotational.Basic.Inertia inertia(J = 0.001) annotation(Placement(transformation(extent = {{60, -10}, {80, 10}})));
  Rotational.Sensors.SpeedSensor speed annotation(Placement(transformation(origin = {60, -30}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  Rotational.Sensors.AngleSensor angle annotation(Placement(transformation(origin = {85, -30}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
equation
  connect(u, supply.v) annotation(Line(points = {{-110, 0}, {-81, 0}}, color = {0, 0, 127}));
  connect(supply.p, R.p) annotation(Line(points = {{-70, 10}, {-70, 40}, {-50, 40}}, color = {0, 0, 255}));
  connect(R.n, L.p) annotation(Line(points = {{-30, 40}, {-20, 40}}, color = {0, 0, 255}));
  connect(L.n, ammeter.p) annotation(Line(points = {{0, 40}, {10, 40}}, color = {0, 0, 255}));
  connect(ammeter.n, emf.p) annotation(Line(points = {{30, 40}, {40, 40}, {40, 10}}, color = {0, 0, 255}));
  connect(emf.n, supply.n) annotation(Line(points = {{40, -10}, {-70, -10}}, color = {0, 0, 255}));
  connect(supply.n, ground.p) annotation(Line(points = {{-70, -10}, {-70, -40}}, color = {0, 0, 255}));
  connect(emf.flange, inertia.a) annotation(Line(points = {{50, -6.12323e-16}, {60, 0}}, color = {100, 100, 100}));
  connect(inertia.b, flange) annotation(Line(points = {{80, 0}, {100, 0}}, color = {100, 100, 100}));
  connect(inertia.b, speed.flange) annotation(Line(points = {{80, 0}, {85, 0}, {85, -16}, {60, -16}, {60, -20}}, color = {100, 100, 100}));
  connect(inertia.b, angle.flange) annotation(Line(points = {{80, 0}, {85, 0}, {85, -20}}, color = {100, 100, 100}));
  connect(ammeter.y, y[1]) annotation(Line(points = {{20, 29}, {20, -40.5}, {0, -40.5}, {0, -110}}, color = {0, 0, 127}));
  connect(speed.y, y[2]) annotation(Line(points = {{60, -41}, {60, -75.5}, {0, -75.5}, {0, -110}}, color = {0, 0, 127}));
  connect(angle.y, y[3]) annotation(Line(points = {{85, -41}, {85, -75.5}, {0, -75.5}, {0, -110}}, color = {0, 0, 127}));
  annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
      Rectangle(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Text(extent = {{-50, 30}, {50, -30}}, textString = "M")}),
    Documentation(info = "<html>
<p>Voltage in, shaft out. Any component with two pins and a resistance <code>R</code> may be its winding.</p>
</html>"));
end Motor;
