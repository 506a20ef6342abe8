model SampledControl "A continuous plant with a controller that acts ten times a second"
  parameter Real Ts(unit = "s") = 0.1 "sampling interval";
  parameter Real k = 2, Ti(unit = "s") = 0.5 "gain and time constant of the controller";
  Real x(start = 0, fixed = true) "state of the plant";
  discrete Real e(start = 0) "error at the last sample", integral(start = 0, fixed = true), u(start = 0, fixed = true);
  Real reference = if time < 0.5 then 0 else 1;
equation
  der(x) = -x + u;
  when sample(0, Ts) then
    e = reference - x;
    integral = pre(integral) + Ts/Ti*e;
    u = k*(e + integral);
  end when;
  annotation(experiment(StopTime = 4));
end SampledControl;
