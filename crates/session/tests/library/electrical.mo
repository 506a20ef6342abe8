package ElectricalTests "Each model: `balance` is power in minus power stored and lost, `error` the distance from a closed form"
  import Gyrator.Electrical.*;
  import Gyrator.Interfaces.*;

  model Charging "A battery charges a capacitor over a resistor"
    Sources.ConstantVoltage source(V = 10);
    Basic.Resistor resistor(R = 4);
    Basic.Capacitor capacitor(C = 0.5, u(start = 0, fixed = true));
    Basic.Ground ground;
    Real stored = 0.25*capacitor.u^2;
    Real balance[3] = {
      source.p.v*source.p.i + source.n.v*source.n.i - 10*source.i,
      resistor.p.v*resistor.p.i + resistor.n.v*resistor.n.i - 4*resistor.i^2,
      capacitor.p.v*capacitor.p.i + capacitor.n.v*capacitor.n.i - der(stored)};
    Real error[2] = {capacitor.u - 10*(1 - exp(-time/2)), resistor.loss - 25*exp(-time)};
  equation
    connect(source.p, resistor.p);
    connect(resistor.n, capacitor.p);
    connect(capacitor.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 5));
  end Charging;

  model StepIntoInductor "A voltage step on a conductor and an inductor in series"
    Sources.StepVoltage source(V = 6, V0 = 1, startTime = 1);
    Basic.Conductor conductor(G = 0.5);
    Basic.Inductor inductor(L = 3, i(start = 0.5, fixed = true));
    Basic.Ground ground;
    Real stored = 1.5*inductor.i^2;
    Real balance[2] = {
      conductor.p.v*conductor.p.i + conductor.n.v*conductor.n.i - conductor.loss,
      inductor.p.v*inductor.p.i + inductor.n.v*inductor.n.i - der(stored)};
    Real error = inductor.i - (if time < 1 then 0.5 else 3 - 2.5*exp(-(time - 1)*2/3));
  equation
    connect(source.p, conductor.p);
    connect(conductor.n, inductor.p);
    connect(inductor.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 5));
  end StepIntoInductor;

  model SineOnCapacitor "Alternating current: a sine drives a resistor, a sine current a capacitor"
    Sources.SineVoltage source(V = 5, f = 2, phase = 0.3);
    Basic.Resistor resistor(R = 10);
    Sources.SineCurrent current(I = 2, f = 0.5);
    Basic.Capacitor capacitor(C = 4, u(start = 0, fixed = true));
    Basic.Ground ground;
    constant Real pi = 3.14159265358979;
    Real balance = current.p.v*current.p.i + current.n.v*current.n.i - current.u*current.i;
    Real error[2] = {resistor.i - 0.5*sin(4*pi*time + 0.3), capacitor.u - 0.5*(1 - cos(pi*time))/pi};
  equation
    connect(source.p, resistor.p);
    connect(resistor.n, source.n);
    connect(current.n, capacitor.p);
    connect(current.p, capacitor.n);
    connect(source.n, ground.p);
    connect(capacitor.n, ground.p);
    annotation(experiment(StopTime = 3));
  end SineOnCapacitor;

  model Signals "Sources and a resistor that signals control, with meters"
    Sources.SignalVoltage source(v = 3*time);
    Basic.VariableResistor resistor(R = 1 + time);
    Sensors.Ammeter ammeter;
    Sensors.Voltmeter voltmeter;
    Sensors.PotentialSensor potential;
    Sensors.Wattmeter wattmeter;
    Sources.SignalCurrent current(c = 2*time);
    Basic.Resistor shunt(R = 5);
    Sources.ConstantCurrent constantCurrent(I = 0.25);
    Basic.Resistor second(R = 8);
    Basic.Ground ground;
    Real balance[3] = {
      resistor.p.v*resistor.p.i + resistor.n.v*resistor.n.i - resistor.loss,
      voltmeter.p.v*voltmeter.p.i + voltmeter.n.v*voltmeter.n.i,
      wattmeter.p.v*wattmeter.p.i + wattmeter.n.v*wattmeter.n.i + wattmeter.reference.v*wattmeter.reference.i
        + ammeter.p.v*ammeter.p.i + ammeter.n.v*ammeter.n.i + potential.p.v*potential.p.i};
    Real error[6] = {ammeter.y - 3*time/(1 + time), voltmeter.y - 3*time, potential.y - 3*time,
      wattmeter.y - 9*time^2/(1 + time), shunt.u - 10*time, second.u - 2};
  equation
    connect(source.p, wattmeter.p);
    connect(wattmeter.n, ammeter.p);
    connect(ammeter.n, resistor.p);
    connect(resistor.n, source.n);
    connect(wattmeter.reference, source.n);
    connect(voltmeter.p, resistor.p);
    connect(voltmeter.n, resistor.n);
    connect(potential.p, source.p);
    connect(current.n, shunt.p);
    connect(current.p, shunt.n);
    connect(constantCurrent.n, second.p);
    connect(constantCurrent.p, second.n);
    connect(shunt.n, ground.p);
    connect(second.n, ground.p);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 2));
  end Signals;

  model Heated "A resistor grows warm and its resistance with it; another one has a heat port on demand"
    Sources.ConstantCurrent source(I = 2);
    Basic.HeatingResistor resistor(R = 3, alpha = 0.01, Tref = 300);
    Basic.Resistor plain(R = 1, useHeatPort = true);
    Gyrator.Heat.Capacity mass(C = 20, T(start = 300, fixed = true));
    Gyrator.Heat.FixedTemperature ambient(T = 290);
    Basic.Ground ground;
    Real balance[2] = {
      resistor.p.v*resistor.p.i + resistor.n.v*resistor.n.i + resistor.heat.Q_flow,
      plain.p.v*plain.p.i + plain.n.v*plain.n.i - ambient.port.Q_flow};
    Real error[2] = {mass.T - 300 - 100*(exp(0.006*time) - 1), ambient.port.Q_flow - 4};
  equation
    connect(source.n, resistor.p);
    connect(resistor.n, plain.p);
    connect(plain.n, source.p);
    connect(source.p, ground.p);
    connect(resistor.heat, mass.port);
    connect(plain.heat, ambient.port);
    annotation(experiment(StopTime = 20));
  end Heated;

  model TwoPorts "Transformer and gyrator between a source and a load"
    Sources.SineVoltage source(V = 12, f = 1);
    Basic.Transformer transformer(n = 3);
    Basic.Resistor load(R = 2);
    Basic.IdealGyrator gyrator(G = 0.5);
    Basic.Capacitor capacitor(C = 2, u(start = 0, fixed = true));
    Basic.Ground ground;
    constant Real pi = 3.14159265358979;
    Real balance[2] = {
      transformer.p1.v*transformer.p1.i + transformer.n1.v*transformer.n1.i + transformer.p2.v*transformer.p2.i + transformer.n2.v*transformer.n2.i,
      gyrator.p1.v*gyrator.p1.i + gyrator.n1.v*gyrator.n1.i + gyrator.p2.v*gyrator.p2.i + gyrator.n2.v*gyrator.n2.i};
    Real error[3] = {load.u - 4*sin(2*pi*time), transformer.i1 - 2/3*sin(2*pi*time),
      gyrator.i1 - 0.5*0.5/2*12*(1 - cos(2*pi*time))/(2*pi)};
  equation
    connect(source.p, transformer.p1);
    connect(source.n, transformer.n1);
    connect(transformer.p2, load.p);
    connect(transformer.n2, load.n);
    connect(source.p, gyrator.p1);
    connect(source.n, gyrator.n1);
    connect(gyrator.p2, capacitor.p);
    connect(gyrator.n2, capacitor.n);
    connect(source.n, ground.p);
    connect(transformer.n2, ground.p);
    connect(gyrator.n2, ground.p);
    annotation(experiment(StopTime = 2));
  end TwoPorts;

  model Coupled "Two coupled inductors, the second one short-circuited over a resistor"
    Sources.ConstantVoltage source(V = 2);
    Basic.CoupledInductors coil(L1 = 2, L2 = 3, M = 1, i1(start = 0, fixed = true), i2(start = 0, fixed = true));
    Basic.Resistor load(R = 5);
    Basic.Ground ground;
    Real stored = coil.i1^2 + coil.i1*coil.i2 + 1.5*coil.i2^2;
    Real balance = coil.p1.v*coil.p1.i + coil.n1.v*coil.n1.i + coil.p2.v*coil.p2.i + coil.n2.v*coil.n2.i - der(stored);
    Real error = coil.i2 + 0.2*(1 - exp(-2*time));
  equation
    connect(source.p, coil.p1);
    connect(source.n, coil.n1);
    connect(coil.p2, load.p);
    connect(coil.n2, load.n);
    connect(source.n, ground.p);
    connect(coil.n2, ground.p);
    annotation(experiment(StopTime = 3));
  end Coupled;

  model Rectified "Diode, thyristor, GTO and contact between a sine and a resistor: each one conducts when it may"
    Sources.SineVoltage source(V = 10, f = 1);
    Ideal.Diode diode;
    Ideal.Thyristor thyristor(fire = mod(time, 1) > 0.2 and mod(time, 1) < 0.3);
    Ideal.GTO gto(fire = mod(time, 1) > 0.2 and mod(time, 1) < 0.3);
    Ideal.Switch contact(closed = mod(time, 1) > 0.2 and mod(time, 1) < 0.7);
    Basic.Resistor load[4](each R = 5);
    Basic.Ground ground;
    constant Real pi = 3.14159265358979;
    Real wave = 2*sin(2*pi*time);
    Real phase = mod(time, 1);
    Real balance[4] = {
      diode.p.v*diode.p.i + diode.n.v*diode.n.i,
      thyristor.p.v*thyristor.p.i + thyristor.n.v*thyristor.n.i,
      gto.p.v*gto.p.i + gto.n.v*gto.n.i,
      contact.p.v*contact.p.i + contact.n.v*contact.n.i};
    Real error[4] = {
      load[1].i - noEvent(max(0, wave)),
      load[2].i - noEvent(if phase > 0.2 and phase < 0.5 then wave else 0),
      load[3].i - noEvent(if phase > 0.2 and phase < 0.3 then wave else 0),
      load[4].i - noEvent(if phase > 0.2 and phase < 0.7 then wave else 0)};
  equation
    connect(source.p, diode.p);
    connect(source.p, thyristor.p);
    connect(source.p, gto.p);
    connect(source.p, contact.p);
    connect(diode.n, load[1].p);
    connect(thyristor.n, load[2].p);
    connect(gto.n, load[3].p);
    connect(contact.n, load[4].p);
    for k in 1:4 loop
      connect(load[k].n, source.n);
    end for;
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 2.2));
  end Rectified;

  model NearlyIdeal "A diode with resistances in both branches"
    Sources.SineVoltage source(V = 10, f = 1);
    Ideal.Diode diode(Ron = 0.1, Goff = 0.01, useHeatPort = true);
    Gyrator.Heat.FixedTemperature ambient;
    Basic.Resistor load(R = 1);
    Basic.Ground ground;
    constant Real pi = 3.14159265358979;
    Real wave = 10*sin(2*pi*time);
    Real balance = diode.p.v*diode.p.i + diode.n.v*diode.n.i - diode.loss;
    Real error[2] = {load.i - noEvent(if wave > 0 then wave/1.1 else wave/101), ambient.port.Q_flow - diode.loss};
  equation
    connect(source.p, diode.p);
    connect(diode.n, load.p);
    connect(load.n, source.n);
    connect(source.n, ground.p);
    connect(diode.heat, ambient.port);
    annotation(experiment(StopTime = 2.2));
  end NearlyIdeal;

  model FreewheelingDiode "The current of an inductor goes on through a diode when a contact opens"
    Sources.ConstantVoltage source(V = 10);
    Ideal.Switch contact(closed = time < 1);
    Ideal.Diode diode;
    Basic.Inductor inductor(L = 2, i(start = 0, fixed = true));
    Basic.Resistor resistor(R = 1);
    Basic.Ground ground;
    Real error = inductor.i - noEvent(if time < 1 then 10*(1 - exp(-time/2)) else 10*(1 - exp(-0.5))*exp(-(time - 1)/2));
  equation
    connect(source.p, contact.p);
    connect(contact.n, inductor.p);
    connect(inductor.n, resistor.p);
    connect(resistor.n, source.n);
    connect(diode.p, source.n);
    connect(diode.n, inductor.p);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 3));
  end FreewheelingDiode;

  model ChargeShared "A changeover contact carries charge from a source to a capacitor"
    Sources.ConstantVoltage source(V = 6);
    Ideal.ChangeoverSwitch contact(first = time < 1);
    Basic.Capacitor carrier(C = 1, u(start = 6));
    Basic.Capacitor store(C = 2, u(start = 0, fixed = true));
    Basic.Resistor leak(R = 1);
    Basic.Ground ground;
    Real balance = contact.p.v*contact.p.i + contact.n1.v*contact.n1.i + contact.n2.v*contact.n2.i;
    Real error[2] = {carrier.u - noEvent(if time < 1 then 6 else 2*exp(-(time - 1)/3)), store.u - noEvent(if time < 1 then 0 else 2*exp(-(time - 1)/3))};
  equation
    connect(contact.p, carrier.p);
    connect(contact.n1, source.p);
    connect(contact.n2, store.p);
    connect(store.p, leak.p);
    connect(leak.n, ground.p);
    connect(store.n, ground.p);
    connect(carrier.n, ground.p);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 3));
  end ChargeShared;

  model PermanentMagnets "A DC machine with permanent magnets runs up"
    Sources.ConstantVoltage source(V = 24);
    Machines.PermanentMagnetMachine machine(R = 2, L = 0.5, k = 1.5, J = 0.25, useHeatPort = true);
    Gyrator.Heat.FixedTemperature ambient;
    Basic.Ground ground;
    Real stored = 0.25*machine.inductor.i^2 + 0.125*machine.rotor.w^2;
    Real balance[2] = {
      machine.p.v*machine.p.i + machine.n.v*machine.n.i + machine.flange.tau*machine.rotor.w - machine.resistor.loss - der(stored),
      machine.emf.p.v*machine.emf.p.i + machine.emf.n.v*machine.emf.n.i + machine.emf.flange.tau*machine.emf.w};
    Real i "L di/dt + R i + k w = V with J dw/dt = k i: poles -2 +- sqrt(14) j";
    Real error[2] = {machine.inductor.i - i, ambient.port.Q_flow - 2*i^2};
  initial equation
    machine.inductor.i = 0;
    machine.rotor.w = 0;
    machine.rotor.phi = 0;
  equation
    i = 48/sqrt(14)*exp(-2*time)*sin(sqrt(14)*time);
    connect(source.p, machine.p);
    connect(source.n, machine.n);
    connect(source.n, ground.p);
    connect(machine.heat, ambient.port);
    annotation(experiment(StopTime = 3));
  end PermanentMagnets;

  model SeriesWound "A series machine at a constant speed, and with the polarity changed"
    Sources.SineVoltage source(V = 20, f = 0.1);
    Machines.SeriesMachine machine(R = 1, L = 0.2, M = 0.1, J = 0.3);
    Gyrator.Rotational.Basic.ConstantSpeed speed(w = 10);
    Basic.Ground ground;
    constant Real pi = 3.14159265358979;
    Real stored = 0.1*machine.inductor.i^2;
    Real i = machine.inductor.i;
    Real balance = machine.p.v*machine.p.i + machine.n.v*machine.n.i + machine.flange.tau*10 - machine.resistor.loss - der(stored);
    Real w1 = 0.2*pi;
    Real a = 10;
    Real error[2] = {speed.flange.tau - 0.1*i^2, i - 100/(a^2 + w1^2)*(a*sin(w1*time) - w1*cos(w1*time) + w1*exp(-a*time))};
  initial equation
    machine.inductor.i = 0;
  equation
    connect(source.p, machine.p);
    connect(source.n, machine.n);
    connect(source.n, ground.p);
    connect(machine.flange, speed.flange);
    annotation(experiment(StopTime = 10));
  end SeriesWound;

  model Generators "Electromotive forces as generators: a given speed on a resistor and an inductor"
    Gyrator.Rotational.Basic.ConstantSpeed drive(w = 4);
    Machines.EMF emf(k = 3);
    Machines.SeriesEMF series(M = 0.5);
    Basic.Resistor load(R = 6);
    Sources.ConstantCurrent current(I = 2);
    Basic.Ground ground;
    Real balance[2] = {emf.p.v*emf.p.i + emf.n.v*emf.n.i + emf.flange.tau*4, series.p.v*series.p.i + series.n.v*series.n.i + series.flange.tau*4};
    Real error[5] = {load.i - 2, emf.flange.tau - 6, series.u - 0.5*2*4, series.flange.tau + 0.5*4, drive.flange.tau + 4};
  equation
    connect(drive.flange, emf.flange);
    connect(drive.flange, series.flange);
    connect(emf.p, load.p);
    connect(emf.n, load.n);
    connect(current.n, series.p);
    connect(current.p, series.n);
    connect(emf.n, ground.p);
    connect(series.n, ground.p);
    annotation(experiment(StopTime = 1));
  end Generators;

  model SeparateField "A separately excited machine: the field builds up, then a constant speed is held"
    Sources.ConstantVoltage armature(V = 20), excitation(V = 10);
    Machines.ExcitedMachine machine(R = 2, L = 0.5, Rf = 5, Lf = 2.5, M = 0.4, J = 0.25);
    Gyrator.Rotational.Basic.ConstantSpeed speed(w = 10);
    Basic.Ground ground;
    Real field = 2*(1 - exp(-2*time)) "Lf dif/dt + Rf if = 10";
    Real i = 6*(1 - exp(-4*time)) + 8*(exp(-2*time) - exp(-4*time)) "di/dt + 4 i = 40 - 16 (1 - exp(-2 t))";
    Real stored = 0.25*machine.i^2 + 1.25*machine.field^2;
    Real balance = machine.p.v*machine.p.i + machine.n.v*machine.n.i + machine.fp.v*machine.fp.i + machine.fn.v*machine.fn.i
      + machine.flange.tau*10 - machine.loss - der(stored);
    Real error[3] = {machine.field - field, machine.i - i, speed.flange.tau - 0.4*field*i};
  initial equation
    machine.i = 0;
    machine.field = 0;
  equation
    connect(armature.p, machine.p);
    connect(armature.n, machine.n);
    connect(excitation.p, machine.fp);
    connect(excitation.n, machine.fn);
    connect(armature.n, ground.p);
    connect(excitation.n, ground.p);
    connect(machine.flange, speed.flange);
    annotation(experiment(StopTime = 3));
  end SeparateField;

  model RotatingField "An induction machine at a constant slip, from the steady state of its phasors"
    constant Real pi = 3.14159265358979;
    parameter Real we = 100*pi "Of the supply";
    parameter Real slip = 0.05;
    parameter Real V = 300, Rs = 0.5, Rr = 0.4, Ls = 0.06, Lr = 0.062, Lm = 0.058;
    Sources.SineVoltage source[3](each V = V, each f = 50, phase = {pi/2, pi/2 - 2*pi/3, pi/2 - 4*pi/3});
    Machines.InductionMachine machine(polePairs = 2, Rs = Rs, Rr = Rr, Ls = Ls, Lr = Lr, Lm = Lm, J = 0.1);
    Gyrator.Rotational.Basic.ConstantSpeed speed(w = (1 - slip)*we/2);
    Basic.Ground ground;
    // Phasors: V = (Rs + j we Ls) I + j we Lm Ir, 0 = (Rr/slip + j we Lr) Ir + j we Lm I. So Ir = -j we Lm I/(Rr/slip + j we Lr).
    parameter Real n = (Rr/slip)^2 + (we*Lr)^2;
    parameter Real re = Rs + (we*Lm)^2*(Rr/slip)/n, im = we*Ls - (we*Lm)^2*(we*Lr)/n "Impedance";
    parameter Real i0[2] = V*{re, -im}/(re^2 + im^2) "Current of the stator at the start, real and imaginary part";
    parameter Real f[2] = -we*Lm*{we*Lr, Rr/slip}/n "Current of the cage by current of the stator";
    parameter Real ir0[2] = {f[1]*i0[1] - f[2]*i0[2], f[1]*i0[2] + f[2]*i0[1]};
    parameter Real torque = 3/2*2*Rr/slip*(ir0*ir0)/we "Power over the air gap by the synchronous speed";
    Real stored = 3/4*(machine.psi*machine.i + machine.psir*machine.ir);
    Real balance = (machine.a.v*machine.a.i + machine.b.v*machine.b.i + machine.c.v*machine.c.i + machine.flange.tau*machine.w
      - machine.loss - der(stored))/1000;
    Real error[4] = {machine.i[1] - (i0[1]*cos(we*time) - i0[2]*sin(we*time)), machine.i[2] - (i0[1]*sin(we*time) + i0[2]*cos(we*time)),
      machine.tau - torque, speed.flange.tau - torque};
  initial equation
    machine.i = i0;
    machine.ir = ir0;
  equation
    connect(source[1].p, machine.a);
    connect(source[2].p, machine.b);
    connect(source[3].p, machine.c);
    connect(source[1].n, ground.p);
    connect(source[2].n, ground.p);
    connect(source[3].n, ground.p);
    connect(machine.flange, speed.flange);
    annotation(experiment(StopTime = 0.1));
  end RotatingField;
end ElectricalTests;
