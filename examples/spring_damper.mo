package SpringDamper "A force pulls at a spring that holds on to a wall by a damper"

  connector Flange
    Real s(unit = "m") "Position";
    flow Real f(unit = "N") "Force";
  end Flange;

  model Spring
    parameter Real c(unit = "N/m") = 2;
    Flange a, b;
  equation
    a.f + b.f = 0;
    b.f = c*(b.s - a.s);
  end Spring;

  model Damper "Differentiates both positions: one too many where a side is fixed"
    parameter Real d(unit = "N.s/m") = 0.5;
    Flange a, b;
  equation
    a.f + b.f = 0;
    b.f = d*(der(b.s) - der(a.s));
  end Damper;

  model Wall
    Flange a;
  equation
    a.s = 0;
  end Wall;

  model Pull
    Flange a;
  equation
    a.f = -sin(time);
  end Pull;

  model System
    Pull pull;
    Spring spring;
    Damper damper(a.s(start = 0, fixed = true));
    Wall wall;
  equation
    connect(pull.a, spring.a);
    connect(spring.b, damper.a);
    connect(damper.b, wall.a);
    annotation(experiment(StopTime = 10));
  end System;
end SpringDamper;
