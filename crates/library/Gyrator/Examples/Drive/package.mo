within Gyrator.Examples;
package Drive "A hierarchical drive: controller, motor, gearbox and load, with replaceable parts"
  extends Icons.ExamplesFolder;
  annotation(Documentation(info = "<html>
<p>The drive is built of components that are built of components. Its resistor is replaceable: <code>HeatedMotor</code> is <code>Motor</code> with a resistor that depends on its temperature, and
<code>HeatedDrive</code> is <code>Drive</code> with that motor, by one modifier.</p>
</html>"));
end Drive;
