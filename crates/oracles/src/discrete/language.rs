//! The little language of the models: expressions, when clauses, algorithms, and how they are written in Modelica.

/// An expression; truth is 0 or 1.
#[derive(Clone, Debug)]
pub enum Expr {
    Number(f64),
    Truth(bool),
    /// A discrete variable, and its left limit.
    Var(usize),
    Pre(usize),
    /// A parameter.
    Parameter(usize),
    Edge(usize),
    Change(usize),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Equal(Box<Expr>, Box<Expr>),
    Less(Box<Expr>, Box<Expr>),
    Add(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Initial,
    Terminal,
    /// `time >= threshold`, by number.
    Late(usize),
    /// `x > threshold`, by number.
    Above(usize),
    /// A sample, by number.
    Sample(usize),
    /// An integrator.
    State(usize),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Type {
    Boolean,
    Integer,
    Real,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub ty: Type,
    pub start: f64,
    pub fixed: bool,
}

#[derive(Clone, Debug)]
pub enum Action {
    Assign(usize, Expr),
    Reinit(usize, Expr),
    Terminate,
    /// In algorithms.
    If(Expr, Vec<Action>, Vec<Action>),
}

/// A branch of a when clause: its elements, and what happens.
#[derive(Clone, Debug)]
pub struct Branch {
    pub elements: Vec<Expr>,
    pub body: Vec<Action>,
}

#[derive(Clone, Debug)]
pub enum Statement {
    Assign(usize, Expr),
    When(Vec<Branch>),
}

/// What determines some variables; a part needs only what earlier parts determine.
#[derive(Clone, Debug)]
pub enum Part {
    Equation(usize, Expr),
    When(Vec<Branch>),
    Algorithm(Vec<Statement>),
}

#[derive(Clone, Debug)]
pub struct Model {
    pub variables: Vec<Variable>,
    pub parameters: Vec<(Type, f64)>,
    /// Start, rate, and whether the start value is fixed.
    pub states: Vec<(f64, f64, bool)>,
    pub thresholds: Vec<f64>,
    pub crossings: Vec<(usize, f64)>,
    /// Start, interval, and whether the initial equations give them.
    pub samples: Vec<(f64, f64, bool)>,
    pub parts: Vec<Part>,
    /// The order in which the parts are written.
    pub order: Vec<usize>,
    pub stop: f64,
}

impl Model {
    pub fn text(&self) -> String {
        let mut text = String::from("model M\n");
        for (k, &(ty, value)) in self.parameters.iter().enumerate() {
            text += &format!("  parameter {} p{k} = {};\n", name(ty), literal(ty, value));
        }
        for (k, variable) in self.variables.iter().enumerate() {
            let start = literal(variable.ty, variable.start);
            let fixed = if variable.fixed { ", fixed = true" } else { "" };
            let discrete = if variable.ty == Type::Real { "discrete " } else { "" };
            text += &format!("  {discrete}{} v{k}(start = {start}{fixed});\n", name(variable.ty));
        }
        for (k, &(start, _, fixed)) in self.states.iter().enumerate() {
            let fixed = if fixed { ", fixed = true" } else { "" };
            text += &format!("  Real x{k}(start = {start:?}{fixed});\n");
        }
        let mut initial = String::new();
        for (k, &(start, interval, computed)) in self.samples.iter().enumerate() {
            if computed {
                text += &format!("  parameter Real s{k}(fixed = false);\n  parameter Real d{k}(fixed = false);\n");
                initial += &format!("  s{k} = {start:?};\n  d{k} = {interval:?};\n");
            } else {
                text += &format!("  parameter Real s{k} = {start:?};\n  parameter Real d{k} = {interval:?};\n");
            }
        }
        if !initial.is_empty() {
            text += &format!("initial equation\n{initial}");
        }
        text += "equation\n";
        for (k, &(_, rate, _)) in self.states.iter().enumerate() {
            text += &format!("  der(x{k}) = {rate:?};\n");
        }
        for &part in &self.order {
            match &self.parts[part] {
                Part::Equation(target, value) => text += &format!("  v{target} = {};\n", self.expr(value)),
                Part::When(branches) => self.when(&mut text, branches, "="),
                Part::Algorithm(_) => {}
            }
        }
        for &part in &self.order {
            if let Part::Algorithm(statements) = &self.parts[part] {
                text += "algorithm\n";
                for statement in statements {
                    match statement {
                        Statement::Assign(target, value) => {
                            text += &format!("  v{target} := {};\n", self.expr(value));
                        }
                        Statement::When(branches) => self.when(&mut text, branches, ":="),
                    }
                }
            }
        }
        text + "end M;\n"
    }

    fn when(&self, text: &mut String, branches: &[Branch], sign: &str) {
        for (k, Branch { elements, body }) in branches.iter().enumerate() {
            let keyword = if k == 0 { "when" } else { "elsewhen" };
            let elements: Vec<String> = elements.iter().map(|element| self.expr(element)).collect();
            let condition = match elements.as_slice() {
                [one] => one.clone(),
                several => format!("{{{}}}", several.join(", ")),
            };
            *text += &format!("  {keyword} {condition} then\n");
            self.actions(text, body, sign);
        }
        *text += "  end when;\n";
    }

    fn actions(&self, text: &mut String, body: &[Action], sign: &str) {
        for action in body {
            match action {
                Action::Assign(target, value) => *text += &format!("    v{target} {sign} {};\n", self.expr(value)),
                Action::Reinit(state, value) => *text += &format!("    reinit(x{state}, {});\n", self.expr(value)),
                Action::Terminate => *text += "    terminate(\"done\");\n",
                Action::If(condition, then, otherwise) => {
                    *text += &format!("    if {} then\n", self.expr(condition));
                    self.actions(text, then, sign);
                    if !otherwise.is_empty() {
                        *text += "    else\n";
                        self.actions(text, otherwise, sign);
                    }
                    *text += "    end if;\n";
                }
            }
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        let write = |expr: &Expr| self.expr(expr);
        match expr {
            Expr::Number(value) if *value < 0.0 => format!("(-{})", number(-value)),
            Expr::Number(value) => number(*value),
            Expr::Truth(value) => format!("{value}"),
            Expr::Var(v) => format!("v{v}"),
            Expr::Pre(v) => format!("pre(v{v})"),
            Expr::Parameter(p) => format!("p{p}"),
            Expr::Edge(v) => format!("edge(v{v})"),
            Expr::Change(v) => format!("change(v{v})"),
            Expr::Not(a) => format!("(not {})", write(a)),
            Expr::And(a, b) => format!("({} and {})", write(a), write(b)),
            Expr::Or(a, b) => format!("({} or {})", write(a), write(b)),
            Expr::Equal(a, b) => format!("({} == {})", write(a), write(b)),
            Expr::Less(a, b) => format!("({} < {})", write(a), write(b)),
            Expr::Add(a, b) => format!("({} + {})", write(a), write(b)),
            Expr::If(a, b, c) => format!("(if {} then {} else {})", write(a), write(b), write(c)),
            Expr::Initial => "initial()".into(),
            Expr::Terminal => "terminal()".into(),
            Expr::Late(k) => format!("(time >= {})", write(&Expr::Number(self.thresholds[*k]))),
            Expr::Above(k) => format!("(x{} > {})", self.crossings[*k].0, write(&Expr::Number(self.crossings[*k].1))),
            Expr::Sample(k) => format!("sample(s{k}, d{k})"),
            Expr::State(k) => format!("x{k}"),
        }
    }
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{}", value as i64) } else { format!("{value:?}") }
}

fn name(ty: Type) -> &'static str {
    match ty {
        Type::Boolean => "Boolean",
        Type::Integer => "Integer",
        Type::Real => "Real",
    }
}

fn literal(ty: Type, value: f64) -> String {
    match ty {
        Type::Boolean => format!("{}", value != 0.0),
        Type::Integer => format!("{}", value as i64),
        Type::Real => format!("{value:?}"),
    }
}
