model M
  Real x;
  x = 1;
  der(x) = 2;
end M;
