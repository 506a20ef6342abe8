package P
  function a external; end a;
  function b external "C"; annotation(x = 1); end b;
  function c external "FORTRAN 77" y.z[1] = f(x, size(x, 1), "s") annotation(Library = {"l"}); annotation(y = 1); end c;
  function d external "C" f(); end d;
end P;