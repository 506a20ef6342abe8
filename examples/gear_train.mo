package GearTrain "A motor shaft, a gear, and a load behind an elastic shaft: constraints between states"
  model Free "The speed of the motor shaft follows from that of the load side"
    parameter Real J1 = 1, J2 = 2, J3 = 3 "moments of inertia";
    parameter Real i = 4 "ratio of the gear";
    parameter Real c = 100 "stiffness of the elastic shaft";
    Real phi1(start = 0), phi2(start = 0), phi3(start = 0) "angles";
    Real w1(start = 0), w2(start = 0), w3(start = 0) "speeds";
    Real tau1, tau2, tau3 "torques before and behind the gear, and of the elastic shaft";
    Real u = if time < 1 then 1 else 0 "torque of the motor";
  equation
    w1 = der(phi1);
    J1*der(w1) = u - tau1;
    phi1 = i*phi2;
    tau2 = i*tau1;
    w2 = der(phi2);
    J2*der(w2) = tau2 - tau3;
    tau3 = c*(phi2 - phi3);
    w3 = der(phi3);
    J3*der(w3) = tau3;
    annotation(experiment(StopTime = 5));
  end Free;

  model Contradicting "Both speeds of the gear are given, and do not fit"
    extends Free(w1(start = 1, fixed = true), w2(start = 0, fixed = true));
  end Contradicting;

  model Turning "One speed is given; the other one is computed"
    extends Free(w1(start = 1, fixed = true));
  end Turning;
end GearTrain;
