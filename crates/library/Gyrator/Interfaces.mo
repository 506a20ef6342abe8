within Gyrator;
package Interfaces "Connectors: where components of a domain touch each other"
  extends Icons.Folder;

  // ---------------------------------------------------------------- energy
  connector Pin "Electrical pin: potential and current"
    Units.Voltage v "Potential";
    flow Units.Current i "Current into the component";
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Rectangle(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {0, 0, 255})}));
  end Pin;

  connector Flange "Rotational flange that transmits an angle: positioning drives"
    Units.Angle phi "Absolute angle";
    flow Units.Torque tau "Cut torque, positive into the component";
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {100, 100, 100}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 0}, fillColor = {100, 100, 100}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {0, 0, 0})}));
  end Flange;

  connector SpeedFlange "Rotational flange that transmits a speed: power drives"
    Units.AngularVelocity w "Absolute angular velocity";
    flow Units.Torque tau "Cut torque, positive into the component";
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {100, 100, 100}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {100, 100, 100}, fillColor = {100, 100, 100}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {100, 100, 100}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-25, 25}, {25, -25}}, lineColor = {100, 100, 100}, fillColor = {100, 100, 100}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {100, 100, 100})}));
  end SpeedFlange;

  connector TranslationalFlange "Flange that slides: position and force"
    Units.Position s "Absolute position";
    flow Units.Force f "Cut force, positive into the component";
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 127, 0}, fillColor = {0, 127, 0}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Rectangle(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 127, 0}, fillColor = {0, 127, 0}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {0, 127, 0})}));
  end TranslationalFlange;

  connector HeatPort "Temperature and heat flow"
    Units.Temperature T "Temperature";
    flow Units.HeatFlow Q_flow "Heat flow into the component";
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {191, 0, 0}, fillColor = {191, 0, 0}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Rectangle(extent = {{-50, 50}, {50, -50}}, lineColor = {191, 0, 0}, fillColor = {191, 0, 0}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {191, 0, 0})}));
  end HeatPort;

  connector EntropyPort "Temperature and entropy flow"
    Units.Temperature T "Temperature";
    flow Units.EntropyFlow S_flow "Entropy flow into the component";
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {191, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-50, 50}, {50, -50}}, lineColor = {191, 0, 0}, fillColor = {191, 0, 0}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Rectangle(extent = {{-50, 50}, {50, -50}}, lineColor = {191, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-25, 25}, {25, -25}}, lineColor = {191, 0, 0}, fillColor = {191, 0, 0}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {191, 0, 0})}));
  end EntropyPort;

  connector HydraulicPort "Incompressible flow: pressure and volume flow"
    Units.Pressure p "Pressure";
    flow Units.VolumeFlow q "Volume flow into the component";
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {0, 127, 255})}));
  end HydraulicPort;

  connector FluidPort "Pipe flow of one substance in one phase: pressure, mass flow and what it carries"
    Units.Pressure p "Pressure";
    flow Units.MassFlow m_flow "Mass flow into the component";
    stream Units.SpecificEnthalpy h_outflow "Specific enthalpy of what would flow out of the component";
    parameter String medium = "" "Name of the medium, which is the same on both sides of a connection";
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 127, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-25, 25}, {25, -25}}, lineColor = {0, 127, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {0, 127, 255})}));
  end FluidPort;

  connector ChemicalPort "One substance: chemical potential and molar flow"
    Units.ChemicalPotential mu "Chemical potential";
    flow Units.MolarFlow n_flow "Molar flow into the component";
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {200, 100, 0}, fillColor = {200, 100, 0}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {200, 100, 0}, fillColor = {200, 100, 0}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {200, 100, 0})}));
  end ChemicalPort;

  // ---------------------------------------------------------------- signals
  connector RealInput = input Real "Real signal, read" annotation(Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}}, lineColor = {0, 0, 127}, fillColor = {0, 0, 127}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Polygon(points = {{-50, 50}, {50, 0}, {-50, -50}}, lineColor = {0, 0, 127}, fillColor = {0, 0, 127}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {0, 0, 127})}));
  connector RealOutput = output Real "Real signal, written" annotation(Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Polygon(points = {{-50, 50}, {50, 0}, {-50, -50}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {0, 0, 127})}));
  connector BooleanInput = input Boolean "Logical signal, read" annotation(Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}}, lineColor = {255, 0, 255}, fillColor = {255, 0, 255}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Polygon(points = {{-50, 50}, {50, 0}, {-50, -50}}, lineColor = {255, 0, 255}, fillColor = {255, 0, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {255, 0, 255})}));
  connector BooleanOutput = output Boolean "Logical signal, written" annotation(Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}}, lineColor = {255, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Polygon(points = {{-50, 50}, {50, 0}, {-50, -50}}, lineColor = {255, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {255, 0, 255})}));
  connector IntegerInput = input Integer "Whole number, read" annotation(Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}}, lineColor = {255, 127, 0}, fillColor = {255, 127, 0}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Polygon(points = {{-50, 50}, {50, 0}, {-50, -50}}, lineColor = {255, 127, 0}, fillColor = {255, 127, 0}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {255, 127, 0})}));
  connector IntegerOutput = output Integer "Whole number, written" annotation(Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}}, lineColor = {255, 127, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Polygon(points = {{-50, 50}, {50, 0}, {-50, -50}}, lineColor = {255, 127, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {255, 127, 0})}));

  // ---------------------------------------------------------------- several at once
  connector EngineMount "Nested connector: what joins an engine to its wing"
    Pin supply "Electrical supply";
    HydraulicPort oil "Hydraulic supply";
    HeatPort wall "Heat into the structure";
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-60, 60}, {-20, 20}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{20, 60}, {60, 20}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-20, -20}, {20, -60}}, lineColor = {191, 0, 0}, fillColor = {191, 0, 0}, fillPattern = FillPattern.Solid)}),
      Diagram(graphics = {Rectangle(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-30, 30}, {-10, 10}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{10, 30}, {30, 10}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid),
        Ellipse(extent = {{-10, -10}, {10, -30}}, lineColor = {191, 0, 0}, fillColor = {191, 0, 0}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, 110}, {150, 60}}, textString = "%name", textColor = {0, 0, 0})}));
  end EngineMount;

  annotation(Documentation(info = "<html>
<p>A connector holds the variables that components share where they touch: a potential <i>e</i>, which is equal on all sides of a
connection, and a flow <i>f</i>, whose sum there is zero. Their product is the power that enters the component, so a connection
neither makes nor loses energy:</p>
<p>&Sigma; <i>e f</i> = <i>e</i> &Sigma; <i>f</i> = 0.</p>
<table>
<tr><th>domain</th><th>potential</th><th>flow</th><th>power</th></tr>
<tr><td>electrical</td><td>v</td><td>i</td><td>v i</td></tr>
<tr><td>rotational, positioning</td><td>&phi;</td><td>&tau;</td><td>&tau; d&phi;/dt</td></tr>
<tr><td>rotational, power</td><td>&omega;</td><td>&tau;</td><td>&omega; &tau;</td></tr>
<tr><td>translational</td><td>s</td><td>f</td><td>f ds/dt</td></tr>
<tr><td>hydraulic</td><td>p</td><td>q</td><td>p q</td></tr>
<tr><td>pipe flow</td><td>p, h</td><td>mass flow</td><td>h times mass flow</td></tr>
<tr><td>heat</td><td>T</td><td>heat flow</td><td>heat flow</td></tr>
<tr><td>heat, by entropy</td><td>T</td><td>entropy flow</td><td>T times entropy flow</td></tr>
<tr><td>chemical</td><td>&mu;</td><td>molar flow</td><td>&mu; times molar flow</td></tr>
</table>
<p>Flows are positive into the component. Frames of mechanics in space are in <code>Mechanics3D</code>.</p>
</html>"));
end Interfaces;
