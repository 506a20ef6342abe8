within Gyrator.Mechanics3D;
connector Frame "Coordinate system that is fixed to a component"
  Units.Position r[3] "Position of the origin, resolved in the world";
  Orientation R "Orientation";
  flow Units.Force f[3] "Cut force, resolved in the frame";
  flow Units.Torque t[3] "Cut torque, resolved in the frame";
  annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{-40, 40}, {40, -40}}, lineColor = {95, 95, 95}, fillColor = {95, 95, 95}, fillPattern = FillPattern.Solid)}),
    Diagram(graphics = {Rectangle(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{-20, 20}, {20, -20}}, lineColor = {95, 95, 95}, fillColor = {95, 95, 95}, fillPattern = FillPattern.Solid),
      Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {0, 0, 0})}),
    Documentation(info = "<html>
<p>The power that enters is <b>f</b>&middot;<b>T</b> d<b>r</b>/d<i>t</i> + <b>t</b>&middot;<b>&omega;</b>.</p>
</html>"));
end Frame;
