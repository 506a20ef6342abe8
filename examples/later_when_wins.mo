model LaterWhenWins "Two when clauses for one variable: in an algorithm the later one wins"
  Boolean closed(start = false, fixed = true);
algorithm
  when {time > 0.2, time > 0.6} then
    closed := true;
  end when;
  when time > 0.6 then
    closed := false;
  end when;
end LaterWhenWins;
