within Gyrator.Mechanics3D;
package Parts "Bodies and rigid connections"
  extends Icons.Folder;

  model Translation "Rigid connection: the second frame is moved"
    parameter Units.Position r[3] = {1, 0, 0} "From a to b, resolved in a";
    Frame a "Left frame" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Frame b "Right frame" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    Connections.branch(a.R, b.R);
    b.r = a.r + Rotations.toWorld(a.R, r);
    b.R = a.R;
    zeros(3) = a.f + b.f;
    zeros(3) = a.t + b.t + cross(r, b.f);
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-90, 8}, {90, -8}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "%r")}),
      Documentation(info = "<html>
<p>Both frames have one orientation; their distance is constant.</p>
</html>"));
  end Translation;

  model Rotation "Rigid connection: the second frame is turned"
    parameter Real n[3] = {0, 0, 1} "Axis, resolved in a";
    parameter Units.Angle angle = 0 "Angle";
    final parameter Real T[3, 3] = Rotations.aboutAxis(Rotations.unit(n), angle) "Turns vectors of a into b";
    Frame a "Left frame" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Frame b "Right frame" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    Connections.branch(a.R, b.R);
    b.r = a.r;
    b.R.T = T*a.R.T;
    b.R.w = T*a.R.w;
    zeros(3) = a.f + transpose(T)*b.f;
    zeros(3) = a.t + transpose(T)*b.t;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-90, 0}, {0, 0}, {60, 60}}, color = {0, 0, 0}),
        Line(points = {{0, 0}, {90, 0}}, color = {0, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "%angle")}),
      Documentation(info = "<html>
<p>The second frame is turned by an angle about an axis.</p>
</html>"));
  end Rotation;

  model Body "Rigid body with one frame"
    parameter Units.Mass m = 1 "Mass";
    parameter Units.Position rc[3] = zeros(3) "Centre of mass, resolved in the frame";
    parameter Units.Inertia J[3, 3] = diagonal({0.01, 0.01, 0.01}) "Tensor of inertia about the centre of mass";
    Frame frame "Frame" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    outer World world;
    Units.Velocity v[3] "Velocity of the frame, resolved in the world";
    Units.Acceleration acceleration[3] "Acceleration of the frame without that of free fall, resolved in the frame";
    Units.AngularVelocity w[3] "Angular velocity";
    Units.AngularAcceleration z[3] "Angular acceleration";
    Units.Energy kinetic "Kinetic energy";
    Units.Energy potential "Potential energy";
  protected
    Units.Velocity vc[3] "Velocity of the centre of mass, resolved in the frame";
  equation
    v = der(frame.r);
    acceleration = frame.R.T*(der(v) - world.gravity);
    w = frame.R.w;
    z = der(w);
    frame.f = m*(acceleration + cross(z, rc) + cross(w, cross(w, rc)));
    assert(max(abs(J - transpose(J))) <= 1e-9*sum(abs(J)), "The tensor of inertia J is not symmetric");
    assert(min({J[k, k] for k in 1:3}) >= 0, "The tensor of inertia J has a negative moment");
    frame.t = J*z + cross(w, J*w) + cross(rc, frame.f);
    vc = frame.R.T*v + cross(w, rc);
    kinetic = (m*(vc*vc) + w*J*w)/2;
    potential = -m*world.gravity*(frame.r + transpose(frame.R.T)*rc);
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-40, 60}, {80, -60}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {20, 0}}, color = {0, 0, 0}),
        Ellipse(extent = {{10, 10}, {30, -10}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "m = %m")}),
      Documentation(info = "<html>
<p>Newton and Euler: the sum of forces is <i>m</i> times the acceleration of the centre of mass, the sum of torques about it is <b>J</b> d<b>&omega;</b>/d<i>t</i> + <b>&omega;</b> &times; <b>J &omega;</b>.</p>
</html>"));
  end Body;

  model Rod "Rigid body between two frames"
    parameter Units.Position r[3] = {1, 0, 0} "From a to b, resolved in a";
    parameter Units.Mass m = 1 "Mass";
    parameter Units.Position rc[3] = r/2 "Centre of mass, resolved in a";
    parameter Units.Inertia J[3, 3] = diagonal({0.01, 0.1, 0.1}) "Tensor of inertia about the centre of mass";
    Frame a "Left frame" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Frame b "Right frame" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Translation rod(r = r) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
    Body body(m = m, rc = rc, J = J) annotation(Placement(transformation(extent = {{-10, -60}, {10, -40}})));
  equation
    connect(a, rod.a) annotation(Line(points = {{-100, 0}, {-10, 0}}, color = {95, 95, 95}));
    connect(rod.b, b) annotation(Line(points = {{10, 0}, {100, 0}}, color = {95, 95, 95}));
    connect(a, body.frame) annotation(Line(points = {{-100, 0}, {-55, 0}, {-55, -50}, {-10, -50}}, color = {95, 95, 95}));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-90, 20}, {90, -20}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-10, 10}, {10, -10}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "m = %m")}),
      Documentation(info = "<html>
<p>A rigid connection with a body.</p>
</html>"));
  end Rod;
end Parts;
