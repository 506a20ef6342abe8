within Gyrator.Electrical;
package Machines "From electrical to mechanical power and back"
  extends Icons.Folder;

  model EMF "Electromotive force: voltage by speed, torque by current"
    extends Bases.TwoPin;
    parameter Units.MachineConstant k = 1 "Torque by current, and voltage by angular velocity";
    Interfaces.Flange flange "Shaft" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Units.AngularVelocity w "Angular velocity of the shaft";
  equation
    w = der(flange.phi);
    u = k*w;
    flange.tau = -k*i;
    annotation(Icon(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-50, 0}}, color = {0, 0, 255}),
        Line(points = {{50, 0}, {90, 0}}, color = {0, 0, 255}),
        Rectangle(extent = {{-8, -50}, {8, -100}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Text(extent = {{20, -110}, {170, -140}}, textString = "k = %k", horizontalAlignment = TextAlignment.Left)}),
      Documentation(info = "<html>
<p><i>u</i> = <i>k &omega;</i>, &nbsp; <i>&tau;</i> = &minus;<i>k i</i>. Electrical power <i>u i</i> becomes mechanical power without loss.</p>
</html>"));
  end EMF;

  model SeriesEMF "Electromotive force whose field the same current makes"
    extends Bases.TwoPin;
    parameter Units.Inductance M = 1 "Mutual inductance of field and rotating armature";
    Interfaces.Flange flange "Shaft" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Units.AngularVelocity w "Angular velocity of the shaft";
    Units.FluxLinkage flux "Flux that the field gives to the armature";
  equation
    w = der(flange.phi);
    flux = M*i;
    u = flux*w;
    flange.tau = -flux*i;
    annotation(Icon(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-50, 0}}, color = {0, 0, 255}),
        Line(points = {{50, 0}, {90, 0}}, color = {0, 0, 255}),
        Rectangle(extent = {{-8, -50}, {8, -100}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-30, 80}, {30, 60}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{20, -110}, {170, -140}}, textString = "M = %M", horizontalAlignment = TextAlignment.Left)}),
      Documentation(info = "<html>
<p><i>&psi;</i> = <i>M i</i>, &nbsp; <i>u</i> = <i>&psi; &omega;</i>, &nbsp; <i>&tau;</i> = &minus;<i>&psi; i</i> = &minus;<i>M i</i>&sup2;: the torque does not change its sign with the current.</p>
</html>"));
  end SeriesEMF;

  partial model Machine "Two pins and a shaft"
    Interfaces.Pin p "Positive pin" annotation(Placement(transformation(extent = {{-110, 50}, {-90, 70}})));
    Interfaces.Pin n "Negative pin" annotation(Placement(transformation(extent = {{-110, -70}, {-90, -50}})));
    Interfaces.Flange flange "Shaft" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    parameter Boolean useHeatPort = false "Whether there is a heat port";
    Interfaces.HeatPort heat if useHeatPort "Takes the loss of the windings" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{60, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 60}, {-60, 40}}, color = {0, 0, 255}),
        Line(points = {{-90, -60}, {-60, -40}}, color = {0, 0, 255})}));
  end Machine;

  model PermanentMagnetMachine "DC machine with permanent magnets"
    extends Machine;
    parameter Units.Resistance R = 1 "Resistance of the armature";
    parameter Units.Inductance L = 1e-3 "Inductance of the armature";
    parameter Units.MachineConstant k = 0.1 "Torque by current";
    parameter Units.Inertia J = 1e-3 "Moment of inertia of the rotor";
    Basic.Resistor resistor(R = R, useHeatPort = useHeatPort) annotation(Placement(transformation(extent = {{-60, 50}, {-40, 70}})));
    Basic.Inductor inductor(L = L) annotation(Placement(transformation(extent = {{-20, 50}, {0, 70}})));
    EMF emf(k = k) annotation(Placement(transformation(origin = {20, 0}, extent = {{10, -10}, {-10, 10}}, rotation = 90)));
    Rotational.Basic.Inertia rotor(J = J) annotation(Placement(transformation(extent = {{50, -10}, {70, 10}})));
  equation
    connect(p, resistor.p) annotation(Line(points = {{-100, 60}, {-60, 60}}, color = {0, 0, 255}));
    connect(resistor.heat, heat) annotation(Line(points = {{-50, 50}, {-50, -25}, {0, -25}, {0, -100}}, color = {191, 0, 0}));
    connect(resistor.n, inductor.p) annotation(Line(points = {{-40, 60}, {-20, 60}}, color = {0, 0, 255}));
    connect(inductor.n, emf.p) annotation(Line(points = {{0, 60}, {20, 60}, {20, 10}}, color = {0, 0, 255}));
    connect(emf.n, n) annotation(Line(points = {{20, -10}, {20, -35}, {-100, -35}, {-100, -60}}, color = {0, 0, 255}));
    connect(rotor.b, flange) annotation(Line(points = {{70, 0}, {100, 0}}, color = {100, 100, 100}));
    connect(emf.flange, rotor.a) annotation(Line(points = {{30, -6.12323e-16}, {50, 0}}, color = {100, 100, 100}));
    annotation(Icon(graphics = {Text(extent = {{-60, 30}, {60, -30}}, textString = "DC")}),
      Documentation(info = "<html>
<p>Resistance and inductance of the armature, the electromotive force and the inertia of the rotor:</p>
<p><i>L</i> d<i>i</i>/d<i>t</i> + <i>R i</i> + <i>k &omega;</i> = <i>u</i>, &nbsp; <i>J</i> d<i>&omega;</i>/d<i>t</i> = <i>k i</i> + <i>&tau;</i>.</p>
</html>"));
  end PermanentMagnetMachine;

  model SeriesMachine "DC machine whose field winding is in series with the armature"
    extends Machine;
    parameter Units.Resistance R = 1 "Resistance of armature and field";
    parameter Units.Inductance L = 1e-3 "Inductance of armature and field";
    parameter Units.Inductance M = 0.05 "Mutual inductance of field and rotating armature";
    parameter Units.Inertia J = 1e-3 "Moment of inertia of the rotor";
    Basic.Resistor resistor(R = R, useHeatPort = useHeatPort) annotation(Placement(transformation(extent = {{-60, 50}, {-40, 70}})));
    Basic.Inductor inductor(L = L) annotation(Placement(transformation(extent = {{-20, 50}, {0, 70}})));
    SeriesEMF emf(M = M) annotation(Placement(transformation(origin = {20, 0}, extent = {{10, -10}, {-10, 10}}, rotation = 90)));
    Rotational.Basic.Inertia rotor(J = J) annotation(Placement(transformation(extent = {{50, -10}, {70, 10}})));
  equation
    connect(p, resistor.p) annotation(Line(points = {{-100, 60}, {-60, 60}}, color = {0, 0, 255}));
    connect(resistor.heat, heat) annotation(Line(points = {{-50, 50}, {-50, -25}, {0, -25}, {0, -100}}, color = {191, 0, 0}));
    connect(resistor.n, inductor.p) annotation(Line(points = {{-40, 60}, {-20, 60}}, color = {0, 0, 255}));
    connect(inductor.n, emf.p) annotation(Line(points = {{0, 60}, {20, 60}, {20, 10}}, color = {0, 0, 255}));
    connect(emf.n, n) annotation(Line(points = {{20, -10}, {20, -35}, {-100, -35}, {-100, -60}}, color = {0, 0, 255}));
    connect(rotor.b, flange) annotation(Line(points = {{70, 0}, {100, 0}}, color = {100, 100, 100}));
    connect(emf.flange, rotor.a) annotation(Line(points = {{30, -6.12323e-16}, {50, 0}}, color = {100, 100, 100}));
    annotation(Icon(graphics = {Text(extent = {{-60, 30}, {60, -30}}, textString = "DC series")}),
      Documentation(info = "<html>
<p><i>L</i> d<i>i</i>/d<i>t</i> + <i>R i</i> + <i>M i &omega;</i> = <i>u</i>, &nbsp; <i>J</i> d<i>&omega;</i>/d<i>t</i> = <i>M i</i>&sup2; + <i>&tau;</i>. It has a large torque at rest and drives trains.</p>
</html>"));
  end SeriesMachine;

  model ExcitedMachine "DC machine whose field winding has pins of its own"
    extends Machine(final useHeatPort = false);
    parameter Units.Resistance R = 1 "Resistance of the armature";
    parameter Units.Inductance L = 1e-3 "Inductance of the armature";
    parameter Units.Resistance Rf = 100 "Resistance of the field winding";
    parameter Units.Inductance Lf = 1 "Inductance of the field winding";
    parameter Units.Inductance M = 0.5 "Mutual inductance of field and rotating armature";
    parameter Units.Inertia J = 1e-3 "Moment of inertia of the rotor";
    Interfaces.Pin fp "Positive pin of the field winding" annotation(Placement(transformation(extent = {{-70, -110}, {-50, -90}})));
    Interfaces.Pin fn "Negative pin of the field winding" annotation(Placement(transformation(extent = {{50, -110}, {70, -90}})));
    Units.Current i(start = 0) "Current of the armature";
    Units.Current field(start = 0) "Current of the field winding";
    Units.FluxLinkage flux "Flux that the field gives to the armature";
    Units.AngularVelocity w(start = 0) "Angular velocity of the rotor";
    Units.Power loss = R*i^2 + Rf*field^2 "Power that becomes heat";
  equation
    i = p.i;
    0 = p.i + n.i;
    field = fp.i;
    0 = fp.i + fn.i;
    flux = M*field;
    p.v - n.v = R*i + L*der(i) + flux*w;
    fp.v - fn.v = Rf*field + Lf*der(field);
    w = der(flange.phi);
    J*der(w) = flux*i + flange.tau;
    annotation(Icon(graphics = {Text(extent = {{-60, 30}, {60, -30}}, textString = "DC"),
        Line(points = {{-60, -90}, {-60, -78}, {60, -78}, {60, -90}}, color = {0, 0, 255}),
        Rectangle(extent = {{-30, -68}, {30, -88}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html>
<p><i>&psi;</i> = <i>M i<sub>f</sub></i>, &nbsp; <i>L</i> d<i>i</i>/d<i>t</i> + <i>R i</i> + <i>&psi; &omega;</i> = <i>u</i>, &nbsp; <i>L<sub>f</sub></i> d<i>i<sub>f</sub></i>/d<i>t</i> + <i>R<sub>f</sub> i<sub>f</sub></i> = <i>u<sub>f</sub></i>,
&nbsp; <i>J</i> d<i>&omega;</i>/d<i>t</i> = <i>&psi; i</i> + <i>&tau;</i>. A weaker field lets it turn faster with less torque. With both windings at one source it is a shunt machine.</p>
</html>"));
  end ExcitedMachine;

  model InductionMachine "Three-phase induction machine with a cage"
    parameter Integer polePairs(min = 1) = 2 "Number of pole pairs";
    parameter Units.Resistance Rs = 0.03 "Resistance of a phase of the stator";
    parameter Units.Inductance Ls = 9.2e-3 "Inductance of a phase of the stator: main and leakage";
    parameter Units.Resistance Rr = 0.04 "Resistance of the cage, seen from the stator";
    parameter Units.Inductance Lr = 9.2e-3 "Inductance of the cage, seen from the stator: main and leakage";
    parameter Units.Inductance Lm = 9e-3 "Main inductance, smaller than both";
    parameter Units.Inertia J = 0.3 "Moment of inertia of the rotor";
    Interfaces.Pin a "First phase" annotation(Placement(transformation(extent = {{-110, 50}, {-90, 70}})));
    Interfaces.Pin b "Second phase" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Pin c "Third phase" annotation(Placement(transformation(extent = {{-110, -70}, {-90, -50}})));
    Interfaces.Flange flange "Shaft" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.Voltage u[2] "Space vector of the voltages";
    Units.Current i[2](each start = 0) "Space vector of the currents of the stator";
    Units.Current ir[2](each start = 0) "Space vector of the currents of the cage, seen from the stator";
    Units.FluxLinkage psi[2] "Flux of the stator";
    Units.FluxLinkage psir[2] "Flux of the rotor, seen from the stator";
    Units.AngularVelocity w(start = 0) "Angular velocity of the rotor";
    Units.Torque tau "Torque of the air gap";
    Units.Power loss = 3/2*(Rs*(i*i) + Rr*(ir*ir)) "Power that becomes heat";
  equation
    u = {(2*a.v - b.v - c.v)/3, (b.v - c.v)/sqrt(3)};
    a.i = i[1];
    b.i = (-i[1] + sqrt(3)*i[2])/2;
    0 = a.i + b.i + c.i;
    psi = Ls*i + Lm*ir;
    psir = Lm*i + Lr*ir;
    u = Rs*i + der(psi);
    zeros(2) = Rr*ir + der(psir) + polePairs*w*{psir[2], -psir[1]};
    tau = 3/2*polePairs*(psi[1]*i[2] - psi[2]*i[1]);
    w = der(flange.phi);
    J*der(w) = tau + flange.tau;
    assert(Lm^2 < Ls*Lr, "The main inductance is not smaller than the inductances of stator and cage");
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-70, 70}, {70, -70}}, lineColor = {0, 0, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{70, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 60}, {-36, 60}}, color = {0, 0, 255}),
        Line(points = {{-90, 0}, {-70, 0}}, color = {0, 0, 255}),
        Line(points = {{-90, -60}, {-36, -60}}, color = {0, 0, 255}),
        Text(extent = {{-60, 40}, {60, -40}}, textString = "M 3~")}),
      Documentation(info = "<html>
<p>The windings are connected in a star whose point is free. Voltages, currents and fluxes of the three phases are space vectors in the
coordinates of the stator, of the size of the phases:</p>
<p><b>u</b> = <i>R<sub>s</sub></i> <b>i</b> + d<b>&psi;</b>/d<i>t</i>, &nbsp; 0 = <i>R<sub>r</sub></i> <b>i</b><sub>r</sub> + d<b>&psi;</b><sub>r</sub>/d<i>t</i> &minus; j <i>p &omega;</i> <b>&psi;</b><sub>r</sub>, &nbsp; <i>&tau;</i> = 3/2 <i>p</i> <b>&psi;</b> &times; <b>i</b></p>
<p>with <b>&psi;</b> = <i>L<sub>s</sub></i> <b>i</b> + <i>L<sub>m</sub></i> <b>i</b><sub>r</sub> and <b>&psi;</b><sub>r</sub> = <i>L<sub>m</sub></i> <b>i</b> + <i>L<sub>r</sub></i> <b>i</b><sub>r</sub>. The power that enters is 3/2 <b>u</b>&middot;<b>i</b>.</p>
</html>"));
  end InductionMachine;
end Machines;
