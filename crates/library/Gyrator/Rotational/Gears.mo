within Gyrator.Rotational;
package Gears "Gears: without loss, by their ratios and numbers of teeth; with mesh loss"
  extends Icons.Folder;

  model SpurGear "Ideal gear with a fixed ratio"
    extends Bases.TwoFlanges;
    parameter Real ratio = 1 "Speed of a by speed of b";
  equation
    a.phi = ratio*b.phi;
    0 = ratio*a.tau + b.tau;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-40, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-40, 30}, {0, -30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{0, 90}, {40, -30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "ratio = %ratio")}),
      Documentation(info = "<html>
<p><i>&phi;<sub>a</sub></i> = <i>i &phi;<sub>b</sub></i>, &nbsp; 0 = <i>i &tau;<sub>a</sub></i> + <i>&tau;<sub>b</sub></i>. No power is lost.</p>
</html>"));
  end SpurGear;

  model StandardPlanetary "Planetary gear with sun, carrier and ring"
    parameter Integer zs(min = 1) = 35 "Number of teeth of the sun";
    parameter Integer zr(min = 1) = 73 "Number of teeth of the ring";
    final parameter Real i0 = zr/zs "Teeth of the ring by teeth of the sun";
    Interfaces.Flange sun "Sun" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Flange carrier "Carrier of the planets" annotation(Placement(transformation(extent = {{-110, 50}, {-90, 70}})));
    Interfaces.Flange ring "Ring" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    assert(zr > zs, "The ring has no more teeth than the sun: zr has to be larger than zs");
    (1 + i0)*carrier.phi = sun.phi + i0*ring.phi;
    ring.tau = i0*sun.tau;
    carrier.tau = -(1 + i0)*sun.tau;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 10}, {-20, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 35}, {20, -35}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 80}, {20, 40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, -40}, {20, -80}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-100, 65}, {-20, 55}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 90}, {50, -90}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 90}, {50, 84}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, -84}, {50, -90}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{50, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "zr/zs = %i0")}),
      Documentation(info = "<html>
<p>With <i>i</i><sub>0</sub> = <i>z<sub>r</sub></i>/<i>z<sub>s</sub></i>: (1 + <i>i</i><sub>0</sub>) <i>&phi;<sub>c</sub></i> = <i>&phi;<sub>s</sub></i> + <i>i</i><sub>0</sub> <i>&phi;<sub>r</sub></i>. Since no power is lost at any two independent speeds,
<i>&tau;<sub>r</sub></i> = <i>i</i><sub>0</sub> <i>&tau;<sub>s</sub></i> and <i>&tau;<sub>c</sub></i> = &minus;(1 + <i>i</i><sub>0</sub>) <i>&tau;<sub>s</sub></i>.</p>
</html>"));
  end StandardPlanetary;

  model Differential "Splits a torque into two equal ones"
    Interfaces.Flange drive "Driven cage" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Flange left "Left wheel" annotation(Placement(transformation(extent = {{90, 50}, {110, 70}})));
    Interfaces.Flange right "Right wheel" annotation(Placement(transformation(extent = {{90, -70}, {110, -50}})));
  equation
    drive.phi = (left.phi + right.phi)/2;
    0 = left.tau + drive.tau/2;
    0 = right.tau + drive.tau/2;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 10}, {-30, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-30, 60}, {50, -60}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{50, 65}, {100, 55}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{50, -55}, {100, -65}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html>
<p><i>&phi;</i><sub>0</sub> = (<i>&phi;</i><sub>1</sub> + <i>&phi;</i><sub>2</sub>)/2, &nbsp; <i>&tau;</i><sub>1</sub> = <i>&tau;</i><sub>2</sub> = &minus;<i>&tau;</i><sub>0</sub>/2.</p>
</html>"));
  end Differential;

  model LossyGear "Gear with mesh loss by load and friction of its bearings"
    extends Bases.TwoFlanges;
    extends Friction.Automaton(final peak = 1);
    parameter Real ratio = 1 "Speed of a by speed of b";
    parameter Real eta1(min = 0, max = 1) = 0.95 "Efficiency when a drives b";
    parameter Real eta2(min = 0, max = 1) = 0.95 "Efficiency when b drives a";
    parameter Units.Torque tauIdle(min = 0) = 0 "Friction torque without load, at a";
    Units.Torque pushing "What the mesh loses when a pushes forward";
    Units.Torque pulling "What the mesh loses when a is pushed backward";
    Boolean isPositive "Whether the torque at a is positive";
    Units.Power loss "Power that becomes heat";
  equation
    a.phi = ratio*b.phi;
    w = der(a.phi);
    0 = ratio*(a.tau - tau) + b.tau;
    assert(eta2 > 0, "The efficiency eta2 is not positive: a gear that locks itself has a small one");
    isPositive = a.tau > 0;
    pushing = (1 - eta1)*a.tau;
    pulling = (1 - 1/eta2)*a.tau;
    tauForward = tauIdle + (if isPositive then pushing else pulling);
    tauBackward = -tauIdle + (if isPositive then pulling else pushing);
    tauSlide = if forward then tauForward else tauBackward;
    free = false;
    loss = tau*w;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-40, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-40, 30}, {0, -30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{0, 90}, {40, -30}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{20, -30}, {20, -80}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "ratio = %ratio")}),
      Documentation(info = "<html>
<p><i>&phi;<sub>a</sub></i> = <i>i &phi;<sub>b</sub></i>, &nbsp; 0 = <i>i</i> (<i>&tau;<sub>a</sub></i> &minus; <i>&tau;</i>) + <i>&tau;<sub>b</sub></i>. The friction torque <i>&tau;</i> is the part of <i>&tau;<sub>a</sub></i> that the flanks of the teeth lose:
(1 &minus; <i>&eta;</i><sub>1</sub>) <i>&tau;<sub>a</sub></i> where a drives, (1 &minus; 1/<i>&eta;</i><sub>2</sub>) <i>&tau;<sub>a</sub></i> where b drives, and the friction of the bearings in addition. At rest it is whatever keeps the gear at rest
between these two.</p>
</html>"));
  end LossyGear;
end Gears;
