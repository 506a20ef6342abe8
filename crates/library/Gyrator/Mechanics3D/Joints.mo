within Gyrator.Mechanics3D;
package Joints "Joints: what motions they allow"
  extends Icons.Folder;

  partial model Joint "Two frames"
    Frame a "Left frame" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Frame b "Right frame" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end Joint;

  model Revolute "Rotation about an axis"
    extends Joint annotation(IconMap(primitivesVisible = false));
    parameter Real n[3] = {0, 0, 1} "Axis, the same in both frames";
    parameter Units.RotationalDamping d = 0 "Damping, where there is no flange";
    parameter Boolean useFlange = false "Whether a flange drives the joint";
    Interfaces.Flange axis(phi = phi, tau = tau) if useFlange "Drives the joint" annotation(Placement(transformation(extent = {{-10, 90}, {10, 110}})));
    Units.Angle phi(start = 0, stateSelect = StateSelect.prefer) "Angle";
    Units.AngularVelocity w(start = 0, stateSelect = StateSelect.prefer) "Angular velocity";
    Units.Torque tau "Torque that drives the joint";
    Units.Power loss "Power that becomes heat";
  protected
    final parameter Real e[3] = Rotations.unit(n);
    Real T[3, 3] "Turns vectors of a into b";
  equation
    Connections.branch(a.R, b.R);
    w = der(phi);
    T = Rotations.aboutAxis(e, phi);
    b.r = a.r;
    b.R.T = T*a.R.T;
    b.R.w = T*a.R.w + e*w;
    zeros(3) = a.f + transpose(T)*b.f;
    zeros(3) = a.t + transpose(T)*b.t;
    tau = -e*b.t;
    if not useFlange then
      tau = -d*w;
    end if;
    loss = if useFlange then 0 else d*w^2;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-90, 50}, {-20, -50}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{20, 50}, {90, -50}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 15}, {20, -15}}, lineColor = {0, 0, 0}, fillColor = {95, 95, 95}, fillPattern = FillPattern.Solid),
        Line(visible = useFlange, points = {{0, 90}, {0, 15}}, color = {100, 100, 100}),
        Text(extent = {{-150, -60}, {150, -90}}, textString = "%n")}),
      Documentation(info = "<html>
<p>The second frame is turned by <i>&phi;</i> about the axis. The torque along the axis is that of the flange, or of the damping; all others are constraints.</p>
</html>"));
  end Revolute;

  model Prismatic "Motion along an axis"
    extends Joint annotation(IconMap(primitivesVisible = false));
    parameter Real n[3] = {1, 0, 0} "Axis, the same in both frames";
    parameter Units.Damping d = 0 "Damping, where there is no flange";
    parameter Boolean useFlange = false "Whether a flange drives the joint";
    Interfaces.TranslationalFlange axis(s = s, f = f) if useFlange "Drives the joint" annotation(Placement(transformation(extent = {{-10, 90}, {10, 110}})));
    Units.Position s(start = 0, stateSelect = StateSelect.prefer) "Distance";
    Units.Velocity v(start = 0, stateSelect = StateSelect.prefer) "Velocity";
    Units.Force f "Force that drives the joint";
    Units.Power loss "Power that becomes heat";
  protected
    final parameter Real e[3] = Rotations.unit(n);
  equation
    Connections.branch(a.R, b.R);
    v = der(s);
    b.r = a.r + Rotations.toWorld(a.R, e*s);
    b.R = a.R;
    zeros(3) = a.f + b.f;
    zeros(3) = a.t + b.t + cross(e*s, b.f);
    f = -e*b.f;
    if not useFlange then
      f = -d*v;
    end if;
    loss = if useFlange then 0 else d*v^2;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-90, 40}, {-10, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-10, 20}, {90, -20}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(visible = useFlange, points = {{0, 90}, {0, 40}}, color = {0, 127, 0}),
        Text(extent = {{-150, -60}, {150, -90}}, textString = "%n")}),
      Documentation(info = "<html>
<p>The second frame is moved by <i>s</i> along the axis and not turned.</p>
</html>"));
  end Prismatic;

  model Spherical "Rotation about a point"
    extends Joint;
    parameter Real Q0[4] = {1, 0, 0, 0} "Quaternion at the start, its scalar part first";
    parameter Units.AngularVelocity w0[3] = zeros(3) "Relative angular velocity at the start, resolved in b";
    Real Q[4](each stateSelect = StateSelect.prefer) "Quaternion, whose length does not matter";
    Units.AngularVelocity w[3](each stateSelect = StateSelect.prefer) "Relative angular velocity, resolved in b";
  protected
    Real T[3, 3] "Turns vectors of a into b";
  initial equation
    Q = Q0;
    w = w0;
  equation
    Connections.branch(a.R, b.R);
    der(Q) = Rotations.quaternionRate(Q, w);
    T = Rotations.fromQuaternion(Q);
    b.r = a.r;
    b.R.T = T*a.R.T;
    b.R.w = T*a.R.w + w;
    zeros(3) = a.f + transpose(T)*b.f;
    zeros(3) = a.t;
    zeros(3) = b.t;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-35, 35}, {35, -35}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 0}),
        Line(points = {{0, 0}, {90, 0}}, color = {0, 0, 0})}),
      Documentation(info = "<html>
<p>The origins stay together and no torque is transmitted. Four numbers follow the rotation, without a position at which they fail; only their ratios matter.</p>
</html>"));
  end Spherical;

  model Free "No constraint at all: coordinates of a body that flies"
    extends Joint;
    parameter Units.Position r0[3] = zeros(3) "Position of b at the start, resolved in a";
    parameter Units.Velocity v0[3] = zeros(3) "Its velocity at the start";
    parameter Real Q0[4] = {1, 0, 0, 0} "Quaternion at the start, its scalar part first";
    parameter Units.AngularVelocity w0[3] = zeros(3) "Relative angular velocity at the start, resolved in b";
    Units.Position r[3](each stateSelect = StateSelect.prefer) "Position of b, resolved in a";
    Units.Velocity v[3](each stateSelect = StateSelect.prefer) "Derivative of r";
    Real Q[4](each stateSelect = StateSelect.prefer) "Quaternion, whose length does not matter";
    Units.AngularVelocity w[3](each stateSelect = StateSelect.prefer) "Relative angular velocity, resolved in b";
  protected
    Real T[3, 3] "Turns vectors of a into b";
  initial equation
    r = r0;
    v = v0;
    Q = Q0;
    w = w0;
  equation
    Connections.branch(a.R, b.R);
    der(r) = v;
    der(Q) = Rotations.quaternionRate(Q, w);
    T = Rotations.fromQuaternion(Q);
    b.r = a.r + Rotations.toWorld(a.R, r);
    b.R.T = T*a.R.T;
    b.R.w = T*a.R.w + w;
    a.f = zeros(3);
    a.t = zeros(3);
    b.f = zeros(3);
    b.t = zeros(3);
    annotation(Icon(graphics = {Line(points = {{-90, 0}, {-40, 0}}, color = {0, 0, 0}),
        Line(points = {{40, 0}, {90, 0}}, color = {0, 0, 0}),
        Line(points = {{-20, -30}, {-20, 40}}, color = {95, 95, 95}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{-20, -30}, {50, -30}}, color = {95, 95, 95}, arrow = {Arrow.None, Arrow.Filled})}),
      Documentation(info = "<html>
<p>It transmits neither force nor torque, but gives a body states of its own.</p>
</html>"));
  end Free;
end Joints;
