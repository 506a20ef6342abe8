within Gyrator.Rotational;
package Ideal "Friction, clutches and backlash as equations alone: the structure changes with them"
  extends Icons.Folder;

  model Clutch "Joins two shafts rigidly while it is engaged"
    extends Bases.Slipping annotation(IconMap(primitivesVisible = false));
    Interfaces.BooleanInput engaged "Whether the shafts turn together" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    if engaged then
      w = 0;
    else
      tau = 0;
    end if;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 10}, {-20, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 60}, {-6, -60}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{6, 60}, {20, -60}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{20, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 90}, {0, 70}}, color = {255, 0, 255})}),
      Documentation(info = "<html>
<p>Engaged: <i>&omega;</i> = 0, else <i>&tau;</i> = 0. Where the speeds differ at the instant of engaging, they jump to the common one; the angular momentum of both sides is
conserved.</p>
</html>"));
  end Clutch;

  model Brake "Holds a shaft while it is engaged"
    extends Bases.TwoFlanges annotation(IconMap(primitivesVisible = false));
    Interfaces.BooleanInput engaged "Whether the shaft is held" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Units.AngularVelocity w "Angular velocity";
    Units.Torque tau "Torque of the brake";
  equation
    a.phi = b.phi;
    w = der(a.phi);
    0 = a.tau + b.tau - tau;
    if engaged then
      w = 0;
    else
      tau = 0;
    end if;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 60}, {20, 20}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, -20}, {20, -60}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 90}, {0, 60}}, color = {255, 0, 255}),
        Line(points = {{-30, 60}, {30, 60}}, color = {0, 0, 0}),
        Line(points = {{-30, -60}, {30, -60}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p>Engaged: <i>&omega;</i> = 0, else <i>&tau;</i> = 0.</p>
</html>"));
  end Brake;

  model Freewheel "Lets a turn faster than b, but not slower"
    extends Bases.Slipping;
    Real s "Curve parameter: the speed when free, the torque when locked";
    Boolean locked "Whether both turn together";
  protected
    constant Units.AngularVelocity unitSpeed = 1;
    constant Units.Torque unitTorque = 1;
  equation
    locked = s < 0;
    w = if locked then 0 else s*unitSpeed;
    tau = if locked then s*unitTorque else 0;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-40, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-40, 40}, {40, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Polygon(points = {{-20, 30}, {20, 0}, {-20, -30}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid),
        Line(points = {{20, 30}, {20, -30}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p>The characteristic of an ideal diode between speed and torque: <i>&omega;</i> = <i>s</i>, <i>&tau;</i> = 0 for <i>s</i> &ge; 0, else <i>&omega;</i> = 0, <i>&tau;</i> = <i>s</i>.</p>
</html>"));
  end Freewheel;

  model Friction "Dry and viscous friction between two shafts"
    extends Bases.Slipping;
    parameter Units.Torque tauCoulomb(min = 0) = 1 "Dry friction";
    parameter Units.RotationalDamping d = 0 "Viscous friction";
    Real s "Curve parameter";
    Boolean forward "Slides forward";
    Boolean backward "Slides backward";
    Units.Power loss = tau*w "Power that becomes heat";
  protected
    constant Units.AngularVelocity unitSpeed = 1;
  equation
    forward = s > 1;
    backward = s < -1;
    w = if forward then (s - 1)*unitSpeed else if backward then (s + 1)*unitSpeed else 0;
    tau = if forward then tauCoulomb + d*w else if backward then -tauCoulomb + d*w else tauCoulomb*s;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-20, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{20, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 50}, {0, -50}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{0, 50}, {20, -50}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "tau = %tauCoulomb")}),
      Documentation(info = "<html>
<p>The characteristic alone: <i>&omega;</i> = <i>s</i> &minus; 1, <i>&tau;</i> = <i>&tau;<sub>c</sub></i> + <i>d &omega;</i> for <i>s</i> &gt; 1; <i>&omega;</i> = <i>s</i> + 1, <i>&tau;</i> = &minus;<i>&tau;<sub>c</sub></i> + <i>d &omega;</i> for <i>s</i> &lt; &minus;1;
<i>&omega;</i> = 0, <i>&tau;</i> = <i>&tau;<sub>c</sub> s</i> in between.</p>
</html>"));
  end Friction;

  model Backlash "Play with rigid stops; impacts are inelastic"
    extends Bases.TwoFlanges;
    parameter Units.Angle play(min = 0) = 0.1 "Total play";
    Units.Angle phi "Angle of b relative to a";
    Units.Torque tau "Torque at b, into the component";
    Real s(start = 0) "Curve parameter: relative angle, beyond the play the torque";
    Boolean right "Touches the right stop";
    Boolean left "Touches the left stop";
  protected
    constant Units.Angle unitAngle = 1;
    constant Units.Torque unitTorque = 1;
    final parameter Real half = play/2/unitAngle;
  equation
    phi = b.phi - a.phi;
    tau = b.tau;
    0 = a.tau + b.tau;
    right = s > half;
    left = s < -half;
    phi = if right then play/2 else if left then -play/2 else s*unitAngle;
    tau = if right then (s - half)*unitTorque else if left then (s + half)*unitTorque else 0;
    annotation(Icon(graphics = {Line(points = {{-100, 0}, {-20, 0}}, color = {0, 0, 0}),
        Line(points = {{100, 0}, {60, 0}, {60, 40}, {-60, 40}, {-60, 20}}, color = {0, 0, 0}),
        Line(points = {{60, 0}, {60, -40}, {-60, -40}, {-60, -20}}, color = {0, 0, 0}),
        Line(points = {{-20, 30}, {-20, -30}}, color = {0, 0, 0}, thickness = 1),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "play = %play")}),
      Documentation(info = "<html>
<p>Within the play there is no torque; at a stop the relative angle is constant and the torque presses. At an impact the speeds jump to a common one, and
the angular momentum of both sides is conserved.</p>
</html>"));
  end Backlash;
end Ideal;
