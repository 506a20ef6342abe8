//! Models with clocks, with a structure that changes and with states that are exchanged, for tests of runs that are cut.

pub const CLOCKED: &str = "model Clocked
      Real x(start = 0, fixed = true);
      Real u;
      Real c(start = 0);
    equation
      c = previous(c) + interval(c)*(1 - sample(x, Clock(1, 10)));
      u = hold(c);
      der(x) = u - x;
    end Clocked;";

pub const CLUTCH: &str = "model Clutch
      Real v(start = 3, fixed = true);
      Real w(start = 1, fixed = true);
      Real f;
    equation
      der(v) = -f - 0.1*v;
      2*der(w) = f;
      if sin(4*time) > 0.5 then
        v = w;
      else
        f = 0.2*w - 1;
      end if;
    end Clutch;";

pub const PENDULUM: &str = "model Pendulum
      Real x(start = 0.8);
      Real y(start = -0.6);
      Real vx(start = 0);
      Real vy(start = 0);
      Real f;
    initial equation
      x = 0.8;
      vx = 5;
    equation
      der(x) = vx;
      der(y) = vy;
      der(vx) = -f*x;
      der(vy) = -f*y - 9.81;
      x^2 + y^2 = 1;
    end Pendulum;";
