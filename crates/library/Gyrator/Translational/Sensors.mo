within Gyrator.Translational;
package Sensors "Instruments that take up no power"
  extends Icons.SensorsFolder;

  partial model FlangeSensor "Sensor of what one flange does"
    Interfaces.TranslationalFlange flange "Flange" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.RealOutput y "Signal" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    flange.f = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-60, 40}, {60, -40}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 0}),
        Line(points = {{60, 0}, {100, 0}}, color = {0, 0, 127}),
        Line(points = {{0, -20}, {20, 20}}, color = {0, 0, 0})}));
  end FlangeSensor;

  model PositionSensor "Position of a flange"
    extends FlangeSensor(y(unit = "m"));
  equation
    y = flange.s;
    annotation(Icon(graphics = {Text(extent = {{-60, 0}, {0, -40}}, textString = "s")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>s</i>, <i>f</i> = 0.</p>
</html>"));
  end PositionSensor;

  model VelocitySensor "Velocity of a flange"
    extends FlangeSensor(y(unit = "m/s"));
  equation
    y = der(flange.s);
    annotation(Icon(graphics = {Text(extent = {{-60, 0}, {0, -40}}, textString = "v")}),
      Documentation(info = "<html>
<p><i>y</i> = d<i>s</i>/d<i>t</i>, <i>f</i> = 0.</p>
</html>"));
  end VelocitySensor;

  model ForceSensor "Force that flows from a to b"
    extends Bases.TwoFlanges;
    Interfaces.RealOutput y(unit = "N") "Force" annotation(Placement(transformation(origin = {0, -110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    a.s = b.s;
    0 = a.f + b.f;
    y = a.f;
    annotation(Icon(graphics = {Rectangle(extent = {{-60, 40}, {60, -40}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 0}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 0}),
        Line(points = {{0, -40}, {0, -100}}, color = {0, 0, 127}),
        Text(extent = {{-50, 30}, {50, -30}}, textString = "f")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>f<sub>a</sub></i>.</p>
</html>"));
  end ForceSensor;
end Sensors;
