model Rectifier "The rectifier of diode_as_equation.dym: the diode conducts as long as the source is above the capacitor"
  parameter Real f = 50, Ri = 10, RL = 50, C = 0.001;
  Real source = sin(2*3.14159*f*time);
  Real v(start = 0, fixed = true) "at the load";
  Real i = if source > v then (source - v)/Ri else 0;
equation
  C*der(v) = i - v/RL;
end Rectifier;
