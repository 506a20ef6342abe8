package RectifierExample "A diode that charges a capacitor with a load"
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  partial model TwoPin
    Pin p, n;
    Real u(unit = "V");
    Real i(unit = "A");
  equation
    u = p.v - n.v;
    0 = p.i + n.i;
    i = p.i;
  end TwoPin;

  model Resistor
    extends TwoPin;
    parameter Real R(unit = "Ohm");
  equation
    u = R*i;
  end Resistor;

  model Capacitor
    extends TwoPin;
    parameter Real C(unit = "F");
  equation
    C*der(u) = i;
  end Capacitor;

  model Source
    extends TwoPin;
    parameter Real A(unit = "V") = 1, f(unit = "Hz") = 50;
    constant Real pi = 3.141592653589793;
  equation
    u = A*sin(2*pi*f*time);
  end Source;

  model Diode "Ideal diode: a curve with parameter s; blocking for s < 0"
    extends TwoPin;
    Boolean off(start = true);
    Real s;
    constant Real V(unit = "V") = 1, A(unit = "A") = 1;
  equation
    off = s < 0;
    u = if off then s*V else 0;
    i = if off then 0 else s*A;
  end Diode;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Rectifier
    Source U0;
    Resistor Ri(R = 10), RL(R = 50);
    Diode diode;
    Capacitor C(C = 0.001, u(start = 0, fixed = true));
    Ground ground;
  equation
    connect(U0.p, Ri.p);
    connect(Ri.n, diode.p);
    connect(diode.n, C.p);
    connect(C.p, RL.p);
    connect(RL.n, C.n);
    connect(C.n, U0.n);
    connect(U0.n, ground.p);
    annotation(experiment(StopTime = 0.1, Tolerance = 1e-9));
  end Rectifier;
end RectifierExample;
