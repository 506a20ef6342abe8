model M
  Real x = 2 y;
  Real z;
equation
  x = 3 z;
  z = 1;
end M;
