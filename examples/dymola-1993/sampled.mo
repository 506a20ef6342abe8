model SampledTest "The difference equation of sampled.dym with a periodic clock of Modelica"
  discrete Real x(start = 0, fixed = true);
equation
  when sample(0.1, 0.1) then
    x = cos(time) + 0.5*pre(x);
  end when;
end SampledTest;
