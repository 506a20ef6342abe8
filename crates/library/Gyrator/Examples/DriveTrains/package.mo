within Gyrator.Examples;
package DriveTrains "Planetary gears and an automatic gearbox in a vehicle"
  extends Icons.ExamplesFolder;
  annotation(Documentation(info = "<html>
<p>The four-speed automatic gearbox has two planetary gears with a common sun for three forward gears and the reverse gear, and a third one behind them for the overdrive. Seven clutches
and brakes choose the gear:</p>
<table>
<tr><th>gear</th><th>engaged</th><th>ratio</th></tr>
<tr><td>1</td><td>C4 C11</td><td>2.48</td></tr>
<tr><td>2</td><td>C4 C6 C7 C11</td><td>1.48</td></tr>
<tr><td>3</td><td>C4 C5 C7 C11</td><td>1</td></tr>
<tr><td>4</td><td>C4 C5 C7 C12</td><td>0.73</td></tr>
<tr><td>R</td><td>C5 C8 C11</td><td>&minus;2.09</td></tr>
</table>
</html>"));
end DriveTrains;
