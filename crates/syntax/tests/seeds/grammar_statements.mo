function f
  input Real x; output Real y;
initial algorithm
  y := 0;
algorithm
  y := x^2 "text";
  (a, , b[1]) := g(x);
  (c) := g(x);
  g(x);
  if a then y := 1; elseif b then y := 2; else y := 3; end if;
  for i in 1:3 loop y := i; break; end for;
  while y > 1 loop y := y - 1; return; end while;
  when a then y := 1; elsewhen b then y := 2; end when;
  .A.g(function h(a = 1), b = 2);
end f;