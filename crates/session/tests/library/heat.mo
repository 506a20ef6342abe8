package HeatTests "Each model: `balance` is power in minus power stored, `error` the distance from a closed form"
  import Gyrator.Heat.*;

  model Cooling "Two bodies exchange heat through a wall"
    Capacity hot(C = 10, T(start = 400, fixed = true));
    Capacity cold(C = 30, T(start = 300, fixed = true));
    Conductor wall(G = 2);
    Real balance[2] = {hot.port.Q_flow - 10*der(hot.T), wall.a.Q_flow + wall.b.Q_flow};
    Real error[2] = {hot.T - 325 - 75*exp(-time*2*(1/10 + 1/30)), 10*hot.T + 30*cold.T - 13000};
  equation
    connect(hot.port, wall.a);
    connect(wall.b, cold.port);
    annotation(experiment(StopTime = 20));
  end Cooling;

  model Sources "Temperatures and heat flows that are given, with sensors"
    FixedTemperature ambient(T = 280);
    Resistor resistor(R = 0.5);
    FixedHeatFlow heater(Q_flow = 50);
    PrescribedHeatFlow second(Q_flow = 10*time);
    HeatFlowSensor meter;
    TemperatureSensor thermometer;
    PrescribedTemperature outside(T = 280 + 5*time);
    Convection convection(Gc = 3);
    Real balance[3] = {resistor.a.Q_flow + resistor.b.Q_flow, convection.a.Q_flow + convection.b.Q_flow, meter.a.Q_flow + meter.b.Q_flow};
    Real error[3] = {thermometer.y - 280 - 0.5*(50 + 10*time), meter.y - 50 - 10*time, outside.port.Q_flow + 15*time - 0};
  equation
    connect(heater.port, meter.a);
    connect(second.port, meter.a);
    connect(meter.b, resistor.a);
    connect(resistor.b, ambient.port);
    connect(thermometer.port, resistor.a);
    connect(outside.port, convection.a);
    connect(convection.b, ambient.port);
    annotation(experiment(StopTime = 4));
  end Sources;

  model Radiating "A body cools by radiation into the dark: 1/T^3 grows linearly"
    Capacity body(C = 100, T(start = 1000, fixed = true));
    Radiation radiation(Gr = 0.5);
    FixedTemperature space(T = 0);
    Real balance = radiation.a.Q_flow + radiation.b.Q_flow;
    Real error = body.T - (1000.0^(-3) + 3*0.5*5.670374419e-8/100*time)^(-1/3);
    parameter Real tolerance = 1e-3;
  equation
    connect(body.port, radiation.a);
    connect(radiation.b, space.port);
    annotation(experiment(StopTime = 10));
  end Radiating;

  model ByEntropy "The first model with entropy flows: heat is conserved, entropy grows"
    Entropy.Capacity hot(C = 10, T(start = 400, fixed = true));
    Entropy.Conductor wall(G = 2);
    Entropy.FromHeat joint;
    Capacity cold(C = 30, T(start = 300, fixed = true));
    Real entropy(start = 0, fixed = true) "What the wall has produced";
    Real balance[2] = {wall.a.T*wall.a.S_flow + wall.b.T*wall.b.S_flow, joint.a.Q_flow + joint.b.T*joint.b.S_flow};
    Real error[2] = {hot.T - 325 - 75*exp(-time*2*(1/10 + 1/30)), entropy - 10*log(hot.T/400) - 30*log(cold.T/300)};
  equation
    der(entropy) = wall.produced;
    connect(hot.port, wall.a);
    connect(wall.b, joint.b);
    connect(joint.a, cold.port);
    annotation(experiment(StopTime = 20));
  end ByEntropy;
end HeatTests;
