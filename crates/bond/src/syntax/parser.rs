//! Tokens → tree, by recursive descent. A statement that is not understood is reported and skipped; the rest counts.
//!
//! ```ebnf
//! file        = { statement end | subgraph } ;
//! statement   = "bondgraph" name [ text ] | "end" [ name ]
//!             | "parameter" binding | "input" binding | "signal" name "=" expression [ text ]
//!             | "port" name { "," name }
//!             | element | junction { "," name } | instance | bonds
//!             | "output" output { "," output }
//!             | "experiment" name "=" expression { "," name "=" expression } ;
//! subgraph    = "subgraph" name [ "(" [ binding { "," binding } ] ")" ] [ text ] end
//!               { statement end } "end" [ name ] end ;
//! end         = line end | ";" ;
//! binding     = name [ "=" expression ] [ unit [ description ] ] ;      unit, description = text ;
//!
//! element     = kind name [ "[" number "]" ] [ "=" ( expression | matrix ) ] [ unit [ description ] ]
//!               [ ":" law { "," law } ] [ "start" law { "," law } ] ;
//! junction    = ( "0" | "1" ) name [ description ] [ "on" "when" expression ] ;
//! kind        = "Se" | "Sf" | "R" | "C" | "I" | "TF" | "GY" | "De" | "Df"
//!             | "MSe" | "MSf" | "MR" | "MC" | "MI" | "MTF" | "MGY" ;
//! law         = ( "e" | "f" | "q" | "p" ) [ "[" number "]" ] "=" expression ;
//! matrix      = "[" expression { "," expression } { ";" expression { "," expression } } "]" ;
//! instance    = name name [ "(" [ name "=" expression { "," name "=" expression } ] ")" ] ;
//!
//! bonds       = [ name ":" ] side arrow side { arrow side } ;
//! side        = bond end { "," bond end } ;
//! bond end    = path | element | junction ;                             (an element is declared where it is bonded)
//! arrow       = "->" | "->|" | "|->" | "=>" ;
//! output      = [ name "=" ] expression ;
//!
//! expression  = "if" expression "then" expression "else" expression | or ;
//! or          = and { "or" and } ;            and      = not { "and" not } ;
//! not         = [ "not" ] relation ;          relation = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "<>" ) sum ] ;
//! sum         = [ "+" | "-" ] term { ( "+" | "-" ) term } ;
//! term        = power { ( "*" | "/" ) power } ;
//! power       = primary [ "^" primary ] ;
//! primary     = number | "true" | "false" | path | function "(" expression { "," expression } ")" | "(" expression ")" ;
//! path        = name [ "[" number "]" ] { "." name [ "[" number "]" ] } ;
//! ```
//!
//! Words are keywords only where the grammar asks for them, so that an element may be named `R` or `port`.

use base::{Diagnostic, FileId, Span};

use crate::expr::{Expr, Function, Operator, deep, negated};
use crate::kind::Kind;
use crate::near::did_you_mean;
use crate::syntax::lexer::{Token, TokenKind, tokens};
use crate::syntax::tree::*;

/// Longer expressions and deeper nesting are refused: no hand writes them.
const LARGEST_EXPRESSION: usize = 10_000;
const DEEPEST: usize = 200;

const KEYWORDS: [&str; 9] =
    ["bondgraph", "subgraph", "end", "parameter", "input", "output", "signal", "port", "experiment"];

/// Reads a text. The tree holds all that could be understood.
pub fn parse(text: &str, file: FileId) -> (Tree, Vec<Diagnostic>) {
    let (tokens, diagnostics) = tokens(text, file);
    let mut parser = Parser {
        text,
        tokens: &tokens,
        next: 0,
        diagnostics,
        nodes: 0,
        depth: 0,
        inline: Vec::new(),
        lost: Vec::new(),
    };
    let start = Word { text: String::new(), span: Span::new(file, 0, 0) };
    let mut graph =
        Definition { name: start, description: String::new(), parameters: Vec::new(), statements: Vec::new() };
    let mut subgraphs = Vec::new();
    parser.file(&mut graph, &mut subgraphs);
    let diagnostics = std::mem::take(&mut parser.diagnostics);
    let lost = std::mem::take(&mut parser.lost);
    (Tree { graph, subgraphs, tokens, lost }, diagnostics)
}

/// The value of an expression without names.
pub fn constant(text: &str) -> Option<f64> {
    let (tree, diagnostics) = parse(&format!("parameter value = {text}"), base::Id::from_index(0));
    let value = match tree.graph.statements.as_slice() {
        [Statement::Parameter(parameter)] if diagnostics.is_empty() => parameter.value.as_ref()?,
        _ => return None,
    };
    Some(value.expression.evaluate(&|_| f64::NAN)).filter(|value| value.is_finite())
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    next: usize,
    diagnostics: Vec<Diagnostic>,
    /// Of the expression at hand.
    nodes: usize,
    depth: usize,
    /// Elements declared inside of the bond statement at hand.
    inline: Vec<Statement>,
    lost: Vec<String>,
}

/// The reason is reported already.
struct Failed;
type Parsed<T> = Result<T, Failed>;

impl<'a> Parser<'a> {
    fn file(&mut self, graph: &mut Definition, subgraphs: &mut Vec<Definition>) {
        while !self.at_end_of_file() {
            if self.skip_end() {
                continue;
            }
            if self.at_word("subgraph") && self.kind_at(1) == TokenKind::Identifier {
                if let Ok(subgraph) = self.subgraph() {
                    subgraphs.push(subgraph);
                }
            } else if self.at_word("bondgraph") && self.kind_at(1) == TokenKind::Identifier {
                self.header(graph);
            } else if self.at_word("end") && self.ends_definition() {
                self.next += 1;
                self.closing_name(&graph.name.clone());
            } else {
                self.statement(&mut graph.statements);
            }
        }
    }

    fn header(&mut self, graph: &mut Definition) {
        let keyword = self.token().span;
        self.next += 1;
        let Ok(name) = self.name("the name of the bond graph") else { return self.recover() };
        if !graph.name.text.is_empty() {
            let diagnostic = Diagnostic::error("second-graph", "a file holds one bond graph");
            self.diagnostics.push(
                diagnostic
                    .at(keyword.to(name.span), "a second one")
                    .at(graph.name.span, "the first one")
                    .hint("graphs that are used inside of others are subgraphs: `subgraph NAME(…)`"),
            );
        } else {
            graph.name = name;
        }
        if let Some(text) = self.optional_text() {
            graph.description = text.text;
        }
        self.expect_end();
    }

    fn subgraph(&mut self) -> Parsed<Definition> {
        let keyword = self.token().span;
        self.next += 1;
        let name = self.name("the name of the subgraph").inspect_err(|_| self.recover())?;
        let mut definition =
            Definition { name, description: String::new(), parameters: Vec::new(), statements: Vec::new() };
        if self.eat("(") && !self.eat(")") {
            loop {
                match self.binding() {
                    Ok(parameter) => definition.parameters.push(parameter),
                    Err(Failed) => {
                        self.recover();
                        break;
                    }
                }
                if self.eat(",") {
                    continue;
                }
                if !self.eat(")") {
                    self.expected("`,` or `)`");
                    self.recover();
                }
                break;
            }
        }
        if let Some(text) = self.optional_text() {
            definition.description = text.text;
        }
        self.expect_end();
        loop {
            if self.skip_end() {
                continue;
            }
            if self.at_end_of_file() || (self.at_word("subgraph") && self.kind_at(1) == TokenKind::Identifier) {
                let what = format!("the subgraph `{}` has no end", definition.name.text);
                self.diagnostics.push(
                    Diagnostic::error("unclosed-subgraph", what)
                        .at(keyword.to(definition.name.span), "begins here")
                        .hint(format!("write `end {}` behind its last line", definition.name.text)),
                );
                return Ok(definition);
            }
            if self.at_word("end") && self.ends_definition() {
                self.next += 1;
                self.closing_name(&definition.name);
                return Ok(definition);
            }
            self.statement(&mut definition.statements);
        }
    }

    /// `end` or `end NAME` on a line of its own.
    fn ends_definition(&self) -> bool {
        self.is_end(1) || (self.kind_at(1) == TokenKind::Identifier && self.is_end(2))
    }

    fn closing_name(&mut self, opened: &Word) {
        if self.kind_at(0) == TokenKind::Identifier {
            let closing = self.word();
            if closing.text != opened.text {
                let what = format!("`end {}` closes `{}`", closing.text, opened.text);
                let diagnostic = Diagnostic::error("wrong-end", what).at(closing.span, "another name");
                self.diagnostics.push(diagnostic.at(opened.span, "opened here"));
            }
        }
        self.expect_end();
    }

    fn statement(&mut self, statements: &mut Vec<Statement>) {
        let before = self.next;
        self.inline.clear();
        match self.statement_inner() {
            Ok(statement) => {
                statements.append(&mut self.inline);
                statements.extend(statement);
                self.expect_end();
            }
            Err(Failed) => {
                statements.append(&mut self.inline);
                self.recover();
                let words = self.tokens[before..self.next].iter().filter(|token| token.kind == TokenKind::Identifier);
                let text = |token: &Token| self.text[token.span.start as usize..token.span.end as usize].to_owned();
                self.lost.extend(words.map(text));
            }
        }
        if self.next == before {
            self.next += 1;
        }
    }

    fn statement_inner(&mut self) -> Parsed<Vec<Statement>> {
        let second = self.kind_at(1);
        let one = |statement| Ok(vec![statement]);
        match self.kind_at(0) {
            TokenKind::Number if second == TokenKind::Identifier => self.junctions(),
            TokenKind::Identifier if second == TokenKind::Identifier => match self.text_at(0) {
                "parameter" => self.after_keyword(Self::binding).and_then(|it| one(Statement::Parameter(it))),
                "input" => self.after_keyword(Self::binding).and_then(|it| one(Statement::Input(it))),
                "signal" => self.after_keyword(Self::binding).and_then(|it| one(Statement::Signal(it))),
                "port" => self.after_keyword(Self::ports).and_then(|it| one(Statement::Ports(it))),
                "output" => self.after_keyword(Self::outputs).and_then(|it| one(Statement::Outputs(it))),
                "experiment" => self.after_keyword(Self::experiment).and_then(|it| one(Statement::Experiment(it))),
                _ if self.bond_follows() => self.bonds(),
                word if Kind::named(word).is_some() => self.element(true).and_then(|it| one(Statement::Element(it))),
                _ => self.instance().and_then(|it| one(Statement::Instance(it))),
            },
            TokenKind::Identifier if self.text_at(0) == "output" && second != TokenKind::Mark(":") => {
                self.after_keyword(Self::outputs).and_then(|it| one(Statement::Outputs(it)))
            }
            TokenKind::Identifier => self.bonds(),
            _ => Err(self.expected("a statement: an element, a bond, `output`, `parameter` …")),
        }
    }

    /// An element is declared at the tail of a bond: `Se F -> v`.
    fn bond_follows(&self) -> bool {
        Kind::named(self.text_at(0)).is_some() && {
            let mut index = 2;
            let mut depth = 0;
            loop {
                match self.kind_at(index) {
                    TokenKind::LineEnd | TokenKind::FileEnd | TokenKind::Mark(";") if depth == 0 => return false,
                    TokenKind::FileEnd => return false,
                    TokenKind::Mark("(" | "[") => depth += 1,
                    TokenKind::Mark(")" | "]") => depth -= 1,
                    TokenKind::Mark("->" | "->|" | "|->" | "=>") => return true,
                    _ => {}
                }
                index += 1;
            }
        }
    }

    fn after_keyword<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.next += 1;
        parse(self)
    }

    fn binding(&mut self) -> Parsed<Parameter> {
        let name = self.name("a name")?;
        let value = if self.eat("=") { Some(self.value()?) } else { None };
        let (unit, description) = self.unit_and_description();
        Ok(Parameter { name, value, unit, description })
    }

    fn unit_and_description(&mut self) -> (Option<Word>, String) {
        let unit = self.optional_text();
        let description = if unit.is_some() { self.optional_text().map(|text| text.text) } else { None };
        (unit.filter(|unit| !unit.text.is_empty()), description.unwrap_or_default())
    }

    fn ports(&mut self) -> Parsed<Vec<Word>> {
        self.list(|parser| parser.name("the name of a port"))
    }

    fn outputs(&mut self) -> Parsed<Vec<Output>> {
        self.list(|parser| {
            let named = parser.kind_at(0) == TokenKind::Identifier && parser.kind_at(1) == TokenKind::Mark("=");
            let name = named.then(|| parser.word());
            if named {
                parser.next += 1;
            }
            Ok(Output { name, value: parser.value()? })
        })
    }

    fn experiment(&mut self) -> Parsed<Vec<(Word, Value)>> {
        self.list(Self::argument)
    }

    fn argument(&mut self) -> Parsed<(Word, Value)> {
        let name = self.name("a name")?;
        if !self.eat("=") {
            return Err(self.expected("`=` and a value"));
        }
        Ok((name, self.value()?))
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn instance(&mut self) -> Parsed<Instance> {
        let definition = self.word();
        let name = self.word();
        let mut arguments = Vec::new();
        if self.eat("(") && !self.eat(")") {
            arguments = self.list(Self::argument)?;
            if !self.eat(")") {
                return Err(self.expected("`,` or `)`"));
            }
        } else if !self.is_end(0) {
            let kinds = Kind::names().chain(KEYWORDS);
            let mut diagnostic =
                Diagnostic::error("unknown-kind", format!("`{}` is no kind of element", definition.text))
                    .at(definition.span, "not known");
            if let Some(near) = did_you_mean(&definition.text, kinds) {
                diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
            }
            self.diagnostics.push(diagnostic);
            return Err(Failed);
        }
        Ok(Instance { definition, name, arguments })
    }

    fn junctions(&mut self) -> Parsed<Vec<Statement>> {
        if self.bond_follows_junction() {
            return self.bonds();
        }
        let first = self.element(true)?;
        let kind = first.kind.clone();
        let mut statements = vec![Statement::Element(first)];
        while self.eat(",") {
            let name = self.name("the name of a junction")?;
            statements.push(Statement::Element(self.declared(kind.clone(), name)));
        }
        Ok(statements)
    }

    fn bond_follows_junction(&self) -> bool {
        let mut index = 2;
        loop {
            match self.kind_at(index) {
                TokenKind::Mark("->" | "->|" | "|->" | "=>") => return true,
                TokenKind::LineEnd | TokenKind::FileEnd | TokenKind::Mark(_) => return false,
                _ => index += 1,
            }
        }
    }

    fn declared(&self, kind: Word, name: Word) -> Element {
        let span = kind.span.to(name.span);
        Element {
            kind,
            name,
            ports: None,
            value: None,
            unit: None,
            description: String::new(),
            laws: Vec::new(),
            starts: Vec::new(),
            condition: None,
            span,
        }
    }

    /// `alone`: on a line of its own, where commas separate laws; inside of bonds they separate ends.
    fn element(&mut self, alone: bool) -> Parsed<Element> {
        let kind = self.word();
        let is_junction = Kind::named(&kind.text).is_some_and(Kind::is_junction);
        if Kind::named(&kind.text).is_none() {
            let mut diagnostic = Diagnostic::error("unknown-kind", format!("`{}` is no kind of element", kind.text))
                .at(kind.span, "not known");
            diagnostic = match did_you_mean(&kind.text, Kind::names()) {
                Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
                None if kind.text.parse::<f64>().is_ok() => diagnostic.hint("junctions are `0` and `1`"),
                None => diagnostic,
            };
            self.diagnostics.push(diagnostic);
            return Err(Failed);
        }
        let name = self.name("the name of the element")?;
        let mut element = self.declared(kind, name);
        if self.eat("[") {
            element.ports = Some(self.port_number()?);
        }
        if self.eat("=") {
            element.value = Some(self.element_value()?);
        }
        if is_junction {
            element.description = self.optional_text().map(|text| text.text).unwrap_or_default();
        } else {
            (element.unit, element.description) = self.unit_and_description();
        }
        if self.eat(":") {
            element.laws = if alone { self.list(Self::law)? } else { vec![self.law()?] };
        }
        if self.at_word("start") {
            self.next += 1;
            element.starts = if alone { self.list(Self::law)? } else { vec![self.law()?] };
        }
        if self.at_word("on") {
            self.next += 1;
            if !self.at_word("when") {
                return Err(self.expected("`when` and a condition"));
            }
            self.next += 1;
            element.condition = Some(self.value()?);
        }
        element.span = element.span.to(self.before().span);
        Ok(element)
    }

    fn element_value(&mut self) -> Parsed<ElementValue> {
        let start = self.token().span;
        if !self.eat("[") {
            return Ok(ElementValue::Scalar(self.value()?));
        }
        let mut rows = vec![Vec::new()];
        loop {
            let value = self.value()?;
            if let Some(row) = rows.last_mut() {
                row.push(value);
            }
            if self.eat(",") {
                continue;
            }
            if self.eat(";") {
                rows.push(Vec::new());
                continue;
            }
            if self.eat("]") {
                return Ok(ElementValue::Matrix(rows, start.to(self.before().span)));
            }
            return Err(self.expected("`,`, `;` or `]`"));
        }
    }

    fn law(&mut self) -> Parsed<Law> {
        let variable = self.path()?;
        if !self.eat("=") {
            return Err(self.expected("`=` and an expression"));
        }
        Ok(Law { variable, value: self.value()? })
    }

    fn bonds(&mut self) -> Parsed<Vec<Statement>> {
        let mut label = None;
        if self.kind_at(0) == TokenKind::Identifier && self.kind_at(1) == TokenKind::Mark(":") {
            label = Some(self.word());
            self.next += 1;
        }
        let mut tails = self.list(Self::bond_end)?;
        let mut bonds = Vec::new();
        loop {
            let arrow = match self.kind_at(0) {
                TokenKind::Mark("->") => Arrow::Plain,
                TokenKind::Mark("->|") => Arrow::StrokeAtHead,
                TokenKind::Mark("|->") => Arrow::StrokeAtTail,
                TokenKind::Mark("=>") => Arrow::Active,
                _ if bonds.is_empty() => return Err(self.no_bond(&tails)),
                _ => break,
            };
            self.next += 1;
            let heads = self.list(Self::bond_end)?;
            for tail in &tails {
                for head in &heads {
                    let (tail, head) = (tail.clone(), head.clone());
                    let span = tail.span.to(head.span);
                    bonds.push(Bond { name: None, tail, arrow, head, span });
                }
            }
            tails = heads;
        }
        if let Some(label) = label {
            match bonds.as_mut_slice() {
                [bond] => bond.name = Some(label),
                _ => {
                    let diagnostic = Diagnostic::error("one-name", format!("`{}` names several bonds", label.text))
                        .at(label.span, "the name of one bond");
                    self.diagnostics.push(diagnostic.hint("give each bond its own line"));
                }
            }
        }
        Ok(vec![Statement::Bonds(bonds)])
    }

    fn no_bond(&mut self, tails: &[Reference]) -> Failed {
        let word = tails.first().map_or("", |tail| tail.text.as_str());
        let known = Kind::names().chain(KEYWORDS);
        let near = did_you_mean(word, known).map(str::to_owned);
        let failed = self.expected("an arrow (`->`) or the name of an element");
        if let (Some(near), Some(diagnostic)) = (near, self.diagnostics.last_mut()) {
            diagnostic.hint = Some(format!("did you mean `{near}`?"));
        }
        failed
    }

    fn bond_end(&mut self) -> Parsed<Reference> {
        let declares = matches!(self.kind_at(0), TokenKind::Identifier | TokenKind::Number)
            && self.kind_at(1) == TokenKind::Identifier;
        if !declares {
            return self.path();
        }
        let element = self.element(false)?;
        let reference = Reference { text: element.name.text.clone(), span: element.name.span };
        self.inline.push(Statement::Element(element));
        Ok(reference)
    }

    fn path(&mut self) -> Parsed<Reference> {
        let first = self.name("a name")?;
        let (mut text, mut span) = (first.text, first.span);
        loop {
            if self.eat("[") {
                let (port, place) = self.port_number()?;
                text += &format!("[{port}]");
                span = span.to(place);
            } else if self.eat(".") {
                let next = self.name("a name behind the dot")?;
                text.push('.');
                text += &next.text;
                span = span.to(next.span);
            } else {
                return Ok(Reference { text, span });
            }
        }
    }

    /// Behind `[`.
    fn port_number(&mut self) -> Parsed<(u32, Span)> {
        let number = self.text_at(0).parse::<u32>().ok().filter(|port| (1..=1000).contains(port));
        let Some(number) = number else { return Err(self.expected("the number of a port, from 1")) };
        self.next += 1;
        if !self.eat("]") {
            return Err(self.expected("`]`"));
        }
        Ok((number, self.before().span))
    }

    fn value(&mut self) -> Parsed<Value> {
        let start = self.token().span;
        self.nodes = 0;
        self.depth = 0;
        let expression = self.expression()?;
        Ok(Value { expression, span: start.to(self.before().span) })
    }

    fn expression(&mut self) -> Parsed<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST || self.nodes > LARGEST_EXPRESSION {
            let diagnostic = Diagnostic::error("too-long", "the expression is too long").at(self.token().span, "");
            self.diagnostics.push(diagnostic.hint("name parts of it: `signal NAME = …`"));
            return Err(Failed);
        }
        let result = deep(|| {
            if !self.at_word("if") {
                return self.disjunction();
            }
            self.next += 1;
            let condition = self.expression()?;
            self.keyword("then")?;
            let yes = self.expression()?;
            self.keyword("else")?;
            let no = self.expression()?;
            Ok(Expr::If(Box::new(condition), Box::new(yes), Box::new(no)))
        });
        self.depth -= 1;
        result
    }

    fn keyword(&mut self, word: &'static str) -> Parsed<()> {
        if !self.at_word(word) {
            return Err(self.expected(&format!("`{word}`")));
        }
        self.next += 1;
        Ok(())
    }

    fn disjunction(&mut self) -> Parsed<Expression> {
        let mut left = self.conjunction()?;
        while self.at_word("or") {
            self.next += 1;
            left = self.joined(Operator::Or, left, Self::conjunction)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Expression> {
        let mut left = self.negation()?;
        while self.at_word("and") {
            self.next += 1;
            left = self.joined(Operator::And, left, Self::negation)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed<Expression> {
        if !self.at_word("not") {
            return self.relation();
        }
        self.next += 1;
        Ok(Expr::Not(Box::new(self.relation()?)))
    }

    fn relation(&mut self) -> Parsed<Expression> {
        let left = self.sum()?;
        let operator = match self.kind_at(0) {
            TokenKind::Mark("<") => Operator::Less,
            TokenKind::Mark("<=") => Operator::LessEqual,
            TokenKind::Mark(">") => Operator::Greater,
            TokenKind::Mark(">=") => Operator::GreaterEqual,
            TokenKind::Mark("==") => Operator::Equal,
            TokenKind::Mark("<>" | "!=") => Operator::NotEqual,
            _ => return Ok(left),
        };
        self.next += 1;
        self.joined(operator, left, Self::sum)
    }

    fn joined(
        &mut self,
        operator: Operator,
        left: Expression,
        right: impl FnOnce(&mut Self) -> Parsed<Expression>,
    ) -> Parsed<Expression> {
        self.nodes += 1;
        if self.nodes > LARGEST_EXPRESSION {
            let diagnostic = Diagnostic::error("too-long", "the expression is too long").at(self.token().span, "");
            self.diagnostics.push(diagnostic.hint("name parts of it: `signal NAME = …`"));
            return Err(Failed);
        }
        Ok(Expr::binary(operator, left, right(self)?))
    }

    fn sum(&mut self) -> Parsed<Expression> {
        let negative = self.eat("-");
        if !negative {
            self.eat("+");
        }
        let mut left = self.term()?;
        if negative {
            left = negated(left);
        }
        loop {
            let operator = match self.kind_at(0) {
                TokenKind::Mark("+") => Operator::Add,
                TokenKind::Mark("-") => Operator::Subtract,
                _ => return Ok(left),
            };
            self.next += 1;
            left = self.joined(operator, left, Self::term)?;
        }
    }

    fn term(&mut self) -> Parsed<Expression> {
        let mut left = self.power()?;
        loop {
            let operator = match self.kind_at(0) {
                TokenKind::Mark("*") => Operator::Multiply,
                TokenKind::Mark("/") => Operator::Divide,
                _ => return Ok(left),
            };
            self.next += 1;
            left = self.joined(operator, left, Self::power)?;
        }
    }

    fn power(&mut self) -> Parsed<Expression> {
        let left = self.primary()?;
        if !self.eat("^") {
            return Ok(left);
        }
        if self.eat("-") {
            let exponent = self.primary()?;
            return Ok(Expr::binary(Operator::Power, left, negated(exponent)));
        }
        self.joined(Operator::Power, left, Self::primary)
    }

    fn primary(&mut self) -> Parsed<Expression> {
        match self.kind_at(0) {
            TokenKind::Number => {
                let text = self.word().text;
                Ok(Expr::Number(text.parse().unwrap_or(f64::NAN), text))
            }
            TokenKind::Mark("(") => {
                self.next += 1;
                let inner = self.expression()?;
                if !self.eat(")") {
                    return Err(self.expected("`)`"));
                }
                Ok(inner)
            }
            TokenKind::Identifier => match self.text_at(0) {
                "true" | "false" => Ok(Expr::Boolean(self.word().text == "true")),
                "not" => self.negation(),
                _ if self.kind_at(1) == TokenKind::Mark("(") => self.call(),
                _ => Ok(Expr::Leaf(self.path()?)),
            },
            _ => Err(self.expected("an expression")),
        }
    }

    fn call(&mut self) -> Parsed<Expression> {
        let name = self.word();
        self.next += 1;
        let mut arguments = Vec::new();
        if !self.eat(")") {
            loop {
                arguments.push(self.expression()?);
                if self.eat(",") {
                    continue;
                }
                if self.eat(")") {
                    break;
                }
                return Err(self.expected("`,` or `)`"));
            }
        }
        let span = name.span.to(self.before().span);
        let Some(function) = Function::named(&name.text) else {
            let mut diagnostic = Diagnostic::error("unknown-function", format!("there is no function `{}`", name.text))
                .at(name.span, "not known");
            let names = Function::ALL.iter().map(|function| function.name());
            if let Some(near) = did_you_mean(&name.text, names) {
                diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
            }
            self.diagnostics.push(diagnostic);
            return Ok(Expr::number(0.0));
        };
        if arguments.len() != function.arguments() {
            let (needed, given) = (function.arguments(), arguments.len());
            let what = format!("`{function}` takes {needed} argument{}", if needed == 1 { "" } else { "s" });
            self.diagnostics.push(Diagnostic::error("wrong-arguments", what).at(span, format!("{given} given")));
            return Ok(Expr::number(0.0));
        }
        Ok(Expr::Call(function, arguments))
    }

    fn token(&self) -> Token {
        self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn before(&self) -> Token {
        self.tokens[self.next.saturating_sub(1).min(self.tokens.len() - 1)]
    }

    fn kind_at(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.next + ahead).map_or(TokenKind::FileEnd, |token| token.kind)
    }

    fn text_at(&self, ahead: usize) -> &'a str {
        let span = self.tokens[(self.next + ahead).min(self.tokens.len() - 1)].span;
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    fn at_word(&self, word: &str) -> bool {
        self.kind_at(0) == TokenKind::Identifier && self.text_at(0) == word
    }

    fn at_end_of_file(&self) -> bool {
        self.kind_at(0) == TokenKind::FileEnd
    }

    fn is_end(&self, ahead: usize) -> bool {
        matches!(self.kind_at(ahead), TokenKind::LineEnd | TokenKind::FileEnd | TokenKind::Mark(";"))
    }

    fn skip_end(&mut self) -> bool {
        let is_end = self.is_end(0) && !self.at_end_of_file();
        self.next += usize::from(is_end);
        is_end
    }

    fn expect_end(&mut self) {
        if !self.is_end(0) {
            self.expected("the end of the statement");
            self.recover();
        }
    }

    fn recover(&mut self) {
        while !self.is_end(0) {
            self.next += 1;
        }
    }

    fn eat(&mut self, mark: &'static str) -> bool {
        let eats = self.kind_at(0) == TokenKind::Mark(mark);
        self.next += usize::from(eats);
        eats
    }

    fn word(&mut self) -> Word {
        let word = Word { text: self.text_at(0).to_owned(), span: self.token().span };
        self.next += 1;
        word
    }

    fn name(&mut self, what: &str) -> Parsed<Word> {
        if self.kind_at(0) != TokenKind::Identifier {
            return Err(self.expected(what));
        }
        Ok(self.word())
    }

    fn optional_text(&mut self) -> Option<Word> {
        if self.kind_at(0) != TokenKind::Text {
            return None;
        }
        let mut word = self.word();
        let inner = word.text.strip_prefix('"').unwrap_or(&word.text);
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        word.text = unescaped(inner);
        Some(word)
    }

    fn expected(&mut self, what: &str) -> Failed {
        let token = self.token();
        let found = match token.kind {
            TokenKind::FileEnd => "the end of the file".to_owned(),
            TokenKind::LineEnd => "the end of the line".to_owned(),
            // What the lexer reported needs no second message.
            TokenKind::Unknown => return Failed,
            _ => format!("`{}`", self.text_at(0)),
        };
        let diagnostic = Diagnostic::error("bond-syntax", format!("expected {what}, found {found}"));
        self.diagnostics.push(diagnostic.at(token.span, "here"));
        Failed
    }
}

/// `\"` and `\\` in a text are a quotation mark and a backslash.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        let escaped = rest.next_if(|after| next == '\\' && matches!(after, '"' | '\\'));
        out.push(escaped.unwrap_or(next));
    }
    out
}
