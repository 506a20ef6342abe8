package IndexDefinitions "Two systems with the solution exp(-t): one that is reduced, and one with a constraint between states"
  model Reduced "The second variable is algebraic"
    Real x(start = 1, fixed = true), y;
  equation
    der(x) = -y;
    y = x;
  end Reduced;

  model Hidden "Both variables are differentiated, and tied to each other"
    Real x(start = 1, fixed = true), y, z;
  equation
    der(x) = -z;
    der(y) = -y;
    y = x;
  end Hidden;
end IndexDefinitions;
