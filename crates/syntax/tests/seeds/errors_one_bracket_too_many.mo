model M
  Real x = (1 + 2));
  Real y(start = 1));
equation
  x = y];
end M;
