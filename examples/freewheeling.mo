package Freewheeling "A switch interrupts the current of an inductor"
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

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Source
    extends TwoPin;
    parameter Real V = 12;
  equation
    v = V;
  end Source;

  model Resistor
    extends TwoPin;
    parameter Real R = 4;
  equation
    v = R*i;
  end Resistor;

  model Inductor
    extends TwoPin;
    parameter Real L = 0.02;
  equation
    L*der(i) = v;
  end Inductor;

  model Switch
    extends TwoPin;
    parameter Real opens = 0.03;
    Boolean open = time >= opens;
  equation
    0 = if open then i else v;
  end Switch;

  model Diode
    extends TwoPin;
    Real s "curve parameter";
    Boolean off = s < 0;
  equation
    v = if off then s else 0;
    i = if off then 0 else s;
  end Diode;

  model Interrupted "without a way out for the current: an impulse in the voltage"
    Source source;
    Switch switch;
    Resistor resistor;
    Inductor inductor(i(start = 0, fixed = true));
    Ground ground;
  equation
    connect(source.p, switch.p);
    connect(switch.n, resistor.p);
    connect(resistor.n, inductor.p);
    connect(inductor.n, source.n);
    connect(source.n, ground.p);
    annotation (experiment(StopTime = 0.06));
  end Interrupted;

  model WithDiode "the diode takes the current over at the instant at which the switch opens"
    extends Interrupted;
    Diode diode;
  equation
    connect(diode.p, inductor.n);
    connect(diode.n, resistor.p);
  end WithDiode;
end Freewheeling;
