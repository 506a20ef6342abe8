model HysteresisTest "The band of hysteresis.dym: an integer that two separate instants set"
  Integer y(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  when sin(time) > 0.5 then
    y = 1;
  elsewhen sin(time) < -0.5 then
    y = -1;
  end when;
  der(x) = y;
end HysteresisTest;
