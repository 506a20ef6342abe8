model M
equation
  a. = 1;
  x[1 = 2;
  x[] = 2;
  connect(a b);
  connect(a, 3);
  y = end;
end M;
