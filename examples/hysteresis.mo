model Hysteresis "A thermostat: on below 19 degrees, off above 21"
  Real T(start = 15, fixed = true);
  Boolean heating(start = true, fixed = true);
equation
  10*der(T) = (10 - T) + (if heating then 20 else 0);
  heating = if pre(heating) then T < 21 else T < 19;
  annotation(experiment(StopTime = 40));
end Hysteresis;
