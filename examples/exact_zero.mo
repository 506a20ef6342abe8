model ExactZero "A signal that reaches its limit exactly, stays there, and leaves it"
  Real u = if time < 1 then time - 1 else if time < 2 then 0 else time - 2;
  Boolean above = u > 0, notBelow = u >= 0;
  Real x(start = 0, fixed = true);
equation
  der(x) = if above then 1 else 0;
  annotation(experiment(StopTime = 3));
end ExactZero;
