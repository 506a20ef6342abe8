package Discontinuities "Two-point controller and limiter"
  block TwoPoint "y0 or -y0, depending on the sign of u"
    input Real u;
    output Real y;
    parameter Real y0 = 1;
  equation
    y = if u > 0 then y0 else -y0;
  end TwoPoint;

  block Limiter "u, but not above or below the limits"
    input Real u;
    output Real y;
    parameter Real high = 1, low = -1;
  equation
    y = if u > high then high elseif u < low then low else u;
  end Limiter;

  model Driven "Both driven by 2 sin(t); x integrates the limited signal"
    TwoPoint controller(u = 2*sin(time));
    Limiter limiter(u = 2*sin(time));
    Real x(start = 0, fixed = true);
    Real w(start = 0, fixed = true);
  equation
    der(x) = limiter.y;
    der(w) = controller.y;
    annotation(experiment(StopTime = 6.283185307179586, Tolerance = 1e-8));
  end Driven;
end Discontinuities;
