model PhysicalTypes "Angles in degrees for people, in radians for equations; a limit that is reported"
  type Angle = Real(quantity = "Angle", unit = "rad", displayUnit = "deg");
  type AngularVelocity = Real(quantity = "AngularVelocity", unit = "rad/s");
  parameter Angle amplitude(displayUnit = "deg") = 0.7853981633974483;
  parameter AngularVelocity omega = 2;
  Angle phi(max = 0.75) = amplitude*sin(omega*time);
  annotation(experiment(StopTime = 3));
end PhysicalTypes;
