within Gyrator.Fluid;
package Vessels "Volumes that store mass and energy"
  extends Icons.Folder;

  model MixedVolume "Well mixed volume with a heat port"
    replaceable package Medium = Media.Water constrainedby Media.Medium "Medium";
    parameter Units.Volume V = 1e-3 "Volume";
    parameter Units.Pressure pStart = 1.01325e5 "Pressure at the start";
    parameter Units.Temperature TStart = 293.15 "Temperature at the start";
    Interfaces.FluidPort a(medium = Medium.name) "Left port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.FluidPort b(medium = Medium.name) "Right port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Interfaces.HeatPort heat "Heat through the wall" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Units.Pressure p(start = pStart) "Pressure";
    Units.Temperature T(start = TStart) "Temperature";
    Units.Density d "Density";
    Units.SpecificEnthalpy h "Specific enthalpy";
    Units.Mass m "Mass";
    Units.Energy U "Internal energy";
  initial equation
    p = pStart;
    T = TStart;
  equation
    d = Medium.density(p, T);
    h = Medium.enthalpy(p, T);
    m = V*d;
    U = m*h - p*V;
    der(m) = a.m_flow + b.m_flow;
    der(U) = noEvent(a.m_flow*actualStream(a.h_outflow) + b.m_flow*actualStream(b.h_outflow)) + heat.Q_flow;
    a.p = p;
    b.p = p;
    a.h_outflow = h;
    b.h_outflow = h;
    heat.T = T;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-70, 70}, {70, -70}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-70, 0}}, color = {0, 127, 255}),
        Line(points = {{70, 0}, {90, 0}}, color = {0, 127, 255}),
        Line(points = {{0, -70}, {0, -90}}, color = {191, 0, 0}),
        Text(extent = {{20, -110}, {170, -140}}, textString = "V = %V", horizontalAlignment = TextAlignment.Left)}),
      Documentation(info = "<html>
<p>Balances of mass, d<i>m</i>/d<i>t</i> = &Sigma; mass flows, and energy, d<i>U</i>/d<i>t</i> = &Sigma; mass flow times enthalpy + heat flow, with <i>m</i> = <i>V &rho;</i>(<i>p</i>, <i>T</i>) and <i>U</i> = <i>m h</i> &minus; <i>p V</i>.</p>
</html>"));
  end MixedVolume;

  model OpenTank "Open tank: the level rises with what flows in"
    replaceable package Medium = Media.Water constrainedby Media.Medium "Medium";
    parameter Units.Area A = 1 "Area of the tank";
    parameter Units.Length levelStart = 1 "Level at the start";
    parameter Units.Temperature TStart = 293.15 "Temperature at the start";
    parameter Units.Pressure pAmbient = 1.01325e5 "Pressure of the surroundings";
    Interfaces.FluidPort port(medium = Medium.name) "Port at the bottom" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Units.Length level "Level";
    Units.Temperature T(start = TStart) "Temperature";
    Units.SpecificEnthalpy h "Specific enthalpy";
    Units.Mass m "Mass";
    Units.Energy H "Enthalpy";
    final parameter Units.Density d = Medium.density(Medium.pRef, TStart) "Density";
  initial equation
    level = levelStart;
    T = TStart;
  equation
    m = d*A*level;
    h = Medium.enthalpy(pAmbient, T);
    H = m*h;
    der(m) = port.m_flow;
    m*der(h) = noEvent(port.m_flow*(actualStream(port.h_outflow) - h));
    port.p = pAmbient + d*Units.standardGravity*level;
    assert(level > 0, "The tank is empty");
    port.h_outflow = h;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{-60, 80}, {-60, -80}, {60, -80}, {60, 80}}, color = {0, 127, 255}),
        Rectangle(extent = {{-60, 20}, {60, -80}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{0, -80}, {0, -90}}, color = {0, 127, 255}),
        Text(extent = {{20, -110}, {170, -140}}, textString = "A = %A", horizontalAlignment = TextAlignment.Left)}),
      Documentation(info = "<html>
<p><i>&rho; A</i> d<i>l</i>/d<i>t</i> is the mass flow, &nbsp; <i>p</i> = <i>p</i><sub>0</sub> + <i>&rho; g l</i>.</p>
</html>"));
  end OpenTank;

  model HeatedPipe "Pipe as a chain of mixed volumes with laminar resistances, and a heat port each"
    replaceable package Medium = Media.Water constrainedby Media.Medium "Medium";
    parameter Integer n(min = 1) = 4 "Number of volumes";
    parameter Units.Volume V = 1e-3 "Volume of the pipe";
    parameter Units.Length length = 1 "Length of the pipe";
    parameter Units.Radius r = 0.01 "Radius for the resistance";
    parameter Units.Pressure pStart = 1.01325e5 "Pressure at the start";
    parameter Units.Temperature TStart = 293.15 "Temperature at the start";
    Interfaces.FluidPort a(medium = Medium.name) "Left port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.FluidPort b(medium = Medium.name) "Right port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Interfaces.HeatPort heat[n] "Heat through the wall" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    MixedVolume volume[n](redeclare each package Medium = Medium, each V = V/n, each pStart = pStart, each TStart = TStart) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
    Basic.LaminarPipe pipe[n](redeclare each package Medium = Medium, each length = length/n, each r = r) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
  equation
    connect(a, volume[1].a) annotation(Line(points = {{-100, 0}, {-10, 0}}, color = {0, 127, 255}));
    for k in 1:n - 1 loop
      connect(volume[k].b, pipe[k].a) annotation(Line(points = {{10, 0}, {30, 0}}, color = {0, 127, 255}));
      connect(pipe[k].b, volume[k + 1].a) annotation(Line(points = {{50, 0}, {56, 0}, {56, 16}, {-16, 16}, {-16, 0}, {-10, 0}}, color = {0, 127, 255}));
    end for;
    connect(volume[n].b, pipe[n].a) annotation(Line(points = {{10, 0}, {30, 0}}, color = {0, 127, 255}));
    connect(pipe[n].b, b) annotation(Line(points = {{50, 0}, {100, 0}}, color = {0, 127, 255}));
    connect(heat, volume.heat) annotation(Line(points = {{0, -100}, {0, -10}}, color = {191, 0, 0}));
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-90, 30}, {90, -30}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-45, 30}, {-45, -30}}, color = {0, 127, 255}),
        Line(points = {{0, 30}, {0, -30}}, color = {0, 127, 255}),
        Line(points = {{45, 30}, {45, -30}}, color = {0, 127, 255}),
        Line(points = {{0, -30}, {0, -90}}, color = {191, 0, 0})}),
      Documentation(info = "<html>
<p>Finite volumes: each piece of the pipe is well mixed and has a resistance behind it.</p>
</html>"));
  end HeatedPipe;
end Vessels;
