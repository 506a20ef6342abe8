model HiddenConstraint "Singular, although the structure does not show it: x1 = 2*x2 follows from the last two equations"
  Real x1(start = 1, fixed = true), x2, y1, y2;
equation
  der(x1) = y1;
  der(x2) = y2;
  0 = y1 + y2 + 2*x1;
  0 = y1 + y2 + x1 + 2*x2;
  annotation(experiment(StopTime = 3));
end HiddenConstraint;
