model M
  parameter final Real x = 1;
  replaceable redeclare model A = B;
  input parameter Real y;
  final final Real z;
  Real w(final each start = 1);
end M;
