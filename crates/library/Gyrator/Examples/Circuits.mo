within Gyrator.Examples;
package Circuits "Circuits with ideal switches"
  extends Icons.ExamplesFolder;

  model TwoBranches "A sine drives a capacitor and an inductor, each over a resistor"
    extends Icons.Example;
    Electrical.Sources.SineVoltage source(V = 10, f = 1) annotation(Placement(transformation(origin = {-60, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Resistor R1(R = 10) annotation(Placement(transformation(origin = {-20, 20}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Capacitor C(C = 0.01, u(start = 0, fixed = true)) annotation(Placement(transformation(origin = {-20, -20}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Resistor R2(R = 100) annotation(Placement(transformation(origin = {30, 20}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Inductor L(L = 0.1, i(start = 0, fixed = true)) annotation(Placement(transformation(origin = {30, -20}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-70, -70}, {-50, -50}})));
  equation
    connect(source.p, R1.p) annotation(Line(points = {{-60, 10}, {-60, 36}, {-20, 36}, {-20, 30}}, color = {0, 0, 255}));
    connect(source.p, R2.p) annotation(Line(points = {{-60, 10}, {-60, 36}, {30, 36}, {30, 30}}, color = {0, 0, 255}));
    connect(R1.n, C.p) annotation(Line(points = {{-20, 10}, {-20, -10}}, color = {0, 0, 255}));
    connect(R2.n, L.p) annotation(Line(points = {{30, 10}, {30, -10}}, color = {0, 0, 255}));
    connect(C.n, source.n) annotation(Line(points = {{-20, -30}, {-20, -36}, {-60, -36}, {-60, -10}}, color = {0, 0, 255}));
    connect(L.n, source.n) annotation(Line(points = {{30, -30}, {30, -36}, {-60, -36}, {-60, -10}}, color = {0, 0, 255}));
    connect(source.n, ground.p) annotation(Line(points = {{-60, -10}, {-60, -50}}, color = {0, 0, 255}));
    annotation(experiment(StopTime = 2),
      Documentation(info = "<html>
<p>Two states, and after the removal of aliases only assignments.</p>
</html>"));
  end TwoBranches;

  model Rectifier "A diode charges a capacitor that a resistor discharges"
    extends Icons.Example;
    Electrical.Sources.SineVoltage source(V = 1, f = 50) annotation(Placement(transformation(origin = {-70, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Resistor Ri(R = 10) annotation(Placement(transformation(extent = {{-50, 30}, {-30, 50}})));
    Electrical.Ideal.Diode diode annotation(Placement(transformation(extent = {{-10, 30}, {10, 50}})));
    Electrical.Basic.Capacitor C(C = 0.001, u(start = 0, fixed = true)) annotation(Placement(transformation(origin = {30, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Resistor RL(R = 50) annotation(Placement(transformation(origin = {70, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-80, -70}, {-60, -50}})));
  equation
    connect(source.p, Ri.p) annotation(Line(points = {{-70, 10}, {-70, 40}, {-50, 40}}, color = {0, 0, 255}));
    connect(Ri.n, diode.p) annotation(Line(points = {{-30, 40}, {-10, 40}}, color = {0, 0, 255}));
    connect(diode.n, C.p) annotation(Line(points = {{10, 40}, {30, 40}, {30, 10}}, color = {0, 0, 255}));
    connect(C.p, RL.p) annotation(Line(points = {{30, 10}, {70, 10}}, color = {0, 0, 255}));
    connect(C.n, RL.n) annotation(Line(points = {{30, -10}, {70, -10}}, color = {0, 0, 255}));
    connect(C.n, source.n) annotation(Line(points = {{30, -10}, {-70, -10}}, color = {0, 0, 255}));
    connect(source.n, ground.p) annotation(Line(points = {{-70, -10}, {-70, -50}}, color = {0, 0, 255}));
    annotation(experiment(StopTime = 0.1, Tolerance = 1e-8),
      Documentation(info = "<html>
<p>The diode conducts while the source is above the capacitor. Each change is an event.</p>
</html>"));
  end Rectifier;

  model SwitchCircuit "A contact beside a resistor and a capacitor that a current source feeds"
    extends Icons.Example;
    Electrical.Sources.ConstantCurrent source(I = 1) annotation(Placement(transformation(origin = {-60, 0}, extent = {{-10, -10}, {10, 10}}, rotation = 90)));
    Electrical.Basic.Resistor R1(R = 100) annotation(Placement(transformation(origin = {-20, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Ideal.Switch contact annotation(Placement(transformation(extent = {{0, 30}, {20, 50}})));
    Blocks.Sources.BooleanTable signal(instants = {1e-6, 2.5e-6, 5e-6, 9e-6}) annotation(Placement(transformation(extent = {{-30, 60}, {-10, 80}})));
    Electrical.Basic.Resistor R2(R = 20) annotation(Placement(transformation(origin = {40, 20}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Capacitor C(C = 1e-7, u(start = 0, fixed = true)) annotation(Placement(transformation(origin = {40, -20}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-70, -70}, {-50, -50}})));
  equation
    connect(source.n, R1.p) annotation(Line(points = {{-60, 10}, {-20, 10}}, color = {0, 0, 255}));
    connect(R1.p, contact.p) annotation(Line(points = {{-20, 10}, {-20, 40}, {0, 40}}, color = {0, 0, 255}));
    connect(contact.n, R2.p) annotation(Line(points = {{20, 40}, {40, 40}, {40, 30}}, color = {0, 0, 255}));
    connect(R2.n, C.p) annotation(Line(points = {{40, 10}, {40, -10}}, color = {0, 0, 255}));
    connect(C.n, R1.n) annotation(Line(points = {{40, -30}, {40, -36}, {-20, -36}, {-20, -10}}, color = {0, 0, 255}));
    connect(R1.n, source.p) annotation(Line(points = {{-20, -10}, {-60, -10}}, color = {0, 0, 255}));
    connect(source.p, ground.p) annotation(Line(points = {{-60, -10}, {-60, -50}}, color = {0, 0, 255}));
    connect(signal.y, contact.closed) annotation(Line(points = {{-9, 70}, {10, 70}, {10, 51}}, color = {255, 0, 255}));
    annotation(experiment(StopTime = 1.2e-5),
      Documentation(info = "<html>
<p>The equation of the contact is part of a linear system; one program serves both positions.</p>
</html>"));
  end SwitchCircuit;

  model ThyristorBridge "A bridge of four thyristors controls the current of a DC machine"
    extends Icons.Example;
    parameter Units.Time period = 0.02 "Period of the mains";
    parameter Units.Time delay1 = 0.003 "Delay of the firing";
    Electrical.Sources.SineVoltage source(V = 100, f = 50) annotation(Placement(transformation(origin = {-80, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Ideal.Thyristor T1(Goff = 1e-5) annotation(Placement(transformation(extent = {{-30, 30}, {-10, 50}})));
    Electrical.Ideal.Thyristor T2(Goff = 1e-5) annotation(Placement(transformation(extent = {{-30, -10}, {-10, 10}})));
    Electrical.Ideal.Thyristor T3(Goff = 1e-5) annotation(Placement(transformation(origin = {-50, -40}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
    Electrical.Ideal.Thyristor T4(Goff = 1e-5) annotation(Placement(transformation(origin = {-50, -70}, extent = {{-10, -10}, {10, 10}}, rotation = 180)));
    Electrical.Basic.Inductor choke(L = 0.02, i(start = 0)) annotation(Placement(transformation(extent = {{10, 30}, {30, 50}})));
    Electrical.Machines.PermanentMagnetMachine machine(R = 0.5, L = 0.005, k = 0.5, J = 0.1) annotation(Placement(transformation(extent = {{40, -10}, {60, 10}})));
    Rotational.Basic.Damper load(d = 0.1) annotation(Placement(transformation(extent = {{70, -10}, {90, 10}})));
    Rotational.Basic.Housing housing annotation(Placement(transformation(extent = {{85, -40}, {105, -20}})));
    Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-90, -100}, {-70, -80}})));
  equation
    T1.fire = mod(time - delay1, period) < period/4;
    T4.fire = T1.fire;
    T2.fire = mod(time - delay1 - period/2, period) < period/4;
    T3.fire = T2.fire;
    connect(source.p, T1.p) annotation(Line(points = {{-80, 10}, {-80, 40}, {-30, 40}}, color = {0, 0, 255}));
    connect(source.n, T2.p) annotation(Line(points = {{-80, -10}, {-80, -16}, {-36, -16}, {-36, 0}, {-30, 0}}, color = {0, 0, 255}));
    connect(T1.n, choke.p) annotation(Line(points = {{-10, 40}, {10, 40}}, color = {0, 0, 255}));
    connect(T2.n, choke.p) annotation(Line(points = {{-10, 0}, {0, 0}, {0, 40}, {10, 40}}, color = {0, 0, 255}));
    connect(choke.n, machine.p) annotation(Line(points = {{30, 40}, {35, 40}, {35, 6}, {40, 6}}, color = {0, 0, 255}));
    connect(machine.n, T3.p) annotation(Line(points = {{40, -6}, {0, -6}, {0, -40}, {-40, -40}}, color = {0, 0, 255}));
    connect(machine.n, T4.p) annotation(Line(points = {{40, -6}, {0, -6}, {0, -70}, {-40, -70}}, color = {0, 0, 255}));
    connect(T3.n, source.p) annotation(Line(points = {{-60, -40}, {-66, -40}, {-66, 16}, {-80, 16}, {-80, 10}}, color = {0, 0, 255}));
    connect(T4.n, source.n) annotation(Line(points = {{-60, -70}, {-80, -70}, {-80, -10}}, color = {0, 0, 255}));
    connect(source.n, ground.p) annotation(Line(points = {{-80, -10}, {-80, -80}}, color = {0, 0, 255}));
    connect(machine.flange, load.a) annotation(Line(points = {{60, 0}, {70, 0}}, color = {100, 100, 100}));
    connect(load.b, housing.flange) annotation(Line(points = {{90, 0}, {95, 0}, {95, -20}}, color = {100, 100, 100}));
    annotation(experiment(StopTime = 0.4),
      Documentation(info = "<html>
<p>Each pair of thyristors is fired in its half wave, later for less speed.</p>
</html>"));
  end ThyristorBridge;

  model Chopper "A GTO chops the supply of a series machine; a diode carries the current meanwhile"
    extends Icons.Example;
    Electrical.Sources.ConstantVoltage battery(V = 600) annotation(Placement(transformation(origin = {-70, 0}, extent = {{-10, -10}, {10, 10}}, rotation = -90)));
    Electrical.Ideal.GTO gto annotation(Placement(transformation(extent = {{-40, 30}, {-20, 50}})));
    Blocks.Sources.BooleanPulse pulses(period = 0.0025, width = 0.4) annotation(Placement(transformation(extent = {{-70, 70}, {-50, 90}})));
    Electrical.Ideal.Diode freewheeling annotation(Placement(transformation(origin = {0, 0}, extent = {{-10, -10}, {10, 10}}, rotation = 90)));
    Electrical.Machines.SeriesMachine machine(R = 0.2, L = 0.01, M = 0.05, J = 20) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
    Rotational.Basic.Damper load(d = 0.5) annotation(Placement(transformation(extent = {{60, -10}, {80, 10}})));
    Rotational.Basic.Housing housing annotation(Placement(transformation(extent = {{80, -40}, {100, -20}})));
    Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-80, -70}, {-60, -50}})));
  equation
    connect(battery.p, gto.p) annotation(Line(points = {{-70, 10}, {-70, 40}, {-40, 40}}, color = {0, 0, 255}));
    connect(gto.n, machine.p) annotation(Line(points = {{-20, 40}, {5, 40}, {5, 6}, {30, 6}}, color = {0, 0, 255}));
    connect(freewheeling.n, machine.p) annotation(Line(points = {{6.12323e-16, 10}, {6.12323e-16, 16}, {24, 16}, {24, 6}, {30, 6}}, color = {0, 0, 255}));
    connect(freewheeling.p, machine.n) annotation(Line(points = {{-6.12323e-16, -10}, {-6.12323e-16, -16}, {24, -16}, {24, -6}, {30, -6}}, color = {0, 0, 255}));
    connect(machine.n, battery.n) annotation(Line(points = {{30, -6}, {24, -6}, {24, -16}, {-70, -16}, {-70, -10}}, color = {0, 0, 255}));
    connect(battery.n, ground.p) annotation(Line(points = {{-70, -10}, {-70, -50}}, color = {0, 0, 255}));
    connect(pulses.y, gto.fire) annotation(Line(points = {{-49, 80}, {-24, 80}, {-24, 51}}, color = {255, 0, 255}));
    connect(machine.flange, load.a) annotation(Line(points = {{50, 0}, {60, 0}}, color = {100, 100, 100}));
    connect(load.b, housing.flange) annotation(Line(points = {{80, 0}, {90, 0}, {90, -20}}, color = {100, 100, 100}));
    annotation(experiment(StopTime = 0.1, Tolerance = 1e-8),
      Documentation(info = "<html>
<p>When the GTO turns off, the diode takes the current of the machine over at the same instant.</p>
</html>"));
  end Chopper;

  model MotorStart "An induction machine runs up directly on the mains, with a fan as its load"
    extends Icons.Example;
    Electrical.Sources.SineVoltage mains[3](each V = 325, each f = 50, phase = {0, -2*Units.pi/3, -4*Units.pi/3}) annotation(Placement(transformation(extent = {{-50, -10}, {-70, 10}})));
    Electrical.Machines.InductionMachine machine(polePairs = 2, Rs = 0.5, Rr = 0.4, Ls = 0.06, Lr = 0.062, Lm = 0.058, J = 0.1,
      i(each start = 0, each fixed = true), ir(each start = 0, each fixed = true)) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
    Rotational.Basic.Inertia fan(J = 0.2, phi(start = 0, fixed = true), w(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
    Rotational.Basic.ExternalTorque air annotation(Placement(transformation(extent = {{90, -10}, {70, 10}})));
    Electrical.Basic.Ground ground annotation(Placement(transformation(extent = {{-90, -40}, {-70, -20}})));
  equation
    air.tau = -1e-3*fan.w*abs(fan.w);
    connect(mains[1].p, machine.a) annotation(Line(points = {{-50, 0}, {-30, 0}, {-30, 6}, {-10, 6}}, color = {0, 0, 255}));
    connect(mains[2].p, machine.b) annotation(Line(points = {{-50, 0}, {-10, 0}}, color = {0, 0, 255}));
    connect(mains[3].p, machine.c) annotation(Line(points = {{-50, 0}, {-30, 0}, {-30, -6}, {-10, -6}}, color = {0, 0, 255}));
    connect(mains[1].n, ground.p) annotation(Line(points = {{-70, 0}, {-80, 0}, {-80, -20}}, color = {0, 0, 255}));
    connect(mains[2].n, ground.p) annotation(Line(points = {{-70, 0}, {-80, 0}, {-80, -20}}, color = {0, 0, 255}));
    connect(mains[3].n, ground.p) annotation(Line(points = {{-70, 0}, {-80, 0}, {-80, -20}}, color = {0, 0, 255}));
    connect(machine.flange, fan.a) annotation(Line(points = {{10, 0}, {30, 0}}, color = {100, 100, 100}));
    connect(fan.b, air.flange) annotation(Line(points = {{50, 0}, {70, 0}}, color = {100, 100, 100}));
    annotation(experiment(StopTime = 1),
      Documentation(info = "<html>
<p>The torque oscillates with the frequency of the mains while the machine is at rest, passes its breakdown value and ends at that of the fan, a
little below the synchronous speed of 1500 revolutions a minute.</p>
</html>"));
  end MotorStart;
end Circuits;
