model Propagation "The alarms of propagation.dym in one equation"
  Boolean first = sin(time) > 0.5 and time < 4 or time > 8;
  Boolean second = not first and cos(time) > 0;
end Propagation;
