within Gyrator.Translational;
package Bases "What sliding components have in common"
  extends Icons.BasesFolder;

  partial model TwoFlanges "Component with two flanges"
    Interfaces.TranslationalFlange a "Left flange" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.TranslationalFlange b "Right flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end TwoFlanges;

  partial model Compliant "Massless component between two flanges: force by relative position or speed"
    extends TwoFlanges;
    Units.Length s "Position of b relative to a";
    Units.Force f "Force at b, into the component";
  equation
    s = b.s - a.s;
    f = b.f;
    0 = a.f + b.f;
    annotation(Documentation(info = "<html>
<p><i>s</i> = <i>s<sub>b</sub></i> &minus; <i>s<sub>a</sub></i>, &nbsp; 0 = <i>f<sub>a</sub></i> + <i>f<sub>b</sub></i>. A positive force pulls.</p>
</html>"));
  end Compliant;

  partial model Sliding "Massless component that carries b along with a by friction"
    extends TwoFlanges;
    Units.Length s "Position of a relative to b";
    Units.Velocity v "Velocity of a relative to b";
    Units.Force f "Force from a on b";
  equation
    s = a.s - b.s;
    v = der(s);
    a.f = f;
    b.f = -f;
    annotation(Documentation(info = "<html>
<p><i>v</i> = d(<i>s<sub>a</sub></i> &minus; <i>s<sub>b</sub></i>)/d<i>t</i>. The power <i>f v</i> is taken up.</p>
</html>"));
  end Sliding;

  partial model OneFlange "Component with one flange"
    Interfaces.TranslationalFlange flange "Flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end OneFlange;
end Bases;
