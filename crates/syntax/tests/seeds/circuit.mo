within Examples;
package Electrical "A small library and a circuit of it"
  import SI = Modelica.Units.SI;

  connector Pin "A pin"
    SI.Voltage v;
    flow SI.Current i;
  end Pin;

  partial model OnePort
    SI.Voltage v = p.v - n.v;
    SI.Current i = p.i;
    Pin p, n;
  equation
    p.i + n.i = 0;
  end OnePort;

  model Resistor
    extends OnePort;
    parameter SI.Resistance R(min = 0) = 1 "Resistance";
  equation
    v = R*i;
  end Resistor;

  model Diode "An ideal diode"
    extends OnePort;
    Boolean off(start = true);
    Real s;
  equation
    off = s < 0;
    v = if off then s else 1e-5*s;
    i = if off then 1e-5*s else s;
  end Diode;

  model Circuit
    replaceable Resistor load(R = 100) constrainedby OnePort;
    Diode diodes[4] annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}}, rotation = 90)));
    Real x(start = 1, fixed = true);
    discrete Integer count(start = 0);
  initial equation
    pre(count) = 0;
  equation
    for k in 1:3 loop
      connect(diodes[k].n, diodes[k + 1].p);
    end for;
    der(x) = -x .^ 2 + sum(diodes[k].v for k in 1:size(diodes, 1));
    when {x < 0.5, sample(0, 0.1)} then
      count = pre(count) + 1;
      reinit(x, 1.0);
    end when;
    annotation(experiment(StopTime = 10, Tolerance = 1e-6));
  end Circuit;
end Electrical;
