model M
  Real x(start = 1;
  Real y = (1 + 2*(3 + 4);
  Real z[3] = {1, 2, 3;
  Real a = z[1;
equation
  connect(a, b;
  x = f(1, 2;
  x = 1;
end M;
