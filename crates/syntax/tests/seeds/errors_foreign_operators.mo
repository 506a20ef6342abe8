model M
  Boolean b = x != 1 && !c || d;
  Real y = x % 2;
end M;
