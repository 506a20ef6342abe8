within Gyrator.Mechanics3D;
model World "The frame that does not move, and gravity"
  parameter Units.Acceleration g = Units.standardGravity "Acceleration of free fall";
  parameter Real down[3] = {0, -1, 0} "Direction of free fall, of length one";
  final parameter Units.Acceleration gravity[3] = g*down "Acceleration of free fall, resolved in the world";
  Frame frame "Frame" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
equation
  Connections.root(frame.R);
  frame.r = zeros(3);
  frame.R.T = identity(3);
  frame.R.w = zeros(3);
  annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {95, 95, 95}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-60, -60}, {-60, 70}}, color = {95, 95, 95}, arrow = {Arrow.None, Arrow.Filled}),
      Line(points = {{-60, -60}, {70, -60}}, color = {95, 95, 95}, arrow = {Arrow.None, Arrow.Filled}),
      Line(points = {{30, 60}, {30, -20}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled})}),
    defaultComponentName = "world", defaultComponentPrefixes = "inner",
    Documentation(info = "<html>
<p><b>r</b> = 0, <b>T</b> = 1. Bodies ask it for gravity; it is declared as <code>inner World world</code>.</p>
</html>"));
end World;
