model IdealBacklash "Two inertias with rigid stops between them; impacts are inelastic"
  parameter Real J1 = 1, J2 = 2;
  parameter Real b = 0.5 "half of the backlash";
  Real phi1(start = 0, fixed = true), phi2(start = 0, fixed = true);
  Real w1(start = 1, fixed = true), w2(start = 0, fixed = true);
  Real tau "torque from the first to the second";
  Real s "curve parameter";
  Boolean right = s > b, left = s < -b;
equation
  der(phi1) = w1;
  der(phi2) = w2;
  J1*der(w1) = (if time < 2 then 0 else -1) - tau;
  J2*der(w2) = tau;
  phi1 - phi2 = if right then b else if left then -b else s;
  tau = if right then s - b else if left then s + b else 0;
  annotation (experiment(StopTime = 10, Tolerance = 1e-9));
end IdealBacklash;
