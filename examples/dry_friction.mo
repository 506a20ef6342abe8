model DryFriction "A block with Coulomb friction, described by its characteristic alone"
  parameter Real m = 2, f0 = 3, f1 = 0.5;
  Real x(start = 0, fixed = true), v, f, u;
  Real s "curve parameter of the characteristic";
  Boolean forward, backward;
equation
  u = 6*sin(2*time);
  der(x) = v;
  m*der(v) = u - f;
  forward = s > 1;
  backward = s < -1;
  v = if forward then s - 1 else if backward then s + 1 else 0;
  f = if forward then f0 + f1*(s - 1) else if backward then -f0 + f1*(s + 1) else f0*s;
  annotation (experiment(StopTime = 5, Tolerance = 1e-9));
end DryFriction;
