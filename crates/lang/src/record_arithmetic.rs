//! Sums and products of arrays of operator records in the bodies of functions (14.4): each becomes the call of a function
//! with loops over the operators of the record, made once for each operator and number of dimensions.

use std::sync::Arc;

use base::{IdVec, Name, Span};
use dae::FunctionId;
use dae::function::{
    Accessor, ArrayFunction, Body, Expr, Function, Inline, Local, LocalId, Statement, StatementKind, Subscript, Target,
    Type,
};

use crate::elaborate::Elaborator;
use crate::instance::Outcome;
use crate::typed::FunctionKey;

/// Which function: the operators, and the dimensions of the operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum RecordOperation {
    Sum { plus: FunctionKey },
    Product { times: FunctionKey, plus: FunctionKey, left: usize, right: usize },
}

/// The function while it is made.
struct FunctionBuilder {
    locals: IdVec<LocalId, Local>,
    span: Span,
}

impl Elaborator {
    /// The sum of a vector of records; `zero` is that of none.
    pub(crate) fn record_sum_function(
        &mut self,
        plus: FunctionKey,
        zero: Option<Expr>,
        record: &Type,
        span: Span,
    ) -> Outcome<FunctionId> {
        let operation = RecordOperation::Sum { plus };
        if let Some(&known) = self.functions.record_operations.get(&operation) {
            return Ok(known);
        }
        let plus_id = self.flat_function(plus)?;
        let mut builder = FunctionBuilder { locals: IdVec::new(), span };
        let v = builder.local("v", record.clone(), vec![None]);
        let y = builder.local("y", record.clone(), Vec::new());
        let k = builder.local("k", Type::Integer, Vec::new());
        let add = Expr::Call(plus_id, vec![Expr::Local(y), element(v, &[Expr::Local(k)])]);
        let all = vec![
            builder.assign(y, &[], element(v, &[Expr::Integer(1)])),
            builder.count(k, 2, size(v, 1), vec![builder.assign(y, &[], add)]),
        ];
        let body = match zero {
            Some(zero) => {
                let is_empty = Expr::Compare(dae::CompareOp::Equal, Box::new(size(v, 1)), Box::new(Expr::Integer(0)));
                let none = vec![builder.assign(y, &[], zero)];
                vec![builder.statement(StatementKind::If { branches: vec![(is_empty, none)], otherwise: all })]
            }
            None => all,
        };
        let name = Name::new(&format!("{}.sum", self.function(plus).signature.name));
        Ok(self.add_operation(operation, name, builder, &[v], y, body))
    }

    /// The product of vectors and matrices of records.
    pub(crate) fn record_product_function(
        &mut self,
        (times, plus): (FunctionKey, FunctionKey),
        (left, right): (usize, usize),
        record: &Type,
        span: Span,
    ) -> Outcome<FunctionId> {
        let operation = RecordOperation::Product { times, plus, left, right };
        if let Some(&known) = self.functions.record_operations.get(&operation) {
            return Ok(known);
        }
        let (times_id, plus_id) = (self.flat_function(times)?, self.flat_function(plus)?);
        let mut builder = FunctionBuilder { locals: IdVec::new(), span };
        let a = builder.local("a", record.clone(), vec![None; left]);
        let b = builder.local("b", record.clone(), vec![None; right]);
        let mut sizes = Vec::new();
        let (mut row, mut column) = (Vec::new(), Vec::new());
        if left == 2 {
            sizes.push(Some(size(a, 1)));
            row.push(Expr::Local(builder.local("i", Type::Integer, Vec::new())));
        }
        if right == 2 {
            sizes.push(Some(size(b, 2)));
            column.push(Expr::Local(builder.local("j", Type::Integer, Vec::new())));
        }
        let k = builder.local("k", Type::Integer, Vec::new());
        let c = builder.local("c", record.clone(), sizes);
        let place: Vec<Expr> = row.iter().chain(&column).cloned().collect();
        let term = |at: Expr| {
            let x: Vec<Expr> = row.iter().cloned().chain([at.clone()]).collect();
            let y: Vec<Expr> = [at].into_iter().chain(column.iter().cloned()).collect();
            Expr::Call(times_id, vec![element(a, &x), element(b, &y)])
        };
        let so_far = if place.is_empty() { Expr::Local(c) } else { element(c, &place) };
        let sum = Expr::Call(plus_id, vec![so_far, term(Expr::Local(k))]);
        let mut body = vec![
            builder.assign(c, &place, term(Expr::Integer(1))),
            builder.count(k, 2, size(a, left), vec![builder.assign(c, &place, sum)]),
        ];
        for (index, last) in [(column.first(), size(b, 2)), (row.first(), size(a, 1))] {
            if let Some(&Expr::Local(index)) = index {
                body = vec![builder.count(index, 1, last, body)];
            }
        }
        let name = Name::new(&format!("{}.product{left}{right}", self.function(times).signature.name));
        Ok(self.add_operation(operation, name, builder, &[a, b], c, body))
    }

    fn add_operation(
        &mut self,
        operation: RecordOperation,
        name: Name,
        builder: FunctionBuilder,
        inputs: &[LocalId],
        output: LocalId,
        body: Vec<Statement>,
    ) -> FunctionId {
        let id = self.flat.model.functions.push(Arc::new(Function {
            name,
            inputs: inputs.to_vec(),
            outputs: vec![output],
            locals: builder.locals,
            body: Body::Algorithm(body),
            pure: true,
            inline: Inline::Unstated,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span: builder.span,
        }));
        self.functions.record_operations.insert(operation, id);
        id
    }
}

impl FunctionBuilder {
    fn local(&mut self, name: &str, ty: Type, sizes: Vec<Option<Expr>>) -> LocalId {
        self.locals.push(Local { name: Name::new(name), ty, sizes, default: None, span: self.span })
    }

    fn statement(&self, kind: StatementKind) -> Statement {
        Statement { kind, span: self.span }
    }

    fn assign(&self, local: LocalId, place: &[Expr], value: Expr) -> Statement {
        let subscripts: Vec<Subscript> = place.iter().cloned().map(Subscript::Expr).collect();
        let steps = if subscripts.is_empty() { Vec::new() } else { vec![Accessor::Index(subscripts)] };
        self.statement(StatementKind::Assign(Target { local, steps }, value))
    }

    /// `for iterator in from:to loop … end for`.
    fn count(&self, iterator: LocalId, from: i64, to: Expr, body: Vec<Statement>) -> Statement {
        let range = Expr::Range(Box::new(Expr::Integer(from)), None, Box::new(to));
        self.statement(StatementKind::For { iterator, range, body })
    }
}

fn element(array: LocalId, place: &[Expr]) -> Expr {
    Expr::Index(Box::new(Expr::Local(array)), place.iter().cloned().map(Subscript::Expr).collect())
}

fn size(array: LocalId, dimension: usize) -> Expr {
    Expr::Whole(ArrayFunction::Size, vec![Expr::Local(array), Expr::Integer(dimension as i64)])
}
