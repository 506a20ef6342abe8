within Gyrator.Translational;
package Basic "Masses, springs, dampers, walls, forces, racks"
  extends Icons.Folder;

  model Mass "Mass that slides"
    extends Bases.TwoFlanges;
    parameter Units.Mass m = 1 "Mass";
    Units.Position s "Position";
    Units.Velocity v "Velocity";
    Units.Acceleration acceleration "Acceleration";
  equation
    s = a.s;
    s = b.s;
    v = der(s);
    acceleration = der(v);
    m*acceleration = a.f + b.f;
    annotation(Icon(graphics = {Rectangle(extent = {{-60, 50}, {60, -50}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 0}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "m = %m")}),
      Documentation(info = "<html>
<p><i>m</i> d<i>v</i>/d<i>t</i> = <i>f<sub>a</sub></i> + <i>f<sub>b</sub></i>. It stores the energy <i>m v</i>&sup2;/2.</p>
</html>"));
  end Mass;

  model Weight "Mass that its weight pulls"
    extends Bases.TwoFlanges;
    parameter Units.Mass m = 1 "Mass";
    parameter Units.Acceleration g = Units.standardGravity "Acceleration of free fall";
    parameter Real up = 1 "Sine of the angle between the direction of s and the horizontal; 1 where s counts upwards";
    Units.Position s "Position";
    Units.Velocity v "Velocity";
  equation
    s = a.s;
    s = b.s;
    v = der(s);
    m*der(v) = a.f + b.f - m*g*up;
    annotation(Icon(graphics = {Rectangle(extent = {{-60, 50}, {60, -50}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 0}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 0}),
        Line(points = {{0, 30}, {0, -30}}, color = {0, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "m = %m")}),
      Documentation(info = "<html>
<p><i>m</i> d<i>v</i>/d<i>t</i> = <i>f<sub>a</sub></i> + <i>f<sub>b</sub></i> &minus; <i>m g</i> where <i>s</i> counts upwards. It stores <i>m v</i>&sup2;/2 + <i>m g s</i>.</p>
</html>"));
  end Weight;

  model Spring "Linear spring"
    extends Bases.Compliant;
    parameter Units.Stiffness c = 1 "Stiffness";
    parameter Units.Length s0 = 0 "Length without force";
  equation
    f = c*(s - s0);
    annotation(Icon(graphics = {Line(points = {{-90, 0}, {-60, 0}, {-45, -40}, {-15, 40}, {15, -40}, {45, 40}, {60, 0}, {90, 0}}, color = {0, 127, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "c = %c")}),
      Documentation(info = "<html>
<p><i>f</i> = <i>c</i> (<i>s</i> &minus; <i>s</i><sub>0</sub>). It stores the energy <i>c</i> (<i>s</i> &minus; <i>s</i><sub>0</sub>)&sup2;/2.</p>
</html>"));
  end Spring;

  model Damper "Force by relative velocity"
    extends Bases.Compliant;
    parameter Units.Damping d = 1 "Damping";
    Units.Velocity v "Relative velocity";
    Units.Power loss "Power that becomes heat";
  equation
    v = der(s);
    f = d*v;
    loss = f*v;
    annotation(Icon(graphics = {Rectangle(extent = {{-50, 40}, {30, -40}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-50, 0}}, color = {0, 127, 0}),
        Line(points = {{30, 0}, {90, 0}}, color = {0, 127, 0}),
        Line(points = {{-50, 40}, {60, 40}}, color = {0, 127, 0}),
        Line(points = {{-50, -40}, {60, -40}}, color = {0, 127, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "d = %d")}),
      Documentation(info = "<html>
<p><i>f</i> = <i>d v</i>. The power <i>d v</i>&sup2; becomes heat.</p>
</html>"));
  end Damper;

  model SpringDamper "Spring and damper side by side"
    extends Bases.Compliant;
    parameter Units.Stiffness c = 1 "Stiffness";
    parameter Units.Damping d = 1 "Damping";
    parameter Units.Length s0 = 0 "Length without force of the spring";
    Units.Velocity v "Relative velocity";
    Units.Power loss "Power that becomes heat";
  equation
    v = der(s);
    f = c*(s - s0) + d*v;
    loss = d*v^2;
    annotation(Icon(graphics = {Line(points = {{-90, 0}, {-70, 0}, {-70, 40}, {-50, 40}, {-40, 60}, {-10, 20}, {20, 60}, {40, 40}, {70, 40}, {70, 0}, {90, 0}}, color = {0, 127, 0}),
        Line(points = {{-70, 0}, {-70, -40}, {-30, -40}}, color = {0, 127, 0}),
        Rectangle(extent = {{-30, -20}, {20, -60}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{20, -40}, {70, -40}, {70, 0}}, color = {0, 127, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "c = %c")}),
      Documentation(info = "<html>
<p><i>f</i> = <i>c</i> (<i>s</i> &minus; <i>s</i><sub>0</sub>) + <i>d v</i>.</p>
</html>"));
  end SpringDamper;

  model ElasticRope "Rope that pulls but does not push"
    extends Bases.Compliant;
    parameter Units.Length length(min = 0) = 1 "Length without force";
    parameter Units.Stiffness c = 1e4 "Stiffness when taut";
    Boolean taut "Whether it pulls";
  equation
    taut = s > length;
    f = if taut then c*(s - length) else 0;
    assert(s > -length, "The rope would be taut the other way round: connect its flange b to the end at the larger position");
    annotation(Icon(graphics = {Line(points = {{-90, 0}, {-60, 0}, {-40, -20}, {-20, 0}, {0, -20}, {20, 0}, {40, -20}, {60, 0}, {90, 0}}, color = {0, 127, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "length = %length")}),
      Documentation(info = "<html>
<p><i>f</i> = <i>c</i> (<i>s</i> &minus; <i>l</i>) where <i>s</i> &gt; <i>l</i>, else 0. <code>Ideal.Rope</code> is rigid when taut.
The end at the larger position is <i>b</i>: a load that hangs from a hook is connected to <i>a</i>.</p>
</html>"));
  end ElasticRope;

  model ElasticStop "Stops that press back at both ends of a play"
    extends Bases.Compliant;
    parameter Units.Length sMin = -1 "Relative position of the left stop";
    parameter Units.Length sMax = 1 "Relative position of the right stop";
    parameter Units.Stiffness c = 1e4 "Stiffness of the stops";
    Units.Length deflection "Of the stop that is touched";
  equation
    deflection = if s > sMax then s - sMax else if s < sMin then s - sMin else 0;
    f = c*deflection;
    annotation(Icon(graphics = {Line(points = {{-90, 0}, {0, 0}}, color = {0, 127, 0}),
        Rectangle(extent = {{-5, 20}, {5, -20}}, lineColor = {0, 127, 0}, fillColor = {0, 127, 0}, fillPattern = FillPattern.Solid),
        Line(points = {{-70, 40}, {-70, -40}}, color = {0, 127, 0}),
        Line(points = {{70, 40}, {70, -40}}, color = {0, 127, 0}),
        Line(points = {{-70, 40}, {70, 40}}, color = {0, 127, 0}),
        Line(points = {{70, 0}, {90, 0}}, color = {0, 127, 0})}),
      Documentation(info = "<html>
<p><i>f</i> = <i>c</i> (<i>s</i> &minus; <i>s</i><sub>max</sub>) beyond the right stop, <i>c</i> (<i>s</i> &minus; <i>s</i><sub>min</sub>) beyond the left one, else 0.</p>
</html>"));
  end ElasticStop;

  model Wall "Keeps a flange at a position"
    parameter Units.Position s0 = 0 "Position of the wall";
    Interfaces.TranslationalFlange flange "Flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    flange.s = s0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{0, 60}, {0, -60}}, color = {0, 127, 0}, thickness = 1),
        Line(points = {{0, 0}, {90, 0}}, color = {0, 127, 0}),
        Line(points = {{-30, 40}, {0, 60}}, color = {0, 127, 0}),
        Line(points = {{-30, 0}, {0, 20}}, color = {0, 127, 0}),
        Line(points = {{-30, -40}, {0, -20}}, color = {0, 127, 0})}),
      Documentation(info = "<html>
<p><i>s</i> = <i>s</i><sub>0</sub>.</p>
</html>"));
  end Wall;

  model ExternalForce "Force given by a signal"
    extends Bases.OneFlange;
    Interfaces.RealInput f(unit = "N") "Force on the flange" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
  equation
    flange.f = -f;
    annotation(Icon(graphics = {Polygon(points = {{-60, 20}, {40, 20}, {40, 50}, {90, 0}, {40, -50}, {40, -20}, {-60, -20}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html>
<p>A positive signal pushes in the direction of <i>s</i>.</p>
</html>"));
  end ExternalForce;

  model ConstantForce "Constant force"
    extends Bases.OneFlange;
    parameter Units.Force f = 1 "Force on the flange";
  equation
    flange.f = -f;
    annotation(Icon(graphics = {Polygon(points = {{-90, 20}, {40, 20}, {40, 50}, {90, 0}, {40, -50}, {40, -20}, {-90, -20}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "f = %f")}),
      Documentation(info = "<html>
<p>A positive force pushes in the direction of <i>s</i>.</p>
</html>"));
  end ConstantForce;

  model PrescribedPosition "Flange whose position is a signal, whatever the force"
    extends Bases.OneFlange;
    Interfaces.RealInput s(unit = "m") "Position" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
  equation
    flange.s = s;
    annotation(Icon(graphics = {Rectangle(extent = {{-60, 40}, {60, -40}}, lineColor = {0, 127, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 0}),
        Text(extent = {{-50, 30}, {50, -30}}, textString = "s")}),
      Documentation(info = "<html>
<p><i>s</i> is the signal. Where a mass is connected, the signal has to be smooth.</p>
</html>"));
  end PrescribedPosition;

  model Rack "Rack and pinion, wheel on a road, winch: turns a rotation into a motion along a line"
    parameter Units.Radius r = 0.1 "Radius of the pinion";
    Interfaces.Flange pinion "Rotation" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.TranslationalFlange rack "Translation" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    rack.s = r*pinion.phi;
    0 = pinion.tau + r*rack.f;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {20, -20}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-80, -20}, {80, -40}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{80, -30}, {90, 0}}, color = {0, 127, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "r = %r")}),
      Documentation(info = "<html>
<p><i>s</i> = <i>r &phi;</i>, &nbsp; 0 = <i>&tau;</i> + <i>r f</i>. No power is lost.</p>
</html>"));
  end Rack;

  model Lever "Rigid lever: positions in the ratio of the arms"
    extends Bases.TwoFlanges;
    parameter Real ratio = 1 "Way of a by way of b; negative where they move against each other";
  equation
    a.s = ratio*b.s;
    0 = ratio*a.f + b.f;
    annotation(Icon(graphics = {Line(points = {{-90, -20}, {90, 20}}, color = {0, 127, 0}, thickness = 1),
        Polygon(points = {{0, 0}, {-20, -50}, {20, -50}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "ratio = %ratio")}),
      Documentation(info = "<html>
<p><i>s<sub>a</sub></i> = <i>i s<sub>b</sub></i>, &nbsp; 0 = <i>i f<sub>a</sub></i> + <i>f<sub>b</sub></i>.</p>
</html>"));
  end Lever;
end Basic;
