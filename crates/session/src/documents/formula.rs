//! Expressions as text, in the notation of the language Dymola or of Fortran.
//!
//! Written with an explicit stack, like the printer of Modelica text: depth does not grow the call stack. What is long gets a name of
//! its own first (`Formula::long_parts`), because a shared expression can be exponentially long when it is written out.

use dae::{Builtin, CompareOp, ExprId, Node, PathId, VarId};
use rustc_hash::FxHashMap;

use super::names::{Dialect, Names};

/// How an expression is to be written at its place.
pub struct Formula<'f> {
    pub names: &'f Names<'f>,
    /// Names are relative to this component, in the listing.
    pub component: PathId,
    /// Relations that have a number.
    pub relations: Option<&'f FxHashMap<ExprId, usize>>,
    /// Expressions that have a name.
    pub named: Option<&'f FxHashMap<ExprId, VarId>>,
    /// Parts that were computed before.
    pub replaced: FxHashMap<ExprId, String>,
    /// The unknown of the equation, in brackets.
    pub marked: Option<VarId>,
    /// The value is a whole number.
    pub is_whole: bool,
}

/// How strongly an expression holds together; what is weaker than its place gets parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Whole,
    Or,
    And,
    Not,
    Relation,
    Sum,
    Product,
    Power,
    Primary,
}

enum Item {
    Expression(ExprId, Strength),
    Text(&'static str),
    Owned(String),
}

use Item::{Expression, Text};

/// A part that is longer than this has a name of its own.
const LONG: usize = 600;

impl<'f> Formula<'f> {
    pub fn new(names: &'f Names<'f>, component: PathId) -> Self {
        Self {
            names,
            component,
            relations: None,
            named: None,
            replaced: FxHashMap::default(),
            marked: None,
            is_whole: false,
        }
    }

    /// Parts that are too long to be written inside of others, those that others need first.
    pub fn long_parts(&self, roots: &[ExprId]) -> Vec<ExprId> {
        let exprs = &self.names.model.exprs;
        let mut lengths: FxHashMap<ExprId, usize> = FxHashMap::default();
        let mut long = Vec::new();
        for id in exprs.postorder(roots) {
            if self.short_form(id).is_some() {
                lengths.insert(id, 8);
                continue;
            }
            let mut length = 8;
            exprs.for_each_child(id, |child| length += lengths.get(&child).copied().unwrap_or(8));
            if length > LONG && !roots.contains(&id) {
                long.push(id);
                length = 8;
            }
            lengths.insert(id, length);
        }
        long
    }

    /// A name that stands for the whole expression.
    fn short_form(&self, id: ExprId) -> Option<String> {
        if let Some(text) = self.replaced.get(&id) {
            return Some(text.clone());
        }
        if let Some(&variable) = self.named.and_then(|named| named.get(&id)) {
            return Some(self.variable(variable));
        }
        self.relations.and_then(|relations| relations.get(&id)).map(|number| format!("QL({number})"))
    }

    fn variable(&self, variable: VarId) -> String {
        let name = self.names.now(variable, self.component);
        if self.marked == Some(variable) { format!("[{name}]") } else { name }
    }

    pub fn text(&self, expression: ExprId) -> String {
        self.text_of(vec![Expression(expression, Strength::Whole)])
    }

    /// `left - right`, the residue of a relation.
    pub fn difference(&self, left: ExprId, right: ExprId) -> String {
        match self.names.model.exprs.node(right) {
            node if is_zero(node) => self.text(left),
            Node::Neg(right) => {
                self.text_of(vec![Expression(right, Strength::Product), Text(" + "), Expression(left, Strength::Sum)])
            }
            Node::Real(value) if value < 0.0 => {
                self.text_of(vec![Item::Owned(self.real(-value)), Text(" + "), Expression(left, Strength::Sum)])
            }
            _ => self.text_of(vec![Expression(right, Strength::Product), Text(" - "), Expression(left, Strength::Sum)]),
        }
    }

    fn text_of(&self, mut stack: Vec<Item>) -> String {
        let mut out = String::new();
        while let Some(item) = stack.pop() {
            match item {
                Text(text) => out.push_str(text),
                Item::Owned(text) => out.push_str(&text),
                Expression(id, least) => {
                    if let Some(short) = self.short_form(id) {
                        out.push_str(&short);
                        continue;
                    }
                    let node = self.names.model.exprs.node(id);
                    let mut parts = self.parts(node);
                    if self.strength(node) < least {
                        parts.insert(0, Text("("));
                        parts.push(Text(")"));
                    }
                    stack.extend(parts.into_iter().rev());
                }
            }
        }
        out
    }

    fn is_dymola(&self) -> bool {
        self.names.dialect == Dialect::Dymola
    }

    fn parts(&self, node: Node) -> Vec<Item> {
        use Strength::{And, Not, Or, Power, Primary, Product, Relation, Sum, Whole};
        let word = |dymola: &'static str, fortran: &'static str| Text(if self.is_dymola() { dymola } else { fortran });
        match node {
            Node::Real(value) => vec![Item::Owned(self.real(value))],
            Node::Integer(value) if self.is_dymola() || self.is_whole => vec![Item::Owned(value.to_string())],
            Node::Integer(value) => vec![Item::Owned(format!("{value}.0"))],
            Node::Boolean(value) => vec![match value {
                true => word("True", ".TRUE."),
                false => word("False", ".FALSE."),
            }],
            Node::String(text) => vec![Item::Owned(format!("'{}'", text.as_str().replace('\'', "''")))],
            Node::Time => vec![Text(self.names.time())],
            Node::Var(variable) => vec![Item::Owned(self.variable(variable))],
            Node::Der(variable) => vec![Item::Owned(format!("der({})", self.variable(variable)))],
            Node::Pre(variable) | Node::Previous(variable) => {
                vec![Item::Owned(self.names.before(variable, self.component))]
            }
            Node::Neg(a) => vec![Text("-"), Expression(a, Product)],
            Node::Add(a, b) => vec![Expression(a, Sum), Text(" + "), Expression(b, Product)],
            Node::Sub(a, b) => vec![Expression(a, Sum), Text(" - "), Expression(b, Product)],
            Node::Mul(a, b) => vec![Expression(a, Product), Text("*"), Expression(b, Power)],
            Node::Div(a, b) => vec![Expression(a, Product), Text("/"), Expression(b, Power)],
            Node::Pow(a, b) => vec![Expression(a, Primary), word("^", "**"), self.exponent(b)],
            Node::Not(a) => {
                vec![word("not ", ".NOT."), Expression(a, if self.is_dymola() { Relation } else { Primary })]
            }
            Node::And(a, b) => vec![Expression(a, And), word(" and ", " .AND. "), Expression(b, Not)],
            Node::Or(a, b) => vec![Expression(a, Or), word(" or ", " .OR. "), Expression(b, And)],
            Node::Compare { op, left, right, .. } => {
                vec![Expression(left, Sum), self.relation(op, left, right), Expression(right, Sum)]
            }
            Node::If { condition, then, otherwise } => vec![
                Text("if "),
                Expression(condition, Or),
                Text(" then "),
                Expression(then, Or),
                Text(" else "),
                Expression(otherwise, Whole),
            ],
            Node::Builtin(builtin, args) => self.call(&self.function(builtin), self.names.model.exprs.arguments(args)),
            Node::Call { site, args, output } => {
                let exprs = &self.names.model.exprs;
                let function = self.names.model.functions.get(exprs.call_site(site).function);
                let mut name = function.map_or("?", |function| function.name.as_str()).to_owned();
                if !self.is_dymola() {
                    name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                }
                if output > 0 {
                    name = format!("{name}_{}", output + 1);
                }
                self.call(&name, exprs.arguments(args))
            }
        }
    }

    fn call(&self, name: &str, arguments: &[ExprId]) -> Vec<Item> {
        let mut parts = vec![Item::Owned(format!("{name}("))];
        for (place, &argument) in arguments.iter().enumerate() {
            if place > 0 {
                parts.push(Text(", "));
            }
            parts.push(Expression(argument, Strength::Whole));
        }
        parts.push(Text(")"));
        parts
    }

    fn exponent(&self, exponent: ExprId) -> Item {
        // A whole exponent is one in Fortran too, where it is defined for bases below zero.
        match self.names.model.exprs.node(exponent) {
            Node::Real(value) if value.fract() == 0.0 && (0.0..100.0).contains(&value) => {
                Item::Owned(format!("{value:.0}"))
            }
            Node::Integer(value) if value >= 0 => Item::Owned(value.to_string()),
            _ => Expression(exponent, Strength::Primary),
        }
    }

    fn real(&self, value: f64) -> String {
        // Zero has no sign for a reader.
        let text = format!("{:?}", if value == 0.0 { 0.0 } else { value });
        match self.is_dymola() {
            true => text.strip_suffix(".0").unwrap_or(&text).to_owned(),
            false if text.contains('.') => text.replace('e', "E"),
            false => text.replace('e', ".0E"),
        }
    }

    fn relation(&self, op: CompareOp, left: ExprId, right: ExprId) -> Item {
        let logical = |id: ExprId| match self.names.model.exprs.node(id) {
            Node::Var(variable) | Node::Pre(variable) => self.names.is_logical(variable),
            Node::Boolean(_) | Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Compare { .. } => true,
            _ => false,
        };
        Text(match (op, self.is_dymola()) {
            (CompareOp::Less, true) => " < ",
            (CompareOp::LessEqual, true) => " <= ",
            (CompareOp::Greater, true) => " > ",
            (CompareOp::GreaterEqual, true) => " >= ",
            (CompareOp::Equal, true) => " == ",
            (CompareOp::NotEqual, true) => " <> ",
            (CompareOp::Less, false) => " .LT. ",
            (CompareOp::LessEqual, false) => " .LE. ",
            (CompareOp::Greater, false) => " .GT. ",
            (CompareOp::GreaterEqual, false) => " .GE. ",
            (CompareOp::Equal, false) if logical(left) || logical(right) => " .EQV. ",
            (CompareOp::NotEqual, false) if logical(left) || logical(right) => " .NEQV. ",
            (CompareOp::Equal, false) => " .EQ. ",
            (CompareOp::NotEqual, false) => " .NE. ",
        })
    }

    fn function(&self, builtin: Builtin) -> String {
        let name = dae::print::name_of(builtin);
        if self.is_dymola() {
            return if builtin == Builtin::Log { "ln".to_owned() } else { name.to_owned() };
        }
        // Functions of Modelica that Fortran does not have, or has with another meaning, keep apart by their names.
        match builtin.elementary().map(|known| known.builtin) {
            Some(Builtin::Sign) => "QSign".to_owned(),
            Some(Builtin::Floor) => "QFloor".to_owned(),
            Some(Builtin::Ceil) => "QCeil".to_owned(),
            Some(Builtin::Div) => "QDiv".to_owned(),
            Some(Builtin::Mod) => "QMod".to_owned(),
            Some(Builtin::Rem) => "QRem".to_owned(),
            Some(_) => name.to_ascii_uppercase(),
            None => name.to_owned(),
        }
    }

    fn strength(&self, node: Node) -> Strength {
        match node {
            Node::If { .. } => Strength::Whole,
            Node::Or(..) => Strength::Or,
            Node::And(..) => Strength::And,
            Node::Not(_) => Strength::Not,
            Node::Compare { .. } => Strength::Relation,
            Node::Add(..) | Node::Sub(..) | Node::Neg(_) => Strength::Sum,
            Node::Real(value) if value < 0.0 => Strength::Sum,
            Node::Integer(value) if value < 0 => Strength::Sum,
            Node::Mul(..) | Node::Div(..) => Strength::Product,
            Node::Pow(..) => Strength::Power,
            _ => Strength::Primary,
        }
    }
}

fn is_zero(node: Node) -> bool {
    matches!(node, Node::Real(0.0) | Node::Integer(0))
}
