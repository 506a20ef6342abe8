package ChemicalTests "Each model: `balance` is power in minus power stored and lost, `error` the distance from a closed form"
  import Gyrator.Chemical.*;
  constant Real RT = 8.31446261815324*298.15;

  model Equilibrium "A reacts to B and back: concentrations approach their equilibrium exponentially"
    Substance a(cStart = 800, V = 2);
    Substance b(cStart = 100, V = 2, mu0 = -RT*log(3));
    Reaction reaction(k = 2000);
    Real free = 2*(a.c*(a.port.mu - RT) + b.c*(b.port.mu - RT));
    Real balance[2] = {(a.port.n_flow*a.port.mu + b.port.n_flow*b.port.mu - der(free))/RT,
      (reaction.substances[1].n_flow*reaction.substances[1].mu + reaction.products[1].n_flow*reaction.products[1].mu - reaction.loss)/RT};
    Real error = a.c - 225 - (800 - 225)*exp(-(1 + 1/3)*time);
    parameter Real tolerance = 1e-4;
  equation
    connect(a.port, reaction.substances[1]);
    connect(reaction.products[1], b.port);
    annotation(experiment(StopTime = 4));
  end Equilibrium;

  model SecondOrder "2 A + B react to C, with the law of mass action; a large amount of C does not change"
    Substance a(cStart = 20, c0 = 1);
    Substance b(cStart = 10, c0 = 1);
    Substance c(cStart = 1e-9, c0 = 1, mu0 = -40*RT);
    Reaction reaction(nS = 2, s = {2, 1}, k = 0.01);
    Real reacted = (20 - a.c)/2;
    Real balance = (reaction.substances.n_flow*reaction.substances.mu + reaction.products.n_flow*reaction.products.mu - reaction.loss)/RT;
    Real error[3] = {10 - b.c - reacted, c.c - reacted - 1e-9, der(c.c) - 0.01*a.c^2*b.c};
  equation
    connect(a.port, reaction.substances[1]);
    connect(b.port, reaction.substances[2]);
    connect(reaction.products[1], c.port);
    annotation(experiment(StopTime = 2));
  end SecondOrder;

  model Diffusion "Two solutions exchange a substance through a membrane; a source fills a third one"
    Substance left(cStart = 100, V = 1);
    Substance right(cStart = 20, V = 3);
    Membrane membrane(P = 0.5);
    MolarFlowSource source(n_flow = 2*time);
    Substance third(cStart = 1, V = 2);
    FixedPotential reservoir(mu = RT*log(0.05));
    Membrane second(P = 1);
    Substance fourth(cStart = 10, V = 1);
    Real balance = (membrane.a.mu*membrane.a.n_flow + membrane.b.mu*membrane.b.n_flow - membrane.loss)/RT;
    Real error[3] = {left.c - 40 - 60*exp(-time*0.5*(1 + 1/3)), third.c - 1 - 0.5*time^2, fourth.c - 50 + 40*exp(-time)};
  equation
    connect(left.port, membrane.a);
    connect(membrane.b, right.port);
    connect(source.port, third.port);
    connect(reservoir.port, second.a);
    connect(second.b, fourth.port);
    annotation(experiment(StopTime = 4));
  end Diffusion;

  model Empty "A product that is not there at the start, and a solution without the substance behind a membrane"
    Substance a(cStart = 800, V = 2);
    Substance b(cStart = 0, V = 2, mu0 = -RT*log(3));
    Reaction reaction(k = 2000);
    Substance full(cStart = 5, V = 2);
    Substance empty(cStart = 0, V = 3);
    Membrane membrane(P = 0.5);
    Real error[3] = {a.c - 200 - 600*exp(-(1 + 1/3)*time), a.c + b.c - 800, empty.c - 2*(1 - exp(-0.5*(1/2 + 1/3)*time))};
    parameter Real tolerance = 1e-4;
  equation
    connect(a.port, reaction.substances[1]);
    connect(reaction.products[1], b.port);
    connect(full.port, membrane.a);
    connect(membrane.b, empty.port);
    annotation(experiment(StopTime = 4));
  end Empty;
end ChemicalTests;
