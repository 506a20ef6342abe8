model M
  Real x == 1;
equation
  x == 1;
  if x = 1 then
    x = 2;
  end if;
  when x = 1 then
    x = 3;
  end when;
end M;
