model TwoCapacitors "Two charged capacitors that an ideal switch joins"
  parameter Real C1 = 2, C2 = 3;
  Real v1(start = 10, fixed = true), v2(start = 4, fixed = true), i;
  Boolean closed = time >= 0.5;
equation
  C1*der(v1) = -i;
  C2*der(v2) = i;
  0 = if closed then v1 - v2 else i;
end TwoCapacitors;
