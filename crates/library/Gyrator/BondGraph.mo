within Gyrator;
package BondGraph "Bond graphs: every domain as a network of effort and flow"

  connector Port "End of a bond"
    Real e "Effort: voltage, force, torque, pressure, temperature";
    flow Real f "Flow into the component: current, velocity, angular velocity, volume flow, entropy flow";
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, fillPattern = FillPattern.Solid)}));
  end Port;

  partial model OnePort "Element with one bond, whose half arrow points to it"
    Port port annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Real e = port.e "Effort";
    Real f = port.f "Flow";
    annotation(Icon(graphics = {Text(extent = {{-100, 140}, {100, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end OnePort;

  partial model Source "Element with one bond, whose half arrow points away from it"
    Port port annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Real e = port.e "Effort";
    Real f = -port.f "Flow out of the source";
    annotation(Icon(graphics = {Text(extent = {{-100, 140}, {100, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end Source;

  partial model TwoPort "Element that passes power on"
    Port a "Bond whose half arrow points to it" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Port b "Bond whose half arrow points away from it" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Real e1 = a.e "Effort at a";
    Real f1 = a.f "Flow at a, into the element";
    Real e2 = b.e "Effort at b";
    Real f2 = -b.f "Flow at b, out of the element";
    annotation(Icon(graphics = {Text(extent = {{-100, 140}, {100, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end TwoPort;

  // ---------------------------------------------------------------- junctions

  model Junction0 "0-junction: one effort, flows in balance"
    parameter Integer nIn(min = 0) = 1 "Number of bonds that point to it";
    parameter Integer nOut(min = 0) = 1 "Number of bonds that point away from it";
    Port into[nIn] "Bonds that point to the junction" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Port from[nOut] "Bonds that point away from the junction" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Real e "Effort of all bonds";
  equation
    into.e = fill(e, nIn);
    from.e = fill(e, nOut);
    sum(into.f) + sum(from.f) = 0;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "0")}));
  end Junction0;

  model Junction1 "1-junction: one flow, efforts in balance"
    parameter Integer nIn(min = 0) = 1 "Number of bonds that point to it";
    parameter Integer nOut(min = 0) = 1 "Number of bonds that point away from it";
    Port into[nIn] "Bonds that point to the junction" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Port from[nOut] "Bonds that point away from the junction" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Real f "Flow of all bonds";
  equation
    into.f = fill(f, nIn);
    from.f = fill(-f, nOut);
    sum(into.e) = sum(from.e);
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "1")}));
  end Junction1;

  model Switched0 "0-junction that passes power on only while it is on"
    parameter Integer nIn(min = 0) = 1 "Number of bonds that point to it";
    parameter Integer nOut(min = 0) = 1 "Number of bonds that point away from it";
    Port into[nIn] "Bonds that point to the junction" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Port from[nOut] "Bonds that point away from the junction" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    input Boolean on "Whether it is on; off, the effort is zero";
    Real e "Effort of all bonds";
    Real short "Flow that vanishes while it is on";
  equation
    into.e = fill(e, nIn);
    from.e = fill(e, nOut);
    sum(into.f) + sum(from.f) = short;
    0 = if on then short else e;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "X0")}));
  end Switched0;

  model Switched1 "1-junction that passes power on only while it is on"
    parameter Integer nIn(min = 0) = 1 "Number of bonds that point to it";
    parameter Integer nOut(min = 0) = 1 "Number of bonds that point away from it";
    Port into[nIn] "Bonds that point to the junction" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Port from[nOut] "Bonds that point away from the junction" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    input Boolean on "Whether it is on; off, the flow is zero";
    Real f "Flow of all bonds";
    Real gap "Effort that vanishes while it is on";
  equation
    into.f = fill(f, nIn);
    from.f = fill(-f, nOut);
    sum(into.e) = sum(from.e) + gap;
    0 = if on then gap else f;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "X1")}));
  end Switched1;

  // ---------------------------------------------------------------- elements with one bond

  model R "Resistor, damper, throttle"
    extends OnePort;
    parameter Real r = 1 "Resistance";
  equation
    e = r*f;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "R")}));
  end R;

  model C "Capacitor, spring, tank"
    extends OnePort;
    parameter Real c = 1 "Capacitance, compliance";
    Real q(start = 0) "Displacement: charge, elongation, volume";
  equation
    der(q) = f;
    q = c*e;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "C")}));
  end C;

  model I "Inductor, mass, inertia of a fluid"
    extends OnePort;
    parameter Real i = 1 "Inductance, mass, inertia";
    Real p(start = 0) "Momentum: flux linkage, momentum, angular momentum";
  equation
    der(p) = e;
    p = i*f;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "I")}));
  end I;

  model Se "Source of effort"
    extends Source;
    parameter Real e0 = 1 "Effort";
  equation
    e = e0;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "Se")}));
  end Se;

  model Sf "Source of flow"
    extends Source;
    parameter Real f0 = 1 "Flow";
  equation
    f = f0;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "Sf")}));
  end Sf;

  // ---------------------------------------------------------------- elements with two bonds

  model TF "Transformer, gear, lever, piston"
    extends TwoPort;
    parameter Real m = 1 "Ratio of the efforts";
  equation
    e1 = m*e2;
    f2 = m*f1;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "TF")}));
  end TF;

  model GY "Gyrator, electric motor, centrifugal pump"
    extends TwoPort;
    parameter Real r = 1 "Ratio of effort to flow of the other side";
  equation
    e1 = r*f2;
    e2 = r*f1;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "GY")}));
  end GY;

  // ---------------------------------------------------------------- modulated elements

  model MR "Resistor whose resistance is a signal"
    extends OnePort;
    input Real r "Resistance";
  equation
    e = r*f;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "MR")}));
  end MR;

  model MSe "Source whose effort is a signal"
    extends Source;
    input Real e0 "Effort";
  equation
    e = e0;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "MSe")}));
  end MSe;

  model MSf "Source whose flow is a signal"
    extends Source;
    input Real f0 "Flow";
  equation
    f = f0;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "MSf")}));
  end MSf;

  model MTF "Transformer whose ratio is a signal"
    extends TwoPort;
    input Real m "Ratio of the efforts";
  equation
    e1 = m*e2;
    f2 = m*f1;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "MTF")}));
  end MTF;

  model MGY "Gyrator whose ratio is a signal"
    extends TwoPort;
    input Real r "Ratio of effort to flow of the other side";
  equation
    e1 = r*f2;
    e2 = r*f1;
    annotation(Icon(graphics = {Text(extent = {{-80, 70}, {80, -70}}, textString = "MGY")}));
  end MGY;

  // ---------------------------------------------------------------- fields: elements with several bonds

  model RField "Resistive field: coupled resistors"
    parameter Real r[:, size(r, 1)] = [1] "Efforts by flows";
    Port port[size(r, 1)] annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  equation
    port.e = r*port.f;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}), Text(extent = {{-80, 70}, {80, -70}}, textString = "R")}));
  end RField;

  model CField "Capacitive field: a beam with several loads, coupled capacitors"
    parameter Real c[:, size(c, 1)] = [1] "Displacements by efforts";
    Port port[size(c, 1)] annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Real q[size(c, 1)](each start = 0) "Displacements";
  equation
    der(q) = port.f;
    q = c*port.e;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}), Text(extent = {{-80, 70}, {80, -70}}, textString = "C")}));
  end CField;

  model IField "Inertial field: coupled inductors, a rigid body with several points"
    parameter Real i[:, size(i, 1)] = [1] "Momenta by flows";
    Port port[size(i, 1)] annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Real p[size(i, 1)](each start = 0) "Momenta";
  equation
    der(p) = port.e;
    p = i*port.f;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}), Text(extent = {{-80, 70}, {80, -70}}, textString = "I")}));
  end IField;

  // ---------------------------------------------------------------- sensors: bonds without power

  model De "Sensor of effort"
    Port port annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    output Real e = port.e "Effort";
  equation
    port.f = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}), Text(extent = {{-80, 70}, {80, -70}}, textString = "De")}));
  end De;

  model Df "Sensor of flow"
    Port port annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    output Real f = port.f "Flow";
  equation
    port.e = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}), Text(extent = {{-80, 70}, {80, -70}}, textString = "Df")}));
  end Df;

  // ---------------------------------------------------------------- ways to and from other domains

  connector Pin "Electrical pin; fits pins of the Modelica Standard Library"
    Real v(unit = "V") "Potential";
    flow Real i(unit = "A") "Current into the pin";
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid)}));
  end Pin;

  connector Flange "Rotational flange; fits flanges of the Modelica Standard Library"
    Real phi(unit = "rad") "Angle";
    flow Real tau(unit = "N.m") "Torque into the flange";
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {100, 100, 100}, fillPattern = FillPattern.Solid)}));
  end Flange;

  connector TranslationalFlange "Translational flange; fits flanges of the Modelica Standard Library"
    Real s(unit = "m") "Position";
    flow Real f(unit = "N") "Force into the flange";
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 127, 0}, fillColor = {0, 127, 0}, fillPattern = FillPattern.Solid)}));
  end TranslationalFlange;

  model Electrical "A pair of pins as a bond: effort is voltage, flow is current"
    Port port annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Pin p "Positive pin" annotation(Placement(transformation(extent = {{90, 50}, {110, 70}})));
    Pin n "Negative pin" annotation(Placement(transformation(extent = {{90, -70}, {110, -50}})));
  equation
    port.e = p.v - n.v;
    p.i + n.i = 0;
    port.f + p.i = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-90, 0}, {0, 0}, {-20, 15}}, color = {0, 0, 0}, thickness = 0.5),
        Line(points = {{0, 20}, {0, -20}}, color = {0, 0, 0}, thickness = 0.5),
        Line(points = {{90, 60}, {40, 60}, {40, 10}, {0, 10}}, color = {0, 0, 255}),
        Line(points = {{90, -60}, {40, -60}, {40, -10}, {0, -10}}, color = {0, 0, 255})}));
  end Electrical;

  model Rotational "A flange as a bond: effort is torque, flow is angular velocity"
    Port port annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Flange flange annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Real w(unit = "rad/s") "Angular velocity";
  equation
    der(flange.phi) = w;
    port.f = w;
    port.e + flange.tau = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-90, 0}, {0, 0}, {-20, 15}}, color = {0, 0, 0}, thickness = 0.5),
        Line(points = {{0, 20}, {0, -20}}, color = {0, 0, 0}, thickness = 0.5),
        Rectangle(extent = {{0, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}));
  end Rotational;

  model Translational "A flange as a bond: effort is force, flow is velocity"
    Port port annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    TranslationalFlange flange annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Real v(unit = "m/s") "Velocity";
  equation
    der(flange.s) = v;
    port.f = v;
    port.e + flange.f = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-90, 0}, {0, 0}, {-20, 15}}, color = {0, 0, 0}, thickness = 0.5),
        Line(points = {{0, 20}, {0, -20}}, color = {0, 0, 0}, thickness = 0.5),
        Line(points = {{0, 0}, {90, 0}}, color = {0, 127, 0})}));
  end Translational;

  annotation(Icon(graphics = {Line(points = {{-90, 0}, {70, 0}, {30, 40}}, color = {0, 0, 0}, thickness = 2),
      Line(points = {{70, 50}, {70, -50}}, color = {0, 0, 0}, thickness = 2)}),
    Documentation(info = "<html>
<p>A bond carries the power <code>e*f</code>. Connecting two ports joins them by a bond; a port that several others are
connected to is a 0-junction without a name. Half arrows point to elements that take power (R, C, I) and away from sources.
At a 1-junction they decide about the signs of the efforts: bonds that point to it are connected to <code>into</code>, those
that point away to <code>from</code>.</p>
</html>"));
end BondGraph;
