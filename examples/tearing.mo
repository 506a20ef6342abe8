model Tearing "A loop of five equations that one guessed variable opens"
  Real z1, z2, z3, z4, z5;
equation
  z1 = 0.5*cos(z5) + 0.1*time "f1(z5)";
  z2 = sin(z1) "f2(z1)";
  z3 = z1 + z2^2 "f3(z1, z2)";
  z4 = z2*z3 "f4(z2, z3)";
  z5 = exp(-z4) + z1 "f5(z4, z1)";
end Tearing;
