package EventPropagation "Boolean equations across components are sorted together with the rest"
  block And
    input Boolean u1, u2;
    output Boolean y = u1 and u2;
  end And;
  block Or
    input Boolean u1, u2;
    output Boolean y = u1 or u2;
  end Or;
  model Circuit
    Boolean b = time > 0.2, c = time < 0.6, d = time > 0.8;
    And both(u1 = b, u2 = c);
    Or either(u1 = both.y, u2 = d);
    Real x(start = 0, fixed = true);
  equation
    der(x) = if either.y then 1 else 0;
  end Circuit;
end EventPropagation;
