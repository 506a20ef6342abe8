model BooleanCircuit "The circuit of boolean_switch.dym, solved by hand for both positions"
  parameter Real R1 = 100, R2 = 20, C = 0.1e-6;
  input Real i;
  output Real y;
  Real u(start = 0, fixed = true) "at the capacitor";
  Real through "the switch";
  Boolean open = time < 1e-6 or time >= 2.5e-6 and time < 5e-6 or time >= 9e-6;
equation
  through = if open then 0 else i - u/R1;
  C*der(u) = through - u/R2;
  y = u;
end BooleanCircuit;
