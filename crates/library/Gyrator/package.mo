within;
package Gyrator "The library that comes with the program"
  annotation(version = "0.2.0",
    Icon(graphics = {Rectangle(extent = {{-60, 80}, {60, -80}}, lineColor = {0, 0, 127}, fillColor = {235, 240, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-100, 60}, {-60, 60}}, color = {0, 0, 127}),
      Line(points = {{-100, -60}, {-60, -60}}, color = {0, 0, 127}),
      Line(points = {{60, 60}, {100, 60}}, color = {0, 0, 127}),
      Line(points = {{60, -60}, {100, -60}}, color = {0, 0, 127}),
      Line(points = {{-35, 25}, {35, 25}}, color = {0, 0, 127}, arrow = {Arrow.None, Arrow.Filled}, arrowSize = 12),
      Line(points = {{35, -25}, {-35, -25}}, color = {0, 0, 127}, arrow = {Arrow.None, Arrow.Filled}, arrowSize = 12)}),
    Documentation(info = "<html>
<p>Components of every domain, written so that they can be read. The library is part of the program: nothing needs to be
installed, and its names never clash with those of the Modelica Standard Library.</p>
<p>Each component is a handful of equations between the variables of its connectors (<code>Gyrator.Interfaces</code>). Connections
add the rest: potentials are equal, flows sum up to zero. <code>Gyrator.Examples</code> has complete models.</p>
</html>"));
end Gyrator;
