within Gyrator;
package Electrical "Circuits: passive parts, sources, ideal switches, machines, sensors"
  annotation(Icon(graphics = {Rectangle(extent = {{-80, 40}, {80, -40}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-100, 0}, {-80, 0}}, color = {0, 0, 255}),
      Line(points = {{80, 0}, {100, 0}}, color = {0, 0, 255})}),
    Documentation(info = "<html>
<p>Components touch at pins, which have a potential <code>v</code> and a current <code>i</code> into the component. A connection makes the
potentials equal and the currents sum up to zero, which is Kirchhoff's current law. Every circuit needs one <code>Ground</code>, since only
differences of potentials have an effect.</p>
</html>"));
end Electrical;
