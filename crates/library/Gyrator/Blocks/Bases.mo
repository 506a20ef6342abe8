within Gyrator.Blocks;
package Bases "What blocks have in common"
  extends Icons.BasesFolder;

  partial block Frame "Frame with the name"
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255}),
        Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}));
  end Frame;

  partial block Source "Block with an output"
    extends Frame;
    Interfaces.RealOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  end Source;

  partial block OneInput "Block with an input and an output"
    extends Frame;
    Interfaces.RealInput u "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
    Interfaces.RealOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  end OneInput;

  partial block TwoInputs "Block with two inputs and an output"
    extends Frame;
    Interfaces.RealInput u1 "First input" annotation(Placement(transformation(extent = {{-140, 40}, {-100, 80}})));
    Interfaces.RealInput u2 "Second input" annotation(Placement(transformation(extent = {{-140, -80}, {-100, -40}})));
    Interfaces.RealOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  end TwoInputs;

  partial block Sampled "Block that looks at its input at regular instants and holds its output between them"
    extends OneInput;
    parameter Units.Time period = 0.1 "Distance of the instants";
    parameter Units.Time startTime = 0 "First instant";
    Boolean now "Whether this is such an instant";
  equation
    assert(period > 0, "The distance of the instants, period, is not positive");
    now = sample(startTime, period);
  end Sampled;

  partial block BooleanOneInput "Block with a logical input and output"
    extends Frame;
    Interfaces.BooleanInput u "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
    Interfaces.BooleanOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  end BooleanOneInput;

  partial block BooleanTwoInputs "Block with two logical inputs and an output"
    extends Frame;
    Interfaces.BooleanInput u1 "First input" annotation(Placement(transformation(extent = {{-140, 40}, {-100, 80}})));
    Interfaces.BooleanInput u2 "Second input" annotation(Placement(transformation(extent = {{-140, -80}, {-100, -40}})));
    Interfaces.BooleanOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  end BooleanTwoInputs;
end Bases;
