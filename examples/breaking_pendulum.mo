model BreakingPendulum "A pendulum whose rod breaks"
  parameter Real L = sqrt(200);
  parameter Real g = 9.81;
  Real x(start = L*sin(1), fixed = true), y(start = -L*cos(1));
  Real vx(start = 0, fixed = true), vy;
  Real lambda;
  Boolean broken = time >= 5;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  if broken then
    lambda = 0;
  else
    x^2 + y^2 = L^2;
  end if;
  annotation (experiment(StopTime = 10, Tolerance = 1e-9));
end BreakingPendulum;
