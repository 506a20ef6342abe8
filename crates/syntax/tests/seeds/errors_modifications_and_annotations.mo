model M
  extends A(x = 1, y = 2 z = 3);
  extends B "text";
  import A.;
  import A.{b c};
  A a(redeclare b);
  A c(3 = 4);
  annotation Icon();
  type E = enumeration(a, b c);
  annotation(Icon(graphics = {Line(points = {{1, 2}, {3, 4}})));
end M;
