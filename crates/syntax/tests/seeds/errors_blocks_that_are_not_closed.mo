model M
equation
  if a then
    x = 1;
  else
    x = 2;
  for i in 1:3 loop
    y[i] = 1;
  end for;
end M;
