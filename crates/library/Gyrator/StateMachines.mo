within Gyrator;
package StateMachines "State machines of the language: states are blocks, transitions are equations"

  block Count "State that counts its instants"
    Integer n(start = 0) "Number of instants in this state since it was entered";
    outer output Integer total "Number of all instants";
  equation
    n = previous(n) + 1;
    total = previous(total) + 1;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {255, 127, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid, radius = 30),
        Text(extent = {{-90, 60}, {90, 10}}, textString = "%name", textColor = {0, 0, 255})}),
      Documentation(info = "<html>
<p>Each instant of the clock counts in the state and in the machine.</p>
</html>"));
  end Count;

  model TrafficLight "Red, green and yellow, each for its number of instants"
    extends Icons.Example;
    inner Integer total(start = 0) "Number of all instants";
    Count red annotation(Placement(transformation(extent = {{-70, 20}, {-30, 60}})));
    Count green annotation(Placement(transformation(extent = {{30, 20}, {70, 60}})));
    Count yellow annotation(Placement(transformation(extent = {{-20, -60}, {20, -20}})));
    Integer colour "1 red, 2 green, 3 yellow";
  equation
    initialState(red);
    transition(red, green, red.n >= 4, immediate = false);
    transition(green, yellow, green.n >= 5, immediate = false);
    transition(yellow, red, yellow.n >= 2, immediate = false);
    when Clock(1.0) then
      colour = if activeState(red) then 1 else if activeState(green) then 2 else 3;
    end when;
    annotation(experiment(StopTime = 22),
      Documentation(info = "<html>
<p>A state is left when its counter has come to its end; being entered, it begins anew.</p>
</html>"));
  end TrafficLight;

  block Integrate "State that integrates with a slope, once in a clock"
    parameter Real slope = 1 "Change at each instant";
    outer output Real level "Level that all states share";
  equation
    level = previous(level) + slope;
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {255, 127, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid, radius = 30),
        Text(extent = {{-90, 60}, {90, 10}}, textString = "%name", textColor = {0, 0, 255}),
        Text(extent = {{-90, -20}, {90, -60}}, textString = "slope = %slope")}),
      Documentation(info = "<html>
<p>All states of a machine write the same variable, one at a time.</p>
</html>"));
  end Integrate;

  model Tank "A tank is filled, waits, and is emptied, again and again"
    extends Icons.Example;
    inner Real level(start = 0) "Level of the tank";
    Integrate filling(slope = 1) annotation(Placement(transformation(extent = {{-70, 20}, {-30, 60}})));
    Integrate waiting(slope = 0) annotation(Placement(transformation(extent = {{30, 20}, {70, 60}})));
    Integrate emptying(slope = -2) annotation(Placement(transformation(extent = {{-20, -60}, {20, -20}})));
    Boolean isBusy "Whether the level changes";
  equation
    when Clock(1.0) then
      isBusy = not activeState(waiting);
    end when;
    initialState(filling);
    transition(filling, waiting, level >= 6, immediate = false);
    transition(waiting, emptying, ticksInState() >= 3, immediate = false);
    transition(emptying, filling, level <= 0, immediate = false);
    annotation(experiment(StopTime = 30),
      Documentation(info = "<html>
<p>The level rises to six, stays for three instants and falls twice as fast.</p>
</html>"));
  end Tank;

  annotation(Icon(graphics = {Rectangle(extent = {{-80, 60}, {-10, 10}}, lineColor = {255, 127, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{10, -10}, {80, -60}}, lineColor = {255, 127, 0}, fillColor = {235, 235, 235}, fillPattern = FillPattern.Solid),
      Line(points = {{-10, 30}, {45, 30}, {45, -10}}, color = {255, 127, 0}, arrow = {Arrow.None, Arrow.Filled})}),
    Documentation(info = "<html>
<p>State machines are clocked. A transition that is not immediate looks at the state before the instant, and one state is active at a time.</p>
</html>"));
end StateMachines;
