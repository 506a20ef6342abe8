package SingularConnections "Storages that are tied to each other, and some that are not"
  model ParallelCapacitors "Two capacitors in parallel have one state together"
    parameter Real C1 = 1, C2 = 2, R = 10;
    Real u1(start = 1, fixed = true), u2, i1, i2;
  equation
    C1*der(u1) = i1;
    C2*der(u2) = i2;
    u1 = u2;
    i1 + i2 + u1/R = 0;
    annotation(experiment(StopTime = 50));
  end ParallelCapacitors;

  partial model Shafts "Two inertias"
    parameter Real J1 = 1, J2 = 2;
    Real phi1(start = 0), w1(start = 1), phi2(start = 0), w2(start = 0), tau1, tau2;
  equation
    der(phi1) = w1;
    der(phi2) = w2;
    J1*der(w1) = -tau1;
    J2*der(w2) = tau2;
  end Shafts;

  model GearBetweenShafts "A gear leaves two states of four"
    extends Shafts;
    parameter Real ratio = 3;
  equation
    phi1 = ratio*phi2;
    tau2 = ratio*tau1;
  end GearBetweenShafts;

  model DamperBetweenShafts "A damper ties nothing: four states"
    extends Shafts;
    parameter Real d = 0.5;
  equation
    tau1 = d*(w1 - w2);
    tau2 = tau1;
  end DamperBetweenShafts;
end SingularConnections;
