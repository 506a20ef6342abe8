within Gyrator.Translational;
package Friction "Dry friction by a finite automaton: the relative velocity stays a state in every mode"
  extends Icons.Folder;

  model DryFriction "Dry and viscous friction between two flanges"
    extends Bases.Sliding;
    parameter Units.Force f0(min = 0) = 1 "Friction force where sliding begins";
    parameter Units.Damping f1 = 0 "Growth of the friction force with the velocity";
    parameter Real peak(min = 1) = 1 "Largest static friction by f0";
    Units.Acceleration acceleration "Relative acceleration";
    Real sa "Curve parameter at standstill";
    Boolean startForward(start = false, fixed = true) "Begins to slide forward";
    Boolean startBackward(start = false, fixed = true) "Begins to slide backward";
    Boolean forward "Slides forward";
    Boolean backward "Slides backward";
    Integer mode(start = Unknown, fixed = true) "Mode: Backward, Stuck, Forward; Unknown before the start";
    Units.Power loss = f*v "Power that becomes heat";
    constant Integer Backward = -1;
    constant Integer Stuck = 0;
    constant Integer Forward = 1;
    constant Integer Unknown = 2;
  protected
    constant Units.Acceleration unitAcceleration = 1;
  equation
    acceleration = der(v);
    startForward = pre(mode) == Stuck and (sa > peak or pre(startForward) and sa > 1);
    startBackward = pre(mode) == Stuck and (sa < -peak or pre(startBackward) and sa < -1);
    forward = pre(mode) == Forward or pre(mode) == Unknown and v > 0 or startForward;
    backward = pre(mode) == Backward or pre(mode) == Unknown and v < 0 or startBackward;
    acceleration = unitAcceleration*(if forward then sa - 1 else if backward then sa + 1 else 0);
    f = if forward then f0 + f1*v else if backward then -f0 + f1*v else f0*sa;
    mode = if forward and v > 0 then Forward else if backward and v < 0 then Backward else Stuck;
    annotation(Icon(graphics = {Rectangle(extent = {{-70, 0}, {20, -30}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 30}, {70, 0}}, lineColor = {0, 127, 0}, fillColor = {220, 245, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-90, -15}, {-70, -15}}, color = {0, 127, 0}),
        Line(points = {{90, 0}, {90, 15}, {70, 15}}, color = {0, 127, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "f0 = %f0")}),
      Documentation(info = "<html>
<p>While it slides, <i>f</i> = &plusmn;<i>f</i><sub>0</sub> + <i>f</i><sub>1</sub> <i>v</i>. At standstill the curve parameter <i>s<sub>a</sub></i> gives the force <i>f</i><sub>0</sub> <i>s<sub>a</sub></i> and, beyond
<i>peak</i>, the acceleration <i>s<sub>a</sub></i> &minus; 1 with which sliding begins; the automaton waits there until the velocity has the sign of the acceleration.</p>
</html>"));
  end DryFriction;
end Friction;
