//! The statements that the programs for ACSL and DSblock have in common: assignments in their order, solved systems, relations
//! with their two crossing functions, and what only happens at events.
//!
//! Neither language has alternatives inside of expressions: they become statements before.

use dae::{Action, ActionKind, CompareOp, ExprId, Node, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use transform::{Assignment, EquationSystem, Schedule};

use super::formula::Formula;
use super::names::{Dialect, Names, kept};
use super::quotients::{self, Writing};
use super::solved::{self, Solved, Symbol, Unsolved};
use super::steps::{Step, Steps};

/// Statements with their depth.
pub struct Code<'c> {
    pub schedule: &'c Schedule,
    names: &'c Names<'c>,
    steps: &'c Steps<'c>,
    pub lines: Vec<(usize, String)>,
    depth: usize,
    count: &'c mut Auxiliaries,
}

/// Names that the program adds.
#[derive(Default)]
pub struct Auxiliaries {
    count: usize,
    pub numbers: Vec<String>,
    pub truths: Vec<String>,
    labels: usize,
    /// The longest list of residues.
    pub residues: usize,
}

/// How relations compare in Fortran.
pub fn operator(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Less => "LT",
        CompareOp::LessEqual => "LE",
        CompareOp::Greater => "GT",
        CompareOp::GreaterEqual => "GE",
        CompareOp::Equal => "EQ",
        CompareOp::NotEqual => "NE",
    }
}

impl<'c> Code<'c> {
    pub fn new(
        schedule: &'c Schedule,
        names: &'c Names<'c>,
        steps: &'c Steps<'c>,
        depth: usize,
        count: &'c mut Auxiliaries,
    ) -> Self {
        Self { schedule, names, steps, lines: Vec::new(), depth, count }
    }

    pub fn line(&mut self, text: impl Into<String>) {
        self.lines.push((self.depth, text.into()));
    }

    pub fn comment(&mut self, text: &str) {
        self.line(format!("! {text}"));
    }

    fn fresh(&mut self, is_truth: bool) -> String {
        loop {
            self.count.count += 1;
            let name = format!("Q{}", 100 + self.count.count);
            if !self.names.is_taken(&name) {
                let list = if is_truth { &mut self.count.truths } else { &mut self.count.numbers };
                list.push(name.clone());
                return name;
            }
        }
    }

    fn formula(&self) -> Formula<'c> {
        let root = self.schedule.model.paths.root();
        Formula { relations: Some(&self.steps.numbers), ..Formula::new(self.names, root) }
    }

    fn name(&self, variable: VarId) -> String {
        self.names.now(variable, self.schedule.model.paths.root())
    }

    /// All steps; what only changes at events stands under a condition.
    pub fn steps(&mut self) {
        let mut at_events = false;
        for step in &self.steps.list {
            let is_event = step.is_at_events();
            if is_event != at_events {
                self.events(is_event);
                at_events = is_event;
            }
            match step {
                Step::Assign { assignment, .. } => self.assign(assignment),
                Step::System { system, joined, .. } => self.system(system, joined),
                Step::Relation(number) => self.relation(*number),
                Step::Action(action) => self.action(action),
            }
        }
        if at_events {
            self.events(false);
        }
    }

    fn events(&mut self, begin: bool) {
        if begin {
            self.line("If (Init .OR. Event) Then");
            self.depth += 1;
        } else {
            self.depth -= 1;
            self.line("End If");
        }
    }

    /// The steps of the initial problem, whose relations are no events.
    pub fn start(&mut self) {
        let root = self.schedule.model.paths.root();
        let discrete = self.with_both();
        for &variable in &discrete {
            let start = match self.schedule.model.variables[variable].attributes.start {
                Some(start) => self.value(start, self.names.is_whole(variable)),
                None if self.names.is_logical(variable) => ".FALSE.".to_owned(),
                None if self.names.is_whole(variable) => "0".to_owned(),
                None => "0.0".to_owned(),
            };
            let name = self.names.before(variable, root);
            self.line(format!("{name} = {start}"));
        }
        for step in &self.steps.list {
            match step {
                Step::Assign { assignment, .. } => self.assign(assignment),
                Step::System { system, joined, .. } => self.system(system, joined),
                Step::Relation(_) | Step::Action(_) => {}
            }
        }
        for &variable in &discrete {
            let (new, old) = (self.names.now(variable, root), self.names.before(variable, root));
            self.line(format!("{old} = {new}"));
        }
    }

    /// Discrete variables with a value before and one after an event.
    fn with_both(&self) -> Vec<VarId> {
        self.schedule.model.variables.ids().filter(|&variable| self.names.has_both(variable)).collect()
    }

    pub fn assign(&mut self, assignment: &Assignment) {
        let name = self.name(assignment.variable);
        let is_whole = self.names.is_whole(assignment.variable);
        match kept(self.schedule, assignment.variable, assignment.value) {
            Some((condition, value)) => {
                let condition = self.value(condition, false);
                self.line(format!("If ({condition}) Then"));
                self.depth += 1;
                self.value_of(&name, value, is_whole);
                self.depth -= 1;
                if self.names.has_both(assignment.variable) {
                    self.line("Else");
                    self.depth += 1;
                    let before = self.names.before(assignment.variable, self.schedule.model.paths.root());
                    self.line(format!("{name} = {before}"));
                    self.depth -= 1;
                }
                self.line("End If");
            }
            None => self.value_of(&name, assignment.value, is_whole),
        }
    }

    /// `target = value`, alternatives as statements.
    fn value_of(&mut self, target: &str, value: ExprId, is_whole: bool) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.value_within(target, value, is_whole));
    }

    fn value_within(&mut self, target: &str, mut value: ExprId, is_whole: bool) {
        let exprs = &self.schedule.model.exprs;
        let mut branches = 0;
        while let Node::If { condition, then, otherwise } = exprs.node(value) {
            let aside = self.lines.len();
            let condition = self.value(condition, false);
            // What the condition needs first is only evaluated where it is asked for.
            if branches > 0 && self.lines.len() == aside {
                self.depth -= 1;
                self.lines.pop_if(|(_, text)| text == "Else");
                self.line(format!("Else If ({condition}) Then"));
            } else {
                branches += 1;
                self.line(format!("If ({condition}) Then"));
            }
            self.depth += 1;
            self.value_of(target, then, is_whole);
            self.depth -= 1;
            self.line("Else");
            self.depth += 1;
            value = otherwise;
        }
        let text = self.value(value, is_whole);
        self.line(format!("{target} = {text}"));
        for _ in 0..branches {
            self.depth -= 1;
            self.line("End If");
        }
    }

    /// The text of an expression, after statements for its alternatives and for what is long.
    fn value(&mut self, value: ExprId, is_whole: bool) -> String {
        let mut formula = Formula { is_whole, ..self.formula() };
        for part in self.alternatives(value) {
            let name = self.fresh(self.is_truth(part));
            self.value_of(&name, part, is_whole);
            formula.replaced.insert(part, name);
        }
        for part in formula.long_parts(&[value]) {
            let name = self.fresh(self.is_truth(part));
            let text = formula.text(part);
            self.line(format!("{name} = {text}"));
            formula.replaced.insert(part, name);
        }
        formula.text(value)
    }

    /// The outermost alternatives below an expression.
    fn alternatives(&self, root: ExprId) -> Vec<ExprId> {
        let exprs = &self.schedule.model.exprs;
        let (mut found, mut seen, mut stack) = (Vec::new(), FxHashSet::default(), vec![root]);
        while let Some(id) = stack.pop() {
            if !seen.insert(id) || self.steps.numbers.contains_key(&id) {
                continue;
            }
            if matches!(exprs.node(id), Node::If { .. }) {
                found.push(id);
                continue;
            }
            exprs.for_each_child(id, |child| stack.push(child));
        }
        found
    }

    fn is_truth(&self, mut id: ExprId) -> bool {
        let exprs = &self.schedule.model.exprs;
        while let Node::If { then, .. } = exprs.node(id) {
            id = then;
        }
        match exprs.node(id) {
            Node::Boolean(_) | Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Compare { .. } => true,
            Node::Var(variable) | Node::Pre(variable) | Node::Previous(variable) => self.names.is_logical(variable),
            _ => false,
        }
    }

    fn relation(&mut self, number: usize) {
        let Some(&id) = self.steps.relations.get(number - 1) else { return };
        let Node::Compare { op, left, right, .. } = self.schedule.model.exprs.node(id) else { return };
        let mut formula = self.formula();
        for side in [left, right] {
            for part in self.alternatives(side) {
                let name = self.fresh(false);
                self.value_of(&name, part, false);
                formula.replaced.insert(part, name);
            }
        }
        let residue = formula.difference(left, right);
        let title = residue.replace('\'', "''");
        let time = self.names.time();
        self.line(format!("QRel({number}) = {residue}"));
        self.events(true);
        self.line(format!(
            "Call HandleEvent('{title}', QM({number}), Qp({number}), Qn({number}), QRel({number}), Init, PrintEvent, {time}, AnyEvent)"
        ));
        self.events(false);
        self.line(format!("QZp({number}) = QRel({number}) - Qp({number})"));
        self.line(format!("QZn({number}) = QRel({number}) - Qn({number})"));
        self.line(format!("QL({number}) = QM({number}) .{}. 0", operator(op)));
    }

    fn system(&mut self, system: &EquationSystem, joined: &[&Assignment]) {
        let solved = match joined.is_empty() {
            true => solved::solve(&self.schedule.model.exprs, system, &self.steps.named),
            false => Err(Unsolved::Nonlinear),
        };
        let title = match system.unknowns.len() + joined.len() {
            1 => "Implicit equation".to_owned(),
            size => format!("System of {size} simultaneous equations"),
        };
        match solved {
            Ok(solved) => {
                self.comment(&format!("{title}, solved"));
                self.solved(&solved);
            }
            Err(_) if system.iteration.is_empty() => {
                self.comment(&format!("{title}, iterated until nothing changes"));
                self.iterated(system, joined, "");
            }
            Err(_) => {
                let names: Vec<String> = system.iteration.iter().map(|&variable| self.name(variable)).collect();
                let names = names.join(", ");
                self.comment(&format!("{title}, solved numerically for {names}"));
                self.iterated(system, joined, &names);
            }
        }
        self.comment("End of system");
    }

    fn solved(&mut self, solved: &Solved) {
        let mut symbols = Vec::new();
        let used = solved.used();
        for (place, symbol) in solved.symbols.iter().enumerate() {
            if !used.contains(&(place as u32)) {
                symbols.push(String::new());
                continue;
            }
            let (condition, is_one) = match *symbol {
                Symbol::Expression(id) => {
                    let formula = Formula { named: Some(&self.steps.named), ..self.formula() };
                    let is_short =
                        matches!(self.schedule.model.exprs.node(id), Node::Var(_) | Node::Pre(_) | Node::Time);
                    if is_short || self.steps.named.contains_key(&id) {
                        symbols.push(formula.text(id));
                        continue;
                    }
                    let name = self.fresh(false);
                    self.value_of(&name, id, false);
                    symbols.push(name);
                    continue;
                }
                Symbol::Holds(condition) => (condition, true),
                Symbol::Fails(condition) => (condition, false),
            };
            let name = self.fresh(false);
            let condition = self.value(condition, false);
            let (one, other) = if is_one { ("1.0", "0.0") } else { ("0.0", "1.0") };
            self.line(format!("{name} = {other}"));
            self.line(format!("If ({condition}) {name} = {one}"));
            symbols.push(name);
        }
        let name = |variable: u32| symbols.get(variable as usize).cloned().unwrap_or_default();
        let writing = Writing { symbol: &name, power: "**", has_points: true };
        let functions: Vec<algebra::Rational> = solved.unknowns.iter().map(|(_, value)| value.clone()).collect();
        let (definitions, texts) = quotients::write(&functions, &writing, &mut || self.fresh(false));
        for (name, text) in definitions {
            self.line(format!("{name} = {text}"));
        }
        for ((variable, _), text) in solved.unknowns.iter().zip(texts) {
            let name = self.name(*variable);
            self.line(format!("{name} = {text}"));
        }
    }

    fn iterated(&mut self, system: &EquationSystem, joined: &[&Assignment], names: &str) {
        self.count.labels += 1;
        self.count.residues = self.count.residues.max(system.residuals.len());
        let label = 100 * self.count.labels;
        self.label(label);
        for assignment in &system.inner {
            self.assign(assignment);
        }
        for (place, &residual) in system.residuals.iter().enumerate() {
            self.value_of(&format!("QRes({})", place + 1), residual, false);
        }
        let count = system.residuals.len();
        if count > 0 {
            self.line(format!("Call Newton({count}, QRes, QMore, {names})"));
            self.go_to("QMore", label);
        }
        let mut changed = Vec::new();
        for assignment in &system.discrete {
            let is_truth = self.names.is_logical(assignment.variable);
            let old = self.fresh(is_truth);
            let name = self.name(assignment.variable);
            self.line(format!("{old} = {name}"));
            self.assign(assignment);
            changed.push(format!("{name} {} {old}", if is_truth { ".NEQV." } else { ".NE." }));
        }
        if !changed.is_empty() {
            self.go_to(&changed.join(" .OR. "), label);
        }
        for assignment in joined {
            self.assign(assignment);
        }
    }

    pub fn label(&mut self, label: usize) {
        match self.names.dialect {
            Dialect::Acsl => self.line(format!("L{label}: Continue")),
            _ => self.lines.push((0, format!("{label} Continue"))),
        }
    }

    pub fn go_to(&mut self, condition: &str, label: usize) {
        let name = if self.names.dialect == Dialect::Acsl { format!("L{label}") } else { label.to_string() };
        self.line(format!("If ({condition}) Go To {name}"));
    }

    fn action(&mut self, action: &Action) {
        let condition = action.condition.map(|condition| self.value(condition, false));
        if let Some(condition) = &condition {
            self.line(format!("If ({condition}) Then"));
            self.depth += 1;
        }
        match &action.kind {
            ActionKind::Reinit { state, value } => {
                let name = self.name(*state);
                self.value_of(&name, *value, false);
            }
            ActionKind::Assert { holds, message, .. } => {
                let holds = self.value(*holds, false);
                let message = self.value(*message, false);
                self.line(format!("If (.NOT.({holds})) Call Assert({message})"));
            }
            ActionKind::Terminate { message } => {
                let message = self.value(*message, false);
                self.line(format!("Call Terminate({message})"));
            }
            ActionKind::Call(call) => {
                let call = self.value(*call, false);
                self.line(format!("Call {call}"));
            }
        }
        if condition.is_some() {
            self.depth -= 1;
            self.line("End If");
        }
    }

    /// Discrete variables take their new values; the equations are evaluated again as long as one of them changes.
    pub fn renew(&mut self) {
        let root = self.schedule.model.paths.root();
        for &variable in &self.names.left_limits {
            let (now, before) = (self.names.now(variable, root), self.names.before(variable, root));
            self.line(format!("{before} = {now}"));
        }
        let all = self.with_both();
        if all.is_empty() {
            return;
        }
        self.events(true);
        for variable in all {
            let (new, old) = (self.names.now(variable, root), self.names.before(variable, root));
            let differs = if self.names.is_logical(variable) { ".NEQV." } else { ".NE." };
            self.line(format!("If ({new} {differs} {old}) AnyEvent = .TRUE."));
            self.line(format!("{old} = {new}"));
        }
        self.events(false);
    }
}

/// Lines of at most this length, as the languages want it.
const WIDTH: usize = 72;

/// Statements as text.
pub fn laid_out(lines: &[(usize, String)], dialect: Dialect) -> String {
    let mut out = String::new();
    for (depth, text) in lines {
        let is_label = text.starts_with(|c: char| c.is_ascii_digit());
        match dialect {
            Dialect::Fortran => match (text.strip_prefix("! "), is_label) {
                (Some(comment), _) => out.push_str(&format!("C     {:width$}{comment}\n", "", width = 2 * depth)),
                (None, true) => out.push_str(&format!("{text:>14}\n")),
                (None, false) => wrap(&mut out, &format!("{:width$}", "", width = 6 + 2 * depth), text, "", "     &"),
            },
            Dialect::Acsl | Dialect::Dymola if text.starts_with("! ") => {
                out.push_str(&format!("{:width$}{text}\n", "", width = 2 * depth));
            }
            Dialect::Acsl | Dialect::Dymola => {
                wrap(&mut out, &format!("{:width$}", "", width = 2 * depth), text, " ...", "");
            }
        }
    }
    out
}

/// Breaks a line at blanks outside of quotes, and long products behind their operators.
fn wrap(out: &mut String, indent: &str, text: &str, end: &str, begin: &str) {
    let mut line = indent.to_owned();
    let mut is_empty = true;
    for (word, behind_blank) in words(text) {
        if !is_empty && line.len() + 1 + word.len() + end.len() > WIDTH {
            out.push_str(&line);
            out.push_str(end);
            out.push('\n');
            line = format!("{begin}{}", &format!("{indent}    ")[begin.len()..]);
            is_empty = true;
        }
        if !is_empty && behind_blank {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Places to break at, and whether a blank stands before them; texts in quotes stay whole.
fn words(text: &str) -> Vec<(&str, bool)> {
    let (mut words, mut start, mut in_quotes, mut behind_blank) = (Vec::new(), 0, false, false);
    let bytes = text.as_bytes();
    for (place, character) in text.char_indices() {
        match character {
            '\'' => in_quotes = !in_quotes,
            ' ' if !in_quotes => {
                words.push((&text[start..place], behind_blank));
                start = place + 1;
                behind_blank = true;
            }
            '*' | '/' if !in_quotes && is_operator(bytes, place) => {
                words.push((&text[start..=place], behind_blank));
                start = place + 1;
                behind_blank = false;
            }
            _ => {}
        }
    }
    words.push((&text[start..], behind_blank));
    words
}

/// Whether a sign of a product stands between two operands, and is no part of a power.
fn is_operator(bytes: &[u8], place: usize) -> bool {
    let next = bytes.get(place + 1).is_some_and(|&next| next.is_ascii_alphanumeric() || next == b'(');
    next && place > 0 && bytes[place - 1] != b'*' && bytes[place - 1] != b'('
}

/// Names for a table of declarations.
pub fn declared(schedule: &Schedule, names: &Names<'_>, steps: &Steps<'_>) -> FxHashMap<&'static str, Vec<String>> {
    let mut lists: FxHashMap<&'static str, Vec<String>> = FxHashMap::default();
    let root = schedule.model.paths.root();
    let mut seen: FxHashSet<VarId> = FxHashSet::default();
    let mut add = |variable: VarId| {
        if !seen.insert(variable) {
            return;
        }
        let list = match (names.is_logical(variable), names.is_whole(variable)) {
            (true, _) => "Logical",
            (_, true) => "Integer",
            _ => "Real",
        };
        let list = lists.entry(list).or_default();
        list.push(names.now(variable, root));
        if names.has_both(variable) || names.left_limits.contains(&variable) {
            list.push(names.before(variable, root));
        }
    };
    for step in &steps.list {
        match step {
            Step::Assign { assignment, .. } => add(assignment.variable),
            Step::System { system, joined, .. } => {
                system.unknowns.iter().for_each(|&variable| add(variable));
                joined.iter().for_each(|assignment| add(assignment.variable));
            }
            Step::Relation(_) | Step::Action(_) => {}
        }
    }
    lists
}
