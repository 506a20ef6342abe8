model VanishingFactor "No fixed choice of the state passes the zero of the cosine"
  Real x1(start = 1, fixed = true), x2, x3, y;
equation
  0 = y + x1;
  0 = y + x2;
  0 = y + x3*cos(time);
  0 = der(x1) + der(x2) + der(x3);
  annotation(experiment(StopTime = 2));
end VanishingFactor;
