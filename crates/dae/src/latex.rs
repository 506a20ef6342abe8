//! Expressions as LaTeX: quotients as fractions, derivatives with dots, Greek names as Greek letters.

use crate::expr::{CompareOp, ExprId, Node};
use crate::model::{EqId, Model, VarId};
use crate::print::name_of;

/// Longer formulas do not fit on paper.
const LIMIT: usize = 8000;

impl Model {
    /// An expression as a formula.
    pub fn expression_latex(&self, expression: ExprId) -> String {
        let mut writer = Writer { model: self, out: String::new(), stack: vec![Item::Expression(expression, 0)] };
        writer.run();
        writer.out
    }

    /// An equation as a formula.
    pub fn equation_latex(&self, equation: EqId) -> String {
        self.equations
            .get(equation)
            .map(|e| format!("{} = {}", self.expression_latex(e.left), self.expression_latex(e.right)))
            .unwrap_or_default()
    }

    /// `R_1`'s voltage `R1.u` becomes `u_{\mathrm{R1}}`, the derivative of it gets a dot.
    pub fn variable_latex(&self, variable: VarId) -> String {
        match self.variables[variable].derivative_of {
            Some(of) => format!("\\dot{{{}}}", self.variable_latex(of)),
            None => name_latex(&self.variable_name(variable)),
        }
    }
}

fn name_latex(name: &str) -> String {
    let (owner, last) = name.rsplit_once('.').unwrap_or(("", name));
    let (stem, subscripts) = last.split_once('[').map_or((last, ""), |(stem, rest)| (stem, rest.trim_end_matches(']')));
    let letter = match stem {
        "alpha" | "beta" | "gamma" | "delta" | "epsilon" | "zeta" | "eta" | "theta" | "kappa" | "lambda" | "mu"
        | "nu" | "xi" | "rho" | "sigma" | "tau" | "phi" | "chi" | "psi" | "omega" | "Phi" | "Psi" | "Omega" => {
            format!("\\{stem}")
        }
        _ if stem.chars().count() == 1 => stem.to_owned(),
        _ => format!("\\mathit{{{}}}", escape(stem)),
    };
    let below: Vec<String> =
        [owner, subscripts].iter().filter(|part| !part.is_empty()).map(|part| escape(part)).collect();
    if below.is_empty() { letter } else { format!("{letter}_{{\\mathrm{{{}}}}}", below.join(",")) }
}

/// The characters that mean something to LaTeX.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '_' | '#' | '$' | '%' | '&' | '{' | '}' => {
                out.push('\\');
                out.push(character);
            }
            '\\' => out.push_str("\\backslash "),
            '^' => out.push_str("\\hat{}"),
            '~' => out.push_str("\\sim "),
            _ => out.push(character),
        }
    }
    out
}

enum Item {
    /// With the least strength that needs no parentheses: 0 anything, 1 logic, 2 relation, 3 sum, 4 product, 5 primary.
    Expression(ExprId, u8),
    Text(&'static str),
    Owned(String),
}

struct Writer<'m> {
    model: &'m Model,
    out: String,
    stack: Vec<Item>,
}

impl Writer<'_> {
    fn run(&mut self) {
        while let Some(item) = self.stack.pop() {
            if self.out.len() > LIMIT {
                self.out.push_str("\\ldots");
                return;
            }
            match item {
                Item::Text(text) => self.out.push_str(text),
                Item::Owned(text) => self.out.push_str(&text),
                Item::Expression(expression, least) => {
                    let node = self.model.exprs.node(expression);
                    let mut parts = self.parts(node);
                    if strength(node) < least {
                        parts.insert(0, Item::Text("\\left("));
                        parts.push(Item::Text("\\right)"));
                    }
                    self.stack.extend(parts.into_iter().rev());
                }
            }
        }
    }

    fn parts(&self, node: Node) -> Vec<Item> {
        use Item::{Expression as E, Owned as O, Text as T};
        let name = |variable| O(self.model.variable_latex(variable));
        match node {
            Node::Real(value) => vec![O(number(value))],
            Node::Integer(value) => vec![O(value.to_string())],
            Node::Boolean(value) => vec![O(format!("\\mathrm{{{value}}}"))],
            Node::String(text) => vec![O(format!("\\text{{{}}}", escape(text.as_str())))],
            Node::Time => vec![T("t")],
            Node::Var(variable) => vec![name(variable)],
            Node::Der(variable) => vec![T("\\dot{"), name(variable), T("}")],
            Node::Pre(variable) | Node::Previous(variable) => vec![T("{"), name(variable), T("}^{-}")],
            Node::Neg(a) => vec![T("-"), E(a, 4)],
            Node::Add(a, b) => vec![E(a, 3), T(" + "), E(b, 3)],
            Node::Sub(a, b) => vec![E(a, 3), T(" - "), E(b, 4)],
            Node::Mul(a, b) => vec![E(a, 4), T(" \\cdot "), E(b, 4)],
            Node::Div(a, b) => vec![T("\\frac{"), E(a, 0), T("}{"), E(b, 0), T("}")],
            Node::Pow(a, b) => vec![T("{"), E(a, 5), T("}^{"), E(b, 0), T("}")],
            Node::Not(a) => vec![T("\\lnot "), E(a, 5)],
            Node::And(a, b) => vec![E(a, 2), T(" \\land "), E(b, 2)],
            Node::Or(a, b) => vec![E(a, 2), T(" \\lor "), E(b, 2)],
            Node::Compare { op, left, right, .. } => vec![E(left, 3), T(relation(op)), E(right, 3)],
            Node::If { condition, then, otherwise } => vec![
                T("\\begin{cases}"),
                E(then, 0),
                T(" & "),
                E(condition, 0),
                T(" \\\\ "),
                E(otherwise, 0),
                T(" & \\text{else}\\end{cases}"),
            ],
            Node::Builtin(builtin, arguments) => self.call(name_of(builtin), self.model.exprs.arguments(arguments)),
            Node::Call { site, args, output } => {
                let function = self.model.exprs.call_site(site).function;
                let name = self.model.functions.get(function).map_or("?", |function| function.name.as_str());
                let last = name.rsplit('.').next().unwrap_or(name);
                let mut parts = self.call(last, self.model.exprs.arguments(args));
                if output > 0 {
                    parts.push(O(format!("_{{{}}}", output + 1)));
                }
                parts
            }
        }
    }

    fn call(&self, name: &str, arguments: &[ExprId]) -> Vec<Item> {
        if let ("sqrt", [argument]) = (name, arguments) {
            return vec![Item::Text("\\sqrt{"), Item::Expression(*argument, 0), Item::Text("}")];
        }
        if let ("abs", [argument]) = (name, arguments) {
            return vec![Item::Text("\\left|"), Item::Expression(*argument, 0), Item::Text("\\right|")];
        }
        let name = match name {
            "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh" | "exp" | "min" | "max" => format!("\\{name}"),
            "asin" | "acos" | "atan" => format!("\\arc{}", &name[1..]),
            "log" => "\\ln".to_owned(),
            _ => format!("\\operatorname{{{}}}", escape(name)),
        };
        let mut parts = vec![Item::Owned(name), Item::Text("\\left(")];
        for (position, &argument) in arguments.iter().enumerate() {
            if position > 0 {
                parts.push(Item::Text(", "));
            }
            parts.push(Item::Expression(argument, 0));
        }
        parts.push(Item::Text("\\right)"));
        parts
    }
}

fn strength(node: Node) -> u8 {
    match node {
        Node::And(..) | Node::Or(..) | Node::Not(_) => 1,
        Node::Compare { .. } => 2,
        Node::Add(..) | Node::Sub(..) | Node::Neg(_) => 3,
        Node::Real(value) if value.is_sign_negative() => 3,
        Node::Integer(value) if value < 0 => 3,
        Node::Mul(..) | Node::If { .. } => 4,
        Node::Div(..) | Node::Pow(..) => 4,
        _ => 5,
    }
}

fn relation(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Less => " < ",
        CompareOp::LessEqual => " \\le ",
        CompareOp::Greater => " > ",
        CompareOp::GreaterEqual => " \\ge ",
        CompareOp::Equal => " = ",
        CompareOp::NotEqual => " \\ne ",
    }
}

fn number(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            format!("{} \\cdot 10^{{{exponent}}}", mantissa.strip_suffix(".0").unwrap_or(mantissa))
        }
        None => text.strip_suffix(".0").unwrap_or(&text).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing;

    #[test]
    fn formulas() {
        let model = testing::model(
            "der(omega) = (u_1 - R*i)/L\ny = if x > 0 then sqrt(x)^2 else -2e-20*(x + 1)\nb = a - (c - d)*e",
        );
        let model = model.unwrap();
        let text: String = model.equations.ids().map(|id| model.equation_latex(id) + "\n").collect();
        expect![[r#"
            \dot{\omega} = \frac{\mathit{u\_1} - R \cdot i}{L}
            y = \begin{cases}{\sqrt{x}}^{2} & x > 0 \\ \left(-2 \cdot 10^{-20}\right) \cdot \left(x + 1\right) & \text{else}\end{cases}
            b = a - \left(c - d\right) \cdot e
        "#]].assert_eq(&text);
    }

    #[test]
    fn names() {
        assert_eq!(super::name_latex("motor.R[1,2].u"), "u_{\\mathrm{motor.R[1,2]}}");
        assert_eq!(super::name_latex("phi[2]"), "\\phi_{\\mathrm{2}}");
        assert_eq!(super::name_latex("a.T_room"), "\\mathit{T\\_room}_{\\mathrm{a}}");
    }
}
