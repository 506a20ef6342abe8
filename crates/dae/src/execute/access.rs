//! Parts of values: subscripts and fields, read and assigned.

use std::borrow::Cow;

use base::Id;
use smallvec::SmallVec;

use super::{Domain, Executor, Frame, FrameOf, Result, Selection, ValueOf};
use crate::arrays;
use crate::function::{Accessor, Expr, LocalId, Subscript, Type};
use crate::known::{self, kind};
use crate::value::{Array, Kind, Value};

/// A step into a value, subscripts evaluated.
pub(super) enum Resolved<U> {
    Field(u32),
    Index(SmallVec<[Selection<U>; 2]>),
}

impl<D: Domain> Executor<'_, D> {
    pub(super) fn resolve_steps(
        &mut self,
        frame: &mut FrameOf<D>,
        steps: &[Accessor],
    ) -> Result<SmallVec<[Resolved<D::Open>; 2]>> {
        let mut resolved = SmallVec::new();
        for step in steps {
            resolved.push(match step {
                Accessor::Field(index) => Resolved::Field(*index),
                Accessor::Index(subscripts) => Resolved::Index(self.selections(frame, subscripts)?),
            });
        }
        Ok(resolved)
    }

    fn selections(
        &mut self,
        frame: &mut FrameOf<D>,
        subscripts: &[Subscript],
    ) -> Result<SmallVec<[Selection<D::Open>; 2]>> {
        let mut selections = SmallVec::new();
        for subscript in subscripts {
            selections.push(match subscript {
                Subscript::All => Selection::All,
                Subscript::Expr(expr) => match self.eval(frame, expr)? {
                    Value::Array(array) => {
                        Selection::Many(array.elements.iter().map(position).collect::<Result<_, _>>()?)
                    }
                    // false, true are the first and second index.
                    condition @ Value::Open(_, Kind::Boolean) => {
                        self.domain.begin_branch(&condition)?;
                        self.domain.begin_otherwise()?;
                        let at = self.domain.join(&Value::Integer(2), &Value::Integer(1))?;
                        self.domain.end_branch()?;
                        Selection::Open(at)
                    }
                    open @ Value::Open(..) => Selection::Open(open),
                    scalar => Selection::One(position(&scalar)?),
                },
            });
        }
        Ok(selections)
    }

    /// `a[…]` and `r.f` from a local by reference, so that one element of a large array costs nothing.
    pub(super) fn access(&mut self, frame: &mut FrameOf<D>, expr: &Expr) -> Result<ValueOf<D>> {
        let mut steps: SmallVec<[Resolved<D::Open>; 4]> = SmallVec::new();
        let mut base = expr;
        loop {
            match base {
                Expr::Index(inner, subscripts) => {
                    steps.push(Resolved::Index(self.selections(frame, subscripts)?));
                    base = inner;
                }
                Expr::Field(inner, index) => {
                    steps.push(Resolved::Field(*index));
                    base = inner;
                }
                _ => break,
            }
        }
        let mut value = match base {
            Expr::Local(local) => Cow::Borrowed(local_ref(frame, *local)?),
            other => Cow::Owned(self.eval(frame, other)?),
        };
        for step in steps.iter().rev() {
            value = match value {
                Cow::Borrowed(value) => walk(&mut self.domain, value, step)?,
                Cow::Owned(value) => Cow::Owned(walk(&mut self.domain, &value, step)?.into_owned()),
            };
        }
        // What has no value yet may be handed on, like a local as a whole; who computes with it refuses it.
        Ok(value.into_owned())
    }

    /// Stores into a part of a value.
    pub(super) fn store(&mut self, place: &mut ValueOf<D>, steps: &[Resolved<D::Open>], new: ValueOf<D>) -> Result<()> {
        let Some((step, rest)) = steps.split_first() else { return self.replace(place, new) };
        match (step, place) {
            (Resolved::Field(index), Value::Record(fields)) => {
                let field = fields.get_mut(*index as usize).ok_or("there is no such field in the record")?;
                self.store(field, rest, new)
            }
            (Resolved::Field(_), Value::Array(array)) => {
                let places: Vec<usize> = (0..array.elements.len()).collect();
                let sizes = array.sizes.clone();
                self.distribute(&mut array.elements, &places, &sizes, steps, new)
            }
            (Resolved::Index(selections), Value::Array(array)) if is_open(selections) => {
                if selections.len() > array.sizes.len() {
                    return Err(format!("{} subscripts for {} dimensions", selections.len(), array.sizes.len()).into());
                }
                if rest.is_empty() {
                    return Ok(self.domain.store(array, selections, new)?);
                }
                let mut part = self.domain.load(array, selections)?;
                self.store(&mut part, rest, new)?;
                Ok(self.domain.store(array, selections, part)?)
            }
            (Resolved::Index(selections), Value::Array(array)) => {
                let (places, sizes) = arrays::positions(&array.sizes, selections)?;
                self.distribute(&mut array.elements, &places, &sizes, rest, new)
            }
            (Resolved::Field(_), other) => Err(format!("{} has no fields", kind(other)).into()),
            (Resolved::Index(_), other) => Err(format!("{} has no elements", kind(other)).into()),
        }
    }

    /// A part gets a new value of the same structure, scalar by scalar.
    fn replace(&mut self, place: &mut ValueOf<D>, new: ValueOf<D>) -> Result<()> {
        match (place, new) {
            (Value::Array(old), Value::Array(new)) if old.sizes == new.sizes => {
                for (place, value) in old.elements.iter_mut().zip(new.elements) {
                    self.replace(place, value)?;
                }
            }
            // A field of unknown size takes any.
            (place @ Value::Array(_), new @ Value::Array(_)) => *place = self.domain.detach(new)?,
            (Value::Record(old), Value::Record(new)) if old.len() == new.len() => {
                for (place, value) in old.iter_mut().zip(new) {
                    self.replace(place, value)?;
                }
            }
            (place @ (Value::Array(_) | Value::Record(_)), new)
            | (place, new @ (Value::Array(_) | Value::Record(_))) => {
                return Err(format!("{} is assigned to {}", kind(&new), kind(place)).into());
            }
            (place, new) => self.domain.set(place, new)?,
        }
        Ok(())
    }

    /// Stores the parts of `new` in the elements at `places`, which together have `sizes`.
    fn distribute(
        &mut self,
        elements: &mut [ValueOf<D>],
        places: &[usize],
        sizes: &[usize],
        rest: &[Resolved<D::Open>],
        new: ValueOf<D>,
    ) -> Result<()> {
        let outside = || "an array is smaller than its sizes say".to_owned();
        if sizes.is_empty() {
            let &[place] = places else { return Err(outside().into()) };
            return self.store(elements.get_mut(place).ok_or_else(outside)?, rest, new);
        }
        // What is read from the variable itself is read before it is written.
        let Value::Array(array) = self.domain.detach(new)? else {
            return Err(format!("a scalar is assigned to an array of size {sizes:?}").into());
        };
        if array.sizes.get(..sizes.len()) != Some(sizes) {
            return Err(format!("an array of size {:?} is assigned to one of size {sizes:?}", array.sizes).into());
        }
        for (k, &place) in places.iter().enumerate() {
            let part = array.part(sizes.len(), k).ok_or_else(outside)?;
            self.store(elements.get_mut(place).ok_or_else(outside)?, rest, part)?;
        }
        Ok(())
    }
}

fn is_open<U>(selections: &[Selection<U>]) -> bool {
    selections.iter().any(|selection| matches!(selection, Selection::Open(_)))
}

/// The type of the part of a variable to which steps lead.
pub(super) fn part_type<'t>(ty: &'t Type, steps: &[Accessor]) -> &'t Type {
    steps.iter().fold(ty, |ty, step| match (step, ty) {
        (Accessor::Field(index), Type::Record(record)) => {
            record.fields.get(*index as usize).map_or(ty, |field| &field.ty)
        }
        _ => ty,
    })
}

pub(super) fn local_ref<U>(frame: &Frame<U>, id: LocalId) -> Result<&Value<U>, String> {
    frame.locals.get(id).ok_or_else(|| format!("variable {} does not exist", id.index()))
}

pub(super) fn local_mut<U>(frame: &mut Frame<U>, id: LocalId) -> Result<&mut Value<U>, String> {
    if id.index() < frame.locals.len() {
        Ok(&mut frame.locals[id])
    } else {
        Err(format!("variable {} does not exist", id.index()))
    }
}

fn position<U: Clone>(index: &Value<U>) -> Result<usize, String> {
    let index = match index {
        Value::Boolean(value) => i64::from(*value) + 1,
        other => known::integer_of(other)?,
    };
    usize::try_from(index - 1).map_err(|_| format!("index {index} is below 1"))
}

fn walk<'v, D: Domain>(
    domain: &mut D,
    value: &'v ValueOf<D>,
    step: &Resolved<D::Open>,
) -> Result<Cow<'v, ValueOf<D>>, String> {
    match step {
        Resolved::Field(index) => arrays::field(value, *index),
        Resolved::Index(selections) => arrays::select(domain, value, selections),
    }
}

/// The sizes of an array without elements whose elements would have these.
pub(super) fn empty<U>(mut sizes: Vec<usize>, inner: &[usize]) -> Value<U> {
    sizes.extend_from_slice(inner);
    Value::Array(Array { sizes, elements: Vec::new() })
}
