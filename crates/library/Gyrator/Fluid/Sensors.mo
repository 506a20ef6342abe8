within Gyrator.Fluid;
package Sensors "Instruments"
  extends Icons.SensorsFolder;

  model FlowSensor "Mass flow from a to b, and its temperature"
    extends Basic.Adiabatic annotation(IconMap(primitivesVisible = false));
    Interfaces.RealOutput y(unit = "kg/s") "Mass flow" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = 90)));
    Interfaces.RealOutput T(unit = "K") "Temperature of what flows" annotation(Placement(transformation(origin = {0, -110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    dp = 0;
    y = m_flow;
    T = Medium.temperature(a.p, actualStream(a.h_outflow));
    annotation(Icon(graphics = {Text(extent = {{20, 135}, {170, 105}}, textString = "%name", textColor = {0, 0, 255}, horizontalAlignment = TextAlignment.Left),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 255}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 255}),
        Line(points = {{0, 60}, {0, 100}}, color = {0, 0, 127}),
        Line(points = {{0, -60}, {0, -100}}, color = {0, 0, 127}),
        Text(extent = {{-50, 40}, {50, -40}}, textString = "m")}),
      Documentation(info = "<html>
<p>The pressures are equal; the temperature is that of the side the fluid comes from.</p>
</html>"));
  end FlowSensor;

  model PressureSensor "Pressure of a port"
    replaceable package Medium = Media.Water constrainedby Media.Medium "Medium";
    Interfaces.FluidPort port(medium = Medium.name) "Port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.RealOutput y(unit = "Pa") "Pressure" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    y = port.p;
    port.m_flow = 0;
    port.h_outflow = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 255}),
        Line(points = {{60, 0}, {100, 0}}, color = {0, 0, 127}),
        Text(extent = {{-50, 40}, {50, -40}}, textString = "p")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>p</i>; nothing flows.</p>
</html>"));
  end PressureSensor;
end Sensors;
