connector Flange Real s; flow Real f; end Flange;
model Mass Flange a; Flange b; parameter Real m = 1; Real s(start = 0, fixed = true); Real v(start = 0, fixed = true); Real acc;
equation s = a.s; s = b.s; v = der(s); acc = der(v); m*acc = a.f + b.f; end Mass;
model Spring Flange a; Flange b; parameter Real c = 100; parameter Real d = 0.1; Real stretch; Real speed; Real f;
equation stretch = b.s - a.s; speed = der(stretch); f = c*stretch + d*speed; b.f = f; a.f = -f; end Spring;
model Wall Flange a; equation a.s = 0; end Wall;
model Push Flange a; equation a.f = -sin(time); end Push;
model MassString
  parameter Integer n = 10;
  Mass mass[n]; Spring spring[n]; Wall wall; Push push;
equation
  connect(wall.a, spring[1].a);
  for k in 1:n loop
    connect(spring[k].b, mass[k].a);
  end for;
  for k in 1:n-1 loop
    connect(mass[k].b, spring[k+1].a);
  end for;
  connect(mass[n].b, push.a);
end MassString;
