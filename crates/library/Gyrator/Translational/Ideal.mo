within Gyrator.Translational;
package Ideal "Friction, ropes, stops and impacts as equations alone: the structure changes with them"
  extends Icons.Folder;

  model DryFriction "Dry and viscous friction, described by its characteristic"
    extends Bases.Sliding;
    parameter Units.Force f0(min = 0) = 1 "Friction force where sliding begins";
    parameter Units.Damping f1 = 0 "Growth of the friction force with the velocity";
    Real s1 "Curve parameter";
    Boolean forward "Slides forward";
    Boolean backward "Slides backward";
    Units.Power loss = f*v "Power that becomes heat";
  protected
    constant Units.Velocity unitVelocity = 1;
  equation
    forward = s1 > 1;
    backward = s1 < -1;
    v = if forward then (s1 - 1)*unitVelocity else if backward then (s1 + 1)*unitVelocity else 0;
    f = if forward then f0 + f1*v else if backward then -f0 + f1*v else f0*s1;
    annotation(Icon(graphics = {Rectangle(extent = {{-70, 0}, {20, -30}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 30}, {70, 0}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-90, -15}, {-70, -15}}, color = {0, 127, 0}),
        Line(points = {{90, 0}, {90, 15}, {70, 15}}, color = {0, 127, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "f0 = %f0")}),
      Documentation(info = "<html>
<p><i>v</i> = <i>s</i> &minus; 1, <i>f</i> = <i>f</i><sub>0</sub> + <i>f</i><sub>1</sub> <i>v</i> for <i>s</i> &gt; 1; <i>v</i> = <i>s</i> + 1, <i>f</i> = &minus;<i>f</i><sub>0</sub> + <i>f</i><sub>1</sub> <i>v</i> for <i>s</i> &lt; &minus;1; <i>v</i> = 0, <i>f</i> = <i>f</i><sub>0</sub> <i>s</i> in between.</p>
</html>"));
  end DryFriction;

  model Rope "Rope that is rigid when taut"
    extends Bases.TwoFlanges;
    parameter Units.Length length(min = 0) = 1 "Length";
    Units.Length s "Position of b relative to a";
    Units.Force f "Force of the rope";
    Real slack(start = 1) "Curve parameter: what is left of the length, or minus the force";
    Boolean taut "Whether it pulls";
  protected
    constant Units.Length unitLength = 1;
    constant Units.Force unitForce = 1;
  equation
    s = b.s - a.s;
    f = b.f;
    0 = a.f + b.f;
    taut = slack < 0;
    length - s = if taut then 0 else slack*unitLength;
    f = if taut then -slack*unitForce else 0;
    assert(s > -length, "The rope would be taut the other way round: connect its flange b to the end at the larger position");
    annotation(Icon(graphics = {Line(points = {{-90, 0}, {-60, 0}, {-40, -20}, {-20, 0}, {0, -20}, {20, 0}, {40, -20}, {60, 0}, {90, 0}}, color = {0, 127, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "length = %length")}),
      Documentation(info = "<html>
<p>Slack: <i>f</i> = 0. Taut: <i>s</i> = <i>l</i> and <i>f</i> &ge; 0. When it becomes taut, both ends get one velocity, and momentum is conserved.
The end at the larger position is <i>b</i>: a load that hangs from a hook is connected to <i>a</i>.</p>
</html>"));
  end Rope;

  model Stop "Rigid stops at both ends of a play; impacts are inelastic"
    extends Bases.TwoFlanges;
    parameter Units.Length sMin = -1 "Relative position of the left stop";
    parameter Units.Length sMax = 1 "Relative position of the right stop";
    Units.Length s "Position of b relative to a";
    Units.Force f "Force at b, into the component";
    Real s1(start = 0) "Curve parameter: the relative position, beyond the stops the force";
    Boolean right "Touches the right stop";
    Boolean left "Touches the left stop";
  protected
    constant Units.Length unitLength = 1;
    constant Units.Force unitForce = 1;
  equation
    s = b.s - a.s;
    f = b.f;
    0 = a.f + b.f;
    right = s1*unitLength > sMax;
    left = s1*unitLength < sMin;
    s = if right then sMax else if left then sMin else s1*unitLength;
    f = if right then (s1 - sMax/unitLength)*unitForce else if left then (s1 - sMin/unitLength)*unitForce else 0;
    annotation(Icon(graphics = {Line(points = {{-90, 0}, {0, 0}}, color = {0, 127, 0}),
        Rectangle(extent = {{-5, 20}, {5, -20}}, lineColor = {0, 127, 0}, fillColor = {0, 127, 0}, fillPattern = FillPattern.Solid),
        Line(points = {{-70, 40}, {-70, -40}}, color = {0, 127, 0}, thickness = 1),
        Line(points = {{70, 40}, {70, -40}}, color = {0, 127, 0}, thickness = 1),
        Line(points = {{-70, 40}, {70, 40}}, color = {0, 127, 0}),
        Line(points = {{70, 0}, {90, 0}}, color = {0, 127, 0})}),
      Documentation(info = "<html>
<p>Between the stops <i>f</i> = 0; at a stop <i>s</i> is constant and the force presses. At an impact both sides get one velocity, and momentum is conserved.</p>
</html>"));
  end Stop;

  model Impact "Impact with restitution at a rigid ground"
    extends Bases.TwoFlanges;
    parameter Real e(min = 0, max = 1) = 0.5 "Velocity after by velocity before the impact";
    parameter Units.Velocity vRest(min = 0) = 1e-3 "What would leave the ground no faster comes to rest on it";
    Units.Length s "Distance of b from a";
    Units.Velocity v "Velocity of b relative to a";
    Units.Force f "Force of the ground";
    Boolean below "Whether b is below the ground";
    Boolean impact "Whether it hits the ground now";
    Boolean slow(start = false, fixed = true) "Whether the last impact was too slow for a bounce";
    Boolean resting(start = false, fixed = true) "Whether it rests on the ground";
  initial equation
    assert(s > -1e-9, "What falls begins below the ground: connect it to flange b, and the ground to flange a");
  equation
    s = b.s - a.s;
    v = der(s);
    b.f = -f;
    0 = a.f + b.f;
    below = s < 0;
    impact = edge(below);
    when below then
      slow = e*abs(pre(v)) <= vRest;
    end when;
    resting = if pre(resting) then f > 0 else impact and slow;
    assert(resting or s > -1e-6, "What falls is below the ground: its last impact was not found");
    if resting then
      v = 0;
    elseif impact then
      v = -e*pre(v);
    else
      f = 0;
    end if;
    annotation(Icon(graphics = {Line(points = {{-80, -60}, {80, -60}}, color = {0, 127, 0}, thickness = 1),
        Ellipse(extent = {{-30, 20}, {30, -40}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{0, -30}, {0, 60}}, color = {0, 127, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "e = %e")}),
      Documentation(info = "<html>
<p>At the instant at which the distance becomes negative, <i>v</i> = &minus;<i>e v</i> holds, else <i>f</i> = 0. Bounces that follow each other ever faster end at rest: where the
velocity after an impact would be <i>v</i><sub>rest</sub> at most, <i>v</i> = 0 holds as long as the ground presses. The impulse follows from the balance of momentum of what is connected.
The ground is connected to <i>a</i>, what falls to <i>b</i>.</p>
</html>"));
  end Impact;
end Ideal;
