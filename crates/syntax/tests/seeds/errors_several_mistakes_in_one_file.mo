model M
  Real x = ;
  Real (y);
  Real z = {1, 2, };
equation
  x = = 1;
  + ;
  der() = ;
  y = 2;
end M;
