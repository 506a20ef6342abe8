//! Operators and functions that the language defines itself (3.7, 10.3, chapters 15 to 17), by name.

use std::sync::Arc;

use base::{Diagnostic, Name, Span};
use dae::expr::Builtin;
use dae::function::{ArrayFunction, ReductionOp};
use dae::{Elementary, Variability};
use syntax::ast;

use super::calls::Argument;
use super::{Context, Outermost, Typer, convert, highest, literal, to_real, unify, wrong};
use crate::lookup::Resolved;
use crate::typed::{Base, Expr, Kind, Operator, Type};

/// Names that stand for the operator whatever is declared.
pub fn is_reserved(name: Name) -> bool {
    matches!(
        name.as_str(),
        "der"
            | "pre"
            | "edge"
            | "change"
            | "noEvent"
            | "smooth"
            | "initial"
            | "terminal"
            | "size"
            | "ndims"
            | "String"
            | "Integer"
            | "pure"
    )
}

/// Names that stand for the operator where nothing else of the name is found.
pub fn is_builtin(name: Name) -> bool {
    is_reserved(name)
        || math(name.as_str()).is_some()
        || matches!(
            name.as_str(),
            "Clock"
                | "abs"
                | "sign"
                | "floor"
                | "ceil"
                | "integer"
                | "div"
                | "mod"
                | "rem"
                | "min"
                | "max"
                | "sum"
                | "product"
                | "scalar"
                | "vector"
                | "matrix"
                | "identity"
                | "diagonal"
                | "zeros"
                | "ones"
                | "fill"
                | "linspace"
                | "transpose"
                | "outerProduct"
                | "symmetric"
                | "cross"
                | "skew"
                | "cat"
                | "promote"
                | "array"
                | "sample"
                | "delay"
                | "homotopy"
                | "semiLinear"
                | "spatialDistribution"
                | "cardinality"
                | "inStream"
                | "actualStream"
                | "getInstanceName"
                | "previous"
                | "hold"
                | "subSample"
                | "superSample"
                | "shiftSample"
                | "backSample"
                | "noClock"
                | "interval"
                | "firstTick"
                | "activeState"
                | "ticksInState"
                | "timeInState"
                | "rooted"
        )
}

pub fn is_connections(name: Name) -> bool {
    matches!(
        name.as_str(),
        "branch" | "root" | "potentialRoot" | "isRoot" | "rooted" | "uniqueRoot" | "uniqueRootIndices"
    )
}

fn math(name: &str) -> Option<Builtin> {
    Elementary::named(name).filter(|known| known.is_mathematical).map(|known| known.builtin)
}

impl Typer<'_> {
    pub(super) fn builtin(&mut self, name: Name, arguments: &ast::Arguments, span: Span) -> Expr {
        if !arguments.iterators.is_empty() {
            return self.reduction(name, arguments, span);
        }
        match name.as_str() {
            "String" => return self.string(arguments, span),
            "size" => {
                if let Some(size) = self.size_of_type(arguments, span) {
                    return size;
                }
            }
            "spatialDistribution" => {
                return self.spatial(arguments, span);
            }
            "pure" => {
                // `pure(impureFunction(…))` lifts the restriction on impure calls (12.3).
                return match arguments.positional.as_slice() {
                    [ast::FunctionArgument::Expr(inner)] if matches!(inner.kind, ast::ExprKind::Call { .. }) => {
                        let outside = std::mem::replace(&mut self.declared_pure, true);
                        let value = self.expr(inner);
                        self.declared_pure = outside;
                        value
                    }
                    _ => self.error(span, "wrong-arguments", "`pure` takes one call of a function"),
                };
            }
            _ => {}
        }
        let order: &[&str] = match name.as_str() {
            "homotopy" => &["actual", "simplified"],
            "Clock" => self.clock_parameters(arguments),
            "subSample" | "superSample" => &["u", "factor"],
            "shiftSample" => &["u", "shiftCounter", "resolution"],
            "backSample" => &["u", "backCounter", "resolution"],
            "sample" => &["start", "interval"],
            "delay" => &["expr", "delayTime", "delayMax"],
            _ => &[],
        };
        let outer = std::mem::replace(&mut self.connections, name == "cardinality" || name == "rooted");
        let typed = self.arguments(arguments, None);
        self.connections = outer;
        let Some(typed) = self.by_position(name, typed, order) else { return wrong(span) };
        if typed.iter().any(|argument| argument.ty.is_unknown()) {
            return wrong(span);
        }
        if let Some(record) = self.builtin_on_records(name, &typed, span) {
            return record;
        }
        self.builtin_on(name, typed, span)
    }

    /// `Clock` has several forms; the names of its arguments tell which.
    fn clock_parameters(&self, arguments: &ast::Arguments) -> &'static [&'static str] {
        let has = |wanted: &str| arguments.named.iter().any(|(name, _)| name.name == wanted);
        if has("resolution") || has("intervalCounter") {
            &["intervalCounter", "resolution"]
        } else if has("startInterval") || has("condition") {
            &["condition", "startInterval"]
        } else if has("solverMethod") || has("c") {
            &["c", "solverMethod"]
        } else {
            &["interval"]
        }
    }

    fn by_position(&mut self, name: Name, arguments: Vec<Argument>, order: &[&str]) -> Option<Vec<Expr>> {
        let mut slots: Vec<Option<Expr>> = Vec::new();
        for argument in arguments {
            let at = match argument.name {
                None => slots.len(),
                Some(ident) => match order.iter().position(|&known| ident.name == known) {
                    Some(at) => at,
                    None => {
                        self.error(ident.span, "unknown-argument", format!("`{name}` has no input `{}`", ident.name));
                        return None;
                    }
                },
            };
            while slots.len() <= at {
                slots.push(None);
            }
            slots[at] = Some(argument.value);
        }
        slots.into_iter().collect()
    }

    fn count_wrong(&mut self, name: Name, count: usize, wanted: &str, span: Span) -> Expr {
        self.error(span, "wrong-arguments", format!("`{name}` takes {wanted}, not {count} arguments"))
    }

    pub(crate) fn builtin_on(&mut self, name: Name, mut args: Vec<Expr>, span: Span) -> Expr {
        let count = args.len();
        let variability = highest(&args);
        if let Some(op) = math(name.as_str()) {
            let wanted = if op == Builtin::Atan2 { 2 } else { 1 };
            if count != wanted {
                return self.count_wrong(name, count, if wanted == 1 { "one argument" } else { "two arguments" }, span);
            }
            return self.elementwise_builtin(name, op, args, true, span);
        }
        match (name.as_str(), args.as_mut_slice()) {
            ("abs", [_]) => self.elementwise_builtin(name, Builtin::Abs, args, false, span),
            ("sign", [_]) => {
                let result = self.elementwise_builtin(name, Builtin::Sign, args, false, span);
                let ty = Type::new(Base::Integer, result.ty.rank);
                if result.ty.is_unknown() { result } else { Expr { ty, ..result } }
            }
            ("floor", [_]) => self.stepping(name, Builtin::Floor, args, true, span),
            ("ceil", [_]) => self.stepping(name, Builtin::Ceil, args, true, span),
            ("integer", [only]) => {
                if matches!(only.ty.base, Base::Enumeration(_) | Base::Boolean) {
                    return self.to_integer(args.swap_remove(0), span);
                }
                let result = self.elementwise_builtin(name, Builtin::Floor, args, true, span);
                if result.ty.is_unknown() {
                    return result;
                }
                let ty = Type::new(Base::Integer, result.ty.rank);
                let kind = Kind::Whole(ArrayFunction::Integer, vec![result]);
                Expr { kind, ty, variability: self.discrete(variability), span }
            }
            ("div", [_, _]) => self.stepping(name, Builtin::Div, args, false, span),
            ("mod", [_, _]) => self.elementwise_builtin(name, Builtin::Mod, args, false, span),
            ("rem", [_, _]) => self.elementwise_builtin(name, Builtin::Rem, args, false, span),
            ("min", [_, _]) => self.minimum(name, Builtin::Min, args, span),
            ("max", [_, _]) => self.minimum(name, Builtin::Max, args, span),
            ("min" | "max" | "sum" | "product", [only]) if only.ty.rank == 0 && !only.ty.is_unknown() => {
                let message = format!("`{name}` needs an array, and this is a scalar");
                self.error(only.span, "wrong-type", message)
            }
            ("min" | "max" | "sum" | "product", [only]) if matches!(only.ty.base, Base::String) => {
                let message = format!("`{name}` of elements of type `String`");
                self.error(only.span, "type-mismatch", message)
            }
            ("min", [_]) => self.extremum(ArrayFunction::Min, args.swap_remove(0), span),
            ("max", [_]) => self.extremum(ArrayFunction::Max, args.swap_remove(0), span),
            ("sum", [_]) => self.whole(ArrayFunction::Sum, args, 0, span),
            ("product", [_]) => self.whole(ArrayFunction::Product, args, 0, span),
            ("size", _) => self.size(args, span),
            ("ndims", [only]) => literal(Kind::Integer(only.ty.rank as i64), Type::INTEGER, span),
            ("scalar", [_]) => self.whole(ArrayFunction::Scalar, args, 0, span),
            ("vector", [_]) => self.whole(ArrayFunction::Vector, args, 1, span),
            ("matrix", [_]) => self.whole(ArrayFunction::Matrix, args, 2, span),
            ("identity", [only]) => {
                let size = std::mem::replace(only, wrong(span));
                let size = self.expect(size, &Type::INTEGER, "the size");
                let kind = Kind::Whole(ArrayFunction::Identity, vec![size]);
                Expr { kind, ty: Type::new(Base::Integer, 2), variability, span }
            }
            ("diagonal", [_]) => self.whole(ArrayFunction::Diagonal, args, 2, span),
            ("zeros" | "ones", [_, ..]) => {
                let op = if name == "zeros" { ArrayFunction::Zeros } else { ArrayFunction::Ones };
                let sizes = self.sizes(args);
                let ty = Type::new(Base::Integer, count);
                Expr { kind: Kind::Whole(op, sizes), ty, variability, span }
            }
            ("fill", [_, _, ..]) => {
                let value = args.remove(0);
                let ty = value.ty.with_rank(value.ty.rank + count - 1);
                let mut all = vec![value];
                all.extend(self.sizes(args));
                Expr { kind: Kind::Whole(ArrayFunction::Fill, all), ty, variability, span }
            }
            ("linspace", [_, _, _]) => {
                let points = args.remove(2);
                let mut all: Vec<Expr> =
                    args.into_iter().map(|end| self.expect(end, &Type::REAL, "an end of `linspace`")).collect();
                all.push(self.expect(points, &Type::INTEGER, "the number of points"));
                let kind = Kind::Whole(ArrayFunction::Linspace, all);
                Expr { kind, ty: Type::new(Base::Real, 1), variability, span }
            }
            ("transpose", [only]) => {
                let rank = only.ty.rank;
                if rank < 2 {
                    let message = format!("`transpose` needs a matrix, not `{}`", only.ty.text());
                    return self.error(span, "type-mismatch", message);
                }
                self.whole(ArrayFunction::Transpose, args, rank, span)
            }
            ("outerProduct", [_, _]) => self.vectors(ArrayFunction::OuterProduct, args, 2, span),
            ("cross", [_, _]) => self.vectors(ArrayFunction::Cross, args, 1, span),
            ("skew", [_]) => self.vectors(ArrayFunction::Skew, args, 2, span),
            ("symmetric", [_]) => self.whole(ArrayFunction::Symmetric, args, 2, span),
            ("cat", [_, _, ..]) => self.cat(args, span),
            ("promote", [_, _]) => {
                let Kind::Integer(rank) = args[1].kind else {
                    return self.error(span, "type-mismatch", "the number of dimensions must be a literal");
                };
                let rank = rank.max(0) as usize;
                let ty = args[0].ty.with_rank(rank);
                Expr { kind: Kind::Whole(ArrayFunction::Promote, args), ty, variability, span }
            }
            ("array", [_, ..]) => self.array(args, span),
            ("Integer", [_]) => self.to_integer(args.swap_remove(0), span),
            _ => self.operator(name, args, span),
        }
    }

    /// A function that changes at events only (3.8.4).
    fn stepping(&mut self, name: Name, op: Builtin, args: Vec<Expr>, real: bool, span: Span) -> Expr {
        let result = self.elementwise_builtin(name, op, args, real, span);
        Expr { variability: self.discrete(result.variability), ..result }
    }

    fn discrete(&self, variability: Variability) -> Variability {
        if self.context == Context::Model { variability.min(Variability::Discrete) } else { variability }
    }

    /// A function of numbers that is applied to each element of arrays (12.4.6).
    fn elementwise_builtin(&mut self, name: Name, op: Builtin, args: Vec<Expr>, real: bool, span: Span) -> Expr {
        let variability = highest(&args);
        let mut rank = 0;
        let mut integer = !real;
        for argument in &args {
            if !argument.ty.is_numeric() {
                let message = format!("`{name}` needs numbers, not `{}`", argument.ty.text());
                return self.error(argument.span, "type-mismatch", message);
            }
            if argument.ty.rank > 0 && rank > 0 && argument.ty.rank != rank {
                let message = format!("the arguments of `{name}` have different dimensions");
                return self.error(argument.span, "type-mismatch", message);
            }
            rank = rank.max(argument.ty.rank);
            integer &= matches!(argument.ty.base, Base::Integer);
        }
        let args = if integer { args } else { args.into_iter().map(to_real).collect() };
        let base = if integer { Base::Integer } else { Base::Real };
        Expr { kind: Kind::Builtin(op, args), ty: Type::new(base, rank), variability, span }
    }

    fn minimum(&mut self, name: Name, op: Builtin, args: Vec<Expr>, span: Span) -> Expr {
        let variability = highest(&args);
        let base = unify(&args[0].ty.with_rank(0), &args[1].ty.with_rank(0));
        let Some(ty) =
            base.filter(|ty| matches!(ty.base, Base::Real | Base::Integer | Base::Boolean | Base::Enumeration(_)))
        else {
            let message = format!("`{name}` of `{}` and `{}`", args[0].ty.text(), args[1].ty.text());
            return self.error(span, "type-mismatch", message);
        };
        let rank = args[0].ty.rank.max(args[1].ty.rank);
        let args = args
            .into_iter()
            .map(|argument| {
                let ty = ty.with_rank(argument.ty.rank);
                convert(argument, &ty)
            })
            .collect();
        Expr { kind: Kind::Builtin(op, args), ty: ty.with_rank(rank), variability, span }
    }

    /// A function on whole arrays that keeps the type of the elements.
    /// `min` or `max` of an array. In a function an empty one does not know its type, and Booleans and enumerations end in
    /// literals of their own: what an empty array gives (10.3.4) stands before the others then.
    fn extremum(&mut self, op: ArrayFunction, array: Expr, span: Span) -> Expr {
        let first = match &array.ty.base {
            _ if self.context != Context::Function => None,
            Base::Boolean => Some(Kind::Boolean(op == ArrayFunction::Min)),
            Base::Enumeration(enumeration) => {
                let last = enumeration.literals.len() as i64;
                Some(Kind::Enumeration(if op == ArrayFunction::Min { last } else { 1 }))
            }
            _ => None,
        };
        let Some(first) = first else { return self.whole(op, vec![array], 0, span) };
        let first = self.array(vec![literal(first, array.ty.with_rank(0), span)], span);
        let vector = self.whole(ArrayFunction::Vector, vec![array], 1, span);
        let dimension = literal(Kind::Integer(1), Type::INTEGER, span);
        let all = self.cat(vec![dimension, first, vector], span);
        self.whole(op, vec![all], 0, span)
    }

    fn whole(&mut self, op: ArrayFunction, args: Vec<Expr>, rank: usize, span: Span) -> Expr {
        let variability = highest(&args);
        let ty = args[0].ty.with_rank(rank);
        Expr { kind: Kind::Whole(op, args), ty, variability, span }
    }

    fn vectors(&mut self, op: ArrayFunction, args: Vec<Expr>, rank: usize, span: Span) -> Expr {
        let variability = highest(&args);
        let mut base = Base::Integer;
        for argument in &args {
            if !argument.ty.is_numeric() || argument.ty.rank != 1 {
                let message = format!("a vector of numbers is needed, not `{}`", argument.ty.text());
                return self.error(argument.span, "type-mismatch", message);
            }
            if matches!(argument.ty.base, Base::Real) {
                base = Base::Real;
            }
        }
        let args = if base == Base::Real { args.into_iter().map(to_real).collect() } else { args };
        Expr { kind: Kind::Whole(op, args), ty: Type::new(base, rank), variability, span }
    }

    fn sizes(&mut self, args: Vec<Expr>) -> Vec<Expr> {
        args.into_iter().map(|size| self.expect(size, &Type::INTEGER, "a size")).collect()
    }

    fn size(&mut self, mut args: Vec<Expr>, span: Span) -> Expr {
        // The sizes of an instance never change.
        let own = args.first().map_or(Variability::Parameter, |array| array.variability);
        let variability = if self.context == Context::Model { own.min(Variability::Parameter) } else { own };
        match args.as_mut_slice() {
            [_] => Expr {
                kind: Kind::Whole(ArrayFunction::Size, args),
                ty: Type::new(Base::Integer, 1),
                variability,
                span,
            },
            [array, dimension] => {
                if let Kind::Integer(k) = dimension.kind {
                    if k < 1 || k as usize > array.ty.rank {
                        let message = format!("`{}` has no dimension {k}", array.ty.text());
                        return self.error(span, "no-dimension", message);
                    }
                    let kind = Kind::SizeOf(Box::new(std::mem::replace(array, wrong(span))), k as u32 - 1);
                    return Expr { kind, ty: Type::INTEGER, variability, span };
                }
                let dimension = args.swap_remove(1);
                let dimension = self.expect(dimension, &Type::INTEGER, "the dimension");
                let variability = variability.max(dimension.variability);
                args.push(dimension);
                Expr { kind: Kind::Whole(ArrayFunction::Size, args), ty: Type::INTEGER, variability, span }
            }
            _ => self.error(span, "wrong-arguments", "`size` takes an array and perhaps a dimension"),
        }
    }

    /// `size(E, 1)` of an enumeration or of Boolean: how many values there are. A type is no array, but it is the size of a
    /// dimension.
    fn size_of_type(&mut self, arguments: &ast::Arguments, span: Span) -> Option<Expr> {
        let [ast::FunctionArgument::Expr(first), ast::FunctionArgument::Expr(second)] = arguments.positional.as_slice()
        else {
            return None;
        };
        let (ast::ExprKind::Ref(reference), ast::ExprKind::Integer(1)) = (&first.kind, &second.kind) else {
            return None;
        };
        let local =
            reference.parts.first().is_some_and(|part| !reference.global && self.visible(part.ident.name).is_some());
        if local {
            return None;
        }
        let Ok(Resolved::Class(class)) = self.elaborator.instances.lookup_reference(self.scope, reference) else {
            return None;
        };
        let values = self.values_of_class(class, first.span)?;
        let Kind::Array(items) = &values.kind else { return None };
        let count = items.len() as i64;
        let diagnostic = Diagnostic::breach("size-of-type", "`size` takes an array, and this is a type")
            .at(first.span, "")
            .hint("use the size of an array that is declared with the type as its dimension")
            .specification("10.3.1");
        self.report(diagnostic);
        Some(literal(Kind::Integer(count), Type::INTEGER, span))
    }

    fn cat(&mut self, mut args: Vec<Expr>, span: Span) -> Expr {
        let variability = highest(&args);
        let dimension = args.remove(0);
        let dimension = self.expect(dimension, &Type::INTEGER, "the dimension of `cat`");
        let mut ty = args[0].ty.clone();
        for argument in &args {
            match unify(&ty, &argument.ty) {
                Some(both) => ty = both,
                None => {
                    let message = format!("`cat` of `{}` and `{}`", ty.text(), argument.ty.text());
                    return self.error(argument.span, "type-mismatch", message);
                }
            }
        }
        let mut all = vec![dimension];
        all.extend(args.into_iter().map(|argument| convert(argument, &ty)));
        Expr { kind: Kind::Whole(ArrayFunction::Cat, all), ty, variability, span }
    }

    #[allow(clippy::wrong_self_convention)]
    fn to_integer(&mut self, value: Expr, span: Span) -> Expr {
        let variability = value.variability;
        let ty = Type::new(Base::Integer, value.ty.rank);
        match (&value.ty.base, &value.kind) {
            (Base::Enumeration(_), Kind::Enumeration(ordinal)) => literal(Kind::Integer(*ordinal), ty, span),
            (Base::Enumeration(_) | Base::Boolean, _) => {
                Expr { kind: Kind::Whole(ArrayFunction::Integer, vec![value]), ty, variability, span }
            }
            (Base::Integer, _) => value,
            _ => {
                let message = format!("`Integer` converts enumerations, not `{}`", value.ty.text());
                self.error(span, "type-mismatch", message)
            }
        }
    }

    /// `sum(e for i in r)` and the like (10.3.4.1).
    fn reduction(&mut self, name: Name, arguments: &ast::Arguments, span: Span) -> Expr {
        let Some(ast::FunctionArgument::Expr(text)) = arguments.positional.first() else { return wrong(span) };
        let op = match name.as_str() {
            "sum" => ReductionOp::Sum,
            "product" => ReductionOp::Product,
            "min" => ReductionOp::Min,
            "max" => ReductionOp::Max,
            "array" => return self.array_for(text, &arguments.iterators, span),
            _ => {
                let array = self.array_for(text, &arguments.iterators, span);
                return if array.ty.is_unknown() { array } else { self.builtin_on(name, vec![array], span) };
            }
        };
        let (element, iterators) =
            self.with_iterators(&arguments.iterators, Outermost::Last, &[text], |typer| typer.expr(text));
        if element.ty.is_unknown() {
            return wrong(span);
        }
        if let Base::Record(_) = element.ty.base {
            return self.record_reduction(op, element, iterators, span);
        }
        let allowed = match op {
            ReductionOp::Sum | ReductionOp::Product => element.ty.is_numeric(),
            _ => matches!(element.ty.base, Base::Real | Base::Integer | Base::Boolean | Base::Enumeration(_)),
        };
        if !allowed || (element.ty.rank > 0 && op != ReductionOp::Sum) {
            let message = format!("`{name}` of elements of type `{}`", element.ty.text());
            return self.error(element.span, "type-mismatch", message);
        }
        let variability = super::highest_of(iterators.iter().map(|i| &i.range)).max(element.variability);
        let ty = element.ty.clone();
        if !element.ty.is_numeric() {
            let op = if op == ReductionOp::Min { ArrayFunction::Min } else { ArrayFunction::Max };
            let ty = ty.with_rank(iterators.len());
            let array = Expr { kind: Kind::ArrayFor { element: Box::new(element), iterators }, ty, variability, span };
            return self.extremum(op, array, span);
        }
        Expr { kind: Kind::Reduction { op, element: Box::new(element), iterators }, ty, variability, span }
    }

    /// `String(…)`; its options are given by name. Older texts give them by position, with one meaning as long as the types fit.
    fn string(&mut self, arguments: &ast::Arguments, span: Span) -> Expr {
        let mut typed = self.arguments(arguments, None);
        if typed.is_empty() {
            return self.error(span, "wrong-arguments", "`String` needs a value");
        }
        let value = typed.remove(0).value;
        if value.ty.is_unknown() {
            return wrong(span);
        }
        if let Base::Record(_) = value.ty.base {
            typed.insert(0, Argument { name: None, value });
            return self.overloaded_string(typed, span);
        }
        if value.ty.rank > 0 {
            return self.error(span, "type-mismatch", format!("`String` of `{}`", value.ty.text()));
        }
        let real = matches!(value.ty.base, Base::Real);
        let by_position: &[&str] = match (&value.ty.base, typed.first().map(|a| &a.value.ty.base)) {
            (Base::Real, Some(Base::String)) | (Base::Integer, Some(Base::String)) => &["format"],
            (Base::Real, _) => &["significantDigits", "minimumLength", "leftJustified"],
            _ => &["minimumLength", "leftJustified"],
        };
        if let Some(option) = typed.iter().find(|argument| argument.name.is_none()) {
            let diagnostic = Diagnostic::breach("string-option", "an option of `String` is given without its name")
                .at(option.value.span, "")
                .hint("write `minimumLength = …`, `leftJustified = …`, `significantDigits = …` or `format = …`")
                .specification("3.7.1.3");
            self.report(diagnostic);
        }
        let mut options: [Option<Expr>; 4] = [None, None, None, None];
        const NAMES: [&str; 4] = ["significantDigits", "minimumLength", "leftJustified", "format"];
        for (position, argument) in typed.into_iter().enumerate() {
            let name = match argument.name {
                Some(ident) => ident.name.as_str(),
                None => by_position.get(position).copied().unwrap_or(""),
            };
            let Some(at) = NAMES.iter().position(|&known| known == name) else {
                return self.error(argument.value.span, "unknown-argument", format!("`String` has no option `{name}`"));
            };
            if at == 0 && !real {
                let message = "`significantDigits` applies to Real values only";
                return self.error(argument.value.span, "unknown-argument", message);
            }
            let ty = match at {
                0 | 1 => Type::INTEGER,
                2 => Type::BOOLEAN,
                _ => Type::STRING,
            };
            options[at] = Some(self.expect(argument.value, &ty, &format!("the option `{name}`")));
        }
        let [digits, length, left, format] = options;
        let number = |value: i64| literal(Kind::Integer(value), Type::INTEGER, span);
        let length = length.unwrap_or_else(|| number(0));
        let left = left.unwrap_or_else(|| super::calls::boolean(true, span));
        let variability = value.variability.max(length.variability);
        let (op, args) = match (&value.ty.base, format) {
            (Base::Real | Base::Integer, Some(format)) => (ArrayFunction::StringFormat, vec![value, format]),
            (Base::Real, None) => {
                (ArrayFunction::StringReal, vec![value, digits.unwrap_or_else(|| number(6)), length, left])
            }
            (Base::Integer, None) => (ArrayFunction::StringInteger, vec![value, length, left]),
            (Base::Boolean, _) => (ArrayFunction::StringBoolean, vec![value, length, left]),
            (Base::Enumeration(enumeration), _) => {
                let names: Vec<Expr> = enumeration
                    .literals
                    .iter()
                    .map(|name| literal(Kind::String(Arc::from(name.as_str())), Type::STRING, span))
                    .collect();
                let mut args = vec![value, length, left];
                args.extend(names);
                (ArrayFunction::StringEnumeration, args)
            }
            (Base::String, _) => return value,
            _ => return self.error(span, "type-mismatch", format!("`String` of `{}`", value.ty.text())),
        };
        Expr { kind: Kind::Whole(op, args), ty: Type::STRING, variability, span }
    }

    fn spatial(&mut self, arguments: &ast::Arguments, span: Span) -> Expr {
        let order = ["in0", "in1", "x", "positiveVelocity", "initialPoints", "initialValues"];
        let typed = self.arguments(arguments, None);
        let name = Name::new("spatialDistribution");
        let Some(mut args) = self.by_position(name, typed, &order) else { return wrong(span) };
        if args.len() == 4 {
            for values in [[0.0, 1.0], [0.0, 0.0]] {
                let elements = values.map(|value| literal(Kind::Real(value), Type::REAL, span)).to_vec();
                args.push(self.array(elements, span));
            }
        }
        let vector = Type::new(Base::Real, 1);
        let types = [Type::REAL, Type::REAL, Type::REAL, Type::BOOLEAN, vector.clone(), vector];
        if args.len() != types.len() {
            return self.count_wrong(name, args.len(), "four to six arguments", span);
        }
        let args = args
            .into_iter()
            .zip(&types)
            .zip(order)
            .map(|((argument, ty), name)| self.expect(argument, ty, &format!("`{name}`")))
            .collect();
        let ty = Type::new(Base::Tuple(Arc::new([Type::REAL, Type::REAL])), 0);
        let kind = Kind::Operator(Operator::Spatial, args);
        Expr { kind, ty, variability: Variability::Continuous, span }
    }

    /// Operators that need the simulator.
    fn operator(&mut self, name: Name, mut args: Vec<Expr>, span: Span) -> Expr {
        let count = args.len();
        let variability = highest(&args);
        let make = |operator, args: Vec<Expr>, ty: Type, variability| Expr {
            kind: Kind::Operator(operator, args),
            ty,
            variability,
            span,
        };
        if self.context == Context::Function
            && !matches!(name.as_str(), "noEvent" | "smooth" | "homotopy" | "semiLinear" | "getInstanceName")
        {
            let message = format!("`{name}` cannot be used in a function");
            return self.error(span, "operator-in-function", message);
        }
        let first = args.first().map(|first| first.ty.clone());
        match (name.as_str(), count) {
            ("der", 1) => {
                let only = args.swap_remove(0);
                if only.variability == Variability::Discrete {
                    let message = "`der` needs an expression that varies continuously, and this is discrete";
                    return self.error(span, "variability", message);
                }
                if !matches!(only.ty.base, Base::Real) {
                    let message = format!("`der` needs Real values, not `{}`", only.ty.text());
                    let diagnostic = Diagnostic::breach("type-mismatch", message).at(span, "").specification("3.7.4");
                    // Numbers that do not change have no derivative but zero.
                    let is_plain = only.ty.is_numeric() && only.variability <= Variability::Parameter;
                    if !is_plain {
                        self.report(diagnostic.refused());
                        return wrong(span);
                    }
                    self.report(diagnostic);
                }
                let only = to_real(only);
                let ty = only.ty.clone();
                make(Operator::Der, vec![only], ty, variability)
            }
            ("pre" | "previous" | "change" | "edge", 1) => {
                let ty = args[0].ty.clone();
                if !matches!(args[0].kind, Kind::Component(_) | Kind::Local(_)) {
                    let message = format!("`{name}` needs a variable");
                    return self.error(args[0].span, "not-a-variable", message);
                }
                if name == "edge" && !matches!(ty.base, Base::Boolean) {
                    return self.error(span, "type-mismatch", format!("`edge` of `{}`", ty.text()));
                }
                let (operator, ty) = match name.as_str() {
                    "pre" => (Operator::Pre, ty),
                    "previous" => (Operator::Previous, ty),
                    "change" => (Operator::Change, Type::new(Base::Boolean, ty.rank)),
                    _ => (Operator::Edge, ty),
                };
                make(operator, args, ty, variability.min(Variability::Discrete))
            }
            ("noEvent", 1) => {
                let ty = args[0].ty.clone();
                // Inside, relations follow their operands at every instant.
                let variability = variability.max(literal_variability(&args[0])).max(Variability::Constant);
                make(Operator::NoEvent, args, ty, variability)
            }
            ("smooth", 2) => {
                let order = std::mem::replace(&mut args[0], wrong(span));
                args[0] = self.expect(order, &Type::INTEGER, "the order of `smooth`");
                let ty = args[1].ty.clone();
                make(Operator::Smooth, args, ty, variability)
            }
            ("initial", 0) => make(Operator::Initial, args, Type::BOOLEAN, Variability::Discrete),
            ("terminal", 0) => make(Operator::Terminal, args, Type::BOOLEAN, Variability::Discrete),
            ("sample", 1 | 2) => self.sample(args, span),
            ("delay", 2 | 3) => {
                if count == 2 {
                    let maximum = args[1].clone();
                    args.push(maximum);
                }
                if args[2].variability > Variability::Parameter {
                    let message = "the longest delay must be a parameter: give it as the third argument of `delay`";
                    return self.error(args[2].span, "variability", message);
                }
                let rank = args[0].ty.rank;
                let base = args[0].ty.base.clone();
                let args: Vec<Expr> = args.into_iter().map(to_real).collect();
                if args.iter().any(|argument| !argument.ty.is_numeric()) {
                    return self.error(span, "type-mismatch", format!("`delay` of `{}`", Type::new(base, rank).text()));
                }
                let kind = Kind::Builtin(Builtin::Delay, args);
                Expr { kind, ty: Type::new(Base::Real, rank), variability, span }
            }
            ("homotopy", 2) => self.elementwise_builtin(name, Builtin::Homotopy, args, true, span),
            ("semiLinear", 3) => self.elementwise_builtin(name, Builtin::SemiLinear, args, true, span),
            ("cardinality", 1) if !self.is_connector(&args[0]) => {
                self.error(span, "not-a-connector", "`cardinality` needs a connector")
            }
            ("cardinality", 1) => make(Operator::Cardinality, args, Type::INTEGER, Variability::Parameter),
            ("inStream" | "actualStream", 1) if !self.is_stream(&args[0]) => {
                let diagnostic =
                    Diagnostic::error("not-a-stream", format!("`{name}` needs a stream variable of a connector"))
                        .at(args[0].span, "this is none")
                        .hint("name an element of the connector that is declared with `stream`")
                        .specification("15.2");
                self.report(diagnostic);
                wrong(span)
            }
            ("inStream" | "actualStream", 1) => {
                let ty = args[0].ty.clone();
                let operator = if name == "inStream" { Operator::InStream } else { Operator::ActualStream };
                make(operator, args, ty, variability)
            }
            ("getInstanceName", 0) => make(Operator::InstanceName, args, Type::STRING, Variability::Parameter),
            ("rooted", 1) => make(Operator::Rooted, args, Type::BOOLEAN, Variability::Parameter),
            ("Clock", _) => self.clock(args, span),
            ("hold" | "noClock" | "interval" | "firstTick", 0 | 1) => {
                let (operator, ty) = match name.as_str() {
                    "hold" => (Builtin::Hold, first),
                    "noClock" => (Builtin::NoClock, first),
                    "interval" => (Builtin::Interval, Some(Type::REAL)),
                    _ => (Builtin::FirstTick, Some(Type::BOOLEAN)),
                };
                let Some(ty) = ty else { return self.count_wrong(name, count, "one argument", span) };
                let ty = if name == "interval" || name == "firstTick" { ty.with_rank(0) } else { ty };
                make(
                    Operator::Clocked(operator),
                    args,
                    ty,
                    Variability::Discrete.max(variability.min(Variability::Discrete)),
                )
            }
            ("subSample" | "superSample", 1 | 2) | ("shiftSample" | "backSample", 2 | 3) => {
                let operator = match name.as_str() {
                    "subSample" => Builtin::SubSample,
                    "superSample" => Builtin::SuperSample,
                    "shiftSample" => Builtin::ShiftSample,
                    _ => Builtin::BackSample,
                };
                if count == 1 {
                    // The factor is inferred: 0 stands for it.
                    args.push(literal(Kind::Integer(0), Type::INTEGER, span));
                } else if matches!(operator, Builtin::ShiftSample | Builtin::BackSample) && count == 2 {
                    args.push(literal(Kind::Integer(1), Type::INTEGER, span));
                }
                for argument in args.iter_mut().skip(1) {
                    let value = std::mem::replace(argument, wrong(span));
                    *argument = self.expect(value, &Type::INTEGER, "a factor of a clock");
                }
                let Some(ty) = first else { return wrong(span) };
                make(Operator::Clocked(operator), args, ty, Variability::Discrete)
            }
            ("activeState", 1) => {
                make(Operator::Clocked(Builtin::ActiveState), args, Type::BOOLEAN, Variability::Discrete)
            }
            ("ticksInState", 0) => {
                make(Operator::Clocked(Builtin::TicksInState), args, Type::INTEGER, Variability::Discrete)
            }
            ("timeInState", 0) => {
                make(Operator::Clocked(Builtin::TimeInState), args, Type::REAL, Variability::Discrete)
            }
            _ => self.error(span, "wrong-arguments", format!("`{name}` cannot be called with {count} arguments")),
        }
    }

    fn is_stream(&self, expr: &Expr) -> bool {
        match &expr.kind {
            Kind::Component(reference) => reference
                .steps
                .last()
                .is_some_and(|step| self.elaborator.instances.flow(step.component) == ast::Flow::Stream),
            _ => expr.ty.is_unknown(),
        }
    }

    fn is_connector(&mut self, expr: &Expr) -> bool {
        let Kind::Component(reference) = &expr.kind else { return false };
        let Some(component) = reference.steps.last().map(|step| step.component) else { return false };
        let node = self.elaborator.instances.component(component);
        let (scope, name) = (node.type_scope, node.declaration.type_name.clone());
        let Ok(class) = self.elaborator.instances.lookup_type(scope, &name) else { return true };
        matches!(self.elaborator.instances.kind(class), ast::ClassKind::Connector | ast::ClassKind::ExpandableConnector)
    }

    /// `sample(start, interval)` of events, `sample(u)` and `sample(u, clock)` of clocks.
    fn sample(&mut self, mut args: Vec<Expr>, span: Span) -> Expr {
        let clocked = args.len() == 1 || matches!(args[1].ty.base, Base::Clock);
        if clocked {
            let ty = args[0].ty.clone();
            let kind = Kind::Operator(Operator::Clocked(Builtin::SampleClocked), args);
            return Expr { kind, ty, variability: Variability::Discrete, span };
        }
        let interval = args.swap_remove(1);
        let start = args.swap_remove(0);
        let start = self.expect(start, &Type::REAL, "the start of `sample`");
        let interval = self.expect(interval, &Type::REAL, "the interval of `sample`");
        if start.variability > Variability::Parameter || interval.variability > Variability::Parameter {
            let diagnostic =
                Diagnostic::error("variability", "`sample` needs a start and an interval that do not change")
                    .at(span, "")
                    .specification("3.7.5");
            self.report(diagnostic);
        }
        let kind = Kind::Operator(Operator::Sample, vec![start, interval]);
        Expr { kind, ty: Type::BOOLEAN, variability: Variability::Discrete, span }
    }

    /// The five forms of `Clock` (16.3).
    fn clock(&mut self, mut args: Vec<Expr>, span: Span) -> Expr {
        let operator = match args.as_mut_slice() {
            [] => Builtin::ClockInferred,
            [only] => match only.ty.base {
                Base::Boolean => {
                    args.push(literal(Kind::Real(0.0), Type::REAL, span));
                    Builtin::ClockEvent
                }
                Base::Clock => return args.swap_remove(0),
                _ => {
                    let value = std::mem::replace(only, wrong(span));
                    *only = self.expect(value, &Type::REAL, "the interval of a clock");
                    Builtin::ClockReal
                }
            },
            [first, second] => match (&first.ty.base, &second.ty.base) {
                (Base::Boolean, _) => Builtin::ClockEvent,
                (Base::Clock, Base::String) => Builtin::ClockSolver,
                (Base::Integer, Base::Integer) => Builtin::ClockRational,
                _ => {
                    let message = format!("there is no clock of `{}` and `{}`", first.ty.text(), second.ty.text());
                    return self.error(span, "type-mismatch", message);
                }
            },
            _ => return self.error(span, "wrong-arguments", "`Clock` takes at most two arguments"),
        };
        let kind = Kind::Operator(Operator::Clocked(operator), args);
        Expr { kind, ty: Type::CLOCK, variability: Variability::Discrete, span }
    }

    /// `Connections.isRoot(r)` and `Connections.rooted(r)`; the others are equations of the connection graph.
    pub(super) fn connections_operator(&mut self, name: Name, arguments: &ast::Arguments, span: Span) -> Expr {
        let outer = std::mem::replace(&mut self.connections, true);
        let mut typed = self.arguments(arguments, None);
        self.connections = outer;
        let operator = match name.as_str() {
            "isRoot" => Operator::IsRoot,
            "rooted" => Operator::Rooted,
            _ => {
                let message = format!("`Connections.{name}` may only stand as an equation");
                return self.error(span, "misplaced-operator", message);
            }
        };
        let (Some(argument), true) = (typed.pop(), typed.is_empty()) else {
            return self.error(span, "wrong-arguments", format!("`Connections.{name}` takes one connector element"));
        };
        let kind = Kind::Operator(operator, vec![argument.value]);
        Expr { kind, ty: Type::BOOLEAN, variability: Variability::Parameter, span }
    }
}

/// The variability of an expression whose relations and roundings make no events (3.8.3).
fn literal_variability(expr: &Expr) -> Variability {
    let highest = |items: &mut dyn std::iter::Iterator<Item = &Expr>| {
        items.map(literal_variability).max().unwrap_or(Variability::Constant)
    };
    match &expr.kind {
        Kind::Neg(a) | Kind::Not(a) | Kind::ToReal(a) | Kind::Field(a, _) => literal_variability(a),
        Kind::Compare(_, a, b)
        | Kind::And(a, b)
        | Kind::Or(a, b)
        | Kind::Arithmetic(_, a, b)
        | Kind::Elementwise(_, a, b) => literal_variability(a).max(literal_variability(b)),
        Kind::If(condition, a, b) => highest(&mut [&**condition, a, b].into_iter()),
        Kind::Array(items) | Kind::Builtin(_, items) | Kind::Whole(_, items) | Kind::Call(_, items) => {
            highest(&mut items.iter())
        }
        Kind::Operator(Operator::NoEvent | Operator::Smooth, items) => highest(&mut items.iter()),
        _ => expr.variability,
    }
}

/// What a function of mathematics or of another language is called in Modelica.
pub fn name_here(name: &str) -> Option<&'static str> {
    Some(match name {
        "sinus" => "sin",
        "cosinus" => "cos",
        "tangens" => "tan",
        "arcsin" | "arcsinus" => "asin",
        "arccos" | "arccosinus" => "acos",
        "arctan" | "arctg" => "atan",
        "arctan2" => "atan2",
        "ln" => "log",
        "lg" => "log10",
        "fabs" => "abs",
        "sgn" | "signum" => "sign",
        "ceiling" => "ceil",
        "fmod" => "mod",
        "fmin" => "min",
        "fmax" => "max",
        "prod" => "product",
        "pow" => "x^y",
        "sqr" => "x^2",
        "ddt" => "der",
        "eye" => "identity",
        _ => return None,
    })
}
