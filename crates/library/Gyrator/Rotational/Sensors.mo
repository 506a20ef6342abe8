within Gyrator.Rotational;
package Sensors "Instruments that take up no power"
  extends Icons.SensorsFolder;

  partial model FlangeSensor "Sensor of what one flange does"
    Interfaces.Flange flange "Flange" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.RealOutput y "Signal" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    flange.tau = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 0}),
        Line(points = {{60, 0}, {100, 0}}, color = {0, 0, 127}),
        Line(points = {{0, 0}, {30, 40}}, color = {0, 0, 0})}));
  end FlangeSensor;

  model AngleSensor "Angle of a flange"
    extends FlangeSensor(y(unit = "rad"));
  equation
    y = flange.phi;
    annotation(Icon(graphics = {Text(extent = {{-50, 0}, {50, -50}}, textString = "phi")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>&phi;</i>, <i>&tau;</i> = 0.</p>
</html>"));
  end AngleSensor;

  model SpeedSensor "Angular velocity of a flange"
    extends FlangeSensor(y(unit = "rad/s"));
  equation
    y = der(flange.phi);
    annotation(Icon(graphics = {Text(extent = {{-50, 0}, {50, -50}}, textString = "w")}),
      Documentation(info = "<html>
<p><i>y</i> = d<i>&phi;</i>/d<i>t</i>, <i>&tau;</i> = 0.</p>
</html>"));
  end SpeedSensor;

  model AccelerationSensor "Angular acceleration of a flange"
    extends FlangeSensor(y(unit = "rad/s2"));
    Units.AngularVelocity w "Angular velocity";
  equation
    w = der(flange.phi);
    y = der(w);
    annotation(Icon(graphics = {Text(extent = {{-50, 0}, {50, -50}}, textString = "a")}),
      Documentation(info = "<html>
<p><i>y</i> = d&sup2;<i>&phi;</i>/d<i>t</i>&sup2;, <i>&tau;</i> = 0.</p>
</html>"));
  end AccelerationSensor;

  model TorqueSensor "Torque that flows from a to b"
    extends Bases.TwoFlanges;
    Interfaces.RealOutput y(unit = "N.m") "Torque" annotation(Placement(transformation(origin = {0, -110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    a.phi = b.phi;
    0 = a.tau + b.tau;
    y = a.tau;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 0}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 0, 0}),
        Line(points = {{0, -60}, {0, -100}}, color = {0, 0, 127}),
        Text(extent = {{-50, 30}, {50, -30}}, textString = "tau")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>&tau;<sub>a</sub></i>; both flanges turn together.</p>
</html>"));
  end TorqueSensor;
end Sensors;
