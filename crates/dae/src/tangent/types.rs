//! Types and numbers of dimensions of expressions, as far as derivatives depend on them.

use base::IdVec;

use crate::function::{ArithmeticOp, ArrayFunction, Expr, Functions, Local, LocalId, Subscript, Type};

/// Where the names of an expression are declared.
pub struct Scope<'a> {
    pub functions: &'a Functions,
    pub locals: &'a IdVec<LocalId, Local>,
}

impl Scope<'_> {
    /// The type of a place, a call or what is made of them; `None` for operations, which are numbers.
    pub fn type_of(&self, expr: &Expr) -> Option<Type> {
        match expr {
            Expr::Local(local) => self.locals.get(*local).map(|local| local.ty.clone()),
            Expr::Index(inner, _) | Expr::If(_, inner, _) | Expr::ArrayFor { element: inner, .. } => {
                self.type_of(inner)
            }
            Expr::Array(items) => self.type_of(items.first()?),
            Expr::Whole(ArrayFunction::Fill, arguments) => self.type_of(arguments.first()?),
            Expr::Whole(ArrayFunction::Cat, arguments) => self.type_of(arguments.get(1)?),
            Expr::Field(base, index) => match self.type_of(base)? {
                Type::Record(record) => record.fields.get(*index as usize).map(|field| field.ty.clone()),
                _ => None,
            },
            Expr::Call(id, _) | Expr::Vectorized { function: id, .. } => {
                let function = self.functions.get(*id)?;
                function.locals.get(*function.outputs.first()?).map(|local| local.ty.clone())
            }
            Expr::CallLocal(local, _) => match &self.locals.get(*local)?.ty {
                Type::Function(function) => function.outputs.first().map(|output| output.ty.clone()),
                _ => None,
            },
            Expr::Record(record, _) => Some(Type::Record(record.clone())),
            Expr::Unset(ty) => Some(ty.clone()),
            _ => None,
        }
    }

    /// How many dimensions the value of an expression has.
    pub fn dimensions(&self, expr: &Expr) -> usize {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.count(expr))
    }

    fn most(&self, exprs: &[Expr]) -> usize {
        exprs.iter().map(|expr| self.dimensions(expr)).max().unwrap_or(0)
    }

    fn count(&self, expr: &Expr) -> usize {
        match expr {
            Expr::Local(local) => self.locals.get(*local).map_or(0, |local| local.sizes.len()),
            Expr::Index(base, subscripts) => {
                let is_one = |s: &&Subscript| matches!(s, Subscript::Expr(at) if self.dimensions(at) == 0);
                self.dimensions(base).saturating_sub(subscripts.iter().filter(is_one).count())
            }
            Expr::Field(base, index) => {
                let own = match self.type_of(base) {
                    Some(Type::Record(record)) => record.fields.get(*index as usize).map_or(0, |f| f.sizes.len()),
                    _ => 0,
                };
                self.dimensions(base) + own
            }
            Expr::Neg(a) | Expr::Not(a) | Expr::If(_, a, _) => self.dimensions(a),
            Expr::Arithmetic(ArithmeticOp::Mul, a, b) => match (self.dimensions(a), self.dimensions(b)) {
                (0, n) | (n, 0) => n,
                (a, b) => (a + b).saturating_sub(2),
            },
            Expr::Arithmetic(_, a, b) | Expr::Elementwise(_, a, b) => self.dimensions(a).max(self.dimensions(b)),
            Expr::Array(items) => 1 + items.first().map_or(0, |item| self.dimensions(item)),
            Expr::Range(..) => 1,
            Expr::ArrayFor { element, iterators } => iterators.len() + self.dimensions(element),
            Expr::Reduction { element, .. } => self.dimensions(element),
            Expr::Builtin(_, arguments) => self.most(arguments),
            Expr::Whole(function, arguments) => self.whole(*function, arguments),
            Expr::Call(id, _) => self.output_dimensions(*id),
            Expr::CallLocal(local, _) => match self.locals.get(*local).map(|local| &local.ty) {
                Some(Type::Function(function)) => function.outputs.first().map_or(0, |output| output.sizes.len()),
                _ => 0,
            },
            Expr::Vectorized { function: id, arguments, over } => {
                let marked = over.iter().position(|&over| over).unwrap_or(0);
                let own = self.functions.get(*id).and_then(|f| f.locals.get(*f.inputs.get(marked)?));
                let all = arguments.get(marked).map_or(0, |argument| self.dimensions(argument));
                all.saturating_sub(own.map_or(0, |local| local.sizes.len())) + self.output_dimensions(*id)
            }
            _ => 0,
        }
    }

    fn output_dimensions(&self, id: crate::function::FunctionId) -> usize {
        let output = self.functions.get(id).and_then(|function| function.locals.get(*function.outputs.first()?));
        output.map_or(0, |local| local.sizes.len())
    }

    fn whole(&self, function: ArrayFunction, arguments: &[Expr]) -> usize {
        use ArrayFunction::*;
        let first = || arguments.first().map_or(0, |argument| self.dimensions(argument));
        match function {
            Size => usize::from(arguments.len() == 1),
            Vector | Linspace | Cross => 1,
            Matrix | Identity | Diagonal | OuterProduct | Symmetric | Skew => 2,
            Zeros | Ones => arguments.len(),
            Fill => first() + arguments.len().saturating_sub(1),
            Min | Max if arguments.len() == 2 => self.most(arguments),
            Transpose | Integer => first(),
            Cat => arguments.get(1).map_or(0, |argument| self.dimensions(argument)),
            Promote => match arguments.get(1) {
                Some(Expr::Integer(count)) => usize::try_from(*count).unwrap_or(0),
                _ => first(),
            },
            _ => 0,
        }
    }
}
