within Gyrator.Rotational;
package Basic "Inertias, springs, dampers, backlash, housing, torques"
  extends Icons.Folder;

  model Inertia "Shaft with a moment of inertia"
    extends Bases.TwoFlanges;
    parameter Units.Inertia J(min = 0) = 1 "Moment of inertia";
    Units.Angle phi "Angle";
    Units.AngularVelocity w "Angular velocity";
    Units.AngularAcceleration alpha "Angular acceleration";
  equation
    phi = a.phi;
    phi = b.phi;
    w = der(phi);
    alpha = der(w);
    J*alpha = a.tau + b.tau;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-50, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-50, 60}, {50, -60}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{50, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "J = %J")}),
      Documentation(info = "<html>
<p><i>&phi;<sub>a</sub></i> = <i>&phi;<sub>b</sub></i>, &nbsp; <i>J</i> d<i>&omega;</i>/d<i>t</i> = <i>&tau;<sub>a</sub></i> + <i>&tau;<sub>b</sub></i>. It stores the energy <i>J &omega;</i>&sup2;/2.</p>
</html>"));
  end Inertia;

  model Spring "Elastic shaft"
    extends Bases.Compliant;
    parameter Units.RotationalStiffness c = 1 "Stiffness";
    parameter Units.Angle phi0 = 0 "Relative angle without torque";
  equation
    tau = c*(phi - phi0);
    annotation(Icon(graphics = {Line(points = {{-100, 0}, {-60, 0}, {-45, -40}, {-15, 40}, {15, -40}, {45, 40}, {60, 0}, {100, 0}}, color = {0, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "c = %c")}),
      Documentation(info = "<html>
<p><i>&tau;<sub>b</sub></i> = <i>c</i> (<i>&phi;<sub>b</sub></i> &minus; <i>&phi;<sub>a</sub></i> &minus; <i>&phi;</i><sub>0</sub>). It stores the energy <i>c</i> (<i>&phi;</i> &minus; <i>&phi;</i><sub>0</sub>)&sup2;/2.</p>
</html>"));
  end Spring;

  model Damper "Torque by relative speed"
    extends Bases.Compliant;
    parameter Units.RotationalDamping d = 1 "Damping";
    Units.AngularVelocity w "Relative angular velocity";
    Units.Power loss "Power that becomes heat";
  equation
    w = der(phi);
    tau = d*w;
    loss = tau*w;
    annotation(Icon(graphics = {Rectangle(extent = {{-50, 40}, {30, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-100, 0}, {-50, 0}}, color = {0, 0, 0}),
        Line(points = {{30, 0}, {100, 0}}, color = {0, 0, 0}),
        Line(points = {{-50, 40}, {60, 40}}, color = {0, 0, 0}),
        Line(points = {{-50, -40}, {60, -40}}, color = {0, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "d = %d")}),
      Documentation(info = "<html>
<p><i>&tau;<sub>b</sub></i> = <i>d</i> d(<i>&phi;<sub>b</sub></i> &minus; <i>&phi;<sub>a</sub></i>)/d<i>t</i>. The power <i>d &omega;</i>&sup2; becomes heat.</p>
</html>"));
  end Damper;

  model SpringDamper "Elastic shaft with damping"
    extends Bases.Compliant;
    parameter Units.RotationalStiffness c = 1 "Stiffness";
    parameter Units.RotationalDamping d = 1 "Damping";
    parameter Units.Angle phi0 = 0 "Relative angle without torque";
    Units.AngularVelocity w "Relative angular velocity";
    Units.Power loss "Power that becomes heat";
  equation
    w = der(phi);
    tau = c*(phi - phi0) + d*w;
    loss = d*w^2;
    annotation(Icon(graphics = {Line(points = {{-100, 0}, {-70, 0}, {-70, 40}, {-50, 40}, {-40, 60}, {-10, 20}, {20, 60}, {40, 40}, {70, 40}, {70, 0}, {100, 0}}, color = {0, 0, 0}),
        Line(points = {{-70, 0}, {-70, -40}, {-30, -40}}, color = {0, 0, 0}),
        Rectangle(extent = {{-30, -20}, {20, -60}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{20, -40}, {70, -40}, {70, 0}}, color = {0, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "c = %c")}),
      Documentation(info = "<html>
<p><i>&tau;<sub>b</sub></i> = <i>c</i> (<i>&phi;</i> &minus; <i>&phi;</i><sub>0</sub>) + <i>d</i> d<i>&phi;</i>/d<i>t</i>.</p>
</html>"));
  end SpringDamper;

  model ElasticBacklash "Play, with elastic stops at both ends of it"
    extends Bases.Compliant;
    parameter Units.Angle play(min = 0) = 0.1 "Total play";
    parameter Units.RotationalStiffness c = 1e4 "Stiffness of the stops";
    parameter Units.RotationalDamping d = 0 "Damping while a stop is touched";
    Units.AngularVelocity w "Relative angular velocity";
    Units.Angle deflection "Of the stop that is touched";
  equation
    w = der(phi);
    deflection = if phi > play/2 then phi - play/2 else if phi < -play/2 then phi + play/2 else 0;
    tau = if phi > play/2 then noEvent(max(0, c*deflection + d*w)) else if phi < -play/2 then noEvent(min(0, c*deflection + d*w)) else 0;
    annotation(Icon(graphics = {Line(points = {{-100, 0}, {-20, 0}}, color = {0, 0, 0}),
        Line(points = {{100, 0}, {60, 0}, {60, 40}, {-60, 40}, {-60, 20}}, color = {0, 0, 0}),
        Line(points = {{60, 0}, {60, -40}, {-60, -40}, {-60, -20}}, color = {0, 0, 0}),
        Line(points = {{-20, 30}, {-20, -30}}, color = {0, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "play = %play")}),
      Documentation(info = "<html>
<p>With <i>b</i> half of the play: <i>&tau;</i> = <i>c</i> (<i>&phi;</i> &minus; <i>b</i>) for <i>&phi;</i> &gt; <i>b</i>, <i>c</i> (<i>&phi;</i> + <i>b</i>) for <i>&phi;</i> &lt; &minus;<i>b</i>, and 0 in between, with the torque <i>d &omega;</i>
in addition while a stop is touched. A stop presses and does not pull: where the damping would outweigh the spring, <i>&tau;</i> = 0. <code>Ideal.Backlash</code> has rigid stops.</p>
</html>"));
  end ElasticBacklash;

  model Housing "Keeps a flange at an angle"
    Interfaces.Flange flange "Flange" annotation(Placement(transformation(extent = {{-10, 90}, {10, 110}})));
    parameter Units.Angle phi0 = 0 "Angle of the housing";
  equation
    flange.phi = phi0;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{0, 90}, {0, 20}}, color = {0, 0, 0}),
        Line(points = {{-60, 20}, {60, 20}}, color = {0, 0, 0}, thickness = 1),
        Line(points = {{-60, -10}, {-40, 20}}, color = {0, 0, 0}),
        Line(points = {{-20, -10}, {0, 20}}, color = {0, 0, 0}),
        Line(points = {{20, -10}, {40, 20}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p><i>&phi;</i> = <i>&phi;</i><sub>0</sub>.</p>
</html>"));
  end Housing;

  model ExternalTorque "Torque given by a signal"
    extends Bases.OneFlange;
    Interfaces.RealInput tau(unit = "N.m") "Torque on the flange" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
  equation
    flange.tau = -tau;
    annotation(Icon(graphics = {Line(points = {{-60, -40}, {-30, 10}, {10, 40}, {50, 40}}, color = {0, 0, 0}),
        Line(points = {{30, 44}, {60, 36}}, color = {0, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>&tau;</i> = &minus;<i>u</i>: a positive signal accelerates what is connected.</p>
</html>"));
  end ExternalTorque;

  model ConstantTorque "Constant torque"
    extends Bases.OneFlange;
    parameter Units.Torque tau = 1 "Torque on the flange";
  equation
    flange.tau = -tau;
    annotation(Icon(graphics = {Line(points = {{-60, -40}, {-30, 10}, {10, 40}, {50, 40}}, color = {0, 0, 0}),
        Line(points = {{30, 44}, {60, 36}}, color = {0, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "tau = %tau")}),
      Documentation(info = "<html>
<p><i>&tau;</i> = &minus;<i>&tau;</i><sub>0</sub>.</p>
</html>"));
  end ConstantTorque;

  model ConstantSpeed "Flange that turns with a constant speed, whatever the torque"
    extends Bases.OneFlange;
    parameter Units.AngularVelocity w = 1 "Angular velocity";
    parameter Units.Angle phi0 = 0 "Angle at the start";
  initial equation
    flange.phi = phi0;
  equation
    der(flange.phi) = w;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{-50, 30}, {50, -30}}, textString = "w"),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "w = %w")}),
      Documentation(info = "<html>
<p>d<i>&phi;</i>/d<i>t</i> = <i>&omega;</i>.</p>
</html>"));
  end ConstantSpeed;

  model PrescribedSpeed "Flange whose speed is a signal, whatever the torque"
    extends Bases.OneFlange;
    parameter Units.Angle phi0 = 0 "Angle at the start";
    Interfaces.RealInput w(unit = "rad/s") "Angular velocity" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
  initial equation
    flange.phi = phi0;
  equation
    der(flange.phi) = w;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 127}),
        Text(extent = {{-50, 30}, {50, -30}}, textString = "w")}),
      Documentation(info = "<html>
<p>d<i>&phi;</i>/d<i>t</i> is the signal.</p>
</html>"));
  end PrescribedSpeed;

  model PrescribedAngle "Flange whose angle is a signal, whatever the torque"
    extends Bases.OneFlange;
    Interfaces.RealInput phi(unit = "rad") "Angle" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
  equation
    flange.phi = phi;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 127}),
        Text(extent = {{-50, 30}, {50, -30}}, textString = "phi")}),
      Documentation(info = "<html>
<p><i>&phi;</i> is the signal. Where an inertia is connected, the signal has to be smooth.</p>
</html>"));
  end PrescribedAngle;
end Basic;
