model M
  Real x = if time > 1 then 2;
equation
  x = 2*-3;
  y = a < b < c;
end M;
