//! Expressions: as the user wrote them, with the words of Modelica.

use super::*;
use crate::functions;

impl Writer<'_, '_> {
    /// The variable that holds a first derivative; its name is free.
    pub(super) fn derivative_name(&self, reference: &Reference) -> String {
        let parts: Vec<&str> = reference.parts.iter().map(|part| part.name.as_str()).collect();
        let mut name = format!("der_{}", parts.join("_"));
        while self.classes.is_component(self.class, Name::new(&name)) {
            name.push('_');
        }
        modelica_name(&name)
    }

    /// A value that is known before time begins.
    pub(super) fn constant_expression(&mut self, expression: &Expr) {
        self.reads_before = false;
        self.expression(expression);
        self.reads_before = true;
    }

    /// White space as in the source, if nothing else was between.
    fn gap(&mut self, start: u32) {
        let between = self
            .last
            .filter(|&last| last <= start)
            .and_then(|last| self.source.text.get(last as usize..start as usize));
        match between {
            Some(between) if between.contains('\n') => self.continue_line(),
            Some(between) if !between.is_empty() => self.write(" "),
            _ => {}
        }
    }

    fn continue_line(&mut self) {
        let indent = "  ".repeat(self.indent + 2);
        self.write(&format!("\n{indent}"));
    }

    fn leaf(&mut self, span: Span, text: &str) {
        self.gap(span.start);
        match self.text_of(span) == text {
            true => self.made.copy(span, text),
            false => self.made.write_for(span, text),
        }
        self.last = Some(span.end);
    }

    pub(super) fn expression(&mut self, expression: &Expr) {
        let span = expression.span;
        match &expression.kind {
            ExprKind::Number(_) => {
                let text = self.text_of(span);
                match text.starts_with('.') {
                    true => self.leaf(span, &format!("0{text}")),
                    false => self.leaf(span, text),
                }
            }
            ExprKind::One => self.write_for(span, "1"),
            ExprKind::Truth(value) => self.leaf(span, if *value { "true" } else { "false" }),
            ExprKind::Time => self.leaf(span, "time"),
            ExprKind::Missing => self.write_for(span, "false"),
            ExprKind::Reference(reference) => self.value(reference),
            ExprKind::New(reference) => self.new_value(reference, span),
            ExprKind::Derivative(inner, order) => self.derivative(inner, *order, span),
            ExprKind::Call(name, arguments) => self.call(*name, arguments, span),
            ExprKind::Parentheses(inner) => {
                let is_written = self.text_of(span).starts_with('(');
                self.gap(span.start);
                self.write_for(span, "(");
                self.last = is_written.then_some(span.start + 1);
                self.expression(inner);
                self.write(")");
                self.last = is_written.then_some(span.end);
            }
            ExprKind::Negative(inner) => {
                self.gap(span.start);
                self.write_for(span, "-");
                self.expression(inner);
            }
            ExprKind::Not(inner) => {
                self.gap(span.start);
                self.write_for(span, "not ");
                self.expression(inner);
            }
            ExprKind::Operators(first, rest) => {
                self.expression(first);
                for (operator, place, operand) in rest {
                    self.operator(*operator, *place);
                    self.expression(operand);
                }
            }
            ExprKind::If(branches, last) => self.choice(branches, last, span),
        }
    }

    fn operator(&mut self, operator: Operator, place: Span) {
        let written = self.text_of(place);
        let (is_written, text) = match operator {
            Operator::Or => (written == "or", "or"),
            Operator::And => (written == "and", "and"),
            Operator::Relation => (true, written),
            Operator::Plus => (written == "+", "+"),
            Operator::Minus => (written == "-", "-"),
            Operator::Times => (written == "*", "*"),
            Operator::Over => (written == "/", "/"),
            Operator::Power => (written == "^" || written == "**", "^"),
        };
        // A word behind a number needs a space: `0.and`.
        if matches!(operator, Operator::And | Operator::Or) && self.last == Some(place.start) {
            self.write(" ");
        }
        match is_written {
            true => self.leaf(place, text),
            false => self.write(&format!(" {text} ")),
        }
    }

    /// A variable by itself: of a discrete state, the value before the event.
    fn value(&mut self, reference: &Reference) {
        self.gap(reference.span.start);
        let variable = self.classes.resolve(self.class, reference).ok().flatten();
        let is_before = self.reads_before
            && variable.is_some_and(|variable| self.facts(variable).is_state() || self.restarted.contains(&variable));
        if is_before {
            self.write_for(reference.span, "pre(");
        }
        self.dotted(&reference.parts);
        if is_before {
            self.write(")");
        }
        self.last = Some(reference.span.end);
    }

    fn new_value(&mut self, reference: &Reference, span: Span) {
        self.gap(span.start);
        let variable = self.classes.resolve(self.class, reference).ok().flatten();
        if self.in_when && variable.is_some_and(|variable| self.facts(variable).differentiated) {
            let (message, hint) = match variable.is_some_and(|variable| self.restarted.contains(&variable)) {
                true => (
                    "these new values depend on each other in a way that cannot be solved",
                    "equations that have to be solved together are linear, and at most three where variables have derivatives",
                ),
                false => (
                    "the new value of a variable with derivative can be used only in the `when` that gives it",
                    "use its expression instead",
                ),
            };
            let section = "Instantaneous equations";
            self.diagnostics.push(language::error("no-new", message, span, "", hint, section));
        }
        self.dotted(&reference.parts);
        self.last = Some(span.end);
    }

    fn derivative(&mut self, inner: &Expr, order: u32, span: Span) {
        self.gap(span.start);
        match &inner.kind {
            ExprKind::Reference(reference) if order == 2 => {
                let name = self.derivative_name(reference);
                self.write_for(span, &format!("der({name})"));
            }
            ExprKind::Reference(reference) => {
                self.write_for(span, "der(");
                self.dotted(&reference.parts);
                self.write(")");
            }
            _ if order == 1 => {
                self.write_for(span, "der(");
                self.expression(inner);
                self.write(")");
            }
            // Reported already.
            _ => self.write_for(span, "0"),
        }
        self.last = Some(span.end);
    }

    fn call(&mut self, name: Ident, arguments: &[Expr], span: Span) {
        let function = match functions::find(name.name.as_str()) {
            Some(function) => function.modelica.to_owned(),
            // Reported already.
            None => modelica_name(name.name.as_str()),
        };
        self.leaf(name.span, &function);
        self.write("(");
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                self.write(", ");
            }
            self.expression(argument);
        }
        self.write(")");
        self.last = Some(span.end);
    }

    /// Line breaks before `else` are kept.
    fn choice(&mut self, branches: &[(Expr, Expr)], last: &Expr, span: Span) {
        self.gap(span.start);
        self.write_for(span, "if ");
        let mut before: Option<&Expr> = None;
        for (condition, value) in branches {
            if let Some(before) = before {
                self.break_or_space(before.span.end, condition.span.start);
                self.write_for(condition.span, "elseif ");
            }
            self.expression(condition);
            self.break_or_space(condition.span.end, value.span.start);
            self.write_for(value.span, "then ");
            self.expression(value);
            before = Some(value);
        }
        let end = before.map_or(span.start, |before| before.span.end);
        self.break_or_space(end, last.span.start);
        self.write_for(last.span, "else ");
        self.expression(last);
    }

    fn break_or_space(&mut self, start: u32, end: u32) {
        let between = self.source.text.get(start as usize..end as usize).unwrap_or(" ");
        match between.contains('\n') {
            true => self.continue_line(),
            false => self.write(" "),
        }
    }
}
