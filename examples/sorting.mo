model Sorting "Five equations whose order has to be found: f2, f4, {f3, f5}, f1"
  Real z1, z2, z3, z4, z5;
equation
  z3 + z4 = 7*time "f1(z3, z4)";
  2*z2 = 4*time "f2(z2)";
  z2 + z3 + z5 = 10*time "f3(z2, z3, z5)";
  z1 - z2 = -time "f4(z1, z2)";
  z1 + 2*z3 - z5 = 2*time "f5(z1, z3, z5)";
end Sorting;
