within Gyrator.Mechanics3D;
package Forces "Forces between frames"
  extends Icons.Folder;

  model WorldForce "Force on a frame that signals give, resolved in the world"
    Interfaces.RealInput f[3](each unit = "N") "Force on the frame" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
    Frame frame "Frame" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    frame.f = -frame.R.T*f;
    frame.t = zeros(3);
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Polygon(points = {{-80, 20}, {40, 20}, {40, 50}, {90, 0}, {40, -50}, {40, -20}, {-80, -20}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html>
<p>The force acts at the origin of the frame.</p>
</html>"));
  end WorldForce;

  model SpringDamper "Spring and damper along the line between two frames"
    parameter Units.Stiffness c = 1 "Stiffness";
    parameter Units.Damping d = 0 "Damping";
    parameter Units.Length l0 = 0 "Length without force of the spring";
    Frame a "Left frame" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Frame b "Right frame" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.Position r[3] "From a to b, resolved in the world";
    Units.Length length(start = 1) "Distance";
    Units.Velocity v "Its derivative";
    Units.Force f "Force, positive where it pulls";
    Units.Power loss "Power that becomes heat";
  protected
    Real e[3] "Direction from a to b, resolved in the world";
  equation
    r = b.r - a.r;
    length = sqrt(r*r);
    e = r/length;
    v = der(length);
    f = c*(length - l0) + d*v;
    loss = d*v^2;
    a.f = -a.R.T*(e*f);
    b.f = b.R.T*(e*f);
    a.t = zeros(3);
    b.t = zeros(3);
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-90, 0}, {-60, 0}, {-45, -40}, {-15, 40}, {15, -40}, {45, 40}, {60, 0}, {90, 0}}, color = {0, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "c = %c")}),
      Documentation(info = "<html>
<p><i>f</i> = <i>c</i> (<i>l</i> &minus; <i>l</i><sub>0</sub>) + <i>d</i> d<i>l</i>/d<i>t</i> along the line between the origins, which must not meet.</p>
</html>"));
  end SpringDamper;
end Forces;
