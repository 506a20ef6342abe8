model M
  Real x = 1e;
  Real y = 2x;
  Real größe = 3 § 4;
end M;
