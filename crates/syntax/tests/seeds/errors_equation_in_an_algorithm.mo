model M
  Real x;
algorithm
  x = 1;
  x == 2;
  f(x) := 3;
  connect(a, b);
end M;
