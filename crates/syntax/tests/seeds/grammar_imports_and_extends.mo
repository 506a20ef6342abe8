model M
  import A.B; import C = A.B "text"; import A.B.*; import A.{B, C, D}; import .A . *;
  extends A; extends .B.C(x = 1, redeclare model N = O) annotation(x = 1);
protected
  extends D(break x, break connect(a.b, c[1]), y = 1);
end M;