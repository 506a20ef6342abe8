connector Port Real T; flow Real Q; end Port;
model Cell Port port; parameter Real C = 10; Real T(start = 300, fixed = true); equation T = port.T; C*der(T) = port.Q; end Cell;
model Conductor Port a; Port b; parameter Real G = 2; Real dT; Real Q; equation dT = a.T - b.T; Q = G*dT; a.Q = Q; b.Q = -Q; end Conductor;
model Heater Port port; parameter Real P = 5; equation port.Q = -P; end Heater;
model Plate
  parameter Integer n = 10;
  Cell cell[n,n]; Conductor gx[n-1,n]; Conductor gy[n,n-1]; Heater heater;
equation
  for i in 1:n-1 loop
    for j in 1:n loop
      connect(cell[i,j].port, gx[i,j].a);
      connect(gx[i,j].b, cell[i+1,j].port);
    end for;
  end for;
  for i in 1:n loop
    for j in 1:n-1 loop
      connect(cell[i,j].port, gy[i,j].a);
      connect(gy[i,j].b, cell[i,j+1].port);
    end for;
  end for;
  connect(heater.port, cell[1,1].port);
end Plate;
