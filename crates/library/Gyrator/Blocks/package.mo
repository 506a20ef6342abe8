within Gyrator;
package Blocks "Signals: continuous, sampled and logical blocks, tables, sources"
  annotation(Icon(graphics = {Rectangle(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-100, 0}, {-60, 0}}, color = {0, 0, 127}),
      Line(points = {{60, 0}, {100, 0}}, color = {0, 0, 127}, arrow = {Arrow.None, Arrow.Filled})}),
    Documentation(info = "<html>
<p>Signals have a direction: a block reads its inputs <code>u</code> and writes its output <code>y</code>. They carry no power.</p>
</html>"));
end Blocks;
