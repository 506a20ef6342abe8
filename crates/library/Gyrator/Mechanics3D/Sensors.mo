within Gyrator.Mechanics3D;
package Sensors "Instruments"
  extends Icons.SensorsFolder;

  model PositionSensor "Position of a frame, resolved in the world"
    Frame frame "Frame" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.RealOutput y[3](each unit = "m") "Position" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    y = frame.r;
    frame.f = zeros(3);
    frame.t = zeros(3);
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {95, 95, 95}),
        Line(points = {{60, 0}, {100, 0}}, color = {0, 0, 127}),
        Text(extent = {{-50, 40}, {50, -40}}, textString = "r")}),
      Documentation(info = "<html>
<p><i>y</i> = <b>r</b>; no force acts.</p>
</html>"));
  end PositionSensor;
end Sensors;
