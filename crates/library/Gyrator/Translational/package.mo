within Gyrator;
package Translational "Masses that slide along a line: springs, dampers, stops, ropes, friction"
  annotation(Icon(graphics = {Rectangle(extent = {{-60, 40}, {60, -40}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
      Line(points = {{-100, 0}, {-60, 0}}, color = {0, 127, 0}),
      Line(points = {{60, 0}, {100, 0}}, color = {0, 127, 0})}),
    Documentation(info = "<html>
<p>Components touch at flanges, which have the absolute position <code>s</code> and the cut force <code>f</code> into the component.</p>
<p>As with drive trains, <code>Friction</code> has the form with a finite automaton and <code>Ideal</code> the declarative one, whose structure changes.</p>
</html>"));
end Translational;
