package ParallelSwitches "Ideal switches that say the same thing twice"
  model Closed "two closed switches in parallel share the current evenly"
    Real i, i1, i2, v1, v2;
    Boolean closed = time >= 0.5;
  equation
    v1 = v2;
    i = i1 + i2;
    10 = v1 + 5*i;
    0 = if closed then v1 else i1;
    0 = if closed then v2 else i2;
  end Closed;

  model Open "between two open switches in series the potential lies in the middle"
    Real i, u, v1, v2;
    Boolean open = time >= 0.5;
  equation
    v1 = 10 - u;
    v2 = u - 5*i;
    0 = if open then i else v1;
    0 = if open then i else v2;
  end Open;
end ParallelSwitches;
