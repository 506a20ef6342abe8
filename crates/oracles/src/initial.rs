//! Random initial value problems: fixed starts, initial equations for values and derivatives, parameters to be found, initial
//! algorithms, `when initial()`, discrete variables and constraints between states, against Newton's method on all unknowns.
//! Problems with a condition too many that contradicts the others must be refused; of those with one too few the rest must hold,
//! and the choice must be reported.

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, Verdict};
use crate::run::Run;

pub fn case(random: &mut Rng) -> Case {
    loop {
        let problem = Generator { random: &mut *random, problem: Problem::default() }.problem();
        if let Some(case) = problem.and_then(|problem| problem.case()) {
            return case;
        }
    }
}

/// `constant + Σ factor·unknown`.
#[derive(Clone, Default)]
struct Form {
    terms: Vec<(usize, f64)>,
    constant: f64,
}

impl Form {
    fn unknown(unknown: usize) -> Self {
        Self { terms: vec![(unknown, 1.0)], constant: 0.0 }
    }

    fn number(constant: f64) -> Self {
        Self { terms: Vec::new(), constant }
    }

    fn plus(&self, factor: f64, other: &Form) -> Self {
        let mut terms = self.terms.clone();
        terms.extend(other.terms.iter().map(|&(unknown, by)| (unknown, factor * by)));
        Self { terms, constant: self.constant + factor * other.constant }
    }

    fn value(&self, z: &[f64]) -> f64 {
        self.terms.iter().fold(self.constant, |sum, &(unknown, factor)| sum + factor * z[unknown])
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    State,
    Algebraic,
    /// A parameter with `fixed = false`.
    Open,
    /// Assigned by `when initial()`.
    Assigned,
    /// Keeps its value until long after the end.
    Kept,
    /// A state that a constraint joins to another, and its derivative.
    Joined,
    Slope,
}

/// An equation of the initial problem: the form is zero, with a cubic term in one unknown perhaps.
#[derive(Clone)]
struct Equation {
    form: Form,
    cubic: Option<(usize, f64)>,
}

impl Equation {
    fn residual(&self, z: &[f64]) -> f64 {
        let cubic = self.cubic.map_or(0.0, |(unknown, factor)| factor * z[unknown].powi(3));
        self.form.value(z) + cubic
    }

    fn size(&self, z: &[f64]) -> f64 {
        let terms = self.form.terms.iter().map(|&(unknown, factor)| (factor * z[unknown]).abs());
        terms.fold(1.0 + self.form.constant.abs(), f64::max)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Variant {
    Regular,
    /// A condition too many that contradicts the others.
    Contradictory,
    /// One that follows from the others.
    Redundant,
    /// One too few.
    Open,
}

#[derive(Default)]
struct Problem {
    kinds: Vec<Kind>,
    /// Derivatives of the states, in their order among the unknowns.
    slopes: Vec<(usize, Form)>,
    /// What holds at all times, besides.
    equations: Vec<Equation>,
    /// Initial conditions.
    conditions: Vec<Equation>,
    /// Which of the initial equations each condition is, if it is one.
    lines: Vec<Option<usize>>,
    attributes: Vec<String>,
    written: Vec<String>,
    initial: Vec<String>,
    algorithm: Vec<String>,
    variant: Option<Variant>,
}

struct Generator<'r> {
    random: &'r mut Rng,
    problem: Problem,
}

impl Generator<'_> {
    fn problem(mut self) -> Option<Problem> {
        let states = self.random.usize(1..=4);
        for _ in 0..states {
            self.add(Kind::State);
        }
        for _ in 0..self.random.usize(..=2) {
            self.add(Kind::Open);
        }
        for _ in 0..self.random.usize(..=2) {
            self.add(Kind::Kept);
        }
        for _ in 0..self.random.usize(..=3) {
            let form = self.form(3);
            let y = self.add(Kind::Algebraic);
            let cubic = (self.random.u8(..3) == 0).then(|| (y, self.random.f64()));
            let own = Form::unknown(y).plus(-1.0, &form);
            let left = match cubic {
                Some((_, factor)) => format!("{} + {factor:?}*{}^3", self.name(y), self.name(y)),
                None => self.name(y),
            };
            self.problem.written.push(format!("{left} = {}", self.text(&form)));
            self.problem.equations.push(Equation { form: own, cubic });
        }
        for _ in 0..self.random.usize(..=1) {
            let form = self.form(2);
            let d = self.add(Kind::Assigned);
            let (name, value) = (self.name(d), self.text(&form));
            self.problem.written.push(format!("when initial() then {name} = {value}; end when"));
            self.problem.equations.push(Equation { form: Form::unknown(d).plus(-1.0, &form), cubic: None });
        }
        for state in 0..states {
            let damping = Form { terms: vec![(state, -0.5 - self.random.f64())], constant: 0.0 };
            let slope = damping.plus(0.5, &self.form(3));
            self.problem.written.push(format!("der({}) = {}", self.name(state), self.text(&slope)));
            self.problem.slopes.push((state, slope));
        }
        let joined = (self.random.u8(..3) == 0).then(|| self.join(self.problem.slopes[0].1.clone()));
        let open: Vec<usize> = (0..self.problem.kinds.len()).filter(|&z| self.needs_condition(z)).collect();
        for unknown in open {
            self.condition(unknown, joined);
        }
        let variant = match self.random.u8(..8) {
            0 => Variant::Contradictory,
            1 => Variant::Redundant,
            2 => Variant::Open,
            _ => Variant::Regular,
        };
        self.problem.variant = Some(variant);
        match variant {
            Variant::Contradictory | Variant::Redundant => self.excess(variant)?,
            Variant::Open => self.problem.drop_condition()?,
            Variant::Regular => {}
        }
        Some(self.problem)
    }

    fn add(&mut self, kind: Kind) -> usize {
        self.problem.kinds.push(kind);
        self.problem.attributes.push(String::new());
        self.problem.kinds.len() - 1
    }

    /// A state that follows the first one, as in a gear.
    fn join(&mut self, slope: Form) -> usize {
        let (ratio, offset) = (0.5 + self.random.f64(), self.number());
        let (w, s) = (self.add(Kind::Joined), self.add(Kind::Slope));
        let (w_name, s_name, x_name) = (self.name(w), self.name(s), self.name(0));
        self.problem.written.push(format!("{w_name} = {ratio:?}*{x_name} + ({offset:?})"));
        self.problem.written.push(format!("der({w_name}) = {s_name}"));
        let position = Form::unknown(w).plus(-ratio, &Form::unknown(0)).plus(-1.0, &Form::number(offset));
        self.problem.equations.push(Equation { form: position, cubic: None });
        self.problem.equations.push(Equation { form: Form::unknown(s).plus(-ratio, &slope), cubic: None });
        w
    }

    fn needs_condition(&self, unknown: usize) -> bool {
        matches!(self.problem.kinds[unknown], Kind::State | Kind::Open | Kind::Kept)
    }

    /// One initial condition, mostly about an unknown.
    fn condition(&mut self, unknown: usize, joined: Option<usize>) {
        let name = self.name(unknown);
        let kind = self.problem.kinds[unknown];
        let value = self.number();
        let fixed = Form::unknown(unknown).plus(-1.0, &Form::number(value));
        let choice = self.random.u8(..10);
        let before = self.problem.initial.len();
        let form = match kind {
            Kind::Kept => match choice {
                0..=5 => self.start(unknown, value),
                _ => {
                    let form = self.form(2);
                    self.problem.initial.push(format!("pre({name}) = {}", self.text(&form)));
                    Form::unknown(unknown).plus(-1.0, &form)
                }
            },
            Kind::State if choice < 3 => match joined {
                Some(w) if unknown == 0 && self.random.bool() => self.start(w, value),
                _ => self.start(unknown, value),
            },
            Kind::State if choice < 5 => {
                let slope = self.slope(unknown);
                let wanted = if self.random.bool() { 0.0 } else { value };
                self.problem.initial.push(format!("der({name}) = {wanted:?}"));
                slope.plus(-1.0, &Form::number(wanted))
            }
            Kind::State if choice == 5 => {
                let form = self.form(2);
                let value = self.text(&form);
                self.problem.written.push(format!("when initial() then reinit({name}, {value}); end when"));
                Form::unknown(unknown).plus(-1.0, &form)
            }
            _ if choice == 6 => {
                self.problem.algorithm.push(format!("{name} := {value:?}"));
                fixed
            }
            _ if choice == 7 => {
                let algebraic = self.problem.kinds.iter().position(|&kind| kind == Kind::Algebraic);
                match algebraic {
                    Some(y) => {
                        self.problem.initial.push(format!("{} = {value:?}", self.name(y)));
                        Form::unknown(y).plus(-1.0, &Form::number(value))
                    }
                    None => {
                        self.problem.initial.push(format!("{name} = {value:?}"));
                        fixed
                    }
                }
            }
            _ => {
                let form = Form::unknown(unknown).plus(0.5, &self.form(2));
                let own = form.plus(-1.0, &Form::number(value));
                self.problem.initial.push(format!("{} = {value:?}", self.text(&form)));
                own
            }
        };
        self.problem.conditions.push(Equation { form, cubic: None });
        let lines = self.problem.initial.len();
        self.problem.lines.push((lines > before).then_some(before));
    }

    /// A fixed start value, which may depend on parameters.
    fn start(&mut self, unknown: usize, value: f64) -> Form {
        let open: Vec<usize> = (0..self.problem.kinds.len()).filter(|&z| self.problem.kinds[z] == Kind::Open).collect();
        let (text, form) = match (open.first(), self.random.u8(..4)) {
            (Some(&k), 0) => {
                (format!("{}*2 + ({value:?})", self.name(k)), Form { terms: vec![(k, 2.0)], constant: value })
            }
            (_, 1) => (format!("2*base + ({value:?})"), Form::number(2.0 * BASE + value)),
            _ => (format!("{value:?}"), Form::number(value)),
        };
        self.problem.attributes[unknown] = format!("(start = {text}, fixed = true)");
        Form::unknown(unknown).plus(-1.0, &form)
    }

    fn slope(&self, state: usize) -> Form {
        self.problem.slopes.iter().find(|slope| slope.0 == state).map(|slope| slope.1.clone()).unwrap_or_default()
    }

    /// One condition too many.
    fn excess(&mut self, variant: Variant) -> Option<()> {
        let z = self.problem.solution()?;
        let about = self.random.usize(..self.problem.kinds.len());
        let off = if variant == Variant::Contradictory { 0.5 + self.random.f64() } else { 0.0 };
        let value = z[about] + off;
        self.problem.initial.push(format!("{} = {value:?}", self.name(about)));
        Some(())
    }

    /// A random form over the unknowns so far.
    fn form(&mut self, terms: usize) -> Form {
        let mut form = Form::number(self.number());
        for _ in 0..self.random.usize(..=terms) {
            let unknown = self.random.usize(..self.problem.kinds.len());
            if form.terms.iter().all(|term| term.0 != unknown) {
                form.terms.push((unknown, self.number()));
            }
        }
        form
    }

    fn number(&mut self) -> f64 {
        f64::from(self.random.i16(-1500..1500)) / 1000.0 + 0.000_37
    }

    fn name(&self, unknown: usize) -> String {
        self.problem.name(unknown)
    }

    fn text(&self, form: &Form) -> String {
        self.problem.text(form)
    }
}

/// The value of the parameter `base`.
const BASE: f64 = 0.75;

impl Problem {
    fn name(&self, unknown: usize) -> String {
        let letter = match self.kinds[unknown] {
            Kind::State => 'x',
            Kind::Algebraic => 'y',
            Kind::Open => 'k',
            Kind::Assigned => 'd',
            Kind::Kept => 'e',
            Kind::Joined => 'w',
            Kind::Slope => 's',
        };
        format!("{letter}{unknown}")
    }

    fn text(&self, form: &Form) -> String {
        let mut text = String::new();
        for &(unknown, factor) in &form.terms {
            text += &format!("({factor:?})*{} + ", self.name(unknown));
        }
        text + &format!("({:?})", form.constant)
    }

    /// The condition that the last initial equation stands for is left out.
    fn drop_condition(&mut self) -> Option<()> {
        let at = self.lines.iter().rposition(|line| line.is_some_and(|line| line + 1 == self.initial.len()))?;
        // What a discrete variable without such an equation begins with is its start value, fixed or not.
        self.initial.pop().filter(|line| !line.starts_with("pre("))?;
        self.conditions.remove(at);
        Some(())
    }

    /// All unknowns at the start, if they are determined well and by one solution only.
    fn solution(&self) -> Option<Vec<f64>> {
        let rows: Vec<&Equation> = self.equations.iter().chain(&self.conditions).collect();
        let count = self.kinds.len();
        if rows.len() != count {
            return None;
        }
        let mut found: Option<Vec<f64>> = None;
        for guess in [0.0, 3.0, -3.0, 10.0, -10.0] {
            let Some(z) = newton(&rows, vec![guess; count]) else { continue };
            if let Some(known) = &found
                && known.iter().zip(&z).any(|(a, b)| (a - b).abs() > 1e-6 * (1.0 + a.abs()))
            {
                return None;
            }
            found = Some(z);
        }
        found.filter(|z| z.iter().all(|value| value.abs() < 1e3))
    }

    fn case(self) -> Option<Case> {
        let variant = self.variant?;
        let expected = if variant == Variant::Open { None } else { Some(self.solution()?) };
        if variant == Variant::Open && !self.is_open_by_one() {
            return None;
        }
        let text = self.model();
        let settings = Settings { stop_time: Some(0.1), ..Settings::default() };
        let judge = move |run: &Run| self.judge(run, variant, expected.as_deref());
        Some(Case::judged(text, settings, judge))
    }

    /// Whether the conditions that are left are independent, well enough.
    fn is_open_by_one(&self) -> bool {
        let rows: Vec<&Equation> = self.equations.iter().chain(&self.conditions).collect();
        rows.iter().all(|row| row.cubic.is_none())
            && (0..self.kinds.len()).any(|unknown| {
                let extra = Equation { form: Form::unknown(unknown), cubic: None };
                let mut all = rows.clone();
                all.push(&extra);
                newton(&all, vec![0.0; self.kinds.len()]).is_some()
            })
    }

    fn model(&self) -> String {
        let mut text = format!("model M\n  parameter Real base = {BASE:?};\n");
        for unknown in 0..self.kinds.len() {
            let (name, attributes) = (self.name(unknown), &self.attributes[unknown]);
            text += &match self.kinds[unknown] {
                Kind::Open => format!("  parameter Real {name}(fixed = false);\n"),
                Kind::Kept | Kind::Assigned => format!("  discrete Real {name}{attributes};\n"),
                _ => format!("  Real {name}{attributes};\n"),
            };
        }
        if !self.initial.is_empty() {
            text += "initial equation\n";
            self.initial.iter().for_each(|line| text += &format!("  {line};\n"));
        }
        if !self.algorithm.is_empty() {
            text += "initial algorithm\n";
            self.algorithm.iter().for_each(|line| text += &format!("  {line};\n"));
        }
        text += "equation\n";
        for unknown in (0..self.kinds.len()).filter(|&unknown| self.kinds[unknown] == Kind::Kept) {
            let name = self.name(unknown);
            text += &format!("  when time > 10 then {name} = pre({name}) + 1; end when;\n");
        }
        self.written.iter().for_each(|line| text += &format!("  {line};\n"));
        text + "end M;\n"
    }

    fn judge(&self, run: &Run, variant: Variant, expected: Option<&[f64]>) -> Verdict {
        if variant == Variant::Contradictory {
            return match run.is_complete() {
                true => Err("a condition that contradicts the others was accepted".into()),
                false => Ok(()),
            };
        }
        if !run.is_complete() {
            return match variant == Variant::Redundant && run.messages.contains("error[") {
                true => Ok(()),
                false => Err(format!("it stopped: {}", run.ending())),
            };
        }
        let z: Vec<f64> =
            (0..self.kinds.len()).map(|unknown| start_of(run, &self.name(unknown))).collect::<Result<_, _>>()?;
        for row in self.equations.iter().chain(&self.conditions) {
            let residual = row.residual(&z);
            if residual.abs() > 1e-6 * row.size(&z) {
                return Err(format!("a condition is violated by {residual}: {}", self.text(&row.form)));
            }
        }
        let is_said = ["start-value-used", "parameter-without-value"].iter().any(|code| run.messages.contains(code));
        if variant == Variant::Open && !is_said {
            return Err("a condition is missing, and nothing was said".into());
        }
        for (unknown, (&value, &expected)) in z.iter().zip(expected.unwrap_or_default()).enumerate() {
            if (value - expected).abs() > 1e-5 * (1.0 + expected.abs()) {
                return Err(format!("{} is {value} instead of {expected}", self.name(unknown)));
            }
        }
        Ok(())
    }
}

fn start_of(run: &Run, name: &str) -> Result<f64, String> {
    run.column(name)?.first().copied().ok_or_else(|| format!("no `{name}`"))
}

/// Newton's method with Gaussian elimination; `None` where it does not converge or the matrix is nearly singular.
fn newton(rows: &[&Equation], mut z: Vec<f64>) -> Option<Vec<f64>> {
    for _ in 0..60 {
        let mut matrix: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                let mut line = vec![0.0; z.len() + 1];
                row.form.terms.iter().for_each(|&(unknown, factor)| line[unknown] += factor);
                if let Some((unknown, factor)) = row.cubic {
                    line[unknown] += 3.0 * factor * z[unknown].powi(2);
                }
                line[z.len()] = row.residual(&z);
                line
            })
            .collect();
        let step = eliminate(&mut matrix)?;
        z.iter_mut().zip(&step).for_each(|(value, step)| *value -= step);
        let size = z.iter().fold(1.0, |size: f64, value| size.max(value.abs()));
        if step.iter().all(|step| step.abs() < 1e-12 * size) {
            return Some(z);
        }
    }
    None
}

fn eliminate(matrix: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    /// Smaller pivots are no test.
    const SMALLEST: f64 = 0.02;
    let count = matrix.len();
    for column in 0..count {
        let pivot = (column..count).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        matrix.swap(column, pivot);
        if matrix[column][column].abs() < SMALLEST {
            return None;
        }
        let own = matrix[column].clone();
        for line in &mut matrix[column + 1..] {
            let factor = line[column] / own[column];
            line.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
        }
    }
    let mut solution = vec![0.0; count];
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|column| matrix[row][column] * solution[column]).sum();
        solution[row] = (matrix[row][count] - known) / matrix[row][row];
    }
    Some(solution)
}
