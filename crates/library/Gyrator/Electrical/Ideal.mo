within Gyrator.Electrical;
package Ideal "Ideal switches: diodes, thyristors, contacts"
  extends Icons.Folder;

  partial model IdealSwitch "Characteristic with two branches, blocking and conducting, followed by a curve parameter"
    extends Bases.TwoPin;
    extends Bases.HeatLoss;
    parameter Units.Resistance Ron = 0 "Resistance when conducting; zero is ideal";
    parameter Units.Conductance Goff = 0 "Conductance when blocking; zero is ideal";
    Real s "Curve parameter: the voltage when blocking, the current when conducting";
    Boolean off "Whether it blocks";
  protected
    constant Units.Voltage unitVoltage = 1;
    constant Units.Current unitCurrent = 1;
  equation
    u = if off then s*unitVoltage else s*unitCurrent*Ron;
    i = if off then s*unitVoltage*Goff else s*unitCurrent;
    loss = u*i;
    annotation(Documentation(info = "<html>
<p>Blocking: <i>u</i> = <i>s</i>, <i>i</i> = <i>G</i><sub>off</sub> <i>s</i>. Conducting: <i>u</i> = <i>R</i><sub>on</sub> <i>s</i>, <i>i</i> = <i>s</i>. Neither voltage nor current alone says where on the
characteristic the component is; the curve parameter <i>s</i> does. With <i>R</i><sub>on</sub> = <i>G</i><sub>off</sub> = 0 the switch is ideal: beside inductors and capacitors the
structure of the circuit then changes with it, and charge and flux are conserved.</p>
</html>"));
  end IdealSwitch;

  model Diode "Conducts in one direction"
    extends IdealSwitch;
  equation
    off = s < 0;
    annotation(Icon(graphics = {Polygon(points = {{-30, 40}, {30, 0}, {-30, -40}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{30, 40}, {30, -40}}, color = {0, 0, 255}),
        Line(points = {{-90, 0}, {90, 0}}, color = {0, 0, 255})}),
      Documentation(info = "<html>
<p><code>off = s &lt; 0</code>. It blocks negative voltages and conducts positive currents.</p>
</html>"));
  end Diode;

  model Thyristor "Diode that begins to conduct when it is fired"
    extends IdealSwitch(off(start = true, fixed = true)) annotation(IconMap(primitivesVisible = false));
    Interfaces.BooleanInput fire "Begins to conduct while this is true" annotation(Placement(transformation(origin = {60, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    off = s < 0 or pre(off) and not fire;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Polygon(points = {{-30, 40}, {30, 0}, {-30, -40}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{30, 40}, {30, -40}}, color = {0, 0, 255}),
        Line(points = {{-90, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{30, 20}, {60, 60}, {60, 90}}, color = {255, 0, 255})}),
      Documentation(info = "<html>
<p><code>off = s &lt; 0 or pre(off) and not fire</code>. Once it conducts, it does so until the current comes to zero.</p>
</html>"));
  end Thyristor;

  model GTO "Thyristor that also can be turned off"
    extends IdealSwitch annotation(IconMap(primitivesVisible = false));
    Interfaces.BooleanInput fire "May conduct while this is true" annotation(Placement(transformation(origin = {60, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    off = s < 0 or not fire;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Polygon(points = {{-30, 40}, {30, 0}, {-30, -40}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{30, 40}, {30, -40}}, color = {0, 0, 255}),
        Line(points = {{-90, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{30, 20}, {60, 60}, {60, 90}}, color = {255, 0, 255}),
        Line(points = {{30, 10}, {72, 50}, {72, 90}}, color = {255, 0, 255})}),
      Documentation(info = "<html>
<p><code>off = s &lt; 0 or not fire</code>. It conducts positive currents while it is fired.</p>
</html>"));
  end GTO;

  model Switch "Contact that a signal closes"
    extends IdealSwitch annotation(IconMap(primitivesVisible = false));
    Interfaces.BooleanInput closed "Whether the contact is closed" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    off = not closed;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-48, 8}, {-32, -8}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-48, 0}}, color = {0, 0, 255}),
        Line(points = {{-34, 6}, {40, 40}}, color = {0, 0, 255}),
        Line(points = {{40, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{0, 90}, {0, 22}}, color = {255, 0, 255})}),
      Documentation(info = "<html>
<p><code>off = not closed</code>.</p>
</html>"));
  end Switch;

  model ChangeoverSwitch "Contact that joins its pin with one of two others"
    Interfaces.Pin p "Common pin" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Pin n1 "Joined when the signal is true" annotation(Placement(transformation(extent = {{90, 50}, {110, 70}})));
    Interfaces.Pin n2 "Joined when the signal is false" annotation(Placement(transformation(extent = {{90, -70}, {110, -50}})));
    Interfaces.BooleanInput first "Whether p is joined with n1" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Units.Voltage u1 "Voltage from p to n1";
    Units.Voltage u2 "Voltage from p to n2";
  equation
    u1 = p.v - n1.v;
    u2 = p.v - n2.v;
    0 = p.i + n1.i + n2.i;
    if first then
      u1 = 0;
      n2.i = 0;
    else
      u2 = 0;
      n1.i = 0;
    end if;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-48, 8}, {-32, -8}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-48, 0}}, color = {0, 0, 255}),
        Line(points = {{-34, 6}, {40, 56}}, color = {0, 0, 255}),
        Line(points = {{40, 60}, {90, 60}}, color = {0, 0, 255}),
        Line(points = {{40, -60}, {90, -60}}, color = {0, 0, 255}),
        Line(points = {{0, 90}, {0, 30}}, color = {255, 0, 255})}),
      Documentation(info = "<html>
<p>With <code>first</code>: <i>u</i><sub>1</sub> = 0 and <i>i</i><sub>n2</sub> = 0, else <i>u</i><sub>2</sub> = 0 and <i>i</i><sub>n1</sub> = 0. It takes up no power.</p>
</html>"));
  end ChangeoverSwitch;
end Ideal;
