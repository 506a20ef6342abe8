model M
algorithm
  for i in 1:3 loop
    x := 1;
  end if;
  while x > 1 loop
    x := 2;
  end;
  when x > 1 then
    x := 3;
  else
    x := 4;
  end when;
end M;
