model M
  A a(b.c(start = 1) = 2, each d = 3, final e(f(g = 1)), each final h = break, i "text");
  A b(redeclare replaceable Real x = 1 constrainedby B, redeclare package P = Q(x = 1), replaceable model N = O "text");
  A c(redeclare each parameter Real y) = d;
end M;