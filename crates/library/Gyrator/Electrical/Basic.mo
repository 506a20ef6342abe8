within Gyrator.Electrical;
package Basic "Ground, resistors, capacitors, inductors, transformers"
  extends Icons.Folder;

  model Ground "Potential zero"
    Interfaces.Pin p "Pin" annotation(Placement(transformation(extent = {{-10, 90}, {10, 110}})));
  equation
    p.v = 0;
    annotation(Icon(graphics = {Line(points = {{0, 100}, {0, 40}}, color = {0, 0, 255}),
        Line(points = {{-60, 40}, {60, 40}}, color = {0, 0, 255}, thickness = 1),
        Line(points = {{-40, 10}, {40, 10}}, color = {0, 0, 255}, thickness = 1),
        Line(points = {{-20, -20}, {20, -20}}, color = {0, 0, 255}, thickness = 1),
        Text(extent = {{-150, -40}, {150, -80}}, textString = "%name")}),
      Documentation(info = "<html>
<p><i>v</i> = 0. A circuit needs exactly one ground for each part that is not connected to the rest.</p>
</html>"));
  end Ground;

  model Resistor "Resistance that does not depend on temperature"
    extends Bases.TwoPin;
    extends Bases.HeatLoss;
    parameter Units.Resistance R = 1 "Resistance";
  equation
    u = R*i;
    loss = u*i;
    annotation(Icon(graphics = {Rectangle(extent = {{-70, 30}, {70, -30}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-70, 0}}, color = {0, 0, 255}),
        Line(points = {{70, 0}, {90, 0}}, color = {0, 0, 255}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "R = %R")}),
      Documentation(info = "<html>
<p>Ohm's law, <i>u</i> = <i>R i</i>. The power <i>R i</i>&sup2; becomes heat.</p>
</html>"));
  end Resistor;

  model HeatingResistor "Resistance that grows with the temperature of its heat port"
    extends Bases.TwoPin;
    parameter Units.Resistance R = 1 "Resistance at the temperature Tref";
    parameter Units.TemperatureCoefficient alpha = 0 "Relative growth of the resistance with temperature";
    parameter Units.Temperature Tref = 293.15 "Temperature at which the resistance is R";
    Interfaces.HeatPort heat "Takes the loss" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Units.Resistance Rt "Resistance now";
  equation
    Rt = R*(1 + alpha*(heat.T - Tref));
    u = Rt*i;
    heat.Q_flow = -u*i;
    annotation(Icon(graphics = {Rectangle(extent = {{-70, 30}, {70, -30}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-70, 0}}, color = {0, 0, 255}),
        Line(points = {{70, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{-50, -50}, {50, 50}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{0, -30}, {0, -90}}, color = {191, 0, 0}),
        Text(extent = {{-150, 85}, {150, 55}}, textString = "R = %R")}),
      Documentation(info = "<html>
<p><i>u</i> = <i>R</i> (1 + <i>&alpha;</i> (<i>T</i> &minus; <i>T</i><sub>ref</sub>)) <i>i</i>. The power <i>u i</i> flows out of the heat port. It has the pins and the parameter <i>R</i> of
<code>Resistor</code> and so may replace it.</p>
</html>"));
  end HeatingResistor;

  model Conductor "Conductance"
    extends Bases.TwoPin;
    extends Bases.HeatLoss;
    parameter Units.Conductance G = 1 "Conductance";
  equation
    i = G*u;
    loss = u*i;
    annotation(Icon(graphics = {Rectangle(extent = {{-70, 30}, {70, -30}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-70, 0}}, color = {0, 0, 255}),
        Line(points = {{70, 0}, {90, 0}}, color = {0, 0, 255}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "G = %G")}),
      Documentation(info = "<html>
<p><i>i</i> = <i>G u</i>. The power <i>G u</i>&sup2; becomes heat.</p>
</html>"));
  end Conductor;

  model VariableResistor "Resistance given by a signal"
    extends Bases.TwoPin annotation(IconMap(primitivesVisible = false));
    extends Bases.HeatLoss;
    Interfaces.RealInput R(unit = "Ohm") "Resistance" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    u = R*i;
    loss = u*i;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-70, 30}, {70, -30}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-70, 0}}, color = {0, 0, 255}),
        Line(points = {{70, 0}, {90, 0}}, color = {0, 0, 255}),
        Line(points = {{0, 90}, {0, 30}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>u</i> = <i>R</i>(<i>t</i>) <i>i</i>.</p>
</html>"));
  end VariableResistor;

  model Capacitor "Capacitance"
    extends Bases.TwoPin;
    parameter Units.Capacitance C = 1 "Capacitance";
  equation
    C*der(u) = i;
    annotation(Icon(graphics = {Line(points = {{-6, 40}, {-6, -40}}, color = {0, 0, 255}, thickness = 1),
        Line(points = {{6, 40}, {6, -40}}, color = {0, 0, 255}, thickness = 1),
        Line(points = {{-90, 0}, {-6, 0}}, color = {0, 0, 255}),
        Line(points = {{6, 0}, {90, 0}}, color = {0, 0, 255}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "C = %C")}),
      Documentation(info = "<html>
<p><i>C</i> d<i>u</i>/d<i>t</i> = <i>i</i>. It stores the energy <i>C u</i>&sup2;/2.</p>
</html>"));
  end Capacitor;

  model Inductor "Inductance"
    extends Bases.TwoPin;
    parameter Units.Inductance L = 1 "Inductance";
  equation
    L*der(i) = u;
    annotation(Icon(graphics = {Rectangle(extent = {{-60, 15}, {60, -15}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 255}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 0, 255}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "L = %L")}),
      Documentation(info = "<html>
<p><i>L</i> d<i>i</i>/d<i>t</i> = <i>u</i>. It stores the energy <i>L i</i>&sup2;/2.</p>
</html>"));
  end Inductor;

  model CoupledInductors "Two inductors that share a part of their flux"
    extends Bases.TwoPort;
    parameter Units.Inductance L1 = 1 "Inductance of the first side";
    parameter Units.Inductance L2 = 1 "Inductance of the second side";
    parameter Units.Inductance M = 0.5 "Mutual inductance, at most sqrt(L1*L2)";
  equation
    u1 = L1*der(i1) + M*der(i2);
    u2 = M*der(i1) + L2*der(i2);
    assert(M^2 <= L1*L2*(1 + 1e-12), "The mutual inductance is larger than sqrt(L1*L2): the coils would give energy that they do not have");
    annotation(Icon(graphics = {Rectangle(extent = {{-40, 60}, {-20, -60}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{20, 60}, {40, -60}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 60}, {-30, 60}}, color = {0, 0, 255}),
        Line(points = {{-90, -60}, {-30, -60}}, color = {0, 0, 255}),
        Line(points = {{90, 60}, {30, 60}}, color = {0, 0, 255}),
        Line(points = {{90, -60}, {30, -60}}, color = {0, 0, 255}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "M = %M")}),
      Documentation(info = "<html>
<p><i>u</i><sub>1</sub> = <i>L</i><sub>1</sub> d<i>i</i><sub>1</sub>/d<i>t</i> + <i>M</i> d<i>i</i><sub>2</sub>/d<i>t</i>, &nbsp; <i>u</i><sub>2</sub> = <i>M</i> d<i>i</i><sub>1</sub>/d<i>t</i> + <i>L</i><sub>2</sub> d<i>i</i><sub>2</sub>/d<i>t</i>.
They store the energy <i>L</i><sub>1</sub><i>i</i><sub>1</sub>&sup2;/2 + <i>M i</i><sub>1</sub><i>i</i><sub>2</sub> + <i>L</i><sub>2</sub><i>i</i><sub>2</sub>&sup2;/2.</p>
</html>"));
  end CoupledInductors;

  model Transformer "Ideal transformer, also of constant currents"
    extends Bases.TwoPort;
    parameter Real n = 1 "Number of turns of the first side by that of the second";
  equation
    u1 = n*u2;
    i2 = -n*i1;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 70}, {-20, 30}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-60, 20}, {-20, -20}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-60, -30}, {-20, -70}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{20, 70}, {60, 30}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{20, 20}, {60, -20}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{20, -30}, {60, -70}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 60}, {-60, 60}}, color = {0, 0, 255}),
        Line(points = {{-90, -60}, {-60, -60}}, color = {0, 0, 255}),
        Line(points = {{90, 60}, {60, 60}}, color = {0, 0, 255}),
        Line(points = {{90, -60}, {60, -60}}, color = {0, 0, 255}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "n = %n")}),
      Documentation(info = "<html>
<p><i>u</i><sub>1</sub> = <i>n u</i><sub>2</sub>, &nbsp; <i>i</i><sub>2</sub> = &minus;<i>n i</i><sub>1</sub>. The power that enters one side leaves the other one.</p>
</html>"));
  end Transformer;

  model IdealGyrator "Turns voltages into currents; a capacitor behind it is an inductor"
    extends Bases.TwoPort;
    parameter Units.Conductance G = 1 "Current of one side by the voltage of the other";
  equation
    i1 = G*u2;
    i2 = -G*u1;
    annotation(Icon(graphics = {Rectangle(extent = {{-60, 80}, {60, -80}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 60}, {-60, 60}}, color = {0, 0, 255}),
        Line(points = {{-90, -60}, {-60, -60}}, color = {0, 0, 255}),
        Line(points = {{90, 60}, {60, 60}}, color = {0, 0, 255}),
        Line(points = {{90, -60}, {60, -60}}, color = {0, 0, 255}),
        Line(points = {{-40, 20}, {40, 20}}, color = {0, 0, 255}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{40, -20}, {-40, -20}}, color = {0, 0, 255}, arrow = {Arrow.None, Arrow.Filled}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "G = %G")}),
      Documentation(info = "<html>
<p><i>i</i><sub>1</sub> = <i>G u</i><sub>2</sub>, &nbsp; <i>i</i><sub>2</sub> = &minus;<i>G u</i><sub>1</sub>. The power that enters one side leaves the other one.</p>
</html>"));
  end IdealGyrator;
end Basic;
