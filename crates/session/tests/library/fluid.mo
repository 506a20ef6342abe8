package FluidTests "Each model: `balance` is mass flow times enthalpy in minus energy stored, `error` the distance from a closed form"
  import Gyrator.Fluid.*;

  model Flows "Laminar and turbulent pipes, a valve and a pump between reservoirs"
    package Medium = Media.Oil;
    Basic.Ambient high(redeclare package Medium = Medium, p = 3e5, T = 320);
    Basic.Ambient low(redeclare package Medium = Medium, p = 1e5, T = 300);
    Basic.LaminarPipe laminar(redeclare package Medium = Medium, length = 2, r = 0.005);
    Basic.TurbulentPipe turbulent(redeclare package Medium = Medium, mNominal = 2, dpNominal = 1e5);
    Basic.Valve valve(redeclare package Medium = Medium, mNominal = 2, dpNominal = 1e5, opening = 0.5*time);
    Basic.Valve closed(redeclare package Medium = Medium, opening = -1);
    Basic.Ambient top(redeclare package Medium = Medium, p = 3e5, T = 300);
    Basic.Pump pump(redeclare package Medium = Medium, dp0 = 4e5, m0 = 3, d = 870);
    Sensors.FlowSensor meter(redeclare package Medium = Medium);
    Sensors.PressureSensor gauge(redeclare package Medium = Medium);
    Real balance[3] = {
      laminar.a.m_flow*actualStream(laminar.a.h_outflow) + laminar.b.m_flow*actualStream(laminar.b.h_outflow),
      turbulent.a.m_flow*actualStream(turbulent.a.h_outflow) + turbulent.b.m_flow*actualStream(turbulent.b.h_outflow),
      pump.a.m_flow*actualStream(pump.a.h_outflow) + pump.b.m_flow*actualStream(pump.b.h_outflow) + pump.work};
    Real error[8] = {closed.m_flow, laminar.m_flow - Gyrator.Units.pi*0.005^4*Medium.density(Medium.pRef, 293.15)/(8*0.04*2)*2e5,
      turbulent.m_flow - 2*sqrt(2), valve.m_flow - time*sqrt(2), pump.m_flow - 3*sqrt(0.5), meter.y - turbulent.m_flow, meter.T - 320 - 2e5/870/1900, gauge.y - 3e5};
  equation
    connect(high.port, laminar.a);
    connect(laminar.b, low.port);
    connect(high.port, turbulent.a);
    connect(turbulent.b, meter.a);
    connect(meter.b, low.port);
    connect(high.port, valve.a);
    connect(valve.b, low.port);
    connect(high.port, closed.a);
    connect(closed.b, low.port);
    connect(low.port, pump.a);
    connect(pump.b, top.port);
    connect(gauge.port, high.port);
    annotation(experiment(StopTime = 1));
  end Flows;

  model Mixing "Warm liquid flows through a mixed volume: its temperature follows exponentially; a heater warms another one"
    package Liquid = Media.Water(expansion = 0, compressibility = 4.6e-10);
    Basic.MassFlowSource source(redeclare package Medium = Liquid, m_flow = 0.499, T = 330);
    Vessels.MixedVolume volume(redeclare package Medium = Liquid, V = 1e-3, TStart = 290, pStart = 1e5);
    Basic.Ambient outlet(redeclare package Medium = Liquid, p = 1e5);
    Basic.LaminarPipe pipe(redeclare package Medium = Liquid, r = 0.1, length = 0.1);
    Gyrator.Heat.FixedHeatFlow heater(Q_flow = 1000);
    Gyrator.Heat.FixedHeatFlow none(Q_flow = 0);
    Vessels.MixedVolume heated(redeclare package Medium = Liquid, V = 1e-3, TStart = 290, pStart = 1e5);
    Real balance = source.port.m_flow*actualStream(source.port.h_outflow) + volume.a.m_flow*actualStream(volume.a.h_outflow);
    Real error[2] = {volume.T - 330 + 40*exp(-0.5*time), heated.T - 290 - 1000/(0.998*4182)*time};
    parameter Real tolerance = 0.01;
  equation
    connect(source.port, volume.a);
    connect(volume.b, pipe.a);
    connect(pipe.b, outlet.port);
    connect(none.port, volume.heat);
    connect(heater.port, heated.heat);
    annotation(experiment(StopTime = 4));
  end Mixing;

  model Outflow "A tank empties through a turbulent pipe: its level falls as a parabola"
    Vessels.OpenTank tank(A = 0.5, levelStart = 2);
    Basic.TurbulentPipe pipe(mNominal = 10, dpNominal = 1e4);
    Basic.Ambient outside;
    Real d = Media.Water.density(Media.Water.pRef, 293.15);
    Real k = 10/sqrt(1e4)*sqrt(d*9.80665)/(d*0.5) "Rate at which the level falls, by its root";
    Real balance = tank.port.m_flow + d*0.5*(-der(tank.level));
    Real error = tank.level - (sqrt(2) - k*time/2)^2;
    parameter Real tolerance = 1e-4;
  equation
    connect(tank.port, pipe.a);
    connect(pipe.b, outside.port);
    annotation(experiment(StopTime = 50));
  end Outflow;

  model Filling "Warm water flows into a tank with cold water: the mean of both"
    Vessels.OpenTank tank(A = 0.5, levelStart = 0.2);
    Basic.MassFlowSource source(m_flow = 10, T = 353.15);
    Real d = Media.Water.density(Media.Water.pRef, 293.15);
    Real m0 = d*0.5*0.2 "Mass at the start";
    Real balance[2] = {(der(tank.H) - 10*source.port.h_outflow)/1e6, der(tank.m) - 10};
    Real error = (tank.T - (m0*293.15 + 10*time*353.15)/(m0 + 10*time))/1000 "Up to the work of the pressure";
  equation
    connect(source.port, tank.port);
    annotation(experiment(StopTime = 50));
  end Filling;

  model Compression "Gas that is heated in a closed vessel: m cv dT/dt = Q, and its pressure follows"
    Vessels.MixedVolume vessel(redeclare package Medium = Media.Air, V = 2, TStart = 300, pStart = 1e5);
    Gyrator.Heat.FixedHeatFlow heater(Q_flow = 500);
    Real mass = 1e5*2/(287*300);
    Real balance = heater.Q_flow - der(vessel.U);
    Real error[2] = {vessel.T - 300 - 500/(mass*(1005 - 287))*time, vessel.p/1e5 - vessel.T/300};
  equation
    connect(heater.port, vessel.heat);
    annotation(experiment(StopTime = 100));
  end Compression;

  model FilledVessel "Gas that flows into an empty vessel is warmer than where it comes from, by the ratio of the heat capacities"
    Basic.MassFlowSource source(redeclare package Medium = Media.Air, m_flow = 0.01, T = 300);
    Vessels.MixedVolume vessel(redeclare package Medium = Media.Air, V = 1, TStart = 300, pStart = 10);
    Real m0 = 10/(287*300);
    Real T = (m0*300*718 + 0.01*time*1005*300)/(718*(m0 + 0.01*time));
    Real error = vessel.T - T;
    parameter Real tolerance = 1e-2;
  equation
    connect(source.port, vessel.a);
    annotation(experiment(StopTime = 10));
  end FilledVessel;

  model Exchanger "A heated pipe of three volumes: in the end the heat warms what flows through"
    Basic.MassFlowSource source(m_flow = 0.2, T = 290);
    Vessels.HeatedPipe pipe(n = 3, V = 3e-4, r = 0.05, TStart = 290);
    Basic.Ambient outlet;
    Gyrator.Heat.FixedHeatFlow heater[3](each Q_flow = 2000);
    Real error[3] = noEvent(if time < 30 then zeros(3) else {pipe.volume[k].T - 290 - k*2000/(0.2*4182) for k in 1:3});
    parameter Real tolerance = 1e-2;
  equation
    connect(source.port, pipe.a);
    connect(pipe.b, outlet.port);
    connect(heater.port, pipe.heat);
    annotation(experiment(StopTime = 40));
  end Exchanger;

  model LongPipe "A flow from rest through many volumes: those far behind rest at rounding errors at first"
    Basic.MassFlowSource source(m_flow = 0.05, T = 300);
    Vessels.HeatedPipe pipe(n = 40);
    Basic.Ambient outlet;
    Real balance = (noEvent(pipe.a.m_flow*actualStream(pipe.a.h_outflow) + pipe.b.m_flow*actualStream(pipe.b.h_outflow)) - der(sum(pipe.volume.U)))/1e3;
  equation
    connect(source.port, pipe.a);
    connect(pipe.b, outlet.port);
    annotation(experiment(StopTime = 20));
  end LongPipe;
end FluidTests;
