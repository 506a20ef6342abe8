model BouncingBall "The ball of bouncing_ball.dym with its equations of motion written as in Modelica textbooks"
  parameter Real g = 9.81, e = 0.7;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  v = der(h);
  der(v) + g = 0;
  when h < 0 then
    reinit(v, -e*pre(v));
  end when;
end BouncingBall;
