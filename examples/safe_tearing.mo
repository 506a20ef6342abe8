model SafeTearing "Dividing by z1 would fail wherever the sine is zero"
  parameter Real w(unit = "rad/s") = 2;
  Real z1, z2(start = 1), z3(start = 1);
equation
  z1 = sin(w*time);
  z1*z2 = sin(z3);
  0 = z2^2 - z3;
  annotation(experiment(StopTime = 1));
end SafeTearing;
