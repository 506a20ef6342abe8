package TwoSprings "A mass and two springs in series: an algebraic loop of five equations"
  connector Flange
    Real s(unit = "m") "Position";
    flow Real f(unit = "N") "Force into the component";
  end Flange;

  model Mass
    Flange a, b;
    Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
    parameter Real m(unit = "kg") = 1;
  equation
    a.s = b.s;
    v = der(b.s);
    m*der(v) = a.f + b.f;
  end Mass;

  model Spring
    Flange a, b;
    parameter Real c(unit = "N/m") = 4;
  equation
    a.f + b.f = 0;
    b.f = c*(b.s - a.s);
  end Spring;

  model Wall
    Flange a;
  equation
    a.s = 0;
  end Wall;

  model Series "Two springs of stiffness 4 in series act as one of stiffness 2"
    Mass mass(b(s(start = 1, fixed = true)));
    Spring spring1, spring2;
    Wall wall;
  equation
    connect(mass.b, spring1.a);
    connect(spring1.b, spring2.a);
    connect(spring2.b, wall.a);
    annotation(experiment(StopTime = 10, Tolerance = 1e-8));
  end Series;
end TwoSprings;
