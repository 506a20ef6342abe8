within Gyrator.Rotational;
package Friction "Friction by a finite automaton: the relative speed stays a state in every mode"
  extends Icons.Folder;

  partial model Automaton "Coulomb friction: sliding, sticking, and the waiting between them"
    parameter Real peak(min = 1) = 1 "Largest static friction by sliding friction at standstill";
    Units.AngularVelocity w "Relative angular velocity";
    Units.AngularAcceleration alpha "Relative angular acceleration";
    Units.Torque tau "Friction torque";
    Units.Torque tauForward "Friction torque where sliding forward begins";
    Units.Torque tauBackward "Friction torque where sliding backward begins, negative";
    Units.Torque tauSlide "Friction torque while sliding, with its sign";
    Boolean free "Whether there is no friction at all";
    Units.Torque sa "Curve parameter at standstill: the torque, and beyond its bounds the acceleration";
    Boolean startForward(start = false, fixed = true) "Begins to slide forward";
    Boolean startBackward(start = false, fixed = true) "Begins to slide backward";
    Boolean forward "Slides forward";
    Boolean backward "Slides backward";
    Integer mode(start = Free, fixed = true, min = Backward, max = Free) "Mode: Backward, Stuck, Forward or Free";
    constant Integer Backward = -1;
    constant Integer Stuck = 0;
    constant Integer Forward = 1;
    constant Integer Free = 2;
  protected
    constant Units.Inertia unitInertia = 1;
    Boolean isForward "Whether the speed is positive, where that decides";
    Boolean isBackward "Whether the speed is negative, where that decides";
  equation
    alpha = der(w);
    startForward = pre(mode) == Stuck and (if pre(mode) == Stuck then sa - (if pre(startForward) then 1 else peak)*tauForward else 0) > 0;
    startBackward = pre(mode) == Stuck and (if pre(mode) == Stuck then sa - (if pre(startBackward) then 1 else peak)*tauBackward else 0) < 0;
    isForward = (if not free and (pre(mode) == Forward or pre(mode) == Free or startForward) then w else 0) > 0;
    isBackward = (if not free and (pre(mode) == Backward or pre(mode) == Free or startBackward) then w else 0) < 0;
    forward = not free and (pre(mode) == Forward or startForward or isForward);
    backward = not free and (pre(mode) == Backward or startBackward or isBackward);
    unitInertia*alpha = if free then sa else if forward then sa - tauForward else if backward then sa - tauBackward else 0;
    tau = if free then 0 else if forward or backward then tauSlide else sa;
    mode = if free then Free else if isForward then Forward else if isBackward then Backward else Stuck;
    annotation(Documentation(info = "<html>
<p>At standstill the speed does not say whether a component sticks. The acceleration and the torque do: along the curve parameter
<i>s<sub>a</sub></i> the torque is <i>s<sub>a</sub></i> while it sticks and the acceleration is zero; beyond the largest static torque the acceleration is
<i>s<sub>a</sub></i> &minus; <i>&tau;</i><sub>forward</sub>. Then the automaton waits until the speed really is positive, and the component slides.</p>
<p>While it sticks, d<i>&omega;</i>/d<i>t</i> = 0 holds in place of <i>&omega;</i> = 0, so the speed stays a state in every mode.</p>
<p>Speed and torque are compared only in the modes in which the comparison decides, so that rounding errors around zero make no events in the others.</p>
</html>"));
  end Automaton;

  partial model Dry "Friction torque that grows from a value at standstill with the speed"
    extends Automaton;
    Units.Torque tau0 "Friction torque at standstill, while sliding";
    Real slope(unit = "N.m.s/rad") "Growth of the friction torque with the speed";
    Units.Power loss "Power that becomes heat";
  equation
    tauForward = tau0;
    tauBackward = -tau0;
    tauSlide = (if forward then tau0 else -tau0) + slope*w;
    loss = tau*w;
  end Dry;

  model BearingFriction "Friction of a bearing in the housing"
    extends Bases.TwoFlanges;
    extends Dry;
    parameter Units.Torque tauCoulomb(min = 0) = 1 "Dry friction";
    parameter Units.RotationalDamping d = 0 "Viscous friction";
  equation
    a.phi = b.phi;
    w = der(a.phi);
    0 = a.tau + b.tau - tau;
    tau0 = tauCoulomb;
    slope = d;
    free = false;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-50, 40}, {50, 10}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-50, -10}, {50, -40}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Line(points = {{-60, 40}, {60, 40}}, color = {0, 0, 0}),
        Line(points = {{-60, -40}, {60, -40}}, color = {0, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "tau = %tauCoulomb")}),
      Documentation(info = "<html>
<p><i>&tau;<sub>a</sub></i> + <i>&tau;<sub>b</sub></i> = <i>&tau;</i> with <i>&tau;</i> = (<i>&tau;<sub>c</sub></i> + <i>d</i> |<i>&omega;</i>|) sgn <i>&omega;</i> while the shaft turns, and at most <i>peak &tau;<sub>c</sub></i> while it rests.</p>
</html>"));
  end BearingFriction;

  partial model Disks "Torque by normal force, coefficient of friction and geometry"
    extends Dry;
    parameter Real mu0(min = 0) = 0.5 "Coefficient of friction at standstill";
    parameter Real mu1(unit = "s/rad") = 0 "Its growth with the relative speed";
    parameter Units.Force fMax = 1 "Normal force at signal 1";
    parameter Integer n(min = 1) = 1 "Number of friction faces";
    parameter Units.Radius ri = 0.1 "Inner radius of the faces";
    parameter Units.Radius ra = 0.15 "Outer radius of the faces";
    final parameter Units.Length cgeo = n*(ri + ra)/2 "Geometry";
    Interfaces.RealInput f "Normal force by fMax" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Units.Force fN "Normal force";
  equation
    fN = fMax*f;
    free = f <= 0;
    tau0 = mu0*cgeo*fN;
    slope = mu1*cgeo*fN;
  end Disks;

  model Clutch "Two shafts that disks press together"
    extends Bases.TwoFlanges annotation(IconMap(primitivesVisible = false));
    extends Disks;
    Units.Angle phi "Angle of a relative to b";
  equation
    phi = a.phi - b.phi;
    w = der(phi);
    a.tau = tau;
    b.tau = -tau;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 10}, {-20, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 60}, {-6, -60}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{6, 60}, {20, -60}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{20, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 90}, {0, 70}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>&tau;</i> = <i>&mu; f<sub>N</sub> c</i><sub>geo</sub> with <i>&mu;</i> = <i>&mu;</i><sub>0</sub> + <i>&mu;</i><sub>1</sub> |<i>&omega;</i>| while it slips, <i>c</i><sub>geo</sub> = <i>n</i> (<i>r<sub>i</sub></i> + <i>r<sub>a</sub></i>)/2. With <i>f<sub>N</sub></i> &le; 0 it is open.</p>
</html>"));
  end Clutch;

  model Brake "Shaft that is pressed against the housing"
    extends Bases.TwoFlanges annotation(IconMap(primitivesVisible = false));
    extends Disks;
  equation
    a.phi = b.phi;
    w = der(a.phi);
    0 = a.tau + b.tau - tau;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 60}, {20, 20}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, -20}, {20, -60}}, lineColor = {0, 0, 0}, fillColor = {150, 150, 150}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 90}, {0, 60}}, color = {0, 0, 127}),
        Line(points = {{-30, 60}, {30, 60}}, color = {0, 0, 0}),
        Line(points = {{-30, -60}, {30, -60}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p><i>&tau;<sub>a</sub></i> + <i>&tau;<sub>b</sub></i> = <i>&tau;</i> with <i>&tau;</i> = <i>&mu; f<sub>N</sub> c</i><sub>geo</sub> sgn <i>&omega;</i> while the shaft turns.</p>
</html>"));
  end Brake;

  model Freewheel "Lets a turn faster than b, but not slower"
    extends Bases.Slipping;
    parameter Real creep(min = 0, unit = "rad/(s.N.m)") = 1e-5 "Speed with which it yields while it is locked, by torque";
    Units.AngularAcceleration alpha "Relative angular acceleration";
    Units.Torque sa "Curve parameter at standstill: the torque, or the acceleration";
    Boolean starts(start = false, fixed = true) "Begins to turn";
    Boolean turns "Whether it is not locked";
    Boolean free(start = true, fixed = true) "Whether a turns faster than b";
  protected
    constant Units.Inertia unitInertia = 1;
    constant Units.Time settling = 0.01 "Time in which it comes to rest";
  equation
    alpha = der(w);
    starts = not pre(free) and (if pre(free) then 0 else sa) > 0;
    free = (if pre(free) or starts then w else 0) > 0;
    turns = free or starts;
    alpha = if turns then sa/unitInertia else (creep*sa - w)/settling;
    tau = if turns then 0 else sa;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 10}, {-40, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{40, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-40, 40}, {40, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Polygon(points = {{-20, 30}, {20, 0}, {-20, -30}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid),
        Line(points = {{20, 30}, {20, -30}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p>While <i>&omega;</i> &gt; 0 there is no torque. At <i>&omega;</i> = 0 it locks with <i>&tau;</i> &le; 0, until the torque changes its sign. Locked it yields a
very little, <i>&omega;</i> = <i>c &tau;</i>, so that the torque is known also where a brake holds the same shaft: then the brake carries it.</p>
</html>"));
  end Freewheel;
end Friction;
