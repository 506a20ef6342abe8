//! Tokens to models. Parsing never fails: it returns what could be understood, and diagnostics.
//!
//! ```text
//! file        = { model } .
//! model       = "model" [ "class" | "type" ] [ "(" class { "," class } ")" ] NAME { item } "end" .
//! class       = NAME { "." NAME } .
//! item        = submodels | variables | cuts | paths | nodes | connect | equation | when .
//! submodels   = "submodel" [ "(" class ")" ] submodel { "," submodel } .
//! submodel    = NAME [ "(" [ NAME "=" expression { "," NAME "=" expression } ] ")" ] .
//! variables   = ( "parameter" | "constant" | "local" | "terminal" | "input" | "output" ) variable { "," variable } .
//! variable    = NAME [ "=" expression ] .
//! cuts        = [ "main" ] "cut" cut { "," cut } .
//! cut         = NAME ( "(" { slot [ "," ] } [ "/" { slot [ "," ] } ] ")" | "[" { NAME [ "," ] } "]" ) .
//! slot        = [ "-" ] NAME .
//! paths       = [ "main" ] "path" path { "," path } .
//! path        = NAME "<" NAME "-" NAME ">" .
//! nodes       = "node" NAME { "," NAME } .
//! connect     = "connect" connection { "," connection } .
//! connection  = chain [ ( "at" | "=" ) chain | [ "from" object ] [ "to" object ] ] .
//! chain       = parallel { "-" parallel } .
//! parallel    = object { "//" object } .
//! object      = NAME { "." NAME } | "(" chain ")" | "loop" "(" chain ")" .
//! when        = "when" expression "then" { equation } "endwhen" .
//! equation    = expression "=" expression .
//! expression  = "if" expression "then" expression "else" expression | disjunction .
//! disjunction = conjunction { "or" conjunction } .
//! conjunction = negation { "and" negation } .
//! negation    = [ "not" ] relation .
//! relation    = sum [ ( "<" | "<=" | ">" | ">=" ) sum ] .
//! sum         = [ "+" | "-" ] product { ( "+" | "-" ) product } .
//! product     = power { ( "*" | "/" ) power } .
//! power       = primary [ ( "^" | "**" ) primary ] .
//! primary     = NUMBER | "True" | "False" | "Time" | "der" "(" expression ")" | "new" "(" reference ")"
//!             | NAME "(" [ expression { "," expression } ] ")" | reference { "'" } | "(" expression ")" { "'" } .
//! reference   = NAME { "." NAME } .
//! ```
//!
//! Nothing separates equations. A line that begins with `+`, `-` or `(` and has an `=` of its own begins an equation; any other
//! line that begins with an operator goes on with the line before.

use base::{Diagnostic, FileId, Name};

use crate::ast::*;
use crate::language;
use crate::lexer::{Comment, Lexed, Token, TokenKind, lex};

mod connections;
mod expressions;

/// How deep brackets may be nested.
const DEPTH: usize = 120;

/// A file as it was understood.
pub struct Parsed<'a> {
    pub models: Vec<Model>,
    pub comments: Vec<Comment<'a>>,
    pub diagnostics: Vec<Diagnostic>,
}

pub fn parse(file: FileId, text: &str) -> Parsed<'_> {
    let mut diagnostics = Vec::new();
    let Lexed { tokens, comments } = lex(file, text, &mut diagnostics);
    let mut parser = Parser { tokens, at: 0, depth: 0, unfinished: None, diagnostics };
    let models = parser.file();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span.start));
    Parsed { models, comments, diagnostics }
}

/// Something is wrong and has been reported; the rest of the item is not understood.
struct Reported;

type Result<T> = std::result::Result<T, Reported>;

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
    /// A declared variable whose value could not be understood.
    unfinished: Option<Declared>,
    diagnostics: Vec<Diagnostic>,
}

/// Words that begin an item.
const ITEMS: [&str; 14] = [
    "submodel",
    "parameter",
    "constant",
    "local",
    "terminal",
    "input",
    "output",
    "cut",
    "main",
    "path",
    "node",
    "connect",
    "when",
    "endwhen",
];

/// Words with which people who know Modelica begin what the language writes in another way.
const MODELICA: [(&str, &str); 10] = [
    ("equation", "equations stand among the declarations, without a headline"),
    ("algorithm", "the language has equations only"),
    ("extends", "the class that is extended stands before the name: `model class (Super) Name`"),
    ("Real", "variables are declared by `local`, `terminal`, `parameter`, `input` or `output`, without a type"),
    ("Boolean", "variables are declared by `local`, `terminal`, `parameter`, `input` or `output`, without a type"),
    ("Integer", "variables are declared by `local`, `terminal`, `parameter`, `input` or `output`, without a type"),
    ("connector", "variables of a connection are declared by `cut A (v / i)`"),
    ("partial", "every `model class` may be extended"),
    ("initial", "an initial value stands at the declaration: `local x = 1`"),
    ("reinit", "a state gets a new value by `new(x) = …` in `when`"),
];

impl<'a> Parser<'a> {
    fn token(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    fn ahead(&self, count: usize) -> Token<'a> {
        self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    fn previous(&self) -> Token<'a> {
        self.tokens[self.at.saturating_sub(1)]
    }

    fn is_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    /// Whether the token is this word or mark.
    fn is(&self, text: &str) -> bool {
        self.ahead_is(0, text)
    }

    fn ahead_is(&self, count: usize, text: &str) -> bool {
        let token = self.ahead(count);
        token.text == text && token.kind != TokenKind::End
    }

    fn bump(&mut self) -> Token<'a> {
        let token = self.token();
        if !self.is_end() {
            self.at += 1;
        }
        token
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.bump();
        }
        found
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        // One mistake is reported once, even where several rules stumble over it.
        let place = |diagnostic: &Diagnostic| diagnostic.labels.first().map(|label| label.span);
        if !self.diagnostics.iter().any(|said| place(said) == place(&diagnostic)) {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// What was expected is not there.
    fn expected(&mut self, what: &str, hint: &str, section: &str) -> Reported {
        let token = self.token();
        let found = match token.kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", token.text),
        };
        // An unknown character is reported already.
        if token.kind == TokenKind::Unknown {
            return Reported;
        }
        let span = match token.kind {
            TokenKind::End => self.previous().span,
            _ => token.span,
        };
        let message = format!("{what} is missing before {found}");
        let is_sign = matches!(token.text, "+" | "-") && what == "an expression";
        let hint = if is_sign { "a sign behind an operator needs brackets: `2 * (-x)`, `x^(-1)`" } else { hint };
        let hint = self.habit().unwrap_or(hint);
        self.report(language::error("expected", message, span, "", hint, section))
    }

    /// What other languages write in this place.
    fn habit(&self) -> Option<&'static str> {
        const FORTRAN: [&str; 9] = ["gt", "ge", "lt", "le", "eq", "ne", "and", "or", "not"];
        match self.token().text {
            "[" => Some("the language has no arrays: declare a variable for each element"),
            "\"" => Some("the language has no texts, only numbers, `True` and `False`"),
            "//" => Some("comments are `{ … }`, or `-- …` up to the end of the line"),
            "." if FORTRAN.contains(&self.ahead(1).text.to_lowercase().as_str()) => {
                Some("conditions are written with `<`, `<=`, `>`, `>=`, `and`, `or` and `not`")
            }
            _ => None,
        }
    }

    fn expect(&mut self, text: &str, hint: &str, section: &str) -> Result<Token<'a>> {
        match self.is(text) {
            true => Ok(self.bump()),
            false => Err(self.expected(&format!("`{text}`"), hint, section)),
        }
    }

    fn ident(&mut self, what: &str, hint: &str, section: &str) -> Result<Ident> {
        let token = self.token();
        if token.kind == TokenKind::Name {
            self.bump();
            return Ok(Ident { name: Name::new(token.text), span: token.span });
        }
        if token.kind == TokenKind::Word {
            let message = format!("`{}` is a word of the language and cannot be the name of {what}", token.text);
            let reported = self.report(language::error("reserved-word", message, token.span, "", hint, section));
            // The rest of a list is understood nevertheless.
            if !self.ahead_is(1, ",") && !self.ahead_is(1, "=") {
                return Err(reported);
            }
            self.bump();
            return Ok(Ident { name: Name::new(token.text), span: token.span });
        }
        Err(self.expected(&format!("the name of {what}"), hint, section))
    }

    fn reference(&mut self, what: &str, hint: &str, section: &str) -> Result<Reference> {
        let first = self.ident(what, hint, section)?;
        let mut parts = vec![first];
        while self.is(".") && self.ahead(1).kind == TokenKind::Name {
            self.bump();
            parts.push(self.ident(what, hint, section)?);
        }
        let span = first.span.to(self.previous().span);
        Ok(Reference { parts, span })
    }

    /// One or more, separated by commas.
    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Result<T>) -> (Vec<T>, bool) {
        let mut found = Vec::new();
        loop {
            match element(self) {
                Ok(one) => found.push(one),
                Err(Reported) => return (found, false),
            }
            if !self.accept(",") {
                return (found, true);
            }
        }
    }

    /// A line that begins with `+`, `-` or `(` and has its own `=` is an equation.
    fn begins_equation(&self) -> bool {
        let first = self.token();
        if !first.begins_line || !matches!(first.text, "+" | "-" | "(") {
            return false;
        }
        let mut depth = 0;
        let rest = self.tokens[self.at + 1..].iter().take_while(|token| !token.begins_line);
        for token in std::iter::once(&first).chain(rest) {
            match token.text {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                "=" if depth <= 0 => return true,
                _ => {}
            }
        }
        false
    }

    fn file(&mut self) -> Vec<Model> {
        let mut models = Vec::new();
        while !self.is_end() {
            if self.is("model") {
                models.extend(self.model());
                continue;
            }
            let token = self.token();
            let hint = match token.text.eq_ignore_ascii_case("model") {
                true => "words of the language are written in small letters: `model`",
                false => "a file is a sequence of `model … end` and `model class … end`",
            };
            let message = format!("`{}` stands outside of a model", token.text);
            if token.kind != TokenKind::Unknown {
                self.report(language::error("outside-model", message, token.span, "", hint, "Models"));
            }
            while !self.is_end() && !self.is("model") {
                self.bump();
            }
        }
        models
    }

    fn model(&mut self) -> Option<Model> {
        let begin = self.bump();
        let (is_class, supers, name) = match self.model_head() {
            Ok(head) => head,
            Err(Reported) => {
                self.skip_line();
                let nowhere = Ident { name: Name::new(""), span: begin.span };
                (true, Vec::new(), nowhere)
            }
        };
        let mut items = Vec::new();
        loop {
            if self.is("end") {
                self.model_end(name);
                break;
            }
            if self.is_end() || self.is("model") {
                let message = match name.name.as_str() {
                    "" => "this model has no `end`".to_owned(),
                    name => format!("the model `{name}` has no `end`"),
                };
                let hint = match self.is_end() {
                    true => "write `end` after its last equation",
                    false => "write `end` before the next `model`",
                };
                self.report(language::error("missing-end", message, name.span, "begins here", hint, "Models"));
                break;
            }
            items.extend(self.item());
        }
        let span = begin.span.to(self.previous().span);
        (!name.name.as_str().is_empty()).then_some(Model { is_class, supers, name, called: name.name, items, span })
    }

    fn model_head(&mut self) -> Result<(bool, Vec<Reference>, Ident)> {
        const FORM: &str = "a model begins with `model Name` or `model class (Super) Name`";
        let is_class = (self.is("class") || self.is("type")) && {
            self.bump();
            true
        };
        let mut supers = Vec::new();
        if self.accept("(") {
            let (list, whole) = self.list(|parser| parser.reference("a class", FORM, "Models"));
            supers = list;
            if !whole {
                return Err(Reported);
            }
            self.expect(")", FORM, "Models")?;
        }
        let name = self.ident("a model", FORM, "Models")?;
        if supers.is_empty() && self.is("(") && !self.token().begins_line {
            let span = self.token().span;
            let message = "the class that is extended stands before the name";
            self.report(language::error("expected", message, span, "", FORM, "Models"));
            self.bump();
            supers = self.list(|parser| parser.reference("a class", FORM, "Models")).0;
            self.accept(")");
        }
        Ok((is_class, supers, name))
    }

    fn model_end(&mut self, model: Ident) {
        self.bump();
        let token = self.token();
        if token.kind == TokenKind::Name && !token.begins_line {
            let message = format!("`end` takes no name, but `{}` follows", token.text);
            let hint = match model.name == token.text {
                true => "write `end` alone".to_owned(),
                false => format!("write `end` alone; it closes `{}`", model.name),
            };
            self.report(language::error("named-end", message, token.span, "", hint, "Models"));
            self.bump();
        }
        while self.is(";") {
            self.semicolon();
        }
    }

    fn semicolon(&mut self) {
        let token = self.bump();
        let message = "the Dymola language has no semicolons";
        let first = !self.diagnostics.iter().any(|said| said.code == "semicolon");
        // Who writes one writes many.
        if first {
            let hint = "remove it: an equation ends where the next one begins";
            self.report(language::error("semicolon", message, token.span, "", hint, "Equations"));
        }
    }

    /// To the next line, or to the end of the model.
    fn skip_line(&mut self) {
        while !self.is_end() && !self.token().begins_line && !self.is("end") && !self.is("model") {
            self.bump();
        }
    }

    fn item(&mut self) -> Option<Item> {
        let (begin, at) = (self.token(), self.at);
        if begin.text == ";" {
            self.semicolon();
            return None;
        }
        let (kind, whole) = self.item_kind();
        if !whole {
            if self.at == at {
                self.bump();
            }
            self.skip_line();
        }
        let last = if self.at > at { self.previous() } else { begin };
        kind.map(|kind| Item { kind, span: begin.span.to(last.span) })
    }

    /// What the item says, and whether all of it was understood.
    fn item_kind(&mut self) -> (Option<ItemKind>, bool) {
        let token = self.token();
        let role = match token.text {
            "submodel" => return self.submodels(),
            "cut" | "main" | "path" => return self.cuts_or_paths(),
            "node" => {
                self.bump();
                let hint = "nodes are declared by `node n0, n1`";
                let (nodes, whole) = self.list(|parser| parser.ident("a node", hint, "Nodes"));
                return (Some(ItemKind::Nodes(nodes)), whole);
            }
            "connect" => return self.connect(),
            "when" => return self.when(),
            "parameter" => Role::Parameter,
            "constant" => Role::Constant,
            "local" => Role::Local,
            "terminal" => Role::Terminal,
            "input" => Role::Input,
            "output" => Role::Output,
            _ => {
                if let Some((_, hint)) = MODELICA.iter().find(|(word, _)| *word == token.text)
                    && (self.ahead(1).kind == TokenKind::Name || self.ahead(1).begins_line)
                {
                    let message = format!("`{}` is a word of Modelica, not of the Dymola language", token.text);
                    let diagnostic =
                        language::error("modelica-word", message, token.span, "", *hint, "Coming from Modelica");
                    self.report(diagnostic);
                    self.bump();
                    return (None, token.text == "equation");
                }
                if let Some(reported) = self.misspelled_word() {
                    let Reported = reported;
                    return (None, false);
                }
                return match self.equation() {
                    Ok(equation) => (Some(ItemKind::Equation(equation)), true),
                    Err(Reported) => (None, false),
                };
            }
        };
        self.bump();
        let (mut variables, whole) = self.list(Self::declared);
        variables.extend(self.unfinished.take());
        (Some(ItemKind::Variables { role, variables }), whole)
    }

    /// A line that begins with almost a word of the language, and goes on as if it were that word.
    fn misspelled_word(&mut self) -> Option<Reported> {
        let (token, next) = (self.token(), self.ahead(1));
        if token.kind != TokenKind::Name || !token.begins_line || next.kind != TokenKind::Name || next.begins_line {
            return None;
        }
        let near = language::near(token.text, ITEMS.into_iter())?;
        let message = format!("`{}` is no word of the language", token.text);
        let hint = format!("did you mean `{near}`?");
        Some(self.report(language::error("expected", message, token.span, "", hint, "Words and comments")))
    }

    fn declared(&mut self) -> Result<Declared> {
        let name = self.ident("a variable", "variables are declared by a list of names: `local u, i`", "Variables")?;
        if !self.accept("=") {
            return Ok(Declared { name, value: None });
        }
        match self.expression() {
            Ok(value) => Ok(Declared { name, value: Some(value) }),
            Err(Reported) => {
                // What is wrong with the value is no reason to know nothing of the variable.
                self.unfinished = Some(Declared { name, value: None });
                Err(Reported)
            }
        }
    }

    fn submodels(&mut self) -> (Option<ItemKind>, bool) {
        const FORM: &str = "submodels are declared by `submodel (Class) a, b(R = 10)`";
        self.bump();
        let class = match self.accept("(") {
            false => None,
            true => {
                let class = self.reference("a class", FORM, "Submodels");
                match class.and_then(|class| self.expect(")", FORM, "Submodels").map(|_| class)) {
                    Ok(class) => Some(class),
                    Err(Reported) => return (None, false),
                }
            }
        };
        let (mut class, mut submodels) = (class, Vec::new());
        loop {
            let (more, whole) = self.submodel_list(FORM);
            submodels.extend(more);
            // `R2(R = 2)` is no equation.
            let token = self.token();
            let is_further = token.kind == TokenKind::Name && self.ahead_is(1, "(") && self.ahead_is(3, "=");
            if !whole || !is_further || token.begins_line {
                return (Some(ItemKind::Submodels { class, submodels }), whole);
            }
            let message = match (&class, &submodels[..]) {
                (None, [Submodel { name, values }]) if values.is_empty() => {
                    let (name, message) = (*name, format!("the class of `{}` is not in brackets", token.text));
                    class = Some(Reference { parts: vec![name], span: name.span });
                    submodels.clear();
                    message
                }
                _ => format!("a comma is missing before `{}`", token.text),
            };
            self.report(language::error("expected", message, token.span, "", FORM, "Submodels"));
        }
    }

    fn submodel_list(&mut self, form: &str) -> (Vec<Submodel>, bool) {
        self.list(|parser| {
            let name = parser.ident("a submodel", form, "Submodels")?;
            let mut values = Vec::new();
            if parser.is("(") && !parser.token().begins_line {
                parser.bump();
                if !parser.is(")") {
                    let (list, whole) = parser.list(|parser| {
                        let name = parser.ident("a parameter", form, "Submodels")?;
                        parser.expect("=", "a value is given by name: `R1(R = 10)`", "Submodels")?;
                        Ok((name, parser.expression()?))
                    });
                    values = list;
                    if !whole {
                        return Err(Reported);
                    }
                }
                parser.expect(")", form, "Submodels")?;
            }
            Ok(Submodel { name, values })
        })
    }

    fn cuts_or_paths(&mut self) -> (Option<ItemKind>, bool) {
        let main = self.accept("main");
        if self.accept("cut") {
            let (cuts, whole) = self.list(Self::cut);
            return (Some(ItemKind::Cuts { main, cuts }), whole);
        }
        if self.accept("path") {
            let (paths, whole) = self.list(Self::path);
            return (Some(ItemKind::Paths { main, paths }), whole);
        }
        self.expected("`cut` or `path`", "`main` goes with `cut` or `path`", "Cuts");
        (None, false)
    }

    fn cut(&mut self) -> Result<Cut> {
        const FORM: &str = "a cut is declared by `cut A (v / i)`, one of several cuts by `cut C [A B]`";
        let name = self.ident("a cut", FORM, "Cuts")?;
        if self.accept("[") {
            let mut cuts = Vec::new();
            while !self.is("]") {
                cuts.push(self.ident("a cut", FORM, "Cuts")?);
                self.accept(",");
            }
            self.bump();
            return Ok(Cut { name, content: CutContent::Cuts(cuts) });
        }
        self.expect("(", FORM, "Cuts")?;
        let across = self.slots()?;
        let through = match self.accept("/") {
            true => self.slots()?,
            false => Vec::new(),
        };
        self.expect(")", FORM, "Cuts")?;
        Ok(Cut { name, content: CutContent::Variables { across, through } })
    }

    fn slots(&mut self) -> Result<Vec<Slot>> {
        let mut slots = Vec::new();
        while !self.is("/") && !self.is(")") {
            let negative = self.accept("-");
            let hint = "a cut lists variables, each perhaps with a minus: `(v / -i)`";
            slots.push(Slot { negative, name: self.ident("a variable of a cut", hint, "Cuts")? });
            self.accept(",");
        }
        Ok(slots)
    }

    fn path(&mut self) -> Result<Path> {
        const FORM: &str = "a path is declared by `path P < A - B >`";
        let name = self.ident("a path", FORM, "Paths")?;
        self.expect("<", FORM, "Paths")?;
        let from = self.ident("a cut", FORM, "Paths")?;
        self.expect("-", FORM, "Paths")?;
        let to = self.ident("a cut", FORM, "Paths")?;
        self.expect(">", FORM, "Paths")?;
        Ok(Path { name, from, to })
    }

    fn when(&mut self) -> (Option<ItemKind>, bool) {
        const FORM: &str = "instantaneous equations are written `when condition then … endwhen`";
        let begin = self.bump();
        let condition = match self.expression() {
            Ok(condition) => condition,
            Err(Reported) => Expr { kind: ExprKind::Missing, span: begin.span },
        };
        if self.expect("then", FORM, "Instantaneous equations").is_err() {
            self.skip_line();
        }
        let mut equations = Vec::new();
        loop {
            if self.accept("endwhen") {
                break;
            }
            if self.is(";") {
                self.semicolon();
                continue;
            }
            if self.is("end") && self.ahead_is(1, "when") {
                let span = self.token().span.to(self.ahead(1).span);
                let message = "`end when` is Modelica";
                self.report(language::error(
                    "modelica-word",
                    message,
                    span,
                    "",
                    "write `endwhen`",
                    "Coming from Modelica",
                ));
                self.bump();
                self.bump();
                break;
            }
            let is_item = ITEMS.contains(&self.token().text) && self.token().kind == TokenKind::Word;
            if is_item && self.is_inside_when() {
                self.item_in_when();
                continue;
            }
            if self.is_end() || self.is("end") || self.is("model") || is_item {
                let message = "this `when` has no `endwhen`";
                let hint = "write `endwhen` after its last equation";
                let section = "Instantaneous equations";
                self.report(language::error("missing-end", message, begin.span, "begins here", hint, section));
                break;
            }
            let at = self.at;
            match self.equation() {
                Ok(equation) => equations.push(equation),
                Err(Reported) => {
                    if self.at == at {
                        self.bump();
                    }
                    while !self.token().begins_line && !self.is("endwhen") && !self.is("end") && !self.is_end() {
                        self.bump();
                    }
                }
            }
        }
        (Some(ItemKind::When(When { condition, equations })), true)
    }

    /// Whether the `when` that is being read has an `endwhen` behind what stands here.
    fn is_inside_when(&self) -> bool {
        let mut open = 1;
        for token in &self.tokens[self.at..] {
            match token.text {
                "when" => open += 1,
                "endwhen" => open -= 1,
                "end" | "model" => return false,
                _ => {}
            }
            if open == 0 {
                return true;
            }
        }
        false
    }

    /// Only equations stand in `when`.
    fn item_in_when(&mut self) {
        let token = self.token();
        let message = format!("`{}` cannot stand in `when`", token.text);
        let hint = match token.text {
            "when" => "write two of them, one behind the other; conditions are joined by `and`",
            _ => "only equations stand there: write it before `when`",
        };
        self.report(language::error("item-in-when", message, token.span, "", hint, "Instantaneous equations"));
        let mut open = 0;
        loop {
            match self.bump().text {
                "when" => open += 1,
                "endwhen" => open -= 1,
                _ => {}
            }
            let is_line = self.token().begins_line || self.is("endwhen");
            if self.is_end() || open == 0 && (is_line || token.text == "when") {
                return;
            }
        }
    }

    /// What begins in the middle of a line and is no equation belongs to what stands before it.
    fn lacks_operator(&mut self, begin: Token) -> Reported {
        let before = self.tokens.iter().rev().find(|token| token.span.end <= begin.span.start);
        let is_number = before.is_some_and(|token| token.kind == TokenKind::Number) && begin.text.starts_with('.');
        let (message, hint) = match begin.text {
            "endif" => (
                "there is no `endif`".to_owned(),
                "a choice ends with its last value: `if condition then value else value`",
            ),
            _ if is_number => ("a number has one decimal point".to_owned(), "numbers are `50`, `0.1E-6`, `1.`, `.5`"),
            text => (
                format!("something is missing before `{text}`"),
                "names in a list are separated by commas, a product needs `*`, and an equation has an `=`",
            ),
        };
        self.report(language::error("expected", message, begin.span, "", hint, "Equations"))
    }

    fn equation(&mut self) -> Result<Equation> {
        let begin = self.token();
        let left = self.expression()?;
        if !self.is("=") && self.habit().is_none() && !begin.begins_line && !matches!(self.token().text, ":" | "==") {
            return Err(self.lacks_operator(begin));
        }
        if !self.is("=") && (self.token().begins_line || self.is_end()) {
            let hint = match left.kind {
                ExprKind::Operators(..) => "an equation is `expression = expression`; connections begin with `connect`",
                _ => "an equation is `expression = expression`",
            };
            let message = "this is no equation: it has no `=`";
            return Err(self.report(language::error("expected", message, left.span, "", hint, "Equations")));
        }
        if !self.is("=") {
            let hint = match self.token().text {
                ":" => "equations are written with `=`; they are no assignments",
                "==" => "equations are written with `=`",
                _ => "an equation is `expression = expression`",
            };
            return Err(self.expected("`=`", hint, "Equations"));
        }
        let equals = self.bump().span;
        let right = self.expression()?;
        let span = left.span.to(right.span);
        Ok(Equation { left, right, equals, span })
    }
}
