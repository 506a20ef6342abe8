package ThyristorBridge "A three-phase bridge of ideal thyristors that feeds a motor"
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

  model Resistor
    extends TwoPin;
    parameter Real R;
  equation
    v = R*i;
  end Resistor;

  model Inductor
    extends TwoPin;
    parameter Real L;
  equation
    L*der(i) = v;
  end Inductor;

  model Source
    extends TwoPin;
    parameter Real V = 100, f = 50, phase;
  equation
    v = V*sin(2*pi*f*time + phase);
  end Source;

  model Thyristor
    extends TwoPin;
    parameter Real epsilon "resistance when on, conductance when off";
    Real s "curve parameter";
    Boolean fire;
    Boolean off(start = true, fixed = true);
  equation
    off = s < 0 or pre(off) and not fire;
    v = s*(if off then 1 else epsilon);
    i = s*(if off then epsilon else 1);
  end Thyristor;

  model Motor
    extends TwoPin;
    parameter Real k = 0.5, J = 0.5, d = 0.2;
    Real w(start = 0, fixed = true);
  equation
    v = k*w;
    J*der(w) = k*i - d*w;
  end Motor;

  constant Real pi = 3.141592653589793;

  model Drive
    parameter Real T = 0.02 "period";
    parameter Real delay = 0.0015 "of the firing";
    parameter Real epsilon = 0 "how far thyristors are from ideal";
    Source source[3](phase = {0, -2*pi/3, 2*pi/3});
    Inductor line[3](each L = 1e-4, each i(start = 0));
    Thyristor upper[3](each epsilon = epsilon), lower[3](each epsilon = epsilon);
    Resistor resistor(R = 0.5);
    Inductor choke(L = 0.02, i(start = 0));
    Motor motor;
    Ground ground;
  equation
    for k in 1:3 loop
      upper[k].fire = mod(time - delay - T/12 - (k - 1)*T/3, T) < T/3;
      lower[k].fire = mod(time - delay - T/12 - T/2 - (k - 1)*T/3, T) < T/3;
      connect(source[k].n, ground.p);
      connect(source[k].p, line[k].p);
      connect(line[k].n, upper[k].p);
      connect(line[k].n, lower[k].n);
      connect(upper[k].n, resistor.p);
      connect(lower[k].p, motor.n);
    end for;
    connect(resistor.n, choke.p);
    connect(choke.n, motor.p);
    annotation (experiment(StopTime = 0.2));
  end Drive;
end ThyristorBridge;
