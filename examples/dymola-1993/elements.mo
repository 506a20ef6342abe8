model Elements "The circuit of elements.dym as two differential equations, written by hand"
  parameter Real R1 = 10, R2 = 100, C1 = 0.01, L1 = 0.1;
  Real u0 = sin(6.283185307179586*time);
  Real u(start = 0, fixed = true) "at the capacitor, from the common node";
  Real i(start = 0, fixed = true) "of the inductor, away from the common node";
equation
  R1*C1*der(u) = -u0 - u;
  L1*der(i) = -u0 - R2*i;
end Elements;
