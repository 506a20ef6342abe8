//! A small notation for flat models, for the tests of the stages behind `lang`.
//!
//! ```text
//! parameter R = 100
//! Real x(start = 1, fixed = true)     // variables that are not declared are Real
//! discrete Real n
//! Boolean b
//! input u
//! der(x) = -R*x + u
//! b = x > 0.5
//! when b then n = pre(n) + 1; reinit(x, 1)
//! initial x = 2
//! ```
//!
//! One statement a line; `//` starts a comment. Every equation's span is its line in file 0.

use std::sync::Arc;

use base::{FileId, Id, Name, Span};
use rustc_hash::FxHashMap;

use crate::expr::{Builtin, CompareOp, ExprId, Node};
use crate::model::{
    Action, ActionKind, Attributes, Causality, Equation, EquationRole, Model, Origin, OriginKind, StateSelect, VarId,
    Variability, Variable, VariableType, WhenClause,
};

/// Reads a model; the error names the line.
pub fn model(text: &str) -> Result<Model, String> {
    let mut reader = Reader { model: Model::default(), names: FxHashMap::default(), clauses: 0 };
    reader.model.name = "Test".into();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let start = offset + line.len() - line.trim_start().len();
        offset += line.len();
        let content = line.split("//").next().unwrap_or("").trim();
        if !content.is_empty() {
            let span = Span::new(FileId::from_index(0), start as u32, (start + content.len()) as u32);
            reader.statement(content, span).map_err(|message| format!("{message} in `{content}`"))?;
        }
    }
    Ok(reader.model)
}

struct Reader {
    model: Model,
    names: FxHashMap<String, VarId>,
    clauses: u32,
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Number(f64, bool),
    Name(String),
    Symbol(&'static str),
}

const SYMBOLS: [&str; 19] =
    ["<=", ">=", "==", "<>", "<", ">", "=", "+", "-", "*", "/", "^", "(", ")", ",", ";", "{", "}", "\""];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let taken = if first.is_ascii_digit() {
            let mut end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            if rest[end..].starts_with(['e', 'E']) {
                let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
                end += 1 + sign;
                end += rest[end..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - end);
            }
            let value = rest[..end].parse().map_err(|_| format!("bad number `{}`", &rest[..end]))?;
            out.push(Token::Number(value, !rest[..end].contains(['.', 'e', 'E'])));
            end
        } else if first.is_alphabetic() || first == '_' {
            let mut inside = false;
            let ends = |c: char| {
                inside = c == '[' || inside && c != ']';
                !inside && !c.is_alphanumeric() && !matches!(c, '_' | '.' | ']')
            };
            let end = rest.find(ends).unwrap_or(rest.len());
            out.push(Token::Name(rest[..end].into()));
            end
        } else {
            let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
            let symbol = symbol.ok_or_else(|| format!("unexpected `{first}`"))?;
            out.push(Token::Symbol(symbol));
            symbol.len()
        };
        rest = rest[taken..].trim_start();
    }
    Ok(out)
}

impl Reader {
    fn statement(&mut self, text: &str, span: Span) -> Result<(), String> {
        let tokens = tokens(text)?;
        let mut line = Line { reader: self, tokens: &tokens, next: 0 };
        match tokens.first() {
            Some(Token::Name(word)) if word == "initial" && tokens.get(1) != Some(&Token::Symbol("(")) => {
                line.next = 1;
                let (left, right) = line.equation()?;
                let equation = self.make(left, right, EquationRole::Plain, span);
                self.model.initial_equations.push(equation);
                Ok(())
            }
            Some(Token::Name(word)) if word == "when" => line.when(span),
            Some(Token::Name(word))
                if tokens.get(1) != Some(&Token::Symbol("("))
                    && matches!(
                        word.as_str(),
                        "parameter" | "constant" | "discrete" | "input" | "Real" | "Integer" | "Boolean" | "Clock"
                    ) =>
            {
                line.declaration(span)
            }
            _ => {
                let (left, right) = line.equation()?;
                let equation = self.make(left, right, EquationRole::Plain, span);
                self.model.equations.push(equation);
                Ok(())
            }
        }
    }

    fn make(&self, left: ExprId, right: ExprId, role: EquationRole, span: Span) -> Equation {
        let origin = Origin { component: self.model.paths.root(), span: Some(span), kind: OriginKind::Written };
        Equation { left, right, role, origin }
    }

    fn variable(&mut self, name: &str) -> VarId {
        if let Some(&known) = self.names.get(name) {
            return known;
        }
        let mut path = self.model.paths.root();
        for part in name.split('.') {
            let (part, subscripts) = part.split_once('[').unwrap_or((part, ""));
            let subscripts: Vec<u32> =
                subscripts.trim_end_matches(']').split(',').filter_map(|number| number.parse().ok()).collect();
            path = self.model.paths.child(path, Name::new(part), &subscripts);
        }
        let id = self.model.variables.push(Variable {
            path,
            ty: VariableType::Real,
            variability: Variability::Continuous,
            causality: Causality::Local,
            prefix: Causality::Local,
            binding: None,
            attributes: Arc::default(),
            protected: false,
            hidden: false,
            flow: false,
            structural: false,
            is_final: false,
            span: None,
            derivative_of: None,
        });
        self.names.insert(name.into(), id);
        id
    }
}

struct Line<'a> {
    reader: &'a mut Reader,
    tokens: &'a [Token],
    next: usize,
}

impl Line<'_> {
    fn take(&mut self, symbol: &str) -> bool {
        let found = match self.tokens.get(self.next) {
            Some(Token::Symbol(s)) => *s == symbol,
            Some(Token::Name(name)) => name == symbol,
            _ => false,
        };
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), String> {
        if self.take(symbol) { Ok(()) } else { Err(format!("expected `{symbol}` at token {}", self.next)) }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.tokens.get(self.next) {
            Some(Token::Name(name)) => {
                self.next += 1;
                Ok(name.clone())
            }
            other => Err(format!("expected a name, found {other:?}")),
        }
    }

    fn equation(&mut self) -> Result<(ExprId, ExprId), String> {
        let left = self.expression()?;
        self.expect("=")?;
        let right = self.expression()?;
        Ok((left, right))
    }

    fn declaration(&mut self, span: Span) -> Result<(), String> {
        let mut ty = VariableType::Real;
        let mut variability = None;
        let mut causality = Causality::Local;
        loop {
            match self.tokens.get(self.next) {
                Some(Token::Name(word)) => match word.as_str() {
                    "parameter" => variability = Some(Variability::Parameter),
                    "constant" => variability = Some(Variability::Constant),
                    "discrete" => variability = Some(Variability::Discrete),
                    "input" => causality = Causality::Input,
                    "Real" => ty = VariableType::Real,
                    "Integer" => ty = VariableType::Integer,
                    "Boolean" => ty = VariableType::Boolean,
                    "Clock" => ty = VariableType::Clock,
                    _ => break,
                },
                _ => return Err("expected a name".into()),
            }
            self.next += 1;
        }
        let name = self.name()?;
        let default = if ty == VariableType::Real { Variability::Continuous } else { Variability::Discrete };
        let attributes = self.attributes()?;
        let binding = if self.take("=") { Some(self.expression()?) } else { None };
        let id = self.reader.variable(&name);
        let variable = &mut self.reader.model.variables[id];
        variable.ty = ty;
        variable.variability = variability.unwrap_or(default);
        variable.causality = causality;
        variable.binding = binding;
        variable.attributes = Arc::new(attributes);
        variable.span = Some(span);
        Ok(())
    }

    fn attributes(&mut self) -> Result<Attributes, String> {
        let mut attributes = Attributes::default();
        if !self.take("(") {
            return Ok(attributes);
        }
        loop {
            let name = self.name()?;
            self.expect("=")?;
            if name == "stateSelect" {
                attributes.state_select = match self.name()?.as_str() {
                    "never" => StateSelect::Never,
                    "avoid" => StateSelect::Avoid,
                    "prefer" => StateSelect::Prefer,
                    "always" => StateSelect::Always,
                    _ => StateSelect::Default,
                };
            } else {
                let value = Some(self.expression()?);
                match name.as_str() {
                    "start" => attributes.start = value,
                    "fixed" => attributes.fixed = value,
                    "nominal" => attributes.nominal = value,
                    "min" => attributes.min = value,
                    "max" => attributes.max = value,
                    _ => return Err(format!("unknown attribute `{name}`")),
                }
            }
            if self.take(")") {
                return Ok(attributes);
            }
            self.expect(",")?;
        }
    }

    /// `when c then v = e; reinit(x, e)`.
    fn when(&mut self, span: Span) -> Result<(), String> {
        self.next = 1;
        let condition = self.expression()?;
        self.expect("then")?;
        let clause = self.reader.clauses;
        self.reader.clauses += 1;
        let flag = self.reader.variable(&format!("when{clause}"));
        self.reader.model.variables[flag].ty = VariableType::Boolean;
        self.reader.model.variables[flag].variability = Variability::Discrete;
        let flag_value = self.reader.model.exprs.var(flag);
        let mut defines = self.reader.make(flag_value, condition, EquationRole::Plain, span);
        defines.origin.kind = OriginKind::Auxiliary;
        self.reader.model.equations.push(defines);
        let edge = match self.reader.model.exprs.node(condition) {
            Node::Builtin(Builtin::Initial, _) => condition,
            _ => self.reader.model.exprs.rising(flag),
        };
        loop {
            if self.take("reinit") {
                self.expect("(")?;
                let state = self.name()?;
                let state = self.reader.variable(&state);
                self.expect(",")?;
                let value = self.expression()?;
                self.expect(")")?;
                let origin = self.reader.make(value, value, EquationRole::Plain, span).origin;
                let kind = ActionKind::Reinit { state, value };
                self.reader.model.actions.push(Action { kind, condition: Some(edge), origin });
            } else {
                let name = self.name()?;
                let variable = self.reader.variable(&name);
                self.reader.model.variables[variable].variability = Variability::Discrete;
                self.expect("=")?;
                let value = self.expression()?;
                let exprs = &mut self.reader.model.exprs;
                let (left, pre) = (exprs.var(variable), exprs.pre(variable));
                let right = exprs.if_(edge, value, pre);
                let role = EquationRole::When(WhenClause { clause, conditions: [flag].into_iter().collect() });
                let equation = self.reader.make(left, right, role, span);
                self.reader.model.equations.push(equation);
            }
            if !self.take(";") {
                return Ok(());
            }
        }
    }

    fn expression(&mut self) -> Result<ExprId, String> {
        if self.take("if") {
            let condition = self.expression()?;
            self.expect("then")?;
            let then = self.expression()?;
            self.expect("else")?;
            let otherwise = self.expression()?;
            return Ok(self.reader.model.exprs.if_(condition, then, otherwise));
        }
        self.binary(0)
    }

    fn binary(&mut self, level: usize) -> Result<ExprId, String> {
        const LEVELS: [&[&str]; 6] =
            [&["or"], &["and"], &["<", ">", "<=", ">=", "==", "<>"], &["+", "-"], &["*", "/"], &["^"]];
        let Some(operators) = LEVELS.get(level) else {
            return self.primary();
        };
        if level == 3 && self.take("-") {
            let operand = self.binary(4)?;
            let negated = self.reader.model.exprs.neg(operand);
            return self.continue_binary(negated, level, operators);
        }
        let left = self.binary(level + 1)?;
        self.continue_binary(left, level, operators)
    }

    fn continue_binary(&mut self, mut left: ExprId, level: usize, operators: &[&str]) -> Result<ExprId, String> {
        while let Some(&operator) = operators.iter().find(|operator| self.take(operator)) {
            let right = self.binary(level + 1)?;
            let exprs = &mut self.reader.model.exprs;
            left = match operator {
                "or" => exprs.or(left, right),
                "and" => exprs.and(left, right),
                "<" => exprs.compare(CompareOp::Less, true, left, right),
                ">" => exprs.compare(CompareOp::Greater, true, left, right),
                "<=" => exprs.compare(CompareOp::LessEqual, true, left, right),
                ">=" => exprs.compare(CompareOp::GreaterEqual, true, left, right),
                "==" => exprs.compare(CompareOp::Equal, false, left, right),
                "<>" => exprs.compare(CompareOp::NotEqual, false, left, right),
                "+" => exprs.add(left, right),
                "-" => exprs.sub(left, right),
                "*" => exprs.mul(left, right),
                "/" => exprs.div(left, right),
                _ => exprs.pow(left, right),
            };
        }
        Ok(left)
    }

    fn primary(&mut self) -> Result<ExprId, String> {
        if self.take("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("not") {
            let operand = self.primary()?;
            return Ok(self.reader.model.exprs.not(operand));
        }
        if self.take("-") {
            let operand = self.primary()?;
            return Ok(self.reader.model.exprs.neg(operand));
        }
        match self.tokens.get(self.next) {
            Some(&Token::Number(value, whole)) => {
                self.next += 1;
                let exprs = &mut self.reader.model.exprs;
                Ok(if whole { exprs.int(value as i64) } else { exprs.real(value) })
            }
            Some(Token::Name(name)) => {
                self.next += 1;
                if self.tokens.get(self.next) == Some(&Token::Symbol("(")) { self.call(name) } else { self.leaf(name) }
            }
            other => Err(format!("unexpected {other:?}")),
        }
    }

    /// `Clock(interval)`, `Clock(count, resolution)`, `Clock(condition)`.
    fn clock_constructor(&self, arguments: &[ExprId]) -> Builtin {
        use crate::expr::Node;
        match (arguments.first().map(|&first| self.reader.model.exprs.node(first)), arguments.len()) {
            (None, _) => Builtin::ClockInferred,
            (Some(Node::Compare { .. } | Node::And(..) | Node::Or(..) | Node::Not(_)), _) => Builtin::ClockEvent,
            (_, 1) => Builtin::ClockReal,
            _ => Builtin::ClockRational,
        }
    }

    fn is_clock(&self, expression: ExprId) -> bool {
        use crate::expr::Node;
        match self.reader.model.exprs.node(expression) {
            Node::Var(variable) => self.reader.model.variables[variable].ty == VariableType::Clock,
            Node::Builtin(op, _) => {
                matches!(op, Builtin::ClockInferred | Builtin::ClockReal | Builtin::ClockRational | Builtin::ClockEvent)
            }
            _ => false,
        }
    }

    /// The same expression with relations that make no events.
    fn without_events(&mut self, root: ExprId) -> ExprId {
        let exprs = &mut self.reader.model.exprs;
        let mut made: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in exprs.postorder(&[root]) {
            let mut node = exprs.node(id);
            node = exprs.with_children(node, |child| made.get(&child).copied().unwrap_or(child));
            if let crate::expr::Node::Compare { event, .. } = &mut node {
                *event = false;
            }
            let new = exprs.intern(node);
            made.insert(id, new);
        }
        made.get(&root).copied().unwrap_or(root)
    }

    fn leaf(&mut self, name: &str) -> Result<ExprId, String> {
        let exprs = &mut self.reader.model.exprs;
        Ok(match name {
            "time" => exprs.time(),
            "true" => exprs.boolean(true),
            "false" => exprs.boolean(false),
            _ => {
                let variable = self.reader.variable(name);
                self.reader.model.exprs.var(variable)
            }
        })
    }

    fn call(&mut self, name: &str) -> Result<ExprId, String> {
        self.expect("(")?;
        if matches!(name, "der" | "pre" | "edge" | "previous") {
            let variable = self.name()?;
            let variable = self.reader.variable(&variable);
            self.expect(")")?;
            let exprs = &mut self.reader.model.exprs;
            return Ok(match name {
                "der" => exprs.der(variable),
                "pre" => exprs.pre(variable),
                "previous" => exprs.previous(variable),
                _ => exprs.edge(variable),
            });
        }
        let mut arguments = Vec::new();
        while !self.take(")") {
            arguments.push(self.expression()?);
            self.take(",");
        }
        if name == "noEvent" && arguments.len() == 1 {
            return Ok(self.without_events(arguments[0]));
        }
        let op = match name {
            "Clock" => self.clock_constructor(&arguments),
            "sample" if arguments.len() == 1 || self.is_clock(arguments[1]) => Builtin::SampleClocked,
            "hold" => Builtin::Hold,
            "subSample" => Builtin::SubSample,
            "superSample" => Builtin::SuperSample,
            "shiftSample" => Builtin::ShiftSample,
            "backSample" => Builtin::BackSample,
            "interval" => Builtin::Interval,
            "firstTick" => Builtin::FirstTick,
            "sin" => Builtin::Sin,
            "cos" => Builtin::Cos,
            "tan" => Builtin::Tan,
            "exp" => Builtin::Exp,
            "log" => Builtin::Log,
            "sqrt" => Builtin::Sqrt,
            "abs" => Builtin::Abs,
            "sign" => Builtin::Sign,
            "atan2" => Builtin::Atan2,
            "min" => Builtin::Min,
            "max" => Builtin::Max,
            "floor" => Builtin::FloorEvent,
            "ceil" => Builtin::CeilEvent,
            "mod" => Builtin::ModEvent,
            "sample" => Builtin::Sample,
            "initial" => Builtin::Initial,
            "terminal" => Builtin::Terminal,
            "delay" => Builtin::Delay,
            "semiLinear" => Builtin::SemiLinear,
            "homotopy" => Builtin::Homotopy,
            _ => return Err(format!("unknown function `{name}`")),
        };
        Ok(self.reader.model.exprs.builtin(op, &arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_every_kind() {
        let model = model(
            "parameter R = 2.5e-3
             Real x(start = 1, fixed = true, stateSelect = prefer)
             der(x) = -R*x^2 + (if b then 1 else 0)   // a comment
             b = x > 0.5 and not c
             Boolean b
             when b then n = pre(n) + 1; reinit(x, 2*x)
             initial x = 2",
        )
        .unwrap();
        assert_eq!(model.equations.len(), 4);
        assert_eq!((model.initial_equations.len(), model.actions.len()), (1, 1));
        assert!(super::model("x = )").is_err_and(|message| message.contains("in `x = )`")));
    }
}
