model Pendulum "A mass on a rigid rod in x and y: index 3, states are exchanged in each turn"
  parameter Real L = 1, m = 1, g = 9.81;
  Real x(start = 0), y(start = -1, fixed = true);
  Real vx(start = 7, fixed = true) "fast enough for full turns", vy;
  Real F "force of the rod, divided by its length";
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x;
  m*der(vy) = -F*y - m*g;
  x^2 + y^2 = L^2;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Pendulum;
