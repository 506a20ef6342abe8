model GuardedRoot "A tank runs empty: noEvent protects the square root"
  parameter Real area(unit = "m2") = 1, outlet(unit = "m2") = 0.05, g(unit = "m/s2") = 9.81;
  Real level(unit = "m", start = 1, fixed = true);
  Real outflow(unit = "m3/s") = outlet*noEvent(if level > 0 then sqrt(2*g*level) else 0);
equation
  area*der(level) = -outflow;
  annotation(experiment(StopTime = 15));
end GuardedRoot;
