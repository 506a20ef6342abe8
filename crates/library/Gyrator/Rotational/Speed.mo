within Gyrator.Rotational;
package Speed "Power drives: flanges that know the speed of a shaft, not its angle"
  extends Icons.Folder;

  partial model TwoFlanges "Component with two flanges"
    Interfaces.SpeedFlange a "Left flange" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.SpeedFlange b "Right flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end TwoFlanges;

  model Inertia "Shaft with a moment of inertia"
    extends TwoFlanges;
    parameter Units.Inertia J(min = 0) = 1 "Moment of inertia";
    Units.AngularVelocity w "Angular velocity";
  equation
    w = a.w;
    w = b.w;
    J*der(w) = a.tau + b.tau;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-50, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-50, 60}, {50, -60}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{50, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "J = %J")}),
      Documentation(info = "<html>
<p><i>J</i> d<i>&omega;</i>/d<i>t</i> = <i>&tau;<sub>a</sub></i> + <i>&tau;<sub>b</sub></i>. The angle, which only grows, is no variable.</p>
</html>"));
  end Inertia;

  model Damper "Torque by relative speed"
    extends TwoFlanges;
    parameter Units.RotationalDamping d = 1 "Damping";
    Units.Power loss "Power that becomes heat";
  equation
    b.tau = d*(b.w - a.w);
    0 = a.tau + b.tau;
    loss = d*(b.w - a.w)^2;
    annotation(Icon(graphics = {Rectangle(extent = {{-50, 40}, {30, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-100, 0}, {-50, 0}}, color = {0, 0, 0}),
        Line(points = {{30, 0}, {100, 0}}, color = {0, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "d = %d")}),
      Documentation(info = "<html>
<p><i>&tau;<sub>b</sub></i> = <i>d</i> (<i>&omega;<sub>b</sub></i> &minus; <i>&omega;<sub>a</sub></i>).</p>
</html>"));
  end Damper;

  model Gear "Ideal gear with a fixed ratio"
    extends TwoFlanges;
    parameter Real ratio = 1 "Speed of a by speed of b";
  equation
    a.w = ratio*b.w;
    0 = ratio*a.tau + b.tau;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-40, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-40, 30}, {0, -30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{0, 90}, {40, -30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "ratio = %ratio")}),
      Documentation(info = "<html>
<p><i>&omega;<sub>a</sub></i> = <i>i &omega;<sub>b</sub></i>, &nbsp; 0 = <i>i &tau;<sub>a</sub></i> + <i>&tau;<sub>b</sub></i>.</p>
</html>"));
  end Gear;

  model Torque "Torque given by a signal"
    Interfaces.RealInput tau(unit = "N.m") "Torque on the flange" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
    Interfaces.SpeedFlange flange "Flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    flange.tau = -tau;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-60, -40}, {-30, 10}, {10, 40}, {50, 40}}, color = {0, 0, 0}),
        Line(points = {{30, 44}, {60, 36}}, color = {0, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html>
<p><i>&tau;</i> = &minus;<i>u</i>.</p>
</html>"));
  end Torque;

  model FromAngle "Joins a flange with an angle to one with a speed"
    Interfaces.Flange a "Flange with an angle" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.SpeedFlange b "Flange with a speed" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    b.w = der(a.phi);
    0 = a.tau + b.tau;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 40}, {0, -40}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p><i>&omega;<sub>b</sub></i> = d<i>&phi;<sub>a</sub></i>/d<i>t</i>, &nbsp; 0 = <i>&tau;<sub>a</sub></i> + <i>&tau;<sub>b</sub></i>.</p>
</html>"));
  end FromAngle;
end Speed;
