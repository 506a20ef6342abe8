within Gyrator;
package Heat "Heat: storage, conduction, convection, radiation, sources, sensors"

  partial model TwoPorts "Component that passes heat on and stores none"
    Interfaces.HeatPort a "Left port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.HeatPort b "Right port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.HeatFlow Q_flow "Heat flow from a to b";
    Units.TemperatureDifference dT "Temperature of a minus that of b";
  equation
    dT = a.T - b.T;
    a.Q_flow = Q_flow;
    b.Q_flow = -Q_flow;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end TwoPorts;

  model Capacity "Body of one temperature that stores heat"
    parameter Units.HeatCapacity C = 1 "Heat capacity: specific heat capacity times mass";
    Interfaces.HeatPort port "Port" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Units.Temperature T "Temperature";
  equation
    T = port.T;
    C*der(T) = port.Q_flow;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-80, 80}, {80, -80}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
        Text(extent = {{-60, 30}, {60, -30}}, textString = "C"),
        Text(extent = {{20, -110}, {170, -140}}, textString = "C = %C", horizontalAlignment = TextAlignment.Left)}),
      Documentation(info = "<html>
<p><i>C</i> d<i>T</i>/d<i>t</i> is the heat flow into the body.</p>
</html>"));
  end Capacity;

  model Conductor "Conduction through a wall"
    extends TwoPorts;
    parameter Units.ThermalConductance G = 1 "Conductance: conductivity times area by thickness";
  equation
    Q_flow = G*dT;
    annotation(Icon(graphics = {Rectangle(extent = {{-80, 60}, {80, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{-60, 0}, {60, 0}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "G = %G")}),
      Documentation(info = "<html>
<p>The heat flow is <i>G</i> (<i>T<sub>a</sub></i> &minus; <i>T<sub>b</sub></i>) with <i>G</i> = <i>&lambda; A</i>/<i>L</i>.</p>
</html>"));
  end Conductor;

  model Resistor "Conduction, given by a resistance"
    extends TwoPorts;
    parameter Units.ThermalResistance R = 1 "Thermal resistance";
  equation
    dT = R*Q_flow;
    annotation(Icon(graphics = {Rectangle(extent = {{-80, 30}, {80, -30}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{-60, 0}, {60, 0}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "R = %R")}),
      Documentation(info = "<html>
<p><i>T<sub>a</sub></i> &minus; <i>T<sub>b</sub></i> is <i>R</i> times the heat flow.</p>
</html>"));
  end Resistor;

  model Convection "Heat from a wall to a fluid, by a conductance that a signal gives"
    extends TwoPorts annotation(IconMap(primitivesVisible = false));
    Interfaces.RealInput Gc(unit = "W/K") "Conductance: heat transfer coefficient times area" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    Q_flow = Gc*dT;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-80, 60}, {-40, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{-40, 30}, {60, 30}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{-40, -30}, {60, -30}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{0, 90}, {0, 50}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>The heat flow is <i>G<sub>c</sub></i>(<i>t</i>) (<i>T<sub>a</sub></i> &minus; <i>T<sub>b</sub></i>).</p>
</html>"));
  end Convection;

  model Radiation "Radiation between two surfaces"
    extends TwoPorts;
    parameter Real Gr(unit = "m2") = 1 "Area, corrected for emissivity and view";
    constant Real sigma(unit = "W/(m2.K4)") = 5.670374419e-8 "Stefan-Boltzmann constant";
  equation
    Q_flow = Gr*sigma*(a.T^4 - b.T^4);
    annotation(Icon(graphics = {Rectangle(extent = {{-80, 60}, {-50, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{50, 60}, {80, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{-40, 30}, {40, 30}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{40, 0}, {-40, 0}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{-40, -30}, {40, -30}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "Gr = %Gr")}),
      Documentation(info = "<html>
<p>The heat flow is <i>G<sub>r</sub> &sigma;</i> (<i>T<sub>a</sub></i><sup>4</sup> &minus; <i>T<sub>b</sub></i><sup>4</sup>).</p>
</html>"));
  end Radiation;

  model FixedTemperature "Ambient of constant temperature"
    parameter Units.Temperature T = 293.15 "Temperature";
    Interfaces.HeatPort port "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.T = T;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-80, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{60, 0}, {90, 0}}, color = {191, 0, 0}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "T = %T")}),
      Documentation(info = "<html>
<p>The temperature of the port is <i>T</i>, whatever heat flows.</p>
</html>"));
  end FixedTemperature;

  model PrescribedTemperature "Ambient whose temperature is a signal"
    Interfaces.RealInput T(unit = "K") "Temperature" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
    Interfaces.HeatPort port "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.T = T;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-80, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
        Line(points = {{60, 0}, {90, 0}}, color = {191, 0, 0}),
        Text(extent = {{-70, 30}, {50, -30}}, textString = "T")}),
      Documentation(info = "<html>
<p>The temperature of the port is the signal.</p>
</html>"));
  end PrescribedTemperature;

  model FixedHeatFlow "Source of a constant heat flow"
    parameter Units.HeatFlow Q_flow = 1 "Heat flow out of the source";
    Interfaces.HeatPort port "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.Q_flow = -Q_flow;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-80, 0}, {80, 0}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "Q_flow = %Q_flow")}),
      Documentation(info = "<html>
<p>The heat flow does not depend on the temperature.</p>
</html>"));
  end FixedHeatFlow;

  model PrescribedHeatFlow "Source whose heat flow is a signal"
    Interfaces.RealInput Q_flow(unit = "W") "Heat flow out of the source" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
    Interfaces.HeatPort port "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.Q_flow = -Q_flow;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-60, 0}, {80, 0}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>The heat flow is the signal.</p>
</html>"));
  end PrescribedHeatFlow;

  model TemperatureSensor "Thermometer"
    Interfaces.HeatPort port "Port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.RealOutput y(unit = "K") "Temperature" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    y = port.T;
    port.Q_flow = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-20, -40}, {20, -80}}, lineColor = {191, 0, 0}, fillColor = {191, 0, 0}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-10, 80}, {10, -50}}, lineColor = {191, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-10, 0}}, color = {191, 0, 0}),
        Line(points = {{10, 0}, {100, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p><i>y</i> = <i>T</i>; no heat flows.</p>
</html>"));
  end TemperatureSensor;

  model HeatFlowSensor "Heat that flows from a to b"
    extends TwoPorts;
    Interfaces.RealOutput y(unit = "W") "Heat flow" annotation(Placement(transformation(origin = {0, -110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    dT = 0;
    y = Q_flow;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {191, 0, 0}),
        Line(points = {{60, 0}, {90, 0}}, color = {191, 0, 0}),
        Line(points = {{0, -60}, {0, -100}}, color = {0, 0, 127}),
        Text(extent = {{-50, 30}, {50, -30}}, textString = "Q")}),
      Documentation(info = "<html>
<p><i>y</i> is the heat flow; the temperatures are equal.</p>
</html>"));
  end HeatFlowSensor;

  package Entropy "The same with entropy flows: temperature is a potential, entropy what flows"
    extends Icons.Folder;

    model Capacity "Body that stores entropy"
      parameter Units.HeatCapacity C = 1 "Heat capacity";
      Interfaces.EntropyPort port "Port" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
      Units.Temperature T "Temperature";
    equation
      T = port.T;
      C*der(T) = T*port.S_flow;
      annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
          Ellipse(extent = {{-80, 80}, {80, -80}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
          Text(extent = {{-60, 30}, {60, -30}}, textString = "S"),
          Text(extent = {{20, -110}, {170, -140}}, textString = "C = %C", horizontalAlignment = TextAlignment.Left)}),
        Documentation(info = "<html>
<p>The entropy flow is <i>C</i> (d<i>T</i>/d<i>t</i>)/<i>T</i>.</p>
</html>"));
    end Capacity;

    model Conductor "Conduction: heat is conserved, entropy grows"
      parameter Units.ThermalConductance G = 1 "Conductance";
      Interfaces.EntropyPort a "Left port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
      Interfaces.EntropyPort b "Right port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
      Units.EntropyFlow produced "Entropy that is produced";
    equation
      0 = a.T*a.S_flow + b.T*b.S_flow;
      a.T*a.S_flow = G*(a.T - b.T);
      produced = -(a.S_flow + b.S_flow);
      annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
          Rectangle(extent = {{-80, 60}, {80, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid),
          Line(points = {{-60, 0}, {60, 0}}, color = {191, 0, 0}, arrow = {Arrow.None, Arrow.Filled}),
          Text(extent = {{-150, -110}, {150, -140}}, textString = "G = %G")}),
        Documentation(info = "<html>
<p>0 = <i>T</i><sub>1</sub><i>S</i><sub>1</sub> + <i>T</i><sub>2</sub><i>S</i><sub>2</sub>, &nbsp; <i>T</i><sub>1</sub><i>S</i><sub>1</sub> = <i>G</i> (<i>T</i><sub>1</sub> &minus; <i>T</i><sub>2</sub>) with the entropy flows <i>S</i> into both ports.</p>
</html>"));
    end Conductor;

    model FromHeat "Joins a heat port to an entropy port"
      Interfaces.HeatPort a "Heat port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
      Interfaces.EntropyPort b "Entropy port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    equation
      a.T = b.T;
      0 = a.Q_flow + b.T*b.S_flow;
      annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
          Line(points = {{-90, 0}, {90, 0}}, color = {191, 0, 0}),
          Line(points = {{0, 40}, {0, -40}}, color = {191, 0, 0})}),
        Documentation(info = "<html>
<p>The heat flow is temperature times entropy flow.</p>
</html>"));
    end FromHeat;
  end Entropy;

  annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {191, 0, 0}, fillColor = {255, 220, 220}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html>
<p>A heat port has a temperature <code>T</code> and a heat flow <code>Q_flow</code> into the component. Its power is the heat flow itself. The package <code>Entropy</code> has
the same elements between temperature and entropy flow, whose product is that power.</p>
</html>"));
end Heat;
