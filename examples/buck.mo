package Buck "A converter that steps a voltage down, with an ideal switch and an ideal diode"
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
    parameter Real V = 24;
  equation
    v = V;
  end Source;

  model Resistor
    extends TwoPin;
    parameter Real R = 5;
  equation
    v = R*i;
  end Resistor;

  model Inductor
    extends TwoPin;
    parameter Real L = 1e-4;
  equation
    L*der(i) = v;
  end Inductor;

  model Capacitor
    extends TwoPin;
    parameter Real C = 1e-5;
  equation
    C*der(v) = i;
  end Capacitor;

  model Switch
    extends TwoPin;
    input Boolean closed;
  equation
    0 = if closed then v else i;
  end Switch;

  model Diode
    extends TwoPin;
    Real s "curve parameter";
    Boolean off = s < 0;
  equation
    v = if off then s else 0;
    i = if off then 0 else s;
  end Diode;

  model Converter
    parameter Real period = 1e-5;
    parameter Real duty = 0.4;
    Boolean on(start = true, fixed = true);
    Source source;
    Switch switch(closed = on);
    Diode diode;
    Inductor coil(i(start = 0, fixed = true));
    Capacitor store(v(start = 0, fixed = true));
    Resistor load;
    Ground ground;
  equation
    when sample(period, period) then
      on = true;
    elsewhen sample(duty*period, period) then
      on = false;
    end when;
    connect(source.p, switch.p);
    connect(switch.n, coil.p);
    connect(diode.n, coil.p);
    connect(coil.n, store.p);
    connect(coil.n, load.p);
    connect(source.n, ground.p);
    connect(diode.p, ground.p);
    connect(store.n, ground.p);
    connect(load.n, ground.p);
    annotation(experiment(StopTime = 0.002, Interval = 1e-6));
  end Converter;
end Buck;
