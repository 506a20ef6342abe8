model Rope "A mass on an inextensible rope: it falls freely until the rope is taut"
  parameter Real L = 1 "length";
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true), y(start = 0, fixed = true);
  Real vx(start = 0, fixed = true), vy(start = 0, fixed = true);
  Real lambda "force of the rope by its length";
  Real s "curve parameter: slack, or minus the force";
  Boolean taut = s < 0;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  L^2 - x^2 - y^2 = if taut then 0 else s;
  lambda = if taut then -s else 0;
end Rope;
