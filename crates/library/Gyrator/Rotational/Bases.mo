within Gyrator.Rotational;
package Bases "What components of drive trains have in common"
  extends Icons.BasesFolder;

  partial model TwoFlanges "Component with two flanges"
    Interfaces.Flange a "Left flange" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Flange b "Right flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end TwoFlanges;

  partial model Compliant "Massless component between two flanges: torque by relative angle or speed"
    extends TwoFlanges;
    Units.Angle phi "Angle of b relative to a";
    Units.Torque tau "Torque at b, into the component";
  equation
    phi = b.phi - a.phi;
    tau = b.tau;
    0 = a.tau + b.tau;
    annotation(Documentation(info = "<html>
<p><i>&phi;</i> = <i>&phi;<sub>b</sub></i> &minus; <i>&phi;<sub>a</sub></i>, &nbsp; 0 = <i>&tau;<sub>a</sub></i> + <i>&tau;<sub>b</sub></i>.</p>
</html>"));
  end Compliant;

  partial model Slipping "Massless component that transmits a torque from a to b while they slip"
    extends TwoFlanges;
    Units.Angle phi "Angle of a relative to b";
    Units.AngularVelocity w "Angular velocity of a relative to b";
    Units.Torque tau "Torque from a to b";
  equation
    phi = a.phi - b.phi;
    w = der(phi);
    a.tau = tau;
    b.tau = -tau;
    annotation(Documentation(info = "<html>
<p><i>&omega;</i> = d(<i>&phi;<sub>a</sub></i> &minus; <i>&phi;<sub>b</sub></i>)/d<i>t</i>, &nbsp; <i>&tau;<sub>a</sub></i> = <i>&tau;</i>, &nbsp; <i>&tau;<sub>b</sub></i> = &minus;<i>&tau;</i>. The power <i>&tau; &omega;</i> is taken up.</p>
</html>"));
  end Slipping;

  partial model OneFlange "Component with one flange"
    Interfaces.Flange flange "Flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end OneFlange;
end Bases;
