model M
equation
  while x > 1 loop
    x = 1;
  end while;
  return;
  x + y;
  x;
  f(x) = 1 = 2;
end M;
