//! Speed of reading: `cargo bench -p gyrator-syntax [-- FILE-OR-FOLDER …]`. Without arguments a text is made up that has the
//! mixture of a library: declarations, equations, annotations with drawings, and documentation.

use std::path::Path;
use std::time::{Duration, Instant};

use base::{FileId, Id};

fn made_up_library() -> String {
    let mut text = String::from("package Library\n");
    for index in 0..400 {
        text += &format!(
            r#"  model Resistor{index} "Resistor whose resistance depends on its temperature"
    extends Interfaces.OnePort(v(start=0), i(start=1.5e-3));
    parameter Modelica.Units.SI.Resistance R{index}(start=1, min=0) "Resistance at reference temperature"
      annotation(Dialog(group="Values", enable=not useInput));
    Modelica.Units.SI.Current current[n, 3] = {{{{1, 2, 3}} for k in 1:n}} if n > 3; // the phases
  equation
    v = R{index}*(1 + alpha*(T - T_ref))*i;
    der(x[{index}]) = if noEvent(x > 0.5e-3) then -k*x^2/(1 + abs(x)) else sin(2*pi*f*time + phase);
    when {{initial(), sample(0, 0.1)}} then
      y = pre(y) + 1;
    end when;
    connect(plus.pin[1], minus.pin) annotation(Line(points={{{{-100, 0}}, {{-70, 0}}, {{70, 12.5}}}}, color={{0, 0, 255}}));
    annotation(Icon(graphics={{Rectangle(extent={{{{-70, 30}}, {{70, -30}}}}, lineColor={{0, 0, 255}}), Text(textString="%name")}}),
      Documentation(info="<html>
<p>The linear resistor connects the branch voltage <em>v</em> with the branch current <em>i</em> by <em>i*R = v</em>.
The resistance is allowed to be positive, zero, or negative. This text is long because documentation is.</p>
</html>"));
  end Resistor{index};
"#
        );
    }
    text + "end Library;\n"
}

fn collect(path: &Path, texts: &mut Vec<String>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.for_each(|entry| collect(&entry.path(), texts));
    } else if path.extension().is_some_and(|extension| extension == "mo") {
        texts.extend(std::fs::read_to_string(path));
    }
}

fn measure<T>(what: &str, bytes: usize, mut work: impl FnMut() -> T) {
    let mut best = Duration::MAX;
    let begin = Instant::now();
    let mut runs = 0;
    while runs < 3 || (begin.elapsed() < Duration::from_secs(2) && runs < 50) {
        let start = Instant::now();
        let result = work();
        best = best.min(start.elapsed());
        drop(result);
        runs += 1;
    }
    println!("{what:>8}: {:7.1} MB/s ({best:?}, best of {runs})", bytes as f64 / 1e6 / best.as_secs_f64());
}

fn main() {
    let mut texts = Vec::new();
    for argument in std::env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
        collect(Path::new(&argument), &mut texts);
    }
    if texts.is_empty() {
        texts.push(made_up_library());
    }
    let bytes = texts.iter().map(String::len).sum();
    let file = FileId::from_index(0);
    println!("{} files, {:.1} MB", texts.len(), bytes as f64 / 1e6);
    measure("parse", bytes, || texts.iter().map(|text| syntax::parse(file, text)).collect::<Vec<_>>());
    let parses: Vec<syntax::Parse> = texts.iter().map(|text| syntax::parse(file, text)).collect();
    measure("lower", bytes, || parses.iter().map(syntax::Parse::ast).collect::<Vec<_>>());
    measure("format", bytes, || parses.iter().map(syntax::Parse::format).collect::<Vec<_>>());
}
