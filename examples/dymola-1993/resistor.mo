model Divider "The currents of resistor.dym by Ohm's law"
  parameter Real R1 = 100, R2 = 200, R3 = 200;
  Real i1 = -12/(R1 + R2*R3/(R2 + R3)) "away from the common node";
  Real i2 = i1*R3/(R2 + R3);
end Divider;
