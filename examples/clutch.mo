model Clutch "Two rotating masses that an ideal clutch joins and releases"
  parameter Real J1 = 1, J2 = 2 "moments of inertia";
  parameter Real k1 = 0.01, k2 = 0.0125 "friction of the bearings";
  Real w1(start = 1, fixed = true), w2(start = 1.5, fixed = true) "angular velocities";
  Real tau1, tau2 "torques of the clutch";
  Boolean engaged = time >= 5 and time < 7;
equation
  J1*der(w1) = -k1*w1 + tau1;
  J2*der(w2) = -k2*w2 + tau2;
  tau1 + tau2 = 0;
  if engaged then
    w1 = w2;
  else
    tau1 = 0;
  end if;
  annotation (experiment(StopTime = 10));
end Clutch;
