within Gyrator.Fluid;
package Basic "Ambient, pipes, valves, pumps"
  extends Icons.Folder;

  partial model TwoPorts "Component through which fluid flows and that stores none"
    replaceable package Medium = Media.Water constrainedby Media.Medium "Medium";
    Interfaces.FluidPort a(medium = Medium.name) "Left port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.FluidPort b(medium = Medium.name) "Right port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.PressureDifference dp "Pressure of a minus that of b";
    Units.MassFlow m_flow "Mass flow from a to b";
  equation
    dp = a.p - b.p;
    m_flow = a.m_flow;
    0 = a.m_flow + b.m_flow;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end TwoPorts;

  partial model Adiabatic "Component that passes the enthalpy on"
    extends TwoPorts;
  equation
    a.h_outflow = inStream(b.h_outflow);
    b.h_outflow = inStream(a.h_outflow);
  end Adiabatic;

  model Ambient "Large reservoir of constant pressure and temperature"
    replaceable package Medium = Media.Water constrainedby Media.Medium "Medium";
    parameter Units.Pressure p = 1.01325e5 "Pressure";
    parameter Units.Temperature T = 293.15 "Temperature";
    Interfaces.FluidPort port(medium = Medium.name) "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.p = p;
    port.h_outflow = Medium.enthalpy(p, T);
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-80, 60}, {60, -60}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 255}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "T = %T")}),
      Documentation(info = "<html>
<p>What flows out has the enthalpy at <i>p</i> and <i>T</i>; what flows in disappears.</p>
</html>"));
  end Ambient;

  model MassFlowSource "Mass flow of constant temperature"
    replaceable package Medium = Media.Water constrainedby Media.Medium "Medium";
    parameter Units.MassFlow m_flow = 1 "Mass flow out of the source";
    parameter Units.Temperature T = 293.15 "Temperature";
    Interfaces.FluidPort port(medium = Medium.name) "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.m_flow = -m_flow;
    port.h_outflow = Medium.enthalpy(port.p, T);
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-80, 40}, {60, -40}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-50, 0}, {50, 0}}, color = {0, 127, 255}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 255}),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "m_flow = %m_flow")}),
      Documentation(info = "<html>
<p>The mass flow does not depend on the pressure.</p>
</html>"));
  end MassFlowSource;

  model LaminarPipe "Pipe with laminar flow"
    extends Adiabatic;
    parameter Units.Length length = 1 "Length";
    parameter Units.Radius r = 0.01 "Radius";
    parameter Units.Temperature T = 293.15 "Temperature for density and viscosity";
    final parameter Real G(unit = "kg/(s.Pa)") = Units.pi*r^4*Medium.density(Medium.pRef, T)/(8*Medium.viscosity(Medium.pRef, T)*length) "Mass flow by pressure difference";
  equation
    m_flow = G*dp;
    annotation(Icon(graphics = {Rectangle(extent = {{-90, 30}, {90, -30}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "length = %length")}),
      Documentation(info = "<html>
<p>Hagen and Poiseuille: the mass flow is &pi;<i>r</i><sup>4</sup><i>&rho; &Delta;p</i>/(8<i>&eta; l</i>).</p>
</html>"));
  end LaminarPipe;

  model TurbulentPipe "Pipe with turbulent flow"
    extends Adiabatic;
    parameter Units.MassFlow mNominal(min = 0) = 1 "Mass flow at the pressure loss dpNominal";
    parameter Units.PressureDifference dpNominal(min = 0) = 1e4 "Pressure loss at the mass flow mNominal";
    parameter Units.PressureDifference dpSmall(min = 0) = 1 "Below this pressure loss the flow becomes laminar";
  equation
    assert(mNominal > 0 and dpNominal > 0, "The mass flow mNominal and the pressure loss dpNominal are not both positive");
    assert(dpSmall > 0, "The pressure loss dpSmall is not positive");
    m_flow = mNominal*dp/(sqrt(dpNominal)*(dp^2 + dpSmall^2)^0.25);
    annotation(Icon(graphics = {Rectangle(extent = {{-90, 30}, {90, -30}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-60, 0}, {-40, 15}, {-20, -15}, {0, 15}, {20, -15}, {40, 15}, {60, 0}}, color = {0, 127, 255})}),
      Documentation(info = "<html>
<p>The pressure loss grows with the square of the mass flow.</p>
</html>"));
  end TurbulentPipe;

  model Valve "Turbulent resistance that a signal opens"
    extends Adiabatic annotation(IconMap(primitivesVisible = false));
    parameter Units.MassFlow mNominal(min = 0) = 1 "Mass flow of the open valve at the pressure loss dpNominal";
    parameter Units.PressureDifference dpNominal(min = 0) = 1e4 "Pressure loss at the mass flow mNominal";
    parameter Units.PressureDifference dpSmall(min = 0) = 1 "Below this pressure loss the flow becomes laminar";
    Interfaces.RealInput opening "Opening, from 0 to 1" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    assert(mNominal > 0 and dpNominal > 0, "The mass flow mNominal and the pressure loss dpNominal are not both positive");
    assert(dpSmall > 0, "The pressure loss dpSmall is not positive");
    m_flow = noEvent(max(opening, 0))*mNominal*dp/(sqrt(dpNominal)*(dp^2 + dpSmall^2)^0.25);
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Polygon(points = {{-80, 50}, {0, 0}, {-80, -50}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Polygon(points = {{80, 50}, {0, 0}, {80, -50}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 90}, {0, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>The flow of a turbulent resistance times the opening. Below zero the valve stays closed.</p>
</html>"));
  end Valve;

  model Pump "Pump whose pressure falls with the square of the mass flow"
    extends TwoPorts;
    parameter Units.PressureDifference dp0 = 1e5 "Pressure difference without flow";
    parameter Units.MassFlow m0(min = 0) = 1 "Mass flow without pressure difference";
    parameter Units.Density d = 998 "Density for the work of the pump";
    Units.Power work "Power of the shaft";
  equation
    assert(m0 > 0, "The mass flow m0 is not positive");
    -dp = dp0*(1 - m_flow*abs(m_flow)/m0^2);
    work = -dp*m_flow/d;
    b.h_outflow = inStream(a.h_outflow) - dp/d;
    a.h_outflow = inStream(b.h_outflow) + dp/d;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Polygon(points = {{-20, 40}, {50, 0}, {-20, -40}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 255}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 255})}),
      Documentation(info = "<html>
<p><i>p<sub>b</sub></i> &minus; <i>p<sub>a</sub></i> = <i>&Delta;p</i><sub>0</sub> (1 &minus; <i>m</i>|<i>m</i>|/<i>m</i><sub>0</sub>&sup2;). Its work raises the enthalpy by <i>&Delta;p</i>/<i>&rho;</i>.</p>
</html>"));
  end Pump;
end Basic;
