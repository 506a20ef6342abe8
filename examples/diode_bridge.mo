package DiodeBridge "A bridge of ideal diodes between an oscillating circuit and its load"
  connector Pin
    Real v;
    flow Real i;
  end Pin;

  partial model TwoPin
    Pin p, n;
    Real v, i;
  equation
    v = p.v - n.v;
    i = p.i;
    0 = p.i + n.i;
  end TwoPin;

  model Diode
    extends TwoPin;
    Real s "curve parameter";
    Boolean off = s < 0;
  equation
    v = if off then s else 0;
    i = if off then 0 else s;
  end Diode;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Resistor
    extends TwoPin;
    parameter Real R = 1000;
  equation
    v = R*i;
  end Resistor;

  model Inductor
    extends TwoPin;
    parameter Real L = 10e-3;
  equation
    L*der(i) = v;
  end Inductor;

  model Capacitor
    extends TwoPin;
    parameter Real C = 1e-6;
  equation
    C*der(v) = i;
  end Capacitor;

  model Oscillator
    Capacitor capacitor(v(start = 10, fixed = true));
    Inductor inductor(i(start = 0, fixed = true));
    Resistor load;
    Diode d1, d2, d3, d4;
    Ground ground;
  equation
    connect(capacitor.p, inductor.p);
    connect(capacitor.n, inductor.n);
    connect(capacitor.p, d1.p);
    connect(capacitor.p, d2.n);
    connect(capacitor.n, d3.p);
    connect(capacitor.n, d4.n);
    connect(d1.n, d3.n);
    connect(d2.p, d4.p);
    connect(d1.n, load.p);
    connect(d2.p, load.n);
    connect(load.n, ground.p);
    annotation (experiment(StopTime = 0.005, Tolerance = 1e-9));
  end Oscillator;
end DiodeBridge;
