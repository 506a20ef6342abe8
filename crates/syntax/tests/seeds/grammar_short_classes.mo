package P
  type A = Real[3, :](each unit = "m") "text" annotation(x = 1);
  connector B = input Real;
  type C = enumeration(a "first", b annotation(x = 1), 'c d') "text";
  type D = enumeration(:);
  function f_x = der(f, x, y) "text";
  replaceable package M = A.B constrainedby C.D(x = 1) "text";
  replaceable model N end N constrainedby O;
end P;