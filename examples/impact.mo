model Impact "A ball with a law of impact: an equation between velocities that holds for an instant"
  parameter Real g = 9.81;
  parameter Real e = 0.5 "restitution";
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Real f "force of the ground on the mass";
  Boolean down = h < 0;
  Boolean impact = edge(down);
equation
  der(h) = v;
  der(v) = f - g;
  if impact then
    v = -e*pre(v);
  else
    f = 0;
  end if;
end Impact;
