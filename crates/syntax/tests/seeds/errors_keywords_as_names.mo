model M
  Real end;
  Real model = 1;
  parameter Real
equation
  der = 1;
end M;
