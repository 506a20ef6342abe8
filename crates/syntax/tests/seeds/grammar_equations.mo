model M
initial equation
  x = 0;
equation
  der(x) = -x "text" annotation(a = 1);
  (a, , b) = f(x);
  connect(a.p[1], b.n) "text";
  assert(x > 0, "text" + String(x));
  Connections.branch(a.frame, b.frame);
  if a then x = 1; elseif b then y = 2; else z = 3; end if "text";
  if c then end if;
  for i in 1:3, j in {1, 2}, k loop x[i, j, k] = 1; end for;
  when a then reinit(x, 1); elsewhen {b, c} then y = 2; end when;
  initialState(s); transition(s, t, x > 1, immediate = true, priority = 2);
end M;