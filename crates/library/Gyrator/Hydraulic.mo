within Gyrator;
package Hydraulic "Oil hydraulics: incompressible flow at low velocity, with compressible volumes"

  partial model TwoPorts "Component through which the same volume flows in and out"
    Interfaces.HydraulicPort a "Left port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.HydraulicPort b "Right port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.PressureDifference dp "Pressure of a minus that of b";
    Units.VolumeFlow q "Volume flow from a to b";
  equation
    dp = a.p - b.p;
    q = a.q;
    0 = a.q + b.q;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}));
  end TwoPorts;

  model Tank "Reservoir of constant pressure"
    parameter Units.Pressure p = 0 "Pressure";
    Interfaces.HydraulicPort port "Port" annotation(Placement(transformation(extent = {{-10, 90}, {10, 110}})));
  equation
    port.p = p;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Line(points = {{0, 90}, {0, -20}}, color = {0, 127, 255}),
        Line(points = {{-60, 20}, {-60, -60}, {60, -60}, {60, 20}}, color = {0, 127, 255}),
        Rectangle(extent = {{-60, 0}, {60, -60}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html>
<p>The pressure is <i>p</i>, whatever flows.</p>
</html>"));
  end Tank;

  model LaminarResistance "Narrow pipe: flow by pressure difference"
    extends TwoPorts;
    parameter Real G(unit = "m3/(s.Pa)", min = 0) = 1e-9 "Volume flow by pressure difference";
    Units.Power loss = dp*q "Power that heats the oil";
  equation
    q = G*dp;
    annotation(Icon(graphics = {Rectangle(extent = {{-90, 20}, {90, -20}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "G = %G")}),
      Documentation(info = "<html>
<p><i>q</i> = <i>G &Delta;p</i>. For a round pipe <i>G</i> = &pi;<i>r</i><sup>4</sup>/(8<i>&eta; l</i>).</p>
</html>"));
  end LaminarResistance;

  model Orifice "Turbulent flow through a sharp edge"
    extends TwoPorts;
    parameter Units.Area A = 1e-5 "Area of the opening";
    parameter Real Cd = 0.6 "Discharge coefficient";
    parameter Units.Density rho = 850 "Density of the oil";
    parameter Units.PressureDifference dpLaminar(min = 0) = 100 "Below this pressure difference the flow becomes laminar";
    Units.Power loss = dp*q "Power that heats the oil";
  equation
    assert(dpLaminar > 0, "The pressure difference dpLaminar is not positive");
    q = Cd*A*sqrt(2/rho)*dp/(dp^2 + dpLaminar^2)^0.25;
    annotation(Icon(graphics = {Line(points = {{-90, 0}, {90, 0}}, color = {0, 127, 255}),
        Polygon(points = {{-20, 40}, {20, 40}, {0, 5}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid),
        Polygon(points = {{-20, -40}, {20, -40}, {0, -5}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-150, -110}, {150, -140}}, textString = "A = %A")}),
      Documentation(info = "<html>
<p><i>q</i> = <i>C<sub>d</sub> A</i> (2|<i>&Delta;p</i>|/<i>&rho;</i>)<sup>1/2</sup> sgn <i>&Delta;p</i>, smooth around zero, where the slope of the root would be infinite.</p>
</html>"));
  end Orifice;

  model Valve "Orifice that a signal opens"
    extends TwoPorts annotation(IconMap(primitivesVisible = false));
    parameter Units.Area A = 1e-5 "Area of the opening at signal 1";
    parameter Real Cd = 0.6 "Discharge coefficient";
    parameter Units.Density rho = 850 "Density of the oil";
    parameter Units.PressureDifference dpLaminar(min = 0) = 100 "Below this pressure difference the flow becomes laminar";
    Interfaces.RealInput opening "Opening, from 0 to 1" annotation(Placement(transformation(origin = {0, 110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Units.Power loss = dp*q "Power that heats the oil";
  equation
    assert(dpLaminar > 0, "The pressure difference dpLaminar is not positive");
    q = noEvent(max(opening, 0))*Cd*A*sqrt(2/rho)*dp/(dp^2 + dpLaminar^2)^0.25;
    annotation(Icon(graphics = {Text(extent = {{-150, -100}, {150, -140}}, textString = "%name", textColor = {0, 0, 255}),
        Polygon(points = {{-80, 50}, {0, 0}, {-80, -50}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Polygon(points = {{80, 50}, {0, 0}, {80, -50}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 90}, {0, 0}}, color = {0, 0, 127})}),
      Documentation(info = "<html>
<p>The flow of an orifice times the opening. Below zero the valve stays closed.</p>
</html>"));
  end Valve;

  model CheckValve "Lets oil flow from a to b only, without loss"
    extends TwoPorts;
    Real s "Curve parameter: flow when open, pressure difference when closed";
    Boolean closed "Whether it is closed";
  protected
    constant Units.PressureDifference unitPressure = 1e5;
    constant Units.VolumeFlow unitFlow = 1e-3;
  equation
    closed = s < 0;
    q = if closed then 0 else s*unitFlow;
    dp = if closed then s*unitPressure else 0;
    annotation(Icon(graphics = {Line(points = {{-90, 0}, {-20, 0}}, color = {0, 127, 255}),
        Ellipse(extent = {{-20, 20}, {20, -20}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 40}, {40, 0}, {0, -40}}, color = {0, 127, 255}),
        Line(points = {{40, 0}, {90, 0}}, color = {0, 127, 255})}),
      Documentation(info = "<html>
<p>The characteristic of an ideal diode between flow and pressure difference.</p>
</html>"));
  end CheckValve;

  model Volume "Oil that is compressed, in a rigid vessel"
    parameter Units.Volume V = 1e-3 "Volume";
    parameter Units.BulkModulus beta = 1.6e9 "Bulk modulus of the oil";
    Interfaces.HydraulicPort port "Port" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Units.Pressure p "Pressure";
  equation
    p = port.p;
    V/beta*der(p) = port.q;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-70, 70}, {70, -70}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{0, -70}, {0, -90}}, color = {0, 127, 255}),
        Text(extent = {{20, -110}, {170, -140}}, textString = "V = %V", horizontalAlignment = TextAlignment.Left)}),
      Documentation(info = "<html>
<p>(<i>V</i>/<i>&beta;</i>) d<i>p</i>/d<i>t</i> = <i>q</i>. It stores the energy <i>V p</i>&sup2;/(2<i>&beta;</i>).</p>
</html>"));
  end Volume;

  model Inertance "Column of oil in a pipe that is accelerated"
    extends TwoPorts;
    parameter Units.Length length = 1 "Length of the pipe";
    parameter Units.Area A = 1e-4 "Cross section";
    parameter Units.Density rho = 850 "Density of the oil";
  equation
    rho*length/A*der(q) = dp;
    annotation(Icon(graphics = {Rectangle(extent = {{-90, 20}, {90, -20}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-50, 0}, {50, 0}}, color = {0, 0, 0}, arrow = {Arrow.None, Arrow.Filled})}),
      Documentation(info = "<html>
<p>(<i>&rho; l</i>/<i>A</i>) d<i>q</i>/d<i>t</i> = <i>&Delta;p</i>. It stores the energy <i>&rho; l q</i>&sup2;/(2<i>A</i>).</p>
</html>"));
  end Inertance;

  model FlowSource "Volume flow given by a signal"
    Interfaces.RealInput q(unit = "m3/s") "Volume flow out of the source" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
    Interfaces.HydraulicPort port "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.q = -q;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 127, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-40, 0}, {40, 0}}, color = {0, 127, 255}, arrow = {Arrow.None, Arrow.Filled}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 255})}),
      Documentation(info = "<html>
<p>The flow does not depend on the pressure.</p>
</html>"));
  end FlowSource;

  model PressureSource "Pressure given by a signal"
    Interfaces.RealInput p(unit = "Pa") "Pressure" annotation(Placement(transformation(extent = {{-120, -10}, {-100, 10}})));
    Interfaces.HydraulicPort port "Port" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    port.p = p;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 127, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Text(extent = {{-40, 40}, {40, -40}}, textString = "p"),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 255})}),
      Documentation(info = "<html>
<p>The pressure does not depend on the flow.</p>
</html>"));
  end PressureSource;

  model Pump "Displacement machine: pump or motor on a shaft"
    parameter Real D(unit = "m3/rad") = 1e-5 "Displacement for an angle of one radian";
    Interfaces.HydraulicPort a "Suction" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.HydraulicPort b "Delivery" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Interfaces.Flange flange "Shaft" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Units.AngularVelocity w "Angular velocity";
    Units.VolumeFlow q "Volume flow from a to b";
  equation
    w = der(flange.phi);
    q = a.q;
    0 = a.q + b.q;
    q = D*w;
    flange.tau = D*(b.p - a.p);
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 127, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Polygon(points = {{20, 20}, {60, 0}, {20, -20}}, lineColor = {0, 127, 255}, fillColor = {0, 127, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-8, -60}, {8, -100}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 255}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 255}),
        Text(extent = {{20, -110}, {170, -140}}, textString = "D = %D", horizontalAlignment = TextAlignment.Left)}),
      Documentation(info = "<html>
<p><i>q</i> = <i>D &omega;</i>, &nbsp; <i>&tau;</i> = <i>D</i> (<i>p<sub>b</sub></i> &minus; <i>p<sub>a</sub></i>). Mechanical power becomes hydraulic power without loss.</p>
</html>"));
  end Pump;

  model Cylinder "Cylinder with a piston rod on one side"
    parameter Units.Area A1 = 1e-3 "Area of the piston";
    parameter Units.Area A2 = 6e-4 "Area of the piston without its rod";
    Interfaces.HydraulicPort a "Chamber without rod" annotation(Placement(transformation(extent = {{-70, -110}, {-50, -90}})));
    Interfaces.HydraulicPort b "Chamber with rod" annotation(Placement(transformation(extent = {{50, -110}, {70, -90}})));
    Interfaces.TranslationalFlange flange "Piston rod" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.Velocity v "Velocity of the piston";
  equation
    v = der(flange.s);
    a.q = A1*v;
    b.q = -A2*v;
    flange.f = -(A1*a.p - A2*b.p);
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-80, 40}, {80, -40}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-20, 40}, {0, -40}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{0, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
        Line(points = {{-60, -40}, {-60, -90}}, color = {0, 127, 255}),
        Line(points = {{60, -40}, {60, -90}}, color = {0, 127, 255})}),
      Documentation(info = "<html>
<p><i>q<sub>a</sub></i> = <i>A</i><sub>1</sub> <i>v</i>, &nbsp; <i>q<sub>b</sub></i> = &minus;<i>A</i><sub>2</sub> <i>v</i>, &nbsp; <i>f</i> = &minus;(<i>A</i><sub>1</sub> <i>p<sub>a</sub></i> &minus; <i>A</i><sub>2</sub> <i>p<sub>b</sub></i>). The oil in the chambers does not yield; <code>Volume</code> beside a port adds that.</p>
</html>"));
  end Cylinder;

  model PressureSensor "Pressure of a port"
    Interfaces.HydraulicPort port "Port" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.RealOutput y(unit = "Pa") "Pressure" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  equation
    y = port.p;
    port.q = 0;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 255}),
        Line(points = {{60, 0}, {100, 0}}, color = {0, 0, 127}),
        Text(extent = {{-50, 40}, {50, -40}}, textString = "p")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>p</i>; nothing flows.</p>
</html>"));
  end PressureSensor;

  model FlowSensor "Volume that flows from a to b"
    extends TwoPorts;
    Interfaces.RealOutput y(unit = "m3/s") "Volume flow" annotation(Placement(transformation(origin = {0, -110}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
  equation
    dp = 0;
    y = q;
    annotation(Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-90, 0}, {-60, 0}}, color = {0, 127, 255}),
        Line(points = {{60, 0}, {90, 0}}, color = {0, 127, 255}),
        Line(points = {{0, -60}, {0, -100}}, color = {0, 0, 127}),
        Text(extent = {{-50, 40}, {50, -40}}, textString = "q")}),
      Documentation(info = "<html>
<p><i>y</i> = <i>q</i>; the pressures are equal.</p>
</html>"));
  end FlowSensor;

  annotation(Icon(graphics = {Line(points = {{-100, 0}, {100, 0}}, color = {0, 127, 255}),
      Ellipse(extent = {{-40, 40}, {40, -40}}, lineColor = {0, 127, 255}, fillColor = {220, 235, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html>
<p>A port has the pressure <code>p</code> and the volume flow <code>q</code> into the component; their product is power. Pressures are relative to the surroundings.</p>
</html>"));
end Hydraulic;
