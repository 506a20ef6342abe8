within Gyrator.Electrical;
package Sensors "Instruments that take up no power"
  extends Icons.SensorsFolder;

  model Voltmeter "Voltage between two pins"
    Interfaces.Pin p "Positive pin" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Pin n "Negative pin" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Interfaces.RealOutput y(unit = "V") "Voltage from p to n" annotation(Placement(transformation(origin = {0, -110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    y = p.v - n.v;
    p.i = 0;
    n.i = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 255}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{0, -60}, {0, -100}}, color = {0, 0, 127}),
        Text(extent = {{-50, 40}, {50, -40}}, textString = "V")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>v<sub>p</sub></i> &minus; <i>v<sub>n</sub></i>; no current flows.</p>
</html>"));
  end Voltmeter;

  model Ammeter "Current from p to n"
    extends Bases.TwoPin;
    Interfaces.RealOutput y(unit = "A") "Current from p to n" annotation(Placement(transformation(origin = {0, -110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    u = 0;
    y = i;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 255}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{0, -60}, {0, -100}}, color = {0, 0, 127}),
        Text(extent = {{-50, 40}, {50, -40}}, textString = "A")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>i</i>, <i>u</i> = 0.</p>
</html>"));
  end Ammeter;

  model PotentialSensor "Potential of a pin"
    Interfaces.Pin p "Pin" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.RealOutput y(unit = "V") "Potential" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    y = p.v;
    p.i = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 255}),
        Line(points = {{60, 0}, {100, 0}}, color = {0, 0, 127}),
        Text(extent = {{-50, 40}, {50, -40}}, textString = "v")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>v</i>; no current flows.</p>
</html>"));
  end PotentialSensor;

  model Wattmeter "Power that flows through"
    Interfaces.Pin p "Current path, from the source" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Pin n "Current path, to the consumer" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Interfaces.Pin reference "Potential to which the voltage is measured" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Interfaces.RealOutput y(unit = "W") "Power" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = 90)));
  equation
    p.v = n.v;
    0 = p.i + n.i;
    reference.i = 0;
    y = p.i*(p.v - reference.v);
    annotation(Icon(graphics = {Text(extent = {{20, 135}, {170, 105}}, textString = "%name", textColor = {0, 0, 255}, horizontalAlignment = TextAlignment.Left),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 255}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{0, -60}, {0, -90}}, color = {0, 0, 255}),
        Line(points = {{0, 60}, {0, 100}}, color = {0, 0, 127}),
        Text(extent = {{-50, 40}, {50, -40}}, textString = "W")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>i</i> (<i>v</i> &minus; <i>v</i><sub>reference</sub>).</p>
</html>"));
  end Wattmeter;
end Sensors;
