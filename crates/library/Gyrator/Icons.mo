within Gyrator;
package Icons "Pictures of packages, and of models that run as they are"
  extends Folder;

  partial package Folder "Package of components"
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {160, 160, 160}, fillColor = {245, 245, 245}, fillPattern = FillPattern.Solid, radius = 20),
        Rectangle(extent = {{-60, 60}, {-10, 10}}, lineColor = {120, 120, 120}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{10, 60}, {60, 10}}, lineColor = {120, 120, 120}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{-60, -10}, {-10, -60}}, lineColor = {120, 120, 120}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Rectangle(extent = {{10, -10}, {60, -60}}, lineColor = {120, 120, 120}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}));
  end Folder;

  partial package SourcesFolder "Package of sources"
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {160, 160, 160}, fillColor = {245, 245, 245}, fillPattern = FillPattern.Solid, radius = 20),
        Ellipse(extent = {{-70, 40}, {10, -40}}, lineColor = {120, 120, 120}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{10, 0}, {70, 0}}, color = {120, 120, 120}, arrow = {Arrow.None, Arrow.Filled}, arrowSize = 12)}));
  end SourcesFolder;

  partial package SensorsFolder "Package of instruments"
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {160, 160, 160}, fillColor = {245, 245, 245}, fillPattern = FillPattern.Solid, radius = 20),
        Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {120, 120, 120}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 0}, {35, 40}}, color = {120, 120, 120}),
        Ellipse(extent = {{-6, 6}, {6, -6}}, lineColor = {120, 120, 120}, fillColor = {120, 120, 120}, fillPattern = FillPattern.Solid)}));
  end SensorsFolder;

  partial package BasesFolder "Package of classes that others are made of"
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {160, 160, 160}, fillColor = {245, 245, 245}, fillPattern = FillPattern.Solid, radius = 20),
        Rectangle(extent = {{-60, 50}, {60, -50}}, lineColor = {120, 120, 120}, pattern = LinePattern.Dash)}));
  end BasesFolder;

  partial package ExamplesFolder "Package of models that run as they are"
    annotation(Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {160, 160, 160}, fillColor = {245, 245, 245}, fillPattern = FillPattern.Solid, radius = 20),
        Polygon(points = {{-45, 60}, {65, 0}, {-45, -60}}, lineColor = {120, 120, 120}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}));
  end ExamplesFolder;

  partial model Example "Model that runs as it is"
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {160, 160, 160}, fillColor = {245, 245, 245}, fillPattern = FillPattern.Solid),
        Polygon(points = {{-35, 60}, {65, 0}, {-35, -60}}, lineColor = {0, 127, 0}, fillColor = {0, 127, 0}, fillPattern = FillPattern.Solid)}));
  end Example;
end Icons;
