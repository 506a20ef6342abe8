package TrainChopper "Speed control of a train by a chopper: a thyristor that a second one turns off by a capacitor"
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

  model Battery
    extends TwoPin;
    parameter Real V = 600;
  equation
    v = V;
  end Battery;

  model Inductor
    extends TwoPin;
    parameter Real L;
  equation
    L*der(i) = v;
  end Inductor;

  model Capacitor
    extends TwoPin;
    parameter Real C;
  equation
    C*der(v) = i;
  end Capacitor;

  model Diode
    extends TwoPin;
    parameter Real epsilon "resistance when on, conductance when off";
    Real s "curve parameter";
    Boolean off = s < 0;
  equation
    v = s*(if off then 1 else epsilon);
    i = s*(if off then epsilon else 1);
  end Diode;

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

  model SeriesMotor "armature and field carry the same current"
    extends TwoPin;
    parameter Real R = 0.2, L = 0.01, k = 0.05, J = 20, d = 0.5;
    Real w(start = 0, fixed = true);
  equation
    L*der(i) + R*i + k*i*w = v;
    J*der(w) = k*i^2 - d*w;
  end SeriesMotor;

  model Train
    parameter Real period = 0.0025, duty = 0.4;
    parameter Real epsilon = 0 "how far diodes and thyristors are from ideal";
    Battery battery;
    Thyristor main(epsilon = epsilon), auxiliary(epsilon = epsilon);
    Capacitor commutation(C = 1e-4, v(start = 600, fixed = true));
    Inductor reversal(L = 1e-4, i(start = 0, fixed = true));
    Diode reversing(epsilon = epsilon), freewheeling(epsilon = epsilon);
    SeriesMotor motor(i(start = 0, fixed = true));
    Ground ground;
  equation
    main.fire = mod(time, period) < 2e-4;
    auxiliary.fire = mod(time - duty*period, period) < 2e-4;
    connect(battery.n, ground.p);
    connect(battery.p, main.p);
    connect(main.n, motor.p);
    connect(motor.n, ground.p);
    connect(freewheeling.p, ground.p);
    connect(freewheeling.n, motor.p);
    connect(commutation.n, battery.p);
    connect(commutation.p, auxiliary.p);
    connect(auxiliary.n, motor.p);
    connect(main.n, reversal.p);
    connect(reversal.n, reversing.p);
    connect(reversing.n, commutation.p);
    annotation (experiment(StopTime = 0.05, Tolerance = 1e-8));
  end Train;
end TrainChopper;
