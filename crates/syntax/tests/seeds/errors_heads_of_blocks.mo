model M
algorithm
  for i = 1:3 loop
    x := 1;
  end for;
  for i in 1:3 do
    x := 1;
  end for;
  for i in 1:3
    x := 1;
  end for;
  if x > 1
    x := 2;
  end if;
  while x > 1 do
    x := 2;
  end while;
end M;
