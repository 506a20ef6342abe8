within Gyrator.Electrical;
package Bases "What electrical components have in common"
  extends Icons.BasesFolder;

  partial model TwoPin "Component with two pins that stores no charge"
    Interfaces.Pin p "Positive pin" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Interfaces.Pin n "Negative pin" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.Voltage u "Voltage from p to n";
    Units.Current i "Current from p to n";
  equation
    u = p.v - n.v;
    i = p.i;
    0 = p.i + n.i;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}),
      Documentation(info = "<html>
<p><i>u</i> = <i>v<sub>p</sub></i> &minus; <i>v<sub>n</sub></i>, &nbsp; 0 = <i>i<sub>p</sub></i> + <i>i<sub>n</sub></i>, &nbsp; <i>i</i> = <i>i<sub>p</sub></i>. The power taken up is <i>u i</i>.</p>
</html>"));
  end TwoPin;

  partial model TwoPort "Component with two pairs of pins"
    Interfaces.Pin p1 "Positive pin of the first side" annotation(Placement(transformation(extent = {{-110, 50}, {-90, 70}})));
    Interfaces.Pin n1 "Negative pin of the first side" annotation(Placement(transformation(extent = {{-110, -70}, {-90, -50}})));
    Interfaces.Pin p2 "Positive pin of the second side" annotation(Placement(transformation(extent = {{90, 50}, {110, 70}})));
    Interfaces.Pin n2 "Negative pin of the second side" annotation(Placement(transformation(extent = {{90, -70}, {110, -50}})));
    Units.Voltage u1 "Voltage of the first side";
    Units.Voltage u2 "Voltage of the second side";
    Units.Current i1 "Current into the first side";
    Units.Current i2 "Current into the second side";
  equation
    u1 = p1.v - n1.v;
    u2 = p2.v - n2.v;
    i1 = p1.i;
    i2 = p2.i;
    0 = p1.i + n1.i;
    0 = p2.i + n2.i;
    annotation(Icon(graphics = {Text(extent = {{-150, 140}, {150, 100}}, textString = "%name", textColor = {0, 0, 255})}),
      Documentation(info = "<html>
<p>Each side is a pair of pins with one current: what enters at p leaves at n. The power taken up is <i>u</i><sub>1</sub><i>i</i><sub>1</sub> + <i>u</i><sub>2</sub><i>i</i><sub>2</sub>.</p>
</html>"));
  end TwoPort;

  partial model HeatLoss "Component whose loss leaves as heat, through a port if it is asked for"
    parameter Boolean useHeatPort = false "Whether there is a heat port";
    parameter Units.Temperature T0 = 293.15 "Temperature where there is no heat port";
    Interfaces.HeatPort heat(T = T, Q_flow = -loss) if useHeatPort "Takes the loss" annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
    Units.Temperature T "Temperature of the component";
    Units.Power loss "Power that becomes heat";
  equation
    if not useHeatPort then
      T = T0;
    end if;
    annotation(Documentation(info = "<html>
<p>With <code>useHeatPort = true</code> the loss flows out of the port <code>heat</code>, and the temperature is that of the port. Without it the
component has the temperature <i>T</i><sub>0</sub> and the loss is only counted.</p>
</html>"));
  end HeatLoss;
end Bases;
