//! Expressions, with the precedences of Modelica.

use super::*;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.depth += 1;
        let expression = match self.depth > DEPTH {
            true => Err(self.too_deep()),
            false if self.is("if") => self.if_expression(),
            false => self.disjunction(),
        };
        self.depth -= 1;
        expression
    }

    pub(super) fn too_deep(&mut self) -> Reported {
        let span = self.token().span;
        let message = format!("brackets are nested more than {DEPTH} deep");
        self.report(language::error("too-deep", message, span, "", "use further variables", "Equations"))
    }

    /// `else if` goes on with the list, so that long ones are not deep.
    fn if_expression(&mut self) -> Result<Expr> {
        const FORM: &str = "a choice is `if condition then value else value`";
        let begin = self.token().span;
        let mut branches = Vec::new();
        let last = loop {
            if self.is("elseif") {
                let span = self.token().span;
                self.report(language::error(
                    "modelica-word",
                    "`elseif` is Modelica",
                    span,
                    "",
                    "write `else if`",
                    "Coming from Modelica",
                ));
            }
            self.bump();
            let condition = self.expression()?;
            self.expect("then", FORM, "Choices")?;
            let value = self.expression()?;
            branches.push((condition, value));
            if self.is("elseif") {
                continue;
            }
            self.expect("else", FORM, "Choices")?;
            if !self.is("if") {
                break self.expression()?;
            }
        };
        let span = begin.to(last.span);
        Ok(Expr { kind: ExprKind::If(branches, Box::new(last)), span })
    }

    fn operators(
        &mut self,
        marks: &[(&str, Operator)],
        element: fn(&mut Self) -> Result<Expr>,
        first: Expr,
    ) -> Result<Expr> {
        let mut rest = Vec::new();
        while let Some(&(_, operator)) = marks.iter().find(|(mark, _)| self.is(mark)) {
            if self.begins_equation() {
                break;
            }
            let mark = self.bump();
            rest.push((operator, mark.span, element(self)?));
        }
        Ok(match rest.last() {
            None => first,
            Some((_, _, last)) => {
                let span = first.span.to(last.span);
                Expr { kind: ExprKind::Operators(Box::new(first), rest), span }
            }
        })
    }

    fn disjunction(&mut self) -> Result<Expr> {
        let first = self.conjunction()?;
        self.operators(&[("or", Operator::Or)], Self::conjunction, first)
    }

    fn conjunction(&mut self) -> Result<Expr> {
        let first = self.negation()?;
        self.operators(&[("and", Operator::And)], Self::negation, first)
    }

    fn negation(&mut self) -> Result<Expr> {
        if !self.is("not") {
            return self.relation();
        }
        let begin = self.bump();
        let inner = self.relation()?;
        let span = begin.span.to(inner.span);
        Ok(Expr { kind: ExprKind::Not(Box::new(inner)), span })
    }

    fn relation(&mut self) -> Result<Expr> {
        let left = self.sum()?;
        if self.is("<>") || self.is("==") {
            let token = self.token();
            let message = format!("`{}` is no relation of the Dymola language", token.text);
            let hint = "numbers are compared by `<`, `<=`, `>` and `>=`: equality cannot be met with finite precision";
            return Err(self.report(language::error("no-relation", message, token.span, "", hint, "Choices")));
        }
        let Some(_) = ["<", "<=", ">", ">="].into_iter().find(|mark| self.is(mark)) else { return Ok(left) };
        let mark = self.bump();
        let right = self.sum()?;
        let span = left.span.to(right.span);
        Ok(Expr { kind: ExprKind::Operators(Box::new(left), vec![(Operator::Relation, mark.span, right)]), span })
    }

    fn sum(&mut self) -> Result<Expr> {
        let begin = self.token();
        let negative = self.is("-");
        if negative || self.is("+") {
            self.bump();
        }
        let mut first = self.product()?;
        if negative {
            let span = begin.span.to(first.span);
            first = Expr { kind: ExprKind::Negative(Box::new(first)), span };
        }
        self.operators(&[("+", Operator::Plus), ("-", Operator::Minus)], Self::product, first)
    }

    fn product(&mut self) -> Result<Expr> {
        let first = self.power()?;
        self.operators(&[("*", Operator::Times), ("/", Operator::Over)], Self::power, first)
    }

    fn power(&mut self) -> Result<Expr> {
        let base = self.primary()?;
        if !self.is("^") && !self.is("**") {
            return Ok(base);
        }
        let mark = self.bump();
        let exponent = self.primary()?;
        let span = base.span.to(exponent.span);
        Ok(Expr { kind: ExprKind::Operators(Box::new(base), vec![(Operator::Power, mark.span, exponent)]), span })
    }

    fn primary(&mut self) -> Result<Expr> {
        let token = self.token();
        let leaf = |kind| Expr { kind, span: token.span };
        match (token.kind, token.text) {
            (TokenKind::Number, _) => {
                self.bump();
                let whole = token.text.bytes().all(|byte| byte.is_ascii_digit());
                Ok(leaf(ExprKind::Number(whole)))
            }
            (_, "True" | "true" | "False" | "false") => {
                self.bump();
                Ok(leaf(ExprKind::Truth(token.text.eq_ignore_ascii_case("true"))))
            }
            (_, "(") => {
                self.bump();
                let inner = self.expression()?;
                let close = self.expect(")", "every bracket is closed", "Equations")?;
                let whole = Expr { kind: ExprKind::Parentheses(Box::new(inner)), span: token.span.to(close.span) };
                Ok(self.primes(whole))
            }
            (_, "der") => {
                self.bump();
                self.expect("(", "the derivative is `der(x)`", "Equations")?;
                let inner = self.expression()?;
                let close = self.expect(")", "the derivative is `der(x)`", "Equations")?;
                Ok(Expr { kind: ExprKind::Derivative(Box::new(inner), 1), span: token.span.to(close.span) })
            }
            (_, "new") => self.new_value(),
            (TokenKind::Name, _) => self.named(),
            _ => Err(self.expected("an expression", "an equation is `expression = expression`", "Equations")),
        }
    }

    fn new_value(&mut self) -> Result<Expr> {
        const FORM: &str = "the value after the event is `new(x)` of a variable";
        let begin = self.bump();
        self.expect("(", FORM, "Instantaneous equations")?;
        let variable = self.reference("a variable", FORM, "Instantaneous equations")?;
        let close = self.expect(")", FORM, "Instantaneous equations")?;
        Ok(Expr { kind: ExprKind::New(variable), span: begin.span.to(close.span) })
    }

    /// `Time`, a call, or a variable with primes.
    fn named(&mut self) -> Result<Expr> {
        let begin = self.token();
        if begin.text == "Time" && !self.ahead_is(1, ".") {
            self.bump();
            return Ok(Expr { kind: ExprKind::Time, span: begin.span });
        }
        if self.ahead_is(1, "(") && !self.ahead(1).begins_line {
            return self.call();
        }
        let reference = self.reference("a variable", "", "Variables")?;
        let expression = Expr { span: reference.span, kind: ExprKind::Reference(reference) };
        Ok(self.primes(expression))
    }

    /// `x'`, `(x * y)'`.
    fn primes(&mut self, expression: Expr) -> Expr {
        let mut order = 0;
        while self.is("'") {
            self.bump();
            order += 1;
        }
        if order == 0 {
            return expression;
        }
        let span = expression.span.to(self.previous().span);
        Expr { kind: ExprKind::Derivative(Box::new(expression), order), span }
    }

    fn call(&mut self) -> Result<Expr> {
        let name = self.ident("a function", "", "Functions")?;
        self.bump();
        let mut arguments = Vec::new();
        if !self.is(")") {
            let (list, whole) = self.list(Self::expression);
            arguments = list;
            if !whole {
                return Err(Reported);
            }
        }
        let close = self.expect(")", "the arguments of a function stand in brackets", "Functions")?;
        let span = name.span.to(close.span);
        if name.name == "der2"
            && let [_] = &arguments[..]
            && let Some(inner) = arguments.pop()
        {
            return Ok(Expr { kind: ExprKind::Derivative(Box::new(inner), 2), span });
        }
        Ok(Expr { kind: ExprKind::Call(name, arguments), span })
    }
}
