connector Pin Real v; flow Real i; end Pin;
model Resistor Pin p; Pin n; parameter Real R = 1; equation p.v - n.v = R*p.i; p.i + n.i = 0; end Resistor;
model Inductor Pin p; Pin n; parameter Real L = 1e-3; Real i(start = 0, fixed = true); equation i = p.i; L*der(i) = p.v - n.v; p.i + n.i = 0; end Inductor;
model Capacitor Pin p; Pin n; parameter Real C = 1e-6; Real v(start = 0, fixed = true); equation v = p.v - n.v; C*der(v) = p.i; p.i + n.i = 0; end Capacitor;
model Source Pin p; Pin n; equation p.v - n.v = sin(100*time); p.i + n.i = 0; end Source;
model Ground Pin p; equation p.v = 0; end Ground;
model Line
  parameter Integer n = 10;
  Resistor r[n]; Inductor l[n]; Capacitor c[n];
  Resistor load(R = 50); Source source; Ground ground;
equation
  connect(source.n, ground.p);
  connect(source.p, r[1].p);
  for k in 1:n loop
    connect(r[k].n, l[k].p);
    connect(l[k].n, c[k].p);
    connect(c[k].n, ground.p);
  end for;
  for k in 1:n-1 loop
    connect(l[k].n, r[k+1].p);
  end for;
  connect(l[n].n, load.p);
  connect(load.n, ground.p);
end Line;
