within Gyrator.Blocks;
package Math "Sums, products, limits"
  extends Icons.Folder;

  block Gain "Multiplication with a constant"
    extends Bases.OneInput;
    parameter Real k = 1 "Factor";
  equation
    y = k*u;
    annotation(Icon(graphics = {Polygon(points = {{-90, 80}, {80, 0}, {-90, -80}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "k = %k")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>k u</i>.</p>
</html>"));
  end Gain;

  block Add "Weighted sum of two signals"
    extends Bases.TwoInputs;
    parameter Real k1 = 1 "Factor of the first input";
    parameter Real k2 = 1 "Factor of the second input";
  equation
    y = k1*u1 + k2*u2;
    annotation(Icon(graphics = {Text(extent = {{-60, 60}, {60, -60}}, textString = "+")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>k</i><sub>1</sub> <i>u</i><sub>1</sub> + <i>k</i><sub>2</sub> <i>u</i><sub>2</sub>.</p>
</html>"));
  end Add;

  block Feedback "Difference of a reference and a measurement"
    extends Bases.Frame;
    Interfaces.RealInput u1 "Reference" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
    Interfaces.RealInput u2 "Measurement" annotation(Placement(transformation(origin = {0, -120}, extent = {{-20, -20}, {20, 20}}, rotation = 90)));
    Interfaces.RealOutput y "Difference" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    y = u1 - u2;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-50, 30}, {0, -30}}, textString = "+"),
        Text(extent = {{-20, 0}, {60, -60}}, textString = "-")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>u</i><sub>1</sub> &minus; <i>u</i><sub>2</sub>.</p>
</html>"));
  end Feedback;

  block Product "Product of two signals"
    extends Bases.TwoInputs;
  equation
    y = u1*u2;
    annotation(Icon(graphics = {Text(extent = {{-60, 60}, {60, -60}}, textString = "x")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>u</i><sub>1</sub> <i>u</i><sub>2</sub>.</p>
</html>"));
  end Product;

  block Division "Quotient of two signals"
    extends Bases.TwoInputs;
  equation
    y = u1/u2;
    annotation(Icon(graphics = {Text(extent = {{-60, 60}, {60, -60}}, textString = "/")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>u</i><sub>1</sub>/<i>u</i><sub>2</sub>.</p>
</html>"));
  end Division;

  block Absolute "Absolute value"
    extends Bases.OneInput;
  equation
    y = abs(u);
    annotation(Icon(graphics = {Line(points = {{-80, 80}, {0, -60}, {80, 80}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>y</i> = |<i>u</i>|.</p>
</html>"));
  end Absolute;

  block Limiter "Keeps a signal between two limits"
    extends Bases.OneInput;
    parameter Real uMax = 1 "Upper limit";
    parameter Real uMin = -uMax "Lower limit";
  equation
    assert(uMin <= uMax, "The lower limit uMin is above the upper limit uMax");
    y = if u > uMax then uMax else if u < uMin then uMin else u;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {-40, -60}, {40, 60}, {80, 60}}, color = {0, 0, 127}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "%uMax")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>u</i> between the limits; beyond one of them, that limit.</p>
</html>"));
  end Limiter;

  block DeadZone "Zero between two limits"
    extends Bases.OneInput;
    parameter Real uMax = 1 "Upper limit";
    parameter Real uMin = -uMax "Lower limit";
  equation
    assert(uMin <= uMax, "The lower limit uMin is above the upper limit uMax");
    y = if u > uMax then u - uMax else if u < uMin then u - uMin else 0;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {-30, 0}, {30, 0}, {80, 60}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>Zero between the limits; beyond one of them, the distance from it.</p>
</html>"));
  end DeadZone;
end Math;
