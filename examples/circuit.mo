package CircuitExample "A source that feeds R1–C and R2–L in parallel, with its component classes"
  type Voltage = Real(unit = "V", quantity = "ElectricPotential");
  type Current = Real(unit = "A", quantity = "ElectricCurrent");

  connector Pin "An electrical connection point"
    Voltage v "Potential at the pin";
    flow Current i "Current into the pin";
  end Pin;

  partial model TwoPin "What every component with two pins has in common"
    Pin p, n;
    Voltage u "Voltage drop";
  equation
    u = p.v - n.v;
    0 = p.i + n.i;
  end TwoPin;

  model Resistor
    extends TwoPin;
    parameter Real R(unit = "Ohm");
  equation
    u = R*p.i;
  end Resistor;

  model Capacitor
    extends TwoPin;
    parameter Real C(unit = "F");
  equation
    C*der(u) = p.i;
  end Capacitor;

  model Inductor
    extends TwoPin;
    parameter Real L(unit = "H");
  equation
    L*der(p.i) = u;
  end Inductor;

  model Vsource
    extends TwoPin;
    parameter Real A(unit = "V"), w(unit = "rad/s");
  equation
    u = A*sin(w*time);
  end Vsource;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Circuit "Two branches in parallel"
    Resistor R1(R = 10), R2(R = 100);
    Capacitor C(C = 0.01, u(start = 0, fixed = true));
    Inductor L(L = 0.1, p(i(start = 0, fixed = true)));
    Vsource AC(A = 220, w = 314);
    Ground G;
  equation
    connect(AC.p, R1.p);
    connect(R1.n, C.p);
    connect(C.n, AC.n);
    connect(R1.p, R2.p);
    connect(R2.n, L.p);
    connect(L.n, C.n);
    connect(AC.n, G.p);
    annotation(experiment(StopTime = 0.1, Interval = 1e-4));
  end Circuit;
end CircuitExample;
