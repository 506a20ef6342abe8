//! What the value of a modifier gives to each element of the arrays of components between its text and what it modifies
//! (specification 7.2.5).

use std::sync::Arc;

use base::{Diagnostic, Name};

use crate::elaborate::{Elaborator, TakenApart};
use crate::flat::Indices;
use crate::instance::{CompId, Frame, Outcome, SizeState};
use crate::modifier::{Binding, Spread};
use crate::symbolic::{Expander, Mode, Positions, Symbolic, sizes_text};
use crate::typed::{Base, Expr, Type};
use crate::typing::{Context, Typer, convert, fits};

/// The value of a modifier with its type.
#[derive(Clone)]
pub(crate) struct TypedBinding {
    pub expr: Arc<Expr>,
    /// How many of its dimensions, the first ones, belong to arrays of components.
    split: usize,
}

/// The dimensions that the value of a modifier must have.
pub(crate) struct Wanted {
    /// Those of the arrays of components, from the outermost.
    pub arrays: Vec<(CompId, usize)>,
    /// How many belong to arrays of components.
    split: usize,
    /// How many one modified element has by itself.
    rank: usize,
}

impl Elaborator {
    /// An expression of a modifier as the component `component` at `above` sees it: without `each`, arrays of
    /// components between the text and the component take it apart.
    pub(crate) fn expression_value(
        &mut self,
        binding: &Binding,
        component: CompId,
        attribute: Name,
        ty: &Type,
        above: &[u32],
        mode: Mode,
    ) -> Outcome<Symbolic> {
        let TypedBinding { expr, split } = self.typed_binding(binding, component, attribute, ty, above.len())?;
        let scope_rank = self.instances.rank_above(binding.scope).min(above.len());
        let frame = Frame { class: binding.scope, indices: Indices::from_slice(&above[..scope_rank]) };
        if split == 0 {
            let mut expander = Expander::new(self, frame, mode);
            let value = expander.expand(&expr);
            expander.keep_checks();
            return value;
        }
        // The same value is taken apart for every element: found once.
        let known = self.values.taken_apart.as_ref().filter(|known| {
            known.component == component && known.attribute == attribute && known.mode == mode && known.frame == frame
        });
        let value = match known {
            Some(known) => known.value.clone(),
            None => {
                let mut expander = Expander::new(self, frame.clone(), mode);
                let value = expander.expand(&expr)?;
                expander.keep_checks();
                self.check_split(binding, component, attribute, ty, &value)?;
                self.values.taken_apart = Some(TakenApart { component, attribute, mode, frame, value: value.clone() });
                value
            }
        };
        let own = above.len().saturating_sub(split);
        let positions: Vec<Positions> = above[own..].iter().map(|&at| Positions::One(at as usize - 1)).collect();
        value.index(&positions).ok_or_else(|| self.wrong_split(binding, component, attribute, None, &value))
    }

    /// Where the dimensions of the value of a modifier come from.
    pub(crate) fn wanted(&mut self, binding: &Binding, component: CompId, attribute: Name, ty: &Type) -> Wanted {
        let mut levels = usize::from(binding.spread.levels);
        let mut rank = ty.rank;
        if attribute != "" && levels == 0 {
            rank = match binding.spread.of_type {
                true => self.instances.rank_of_definition(component, binding.span).min(rank),
                false => 0,
            };
            return Wanted { arrays: Vec::new(), split: 0, rank };
        }
        if attribute != "" {
            levels -= 1;
        }
        let mut above = self.instances.chain(component);
        above.pop();
        let mut arrays = Vec::new();
        let of_type = binding.spread.of_type;
        for &id in above.iter().rev().take(levels) {
            arrays.push((id, self.instances.component(id).dimensions.len()));
        }
        if of_type && let Some(&id) = above.iter().rev().nth(levels) {
            arrays.push((id, self.instances.rank_of_definition(id, binding.span)));
        }
        arrays.retain(|(_, rank)| *rank > 0);
        arrays.reverse();
        let split = arrays.iter().map(|(_, rank)| rank).sum();
        Wanted { arrays, split, rank }
    }

    /// The value of a modifier must have as many elements as the arrays of components that take it apart.
    fn check_split(
        &mut self,
        binding: &Binding,
        component: CompId,
        attribute: Name,
        ty: &Type,
        value: &Symbolic,
    ) -> Outcome<()> {
        let mut wanted = Vec::new();
        for (id, rank) in self.wanted(binding, component, attribute, ty).arrays {
            // Arrays whose elements differ take what there is for them.
            if matches!(self.instances.component(id).sizes, SizeState::Busy | SizeState::Ragged(_)) {
                return Ok(());
            }
            let sizes = self.sizes(id)?;
            if self.is_ragged(id) {
                return Ok(());
            }
            wanted.extend_from_slice(&sizes[sizes.len().saturating_sub(rank)..]);
        }
        if value.sizes().get(..wanted.len()) == Some(&wanted[..]) {
            return Ok(());
        }
        Err(self.wrong_split(binding, component, attribute, Some(&wanted), value))
    }

    fn wrong_split(
        &self,
        binding: &Binding,
        component: CompId,
        attribute: Name,
        wanted: Option<&[usize]>,
        value: &Symbolic,
    ) -> Box<Diagnostic> {
        let what = self.modified(component, attribute);
        let sizes = sizes_text(value.sizes());
        let message = match wanted {
            Some(wanted) => format!(
                "the modifier of {what} has the sizes {sizes}, and the arrays of components it goes to have {}",
                sizes_text(wanted)
            ),
            None => format!("the modifier of {what} has the sizes {sizes}, too few for the arrays of components"),
        };
        Box::new(
            Diagnostic::error("size-mismatch", message)
                .at(binding.span, format!("this has sizes {sizes}"))
                .at(self.instances.span(component), "for this component")
                .hint("give one value for each element, or write `each` before a value that holds for all of them")
                .specification("7.2.5"),
        )
    }

    pub(crate) fn wrong_attribute_sizes(
        &self,
        binding: &Binding,
        component: CompId,
        attribute: Name,
        wanted: &[usize],
        found: &[usize],
    ) -> Box<Diagnostic> {
        let what = self.modified(component, attribute);
        let (wanted, found) = (sizes_text(wanted), sizes_text(found));
        Box::new(
            Diagnostic::error("size-mismatch", format!("{what} has the sizes {found}, and the component {wanted}"))
                .at(binding.span, format!("this has sizes {found}"))
                .at(self.instances.span(component), format!("declared with sizes {wanted}"))
                .specification("7.2.5"),
        )
    }

    fn modified(&self, component: CompId, attribute: Name) -> String {
        let name = self.instances.path(component);
        if attribute == "" { format!("`{name}`") } else { format!("`{attribute}` of `{name}`") }
    }

    fn typed_binding(
        &mut self,
        binding: &Binding,
        component: CompId,
        attribute: Name,
        ty: &Type,
        above: usize,
    ) -> Outcome<TypedBinding> {
        if let Some(known) = self.values.bindings.get(&(component, attribute)) {
            return Ok(known.clone());
        }
        let Some(text) = &binding.expr else { return Err(self.failed_above(binding.span)) };
        let Wanted { split, rank, .. } = self.wanted(binding, component, attribute, ty);
        self.check_each(binding, component, attribute, ty);
        let split = split.min(above);
        let before = self.error_count();
        let mut typer = Typer::new(self, binding.scope, Context::Model);
        let typed = typer.expr(text);
        if attribute == "" {
            typer.check_variability(component, ty, &typed);
            typer.elaborator.check_members(binding, component, ty, &typed.ty);
        }
        let has_rank = |rank: usize| {
            let wanted = ty.with_rank(rank);
            fits(&typed.ty, &wanted) && (typed.ty.rank == rank || typed.ty.is_unknown())
        };
        let (typed, split) = if has_rank(rank + split) {
            (convert(typed, &ty.with_rank(rank + split)), split)
        } else if has_rank(rank) && (rank == 0 || binding.spread.or_each) {
            if !binding.spread.or_each {
                typer.elaborator.warn_of_missing_each(binding, component, attribute);
            }
            (convert(typed, &ty.with_rank(rank)), 0)
        } else if attribute != "" && has_rank(0) {
            // A scalar holds for all elements.
            if !binding.spread.or_each {
                typer.elaborator.warn_of_missing_each(binding, component, attribute);
            }
            (convert(typed, &ty.with_rank(0)), 0)
        } else {
            let record = match has_rank(rank) {
                true => None,
                false => typer.as_record(typed.clone(), &ty.with_rank(rank)),
            };
            match record {
                Some(typed) => (typed, 0),
                None => {
                    let diagnostic =
                        typer.elaborator.wrong_type(binding, component, attribute, ty, (rank, split), &typed);
                    typer.report(diagnostic);
                    (typed, 0)
                }
            }
        };
        if self.error_count() > before {
            return Err(self.failed_above(binding.span));
        }
        let typed = TypedBinding { expr: Arc::new(typed), split };
        self.values.bindings.insert((component, attribute), typed.clone());
        Ok(typed)
    }

    /// Records of one type have the same members; what another one has besides is left out.
    fn check_members(&mut self, binding: &Binding, component: CompId, ty: &Type, value: &Type) {
        let (Base::Record(wanted), Base::Record(given)) = (&ty.base, &value.base) else { return };
        let is_left_out = |name: &Name| wanted.field(*name).is_none();
        let names: Vec<String> =
            given.fields.iter().map(|field| field.name).filter(is_left_out).map(|name| format!("`{name}`")).collect();
        if names.is_empty() || !fits(value, &ty.with_rank(value.rank)) {
            return;
        }
        let message = format!(
            "the value has members that {} does not have: {}",
            self.modified(component, Name::new("")),
            names.join(", ")
        );
        let diagnostic = Diagnostic::warning("more-members", message)
            .at(binding.span, format!("this is `{}`", value.text()))
            .at(self.instances.span(component), format!("this is `{}`", ty.text()))
            .hint("declare the component with the class of its value, or give the members one by one")
            .specification("6.7")
            .decides();
        self.instances.report(Box::new(diagnostic));
    }

    /// `each` needs an array whose elements it speaks of.
    fn check_each(&mut self, binding: &Binding, component: CompId, attribute: Name, ty: &Type) {
        let Some(levels) = binding.spread.each else { return };
        let spread = Spread { levels, of_type: true, ..Spread::NONE };
        let Wanted { split, rank, .. } = self.wanted(&Binding { spread, ..binding.clone() }, component, attribute, ty);
        if split + rank + ty.rank > 0 {
            return;
        }
        let what = self.modified(component, attribute);
        let diagnostic = Diagnostic::warning("needless-each", format!("{what} is no element of an array"))
            .at(binding.span, "this stands behind `each`")
            .at(self.instances.span(component), "for this component")
            .hint("leave out `each`")
            .specification("7.2.5")
            .decides();
        self.instances.report(Box::new(diagnostic));
    }

    /// The meaning is plain and other tools take it.
    pub(crate) fn warn_of_missing_each(&mut self, binding: &Binding, component: CompId, attribute: Name) {
        let what = self.modified(component, attribute);
        let diagnostic =
            Diagnostic::warning("missing-each", format!("{what} gets one value for all elements of an array"))
                .at(binding.span, "this is a scalar")
                .at(self.instances.span(component), "for this component")
                .hint("write `each` before the modifier")
                .specification("7.2.5")
                .decides();
        self.instances.report(Box::new(diagnostic));
    }

    pub(crate) fn wrong_type(
        &self,
        binding: &Binding,
        component: CompId,
        attribute: Name,
        ty: &Type,
        (rank, split): (usize, usize),
        value: &Expr,
    ) -> Diagnostic {
        let what = self.modified(component, attribute);
        let found = value.ty.text();
        let (one, all) = (ty.with_rank(rank), ty.with_rank(rank + split));
        if split == 0 || !fits(&value.ty.with_rank(0), &ty.with_rank(0)) {
            return Diagnostic::error(
                "type-mismatch",
                format!("{what} is of type `{}`, and its value of type `{found}`", one.text()),
            )
            .at(value.span, format!("this is `{found}`"))
            .at(self.instances.span(component), "declared here")
            .specification("6.7");
        }
        let message = format!(
            "the modifier of {what} is of type `{found}`, and with the arrays of components `{}` is needed",
            all.text()
        );
        let mut diagnostic = Diagnostic::error("size-mismatch", message)
            .at(binding.span, format!("this is `{found}`"))
            .at(self.instances.span(component), format!("each of these is `{}`", one.text()))
            .specification("7.2.5");
        if value.ty.rank == rank {
            diagnostic = diagnostic.hint("write `each` before the modifier if the value holds for all elements");
        }
        diagnostic
    }
}
