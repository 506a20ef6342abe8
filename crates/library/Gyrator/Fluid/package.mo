within Gyrator;
package Fluid "Pipe flow of one substance in one phase: vessels, pipes, pumps, heat exchangers, with exchangeable media"
  annotation(Icon(graphics = {Rectangle(extent = {{-100, 30}, {100, -30}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-50, 0}, {50, 0}}, color = {0, 127, 255}, arrow = {Arrow.None, Arrow.Filled})}),
    Documentation(info = "<html>
<p>A port has the pressure <code>p</code>, the mass flow <code>m_flow</code> into the component and the specific enthalpy <code>h_outflow</code> that the component would give to what
flows out of it. The energy that enters is mass flow times specific enthalpy, of whichever side the fluid comes from (<code>inStream</code>, <code>actualStream</code>).</p>
<p>Every component has a replaceable package <code>Medium</code>; a medium is chosen once for a model, by redeclaration.</p>
</html>"));
end Fluid;
