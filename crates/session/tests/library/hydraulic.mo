package HydraulicTests "Each model: `balance` is power in minus power stored and lost, `error` the distance from a closed form"
  import Gyrator.Hydraulic.*;

  model Filling "A pressure source fills a volume through a narrow pipe; a second one through an inertance"
    PressureSource source(p = 2e5);
    LaminarResistance pipe(G = 2e-9);
    Volume volume(V = 2e-3, beta = 1e6, p(start = 0, fixed = true));
    Inertance column(length = 2, A = 1e-4, rho = 900, q(start = 0, fixed = true));
    Volume second(V = 2e-3, beta = 1e6, p(start = 0, fixed = true));
    FlowSensor meter;
    PressureSensor gauge;
    Real stored = 1e-9*volume.p^2;
    Real kinetic = 0.5*1.8e7*column.q^2;
    Real w = sqrt(1/(1.8e7*2e-9));
    Real balance[4] = {pipe.a.p*pipe.a.q + pipe.b.p*pipe.b.q - pipe.loss, volume.port.p*volume.port.q - der(stored),
      column.a.p*column.a.q + column.b.p*column.b.q - der(kinetic), meter.a.p*meter.a.q + meter.b.p*meter.b.q + gauge.port.p*gauge.port.q};
    Real error[4] = {volume.p/2e5 - 1 + exp(-time), second.p/2e5 - 1 + cos(w*time), meter.y/4e-4 - exp(-time), gauge.y/2e5 - 1};
  equation
    connect(source.port, pipe.a);
    connect(source.port, gauge.port);
    connect(pipe.b, meter.a);
    connect(meter.b, volume.port);
    connect(source.port, column.a);
    connect(column.b, second.port);
    annotation(experiment(StopTime = 2));
  end Filling;

  model Throttles "Orifice, valve and check valve at given pressures"
    PressureSource source(p = 1e6*sin(time));
    Tank tank;
    Orifice orifice(A = 1e-5, Cd = 0.6, rho = 850);
    Valve valve(A = 2e-5, Cd = 0.6, rho = 850, opening = 0.25);
    Valve closed(opening = -1);
    CheckValve check;
    LaminarResistance pipe(G = 1e-9);
    Real ideal = 0.6*1e-5*noEvent(sqrt(2*abs(source.p)/850)*sign(source.p));
    Real balance[3] = {orifice.a.p*orifice.a.q + orifice.b.p*orifice.b.q - orifice.loss, valve.a.p*valve.a.q + valve.b.p*valve.b.q - valve.loss,
      check.a.p*check.a.q + check.b.p*check.b.q};
    Real error[4] = {closed.q*1e4, (orifice.q - ideal)*1e4*noEvent(if abs(source.p) > 3e4 then 1 else 0), (valve.q - orifice.q/2)*1e4, pipe.q*1e3 - noEvent(max(0, sin(time)))};
    parameter Real tolerance = 2e-5;
  equation
    connect(source.port, orifice.a);
    connect(orifice.b, tank.port);
    connect(source.port, valve.a);
    connect(valve.b, tank.port);
    connect(source.port, closed.a);
    connect(closed.b, tank.port);
    connect(source.port, check.a);
    connect(check.b, pipe.a);
    connect(pipe.b, tank.port);
    annotation(experiment(StopTime = 6));
  end Throttles;

  model PumpAndCylinder "A pump lifts a weight with a cylinder; a flow source pushes a second one"
    Gyrator.Rotational.Basic.ConstantSpeed drive(w = 100);
    Pump pump(D = 1e-6);
    Tank tank;
    Cylinder cylinder(A1 = 1e-3, A2 = 5e-4);
    Gyrator.Translational.Basic.Weight weight(m = 100, g = 10, s(start = 0, fixed = true));
    FlowSource pushing(q = 1e-3*time);
    Cylinder second(A1 = 1e-3, A2 = 5e-4);
    Gyrator.Translational.Basic.Mass mass(m = 50, s(start = 0, fixed = true));
    Real balance[2] = {pump.a.p*pump.a.q + pump.b.p*pump.b.q + pump.flange.tau*100,
      cylinder.a.p*cylinder.a.q + cylinder.b.p*cylinder.b.q + cylinder.flange.f*weight.v};
    Real error[4] = {weight.s - 0.1*time, drive.flange.tau + 1, mass.v - time, (pushing.port.p - 5e4)/1e5};
  equation
    connect(drive.flange, pump.flange);
    connect(tank.port, pump.a);
    connect(pump.b, cylinder.a);
    connect(cylinder.b, tank.port);
    connect(cylinder.flange, weight.a);
    connect(pushing.port, second.a);
    connect(second.b, tank.port);
    connect(second.flange, mass.a);
    annotation(experiment(StopTime = 2));
  end PumpAndCylinder;
end HydraulicTests;
