within Gyrator.Examples.Drive;
model GearBox "Gear with play, elasticity and friction of its bearing"
  Interfaces.Flange a "Fast shaft" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Interfaces.Flange b "Slow shaft" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  parameter Real ratio = 20 "Speed of a by speed of b";
  Rotational.Gears.SpurGear gear(ratio = ratio) annotation(Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
  Rotational.Friction.BearingFriction bearing(tauCoulomb = 0.2, d = 0.05) annotation(Placement(transformation(extent = {{-30, -10}, {-10, 10}})));
  Rotational.Basic.Inertia wheel(J = 0.05) annotation(Placement(transformation(extent = {{10, -10}, {30, 10}})));
  Rotational.Basic.ElasticBacklash backlash(play = 0.002, c = 5000, d = 20) annotation(Placement(transformation(extent = {{50, -10}, {70, 10}})));
equation
  connect(a, gear.a) annotation(Line(points = {{-100, 0}, {-70, 0}}, color = {100, 100, 100}));
  connect(gear.b, bearing.a) annotation(Line(points = {{-50, 0}, {-30, 0}}, color = {100, 100, 100}));
  connect(bearing.b, wheel.a) annotation(Line(points = {{-10, 0}, {10, 0}}, color = {100, 100, 100}));
  connect(wheel.b, backlash.a) annotation(Line(points = {{30, 0}, {50, 0}}, color = {100, 100, 100}));
  connect(backlash.b, b) annotation(Line(points = {{70, 0}, {100, 0}}, color = {100, 100, 100}));
  annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
      Rectangle(extent = {{-100, 10}, {-40, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{-40, 30}, {0, -30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{0, 80}, {40, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{40, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html>
<p>An ideal gear, dry friction, the inertia of the wheel, and play between elastic flanks.</p>
</html>"));
end GearBox;
