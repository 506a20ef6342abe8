model BouncingBall "A ball that loses a part of its speed at each bounce"
  parameter Real e = 0.7 "Coefficient of restitution";
  parameter Real g(unit = "m/s2") = 9.81;
  Real h(unit = "m", start = 1, fixed = true) "Height";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end BouncingBall;
