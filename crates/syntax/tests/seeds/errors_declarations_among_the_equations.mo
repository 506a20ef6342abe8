model M
equation
  x = 1;
  Real x;
  parameter Real y = 1;
  y = x;
end M;
