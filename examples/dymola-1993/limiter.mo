model LimiterTest "The limiter of limiter.dym by minimum and maximum"
  Real y = max(-1, min(1, 2*sin(time)));
end LimiterTest;
