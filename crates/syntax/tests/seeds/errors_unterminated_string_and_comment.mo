model M "a model
  parameter String s = "text";
  Real x;
end M;
/* and so on
