within Gyrator;
package Chemical "Substances in dilute solution that react and diffuse"

  model Substance "Amount of a substance in a solution"
    parameter Units.Volume V = 1 "Volume of the solution";
    parameter Units.ChemicalPotential mu0 = 0 "Chemical potential at the concentration c0";
    parameter Units.Concentration c0 = 1000 "Concentration of reference";
    parameter Units.Temperature T = 298.15 "Temperature of the solution";
    parameter Units.Concentration cStart(min = 0) = 1 "Concentration at the start";
    parameter Units.Concentration cSmall(min = 0) = 1e-30*c0 "Below this concentration the chemical potential stays as it is";
    Interfaces.ChemicalPort port "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.Concentration c(min = 0) "Concentration";
  initial equation
    c = cStart;
  equation
    V*der(c) = port.n_flow;
    port.mu = mu0 + Units.gasConstant*T*log(noEvent(max(c, cSmall))/c0);
    assert(c > -1e-6*c0, "More of the substance is taken out of the solution than there is");
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-60, 60}, {-60, -60}, {60, -60}, {60, 60}}, color = {200, 100, 0}),
        Rectangle(extent = {{-60, 30}, {60, -60}}, lineColor = {200, 100, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{60, 0}, {90, 0}}, color = {200, 100, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "c = %cStart")}),
      Documentation(info = "<html>
<p><i>V</i> d<i>c</i>/d<i>t</i> is the molar flow into the solution, &nbsp; <i>&mu;</i> = <i>&mu;</i><sub>0</sub> + <i>R T</i> ln(<i>c</i>/<i>c</i><sub>0</sub>). It stores the free energy
<i>V c</i> (<i>&mu;</i> &minus; <i>R T</i>). At the concentration zero the logarithm has no value; from <i>c</i><sub>small</sub> down the potential does not fall any further.</p>
</html>"));
  end Substance;

  model FixedPotential "Large amount of a substance: its chemical potential is constant"
    parameter Units.ChemicalPotential mu = 0 "Chemical potential";
    Interfaces.ChemicalPort port "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.mu = mu;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-80, 60}, {60, -60}}, lineColor = {200, 100, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{60, 0}, {90, 0}}, color = {200, 100, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "mu = %mu")}),
      Documentation(info = "<html>
<p>The chemical potential is <i>&mu;</i>, whatever flows.</p>
</html>"));
  end FixedPotential;

  model MolarFlowSource "Molar flow given by a signal"
    Interfaces.RealInput n_flow(unit = "mol/s") "Molar flow out of the source" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
    Interfaces.ChemicalPort port "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.n_flow = -n_flow;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {200, 100, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-40, 0}, {40, 0}}, color = {200, 100, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{60, 0}, {90, 0}}, color = {200, 100, 0})}),
      Documentation(info = "<html>
<p>The flow does not depend on the chemical potential.</p>
</html>"));
  end MolarFlowSource;

  model Membrane "Diffusion between two solutions"
    parameter Real P(unit = "m3/s") = 1e-3 "Permeability times area";
    parameter Units.Concentration c0 = 1000 "Concentration of reference";
    parameter Units.Temperature T = 298.15 "Temperature";
    parameter Units.ChemicalPotential mu0 = 0 "Chemical potential at the concentration c0";
    Interfaces.ChemicalPort a "Left port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.ChemicalPort b "Right port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.MolarFlow n_flow "Molar flow from a to b";
    Units.Power loss = n_flow*(a.mu - b.mu) "Power that becomes heat";
  equation
    n_flow = a.n_flow;
    0 = a.n_flow + b.n_flow;
    n_flow = P*c0*(exp((a.mu - mu0)/(Units.gasConstant*T)) - exp((b.mu - mu0)/(Units.gasConstant*T)));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-20, 80}, {20, -80}}, lineColor = {200, 100, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {90, 0}}, color = {200, 100, 0}, arrow = {Arrow.None, Arrow.Filled})}),
      Documentation(info = "<html>
<p>Fick's law: the flow is <i>P</i> (<i>c<sub>a</sub></i> &minus; <i>c<sub>b</sub></i>), the concentrations following from the chemical potentials.</p>
</html>"));
  end Membrane;

  model Reaction "Reaction of substances with the law of mass action"
    parameter Integer nS(min = 1) = 1 "Number of substances that react";
    parameter Integer nP(min = 1) = 1 "Number of products";
    parameter Real s[nS] = ones(nS) "Stoichiometric coefficients of what reacts";
    parameter Real p[nP] = ones(nP) "Stoichiometric coefficients of the products";
    parameter Units.MolarFlow k(min = 0) = 1 "Rate of the reaction where all exponentials are one";
    parameter Units.Temperature T = 298.15 "Temperature";
    Interfaces.ChemicalPort substances[nS] "What reacts" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.ChemicalPort products[nP] "What comes out" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.MolarFlow rate "Rate of the reaction, forward minus backward";
    Units.ChemicalPotential affinity "Driving potential";
    Units.Power loss = rate*affinity "Power that becomes heat";
  protected
    Units.ChemicalPotential before "Of what reacts";
    Units.ChemicalPotential after "Of the products";
  equation
    before = s*substances.mu;
    after = p*products.mu;
    affinity = before - after;
    rate = k*(exp(before/(Units.gasConstant*T)) - exp(after/(Units.gasConstant*T)));
    substances.n_flow = s*rate;
    products.n_flow = -p*rate;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-80, 50}, {80, -50}}, lineColor = {200, 100, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-50, 15}, {50, 15}}, color = {200, 100, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{50, -15}, {-50, -15}}, color = {200, 100, 0}, arrow = {Arrow.None, Arrow.Filled})}),
      Documentation(info = "<html>
<p>The affinity is <i>A</i> = &Sigma; <i>s<sub>i</sub> &mu;<sub>i</sub></i> &minus; &Sigma; <i>p<sub>j</sub> &mu;<sub>j</sub></i>, and the rate <i>k</i> (exp(&Sigma; <i>s<sub>i</sub> &mu;<sub>i</sub></i>/<i>R T</i>) &minus; exp(&Sigma; <i>p<sub>j</sub> &mu;<sub>j</sub></i>/<i>R T</i>)), which is
the law of mass action. It vanishes in equilibrium, where the affinity is zero.</p>
</html>"));
  end Reaction;

  annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {200, 100, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html>
<p>A port has the chemical potential <code>mu</code> and the molar flow <code>n_flow</code> into the component; their product is power. Solutions are dilute and have one temperature.</p>
</html>"));
end Chemical;
