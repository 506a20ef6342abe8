model TwoBlock "The blocks of two_blocks.dym: each contact sticks (0) or slides forward (1) or backward (-1)"
  parameter Real m1 = 1, m2 = 2;
  parameter Real R01 = 1, Rm1 = 0.8, Rv1 = 0.1, R02 = 0.5, Rm2 = 0.4, Rv2 = 0.1;
  input Real u1, u2;
  Real p1(start = 0, fixed = true), v1(start = 0, fixed = true) "of the first block";
  Real p2(start = 0, fixed = true), v2(start = 0, fixed = true) "of the second block, seen from the first";
  Real a1, a2, fr1, fr2;
  Integer slides1(start = 0, fixed = true), slides2(start = 0, fixed = true);
equation
  der(p1) = v1;
  der(p2) = v2;
  der(v1) = a1;
  der(v2) = a2;
  m1*a1 = -u1 - fr1 + fr2;
  m2*(a1 + a2) = -u2 - fr2;
  0 = if pre(slides1) == 0 then a1 else fr1 - Rv1*v1 - pre(slides1)*Rm1;
  0 = if pre(slides2) == 0 then a2 else fr2 - Rv2*v2 - pre(slides2)*Rm2;
  when {pre(slides1) == 1 and v1 < 0, pre(slides1) == -1 and v1 > 0} then
    slides1 = 0;
    reinit(v1, 0);
  elsewhen pre(slides1) == 0 and fr1 > R01 then
    slides1 = 1;
  elsewhen pre(slides1) == 0 and fr1 < -R01 then
    slides1 = -1;
  end when;
  when {pre(slides2) == 1 and v2 < 0, pre(slides2) == -1 and v2 > 0} then
    slides2 = 0;
    reinit(v2, 0);
  elsewhen pre(slides2) == 0 and fr2 > R02 then
    slides2 = 1;
  elsewhen pre(slides2) == 0 and fr2 < -R02 then
    slides2 = -1;
  end when;
end TwoBlock;
