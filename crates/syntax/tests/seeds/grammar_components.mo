model M
  Real x, y[2](start = {1, 2}) = {1, 2} "text", z;
  Real[2] u[3];
  flow Real i; stream Real h; parameter Integer n = 3; constant Real c = 1; discrete Real d; input Real a; output Real b;
  flow input Real fi; constant input Real ci;
  inner outer A k if n > 3 "text" annotation(Placement());
  final Real e := 1;
  replaceable Real r = 1 constrainedby Real(min = 0) "text" annotation(x = 1);
  redeclare final Real s;
  .Modelica.Units.SI.Angle 'phi 1';
protected
  Real p;
public
  Real q;
end M;