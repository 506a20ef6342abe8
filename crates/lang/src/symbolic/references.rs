//! References to components: which scalars of the flat model they stand for, and subscripts, also those that are known
//! only at run time.

use std::sync::Arc;

use base::{Diagnostic, Id, Span};
use dae::expr::CompareOp;
use dae::{Action, ActionKind, ExprId, Node, Origin, OriginKind, Variability};

use super::value::stack;
use super::{Expander, Mode, Positions, Sizes, Symbolic, arrays, sizes_text};
use crate::elaborate::Elaborator;
use crate::flat::Indices;
use crate::instance::{Builtin, CompId, ComponentType, Outcome};
use crate::typed::{Base, Expr, Kind, Reference, Subscript};

/// What a subscript chooses.
#[derive(Clone, Debug)]
pub enum Choice {
    Fixed(Positions),
    /// A position from 1 that is known at run time.
    Dynamic(ExprId),
}

/// Which elements of one dimension along a path.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub size: usize,
    pub choice: Choice,
}

/// The element numbers that are chosen along each dimension.
fn chosen(axes: &[Axis]) -> Vec<Vec<u32>> {
    axes.iter()
        .map(|axis| match &axis.choice {
            Choice::Fixed(Positions::One(at)) => vec![*at as u32 + 1],
            Choice::Fixed(Positions::Several(list)) => list.iter().map(|&at| at as u32 + 1).collect(),
            Choice::Fixed(Positions::All) | Choice::Dynamic(_) => (1..=axis.size as u32).collect(),
        })
        .collect()
}

/// Elements of an array of components whose parts have different sizes cannot be taken together (10.6.1).
pub(crate) fn ragged(elaborator: &Elaborator, component: CompId, first: &[usize], other: &[usize]) -> Diagnostic {
    let path = elaborator.instances.path(component);
    let (first, other) = (sizes_text(first), sizes_text(other));
    Diagnostic::error(
        "ragged-array",
        format!("`{path}` has different sizes in the elements of an array: {first} and {other}"),
    )
    .at(elaborator.instances.span(component), "declared here")
    .hint("name the element: what has different sizes makes no array")
    .specification("10.6.1")
}

impl Expander<'_> {
    pub(crate) fn subscript(&mut self, subscript: &Subscript, size: usize) -> Outcome<Choice> {
        let Subscript::Expr(expr) = subscript else { return Ok(Choice::Fixed(Positions::All)) };
        let mut value = self.expand(expr)?;
        let mut known = if self.mode == Mode::Shape { None } else { self.positions(&value) };
        let parameter = expr.variability <= Variability::Parameter || self.function.is_some();
        if known.is_none()
            && parameter
            && self.mode != Mode::Evaluate
            && let Ok(evaluated) = self.evaluated(expr)
        {
            known = self.positions(&evaluated);
            value = evaluated;
        }
        let Some(list) = known else {
            return match value.scalar() {
                // false, true are the first and second index.
                Some(id) if self.mode != Mode::Evaluate && matches!(expr.ty.base, Base::Boolean) => {
                    let exprs = self.exprs();
                    let (first, second) = (exprs.int(1), exprs.int(2));
                    Ok(Choice::Dynamic(exprs.if_(id, second, first)))
                }
                Some(id) if self.mode != Mode::Evaluate => {
                    self.check_subscript(id, size, expr);
                    Ok(Choice::Dynamic(id))
                }
                _ => Err(self.not_constant(expr.span, "this subscript")),
            };
        };
        let positions = arrays::positions(&list, size).map_err(|message| {
            self.located(Diagnostic::error("subscript-range", message).at(expr.span, "").specification("10.5"))
        })?;
        Ok(Choice::Fixed(match (value.sizes().is_empty(), positions.as_slice()) {
            (true, &[only]) => Positions::One(only),
            _ => Positions::Several(positions),
        }))
    }

    /// A subscript that is known at run time only is checked there (10.5), where what it stands in is reached.
    fn check_subscript(&mut self, position: ExprId, size: usize, written: &Expr) {
        if self.mode != Mode::Flat || !matches!(written.ty.base, Base::Integer) {
            return;
        }
        let exprs = self.exprs();
        let (one, last) = (exprs.int(1), exprs.int(size as i64));
        let above = exprs.compare(CompareOp::GreaterEqual, false, position, one);
        let below = exprs.compare(CompareOp::LessEqual, false, position, last);
        let holds = exprs.and(above, below);
        let message = exprs.string(&format!("a subscript is outside of 1:{size}"));
        self.push_action(ActionKind::Assert { holds, message, warning: false }, written.span);
    }

    /// Hands the checks of subscripts over to the model.
    pub(crate) fn keep_checks(&mut self) {
        for (condition, kind, span) in std::mem::take(&mut self.actions) {
            let origin = Origin { component: self.path, span: Some(span), kind: OriginKind::Written };
            self.elaborator.flat.model.actions.push(Action { kind, condition, origin });
        }
    }

    /// Subscripts as numbers from 1; Booleans count false, true.
    fn positions(&mut self, value: &Symbolic) -> Option<Vec<i64>> {
        let exprs = self.exprs();
        value
            .elements()
            .iter()
            .map(|element| match exprs.node(element.scalar()?) {
                Node::Boolean(value) => Some(value as i64 + 1),
                _ => arrays::integer(exprs, element.scalar()?),
            })
            .collect()
    }

    /// Elements of a value.
    pub(crate) fn select(&mut self, value: &Symbolic, choices: &[Choice], span: Span) -> Outcome<Symbolic> {
        let fixed: Vec<Positions> = choices
            .iter()
            .map(|choice| match choice {
                Choice::Fixed(positions) => positions.clone(),
                Choice::Dynamic(_) => Positions::All,
            })
            .collect();
        let Some(mut chosen) = value.index(&fixed) else {
            let message = format!("subscripts outside of an array with sizes {}", sizes_text(value.sizes()));
            return Err(self.located(Diagnostic::error("subscript-range", message).at(span, "").specification("10.5")));
        };
        // Each run-time position is a choice along the dimension that was left whole for it.
        let mut dimension = 0;
        for choice in choices {
            match choice {
                Choice::Dynamic(position) => chosen = self.pick(&chosen, dimension, *position, span)?,
                Choice::Fixed(Positions::One(_)) => {}
                Choice::Fixed(_) => dimension += 1,
            }
        }
        Ok(chosen)
    }

    /// `if i == 1 then a[1] elseif …` along one dimension; the last element stands for all others.
    fn pick(&mut self, value: &Symbolic, dimension: usize, position: ExprId, span: Span) -> Outcome<Symbolic> {
        let size = value.sizes().get(dimension).copied().unwrap_or(0);
        let slice = |at: usize| {
            let mut positions = vec![Positions::All; dimension];
            positions.push(Positions::One(at));
            value.index(&positions)
        };
        let Some(mut result) = size.checked_sub(1).and_then(slice) else {
            let message = "a subscript of an array without elements";
            return Err(self.located(Diagnostic::error("subscript-range", message).at(span, "")));
        };
        for at in (0..size - 1).rev() {
            let number = self.exprs().int(at as i64 + 1);
            let here = self.exprs().compare(CompareOp::Equal, false, position, number);
            let exprs = self.exprs();
            let Some(element) = slice(at) else { continue };
            if let Some(joined) = element.zip(&result, &mut |x, y| exprs.if_(here, x, y)) {
                result = joined;
            }
        }
        Ok(result)
    }

    /// The dimensions along the path of a reference, those of the frame included.
    pub(super) fn axes(&mut self, reference: &Reference) -> Outcome<Vec<Axis>> {
        let mut axes: Vec<Axis> = self
            .frame
            .indices
            .iter()
            .map(|&at| Axis { size: at as usize, choice: Choice::Fixed(Positions::One(at as usize - 1)) })
            .collect();
        for step in &reference.steps {
            let parent = self.elaborator.instances.component(step.component).parent;
            let above = self.elaborator.instances.rank_above(parent);
            // A component of a package, or an inner component further out, has fewer numbers above it.
            axes.truncate(above);
            let sizes = self.sizes_below(step.component, &axes)?;
            for (dimension, &size) in sizes.iter().enumerate() {
                let choice = match step.subscripts.get(dimension) {
                    Some(subscript) => self.subscript(subscript, size)?,
                    None => Choice::Fixed(Positions::All),
                };
                axes.push(Axis { size, choice });
            }
        }
        Ok(axes)
    }

    /// The sizes of a component below the chosen elements, which must be the same for all of them.
    fn sizes_below(&mut self, component: CompId, axes: &[Axis]) -> Outcome<Arc<[usize]>> {
        let largest = self.elaborator.sizes(component)?;
        if !self.elaborator.is_ragged(component) {
            return Ok(largest);
        }
        let lists = chosen(axes);
        let counts: Vec<usize> = lists.iter().map(Vec::len).collect();
        let mut elements: Vec<Indices> = Vec::new();
        crate::flat::for_each_index(&counts, |at| {
            elements.push(at.iter().zip(&lists).map(|(&k, list)| list[k as usize - 1]).collect());
        });
        let Some((first, others)) = elements.split_first() else { return Ok(largest) };
        let sizes = self.elaborator.sizes_at(component, first)?;
        for other in others {
            let other = self.elaborator.sizes_at(component, other)?;
            if other != sizes {
                return Err(self.located(ragged(self.elaborator, component, &sizes, &other)));
            }
        }
        Ok(sizes)
    }

    /// The sizes of the last component of a reference, whatever its own subscripts choose.
    pub(crate) fn sizes_of_last(&mut self, reference: &Reference) -> Outcome<Option<Arc<[usize]>>> {
        let Some((last, above)) = reference.steps.split_last() else { return Ok(None) };
        let largest = self.elaborator.sizes(last.component)?;
        if !self.elaborator.is_ragged(last.component) {
            return Ok(Some(largest));
        }
        let mut axes = self.axes(&Reference { steps: above.to_vec() })?;
        let parent = self.elaborator.instances.component(last.component).parent;
        axes.truncate(self.elaborator.instances.rank_above(parent));
        self.sizes_below(last.component, &axes).map(Some)
    }

    pub(crate) fn reference(&mut self, reference: &Reference, expr: &Expr) -> Outcome<Symbolic> {
        let Some(last) = reference.steps.last().map(|step| step.component) else {
            return Err(self.wrong_sizes(expr.span, "a component is needed here"));
        };
        let axes = self.axes(reference).map_err(|diagnostic| match diagnostic.code {
            "ragged-array" => Box::new(diagnostic.at(expr.span, "used here")),
            _ => diagnostic,
        })?;
        let value = self.gather(last, &axes, expr)?;
        let value = arrays::with_rank(
            value,
            axes.iter()
                .filter(|axis| !matches!(axis.choice, Choice::Fixed(Positions::One(_))))
                .count()
                .max(expr.ty.rank),
        );
        if axes.iter().all(|axis| matches!(axis.choice, Choice::Fixed(_))) {
            return Ok(value);
        }
        let mut dimension = 0;
        let mut chosen = value;
        for axis in &axes {
            match axis.choice {
                Choice::Dynamic(position) => chosen = self.pick(&chosen, dimension, position, expr.span)?,
                Choice::Fixed(Positions::One(_)) => {}
                Choice::Fixed(_) => dimension += 1,
            }
        }
        Ok(chosen)
    }

    /// The value of a component at all chosen element numbers.
    pub(super) fn gather(&mut self, component: CompId, axes: &[Axis], expr: &Expr) -> Outcome<Symbolic> {
        let lists = chosen(axes);
        let sizes: Sizes = axes
            .iter()
            .zip(&lists)
            .filter(|(axis, _)| !matches!(axis.choice, Choice::Fixed(Positions::One(_))))
            .map(|(_, list)| list.len())
            .collect();
        let counts: Vec<usize> = lists.iter().map(Vec::len).collect();
        let Some(count) = crate::flat::element_count(&counts) else {
            return Err(self.wrong_sizes(expr.span, arrays::too_large(&counts)));
        };
        let mut elements = Vec::with_capacity(count);
        let mut failed = None;
        crate::flat::for_each_index(&counts, |at| {
            if failed.is_some() {
                return;
            }
            let indices: Indices = at.iter().zip(&lists).map(|(&k, list)| list[k as usize - 1]).collect();
            match self.element(component, &indices, expr) {
                Ok(value) => elements.push(value),
                Err(diagnostic) => failed = Some(diagnostic),
            }
        });
        match failed {
            Some(diagnostic) => Err(diagnostic),
            None => Ok(stack(&sizes, elements)),
        }
    }

    /// One element of a component, all numbers along its path given.
    fn element(&mut self, component: CompId, indices: &Indices, expr: &Expr) -> Outcome<Symbolic> {
        match self.elaborator.instances.component_type(component)? {
            ComponentType::Builtin { .. } | ComponentType::Object(_) => self.scalar_of(component, indices, expr.span),
            ComponentType::Class(class) => {
                let ty = self.elaborator.component_type(component)?;
                if !matches!(ty.base, Base::Record(_)) && expr.ty.base == Base::Component && self.mode == Mode::Shape {
                    return Ok(Symbolic::Scalar(self.exprs().time()));
                }
                if self.mode == Mode::Evaluate
                    || self.elaborator.component_variability(component, &ty) == Variability::Constant
                {
                    let own = ty.rank;
                    let (above, own) = indices.split_at(indices.len().saturating_sub(own));
                    if let Ok(value) = self.elaborator.value(component, above) {
                        self.note_structural(component, expr.span);
                        let positions: Vec<Positions> = own.iter().map(|&at| Positions::One(at as usize - 1)).collect();
                        if let Some(value) = value.index(&positions) {
                            return Ok(value);
                        }
                    }
                }
                let mut fields = Vec::new();
                for field in self.elaborator.instances.components_of(class) {
                    let field = self.elaborator.instances.resolve_outer(field)?;
                    let sizes = self.elaborator.sizes_at(field, indices)?;
                    let mut axes: Vec<Axis> = indices
                        .iter()
                        .map(|&at| Axis { size: at as usize, choice: Choice::Fixed(Positions::One(at as usize - 1)) })
                        .collect();
                    axes.extend(sizes.iter().map(|&size| Axis { size, choice: Choice::Fixed(Positions::All) }));
                    let value = self.gather(field, &axes, expr)?;
                    fields.push(arrays::with_rank(value, sizes.len()));
                }
                Ok(Symbolic::record(fields))
            }
        }
    }

    /// The value of a component is used here, whatever it will be used for.
    fn note_structural(&mut self, component: CompId, span: Span) {
        if self.mode == Mode::Evaluate {
            self.elaborator.structural.entry(component).or_insert(span);
        }
    }

    /// Stands for a variable where only sizes count. Sizes are computed from Integers, so no two of them look alike: the
    /// difference of two that are not known must not be known.
    fn unknown_scalar(&mut self, component: CompId, indices: &Indices) -> ExprId {
        let is_integer = matches!(
            self.elaborator.instances.component_type(component),
            Ok(ComponentType::Builtin { builtin: Builtin::Integer, .. })
        );
        let exprs = self.exprs();
        let time = exprs.time();
        if !is_integer {
            return time;
        }
        let numbers = std::iter::once(component.index() as f64).chain(indices.iter().map(|&at| f64::from(at)));
        numbers.fold(time, |mark, number| {
            let number = exprs.real(number);
            exprs.builtin(dae::Builtin::Atan2, &[mark, number])
        })
    }

    fn scalar_of(&mut self, component: CompId, indices: &Indices, span: Span) -> Outcome<Symbolic> {
        if self.mode == Mode::Shape {
            return Ok(Symbolic::Scalar(self.unknown_scalar(component, indices)));
        }
        let ty = self.elaborator.component_type(component)?;
        let variability = self.elaborator.component_variability(component, &ty);
        let variable = self.elaborator.flat.variable(component, indices);
        if let (Some(assigned), Some(variable)) = (&self.assigned, variable)
            && let Some(&value) = assigned.get(&variable)
        {
            return Ok(Symbolic::Scalar(value));
        }
        if self.elaborator.sizes.constants_only && variability > Variability::Constant {
            return Err(self.not_constant(span, "a parameter"));
        }
        let evaluate = self.mode == Mode::Evaluate || variability == Variability::Constant || variable.is_none();
        if !evaluate && let Some(variable) = variable {
            return Ok(Symbolic::Scalar(self.exprs().var(variable)));
        }
        if variability > Variability::Parameter {
            let name = self.elaborator.instances.path(component);
            if self.mode == Mode::Flat {
                return Err(self.absent(component, &name, span));
            }
            return Err(self.not_constant(span, &format!("the variable `{name}`")));
        }
        if variable.is_none() && self.elaborator.is_absent(component, indices) {
            return Err(self.absent(component, &self.elaborator.instances.path(component), span));
        }
        let (above, own) = indices.split_at(indices.len().saturating_sub(ty.rank));
        let value = match self.elaborator.value(component, above) {
            Ok(value) => value,
            // A constant without a value that can be computed now is as good as a parameter.
            Err(_) if self.mode == Mode::Flat && variable.is_some() => {
                return match variable {
                    Some(variable) => Ok(Symbolic::Scalar(self.exprs().var(variable))),
                    None => Err(self.not_constant(span, "this")),
                };
            }
            Err(mut diagnostic) => {
                if diagnostic.labels.len() < 8 && !diagnostic.labels.iter().any(|label| label.span == span) {
                    diagnostic = Box::new(diagnostic.at(span, "needed here"));
                }
                return Err(diagnostic);
            }
        };
        self.note_structural(component, span);
        let positions: Vec<Positions> = own.iter().map(|&at| Positions::One(at as usize - 1)).collect();
        match value.index(&positions) {
            Some(value) => Ok(value),
            None => Err(self.wrong_sizes(span, "subscripts outside of the value")),
        }
    }

    /// A variable that was left out of the model, and why.
    fn absent(&self, component: CompId, name: &str, span: Span) -> Box<Diagnostic> {
        let instances = &self.elaborator.instances;
        let mut chain = instances.chain(component).into_iter();
        let unused = chain.any(|id| instances.component(id).removed || self.elaborator.unconnected.contains_key(&id));
        let diagnostic = if unused {
            let message =
                format!("`{name}` is used, but nothing is connected to this element of an expandable connector");
            Diagnostic::error("absent-component", message)
                .at(span, "used here")
                .at(instances.span(component), "it exists only where a connection leads to it")
                .hint("connect a source to it")
                .specification("9.1.3")
        } else {
            let message = format!("`{name}` is not part of the model: the condition of a component is false");
            Diagnostic::error("absent-component", message).at(span, "used here").specification("4.4.5")
        };
        self.located(diagnostic)
    }

    /// The sizes of an array of components.
    pub(crate) fn reference_sizes(&mut self, expr: &Expr) -> Outcome<Vec<usize>> {
        let Kind::Component(reference) = &expr.kind else {
            return Err(self.wrong_sizes(expr.span, "a component is needed here"));
        };
        let axes = self.axes(reference)?;
        let mut sizes = Vec::new();
        for axis in &axes {
            match &axis.choice {
                Choice::Fixed(Positions::All) => sizes.push(axis.size),
                Choice::Fixed(Positions::Several(list)) => sizes.push(list.len()),
                Choice::Fixed(Positions::One(_)) | Choice::Dynamic(_) => {}
            }
        }
        Ok(sizes)
    }

    /// The component that a reference names, with the element numbers of each of its elements, in order.
    pub fn elements_of(&mut self, expr: &Expr) -> Outcome<(CompId, Sizes, Vec<Indices>)> {
        let Kind::Component(reference) = &expr.kind else {
            return Err(self.wrong_sizes(expr.span, "a component is needed here"));
        };
        let Some(last) = reference.steps.last().map(|step| step.component) else {
            return Err(self.wrong_sizes(expr.span, "a component is needed here"));
        };
        let axes = self.axes(reference)?;
        let mut sizes = Sizes::new();
        let mut lists: Vec<Vec<u32>> = Vec::with_capacity(axes.len());
        for axis in &axes {
            lists.push(match &axis.choice {
                Choice::Fixed(Positions::One(at)) => vec![*at as u32 + 1],
                Choice::Fixed(Positions::Several(list)) => list.iter().map(|&at| at as u32 + 1).collect(),
                Choice::Fixed(Positions::All) => (1..=axis.size as u32).collect(),
                Choice::Dynamic(_) => return Err(self.not_constant(expr.span, "this subscript")),
            });
            if !matches!(axis.choice, Choice::Fixed(Positions::One(_))) {
                sizes.push(lists.last().map_or(0, Vec::len));
            }
        }
        let counts: Vec<usize> = lists.iter().map(Vec::len).collect();
        let Some(count) = crate::flat::element_count(&counts) else {
            return Err(self.wrong_sizes(expr.span, arrays::too_large(&counts)));
        };
        let mut all = Vec::with_capacity(count);
        crate::flat::for_each_index(&counts, |at| {
            all.push(at.iter().zip(&lists).map(|(&k, list)| list[k as usize - 1]).collect());
        });
        Ok((last, sizes, all))
    }
}
