//! Values at translation time: sizes, structural parameters, constants (specification 3.8, 4.4, 10.1), and what the
//! binding of a component gives to each of its elements.

use std::sync::Arc;

use base::{Diagnostic, Name, Span};
use dae::Variability;
use syntax::ast;

use crate::elaborate::{Elaborator, ValueState};
use crate::flat::{Indices, MOST_ELEMENTS, element_count, for_each_index, position, sizes_product};
use crate::instance::{BindingSource, ClassId, CompId, ComponentType, Dimension, Frame, Outcome, Ragged, SizeState};
use crate::lookup::Resolved;
use crate::symbolic::{Expander, Mode, Positions, Symbolic, arrays, sizes_text};
use crate::typed::{Base, Expr, RecordType, Type};
use crate::typing::{Context, Typer};

/// In arrays of more components than this, all elements are taken to have the sizes of the first.
const MOST_SIZES: usize = 100_000;

fn is_literal(subscript: &ast::Subscript) -> bool {
    matches!(subscript, ast::Subscript::Expr(text) if matches!(text.kind, ast::ExprKind::Integer(_)))
}

impl Elaborator {
    /// The sizes of a component's own dimensions; in arrays of components whose elements differ, the largest ones.
    pub fn sizes(&mut self, component: CompId) -> Outcome<Arc<[usize]>> {
        match &self.instances.component(component).sizes {
            SizeState::Known(sizes) => return Ok(sizes.clone()),
            SizeState::Ragged(ragged) => return Ok(ragged.largest.clone()),
            SizeState::Failed(diagnostic) => return Err(diagnostic.clone()),
            SizeState::Busy => {
                let name = self.instances.path(component);
                return Err(Box::new(
                    Diagnostic::error("cyclic-size", format!("the size of `{name}` depends on itself"))
                        .at(self.instances.span(component), format!("`{name}` is declared here"))
                        .specification("10.1"),
                ));
            }
            SizeState::Unknown => {}
        }
        self.instances.components[component].sizes = SizeState::Busy;
        let found = self.find_sizes(component);
        self.sizes.so_far.remove(&component);
        self.instances.components[component].sizes = match found {
            Ok(state) => state,
            Err(diagnostic) => SizeState::Failed(diagnostic),
        };
        self.sizes(component)
    }

    /// The sizes of a component's own dimensions in one element of the arrays of components above it.
    pub fn sizes_at(&mut self, component: CompId, above: &[u32]) -> Outcome<Arc<[usize]>> {
        let largest = self.sizes(component)?;
        Ok(match &self.instances.component(component).sizes {
            SizeState::Ragged(ragged) => {
                let above = &above[..ragged.above.len().min(above.len())];
                position(&ragged.above, above).and_then(|at| ragged.each.get(at).cloned()).unwrap_or(largest)
            }
            _ => largest,
        })
    }

    /// Whether the sizes differ between the elements of the arrays of components above.
    pub(crate) fn is_ragged(&self, component: CompId) -> bool {
        matches!(self.instances.component(component).sizes, SizeState::Ragged(_))
    }

    fn find_sizes(&mut self, component: CompId) -> Outcome<SizeState> {
        let dimensions = self.instances.dimensions(component)?;
        let parent = self.instances.component(component).parent;
        let rank = self.instances.rank_above(parent);
        let mut typed = vec![None; dimensions.len()];
        let first = self.sizes_in(component, &dimensions, &Indices::from_elem(1, rank), &mut typed)?;
        let same = rank == 0 || dimensions.iter().all(|dimension| is_literal(&dimension.subscript));
        let Some(above) = (if same { None } else { self.sizes_above(parent) }) else {
            return Ok(SizeState::Known(first));
        };
        let mut each = Vec::with_capacity(above.iter().product());
        for_each_index(&above, |indices| {
            let before = self.instances.diagnostics.len();
            each.push(self.sizes_in(component, &dimensions, indices, &mut typed).unwrap_or_else(|_| {
                // An element that does not exist needs no size.
                self.instances.diagnostics.truncate(before);
                first.clone()
            }));
        });
        if each.iter().all(|sizes| *sizes == first) {
            return Ok(SizeState::Known(first));
        }
        let largest = (0..first.len()).map(|at| each.iter().map(|sizes| sizes[at]).max().unwrap_or(0)).collect();
        Ok(SizeState::Ragged(Arc::new(Ragged { largest, above, each })))
    }

    /// The sizes of the arrays of components around a class; `None` where they are not known or too many.
    fn sizes_above(&mut self, class: ClassId) -> Option<Vec<usize>> {
        let owner = self.instances.class(class).owner?;
        let mut above = Vec::new();
        for component in self.instances.chain(owner) {
            if matches!(self.instances.component(component).sizes, SizeState::Busy) {
                return None;
            }
            above.extend_from_slice(&self.sizes(component).ok()?);
        }
        element_count(&above).is_some_and(|count| count <= MOST_SIZES).then_some(above)
    }

    /// The sizes in one element of the arrays of components above. `typed` keeps the text of the dimensions.
    fn sizes_in(
        &mut self,
        component: CompId,
        dimensions: &[Dimension],
        above: &[u32],
        typed: &mut [Option<Arc<Expr>>],
    ) -> Outcome<Arc<[usize]>> {
        let mut sizes = vec![None; dimensions.len()];
        // Sizes given by `:` first: the others may refer to them.
        let mut shape: Option<Vec<usize>> = None;
        for (position, dimension) in dimensions.iter().enumerate() {
            let ast::Subscript::All(span) = &dimension.subscript else { continue };
            let shape = match &shape {
                Some(shape) => shape,
                None => shape.insert(self.shape_of_binding(component, above, *span)?),
            };
            sizes[position] = match shape.get(position) {
                Some(&size) => Some(size),
                None => return Err(self.no_size(component, *span)),
            };
        }
        // A size may be that of a later dimension: `x[size(x, 2), 3]`.
        let mut open: Vec<usize> = (0..dimensions.len()).filter(|&position| sizes[position].is_none()).collect();
        while !open.is_empty() {
            let mut later = Vec::new();
            let mut reason = None;
            for &position in &open {
                let dimension = &dimensions[position];
                let ast::Subscript::Expr(text) = &dimension.subscript else { continue };
                if sizes.len() > 1 {
                    self.sizes.so_far.insert(component, sizes.to_vec());
                }
                let known = match &typed[position] {
                    Some(known) => known.clone(),
                    None => typed[position].insert(self.typed_size(dimension.scope, text)?).clone(),
                };
                match self.declared_size(component, dimension.scope, text.span, &known, above) {
                    Ok(size) => sizes[position] = Some(size),
                    Err(why) if why.code == "cyclic-size" => {
                        later.push(position);
                        reason.get_or_insert(why);
                    }
                    Err(why) => return Err(why),
                }
            }
            if let Some(why) = reason.filter(|_| later.len() == open.len()) {
                return Err(why);
            }
            open = later;
        }
        let sizes: Arc<[usize]> = sizes.into_iter().flatten().collect();
        if element_count(&sizes).is_none() {
            return Err(self.too_large(component, &sizes));
        }
        Ok(sizes)
    }

    fn typed_size(&mut self, scope: ClassId, text: &Arc<ast::Expr>) -> Outcome<Arc<Expr>> {
        let before = self.error_count();
        let typed = Typer::new(self, scope, Context::Model).dimension_size(text);
        if self.error_count() > before {
            return Err(self.failed_above(text.span));
        }
        Ok(Arc::new(typed))
    }

    fn declared_size(
        &mut self,
        component: CompId,
        scope: ClassId,
        span: Span,
        typed: &Expr,
        above: &[u32],
    ) -> Outcome<usize> {
        let rank = self.instances.rank_above(scope);
        let indices = above.iter().copied().chain(std::iter::repeat(1)).take(rank).collect();
        let frame = Frame { class: scope, indices };
        let value = Expander::new(self, frame, Mode::Evaluate).expand(typed)?;
        let size = value.scalar().and_then(|id| arrays::integer(&self.flat.model.exprs, id));
        match size {
            Some(size) if (0..=100_000_000).contains(&size) => Ok(size as usize),
            Some(size) => Err(Box::new(
                Diagnostic::error(
                    "wrong-size",
                    format!("a dimension of `{}` has size {size}", self.instances.path(component)),
                )
                .at(span, "this is the size")
                .specification("10.1"),
            )),
            None => Err(Box::new(
                Diagnostic::error(
                    "unknown-size",
                    format!("a size of `{}` is not known at translation", self.instances.path(component)),
                )
                .at(span, "this is the size"),
            )),
        }
    }

    /// A message for an array that no memory could hold.
    pub(crate) fn too_large(&self, component: CompId, sizes: &[usize]) -> Box<Diagnostic> {
        let name = self.instances.path(component);
        let message =
            format!("`{name}` has {} elements, and at most {MOST_ELEMENTS} are supported", sizes_product(sizes));
        Box::new(Diagnostic::error("too-large", message).at(self.instances.span(component), "declared here"))
    }

    /// A message for what failed because of something that was reported already.
    pub(crate) fn failed_above(&self, span: Span) -> Box<Diagnostic> {
        let last = self.instances.diagnostics.iter().rev().find(|diagnostic| diagnostic.is_error());
        match last {
            Some(diagnostic) => Box::new(diagnostic.clone()),
            None => Box::new(Diagnostic::error("wrong-expression", "this expression is wrong").at(span, "")),
        }
    }

    fn no_size(&self, component: CompId, span: Span) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::error(
                "unknown-size",
                format!("a size of `{}` is given by `:` but nothing tells it", self.instances.path(component)),
            )
            .at(span, "this dimension")
            .hint("give a size, or a value whose size it takes")
            .specification("10.1"),
        )
    }

    /// The sizes that the binding of a component has, for dimensions declared with `:`.
    fn shape_of_binding(&mut self, component: CompId, above: &[u32], span: Span) -> Outcome<Vec<usize>> {
        let Some(source) = self.instances.binding(component) else {
            // An outer element has the sizes of its inner one.
            if let Ok(inner) = self.instances.resolve_outer(component)
                && inner != component
            {
                return Ok(self.sizes(inner)?.to_vec());
            }
            return match self.start_shape(component, above) {
                Some(sizes) => Ok(sizes),
                None => Err(self.no_size(component, span)),
            };
        };
        let value = self.binding_value(&source, component, above, Mode::Shape)?;
        Ok(value.sizes().to_vec())
    }

    /// The sizes of the start value, where there is no binding.
    fn start_shape(&mut self, component: CompId, above: &[u32]) -> Option<Vec<usize>> {
        let ComponentType::Builtin { attributes, .. } = self.instances.component_type(component).ok()? else {
            return None;
        };
        let binding = attributes.child(Name::new("start"))?.binding.clone()?;
        let ty = self.component_type(component).ok()?;
        let value = self.expression_value(&binding, component, Name::new("start"), &ty, above, Mode::Shape).ok()?;
        Some(value.sizes().to_vec()).filter(|sizes| sizes.len() == ty.rank)
    }

    /// The sizes of a field of a record class as far as they are constant.
    pub(crate) fn constant_sizes(&mut self, component: CompId) -> Vec<Option<usize>> {
        let Ok(dimensions) = self.instances.dimensions(component) else { return Vec::new() };
        if dimensions.is_empty() {
            return Vec::new();
        }
        if dimensions.iter().any(|dimension| matches!(dimension.subscript, ast::Subscript::All(_))) {
            return vec![None; dimensions.len()];
        }
        let literals: Option<Vec<usize>> = dimensions
            .iter()
            .map(|dimension| match &dimension.subscript {
                ast::Subscript::Expr(text) => match text.kind {
                    ast::ExprKind::Integer(size) => usize::try_from(size).ok(),
                    _ => None,
                },
                ast::Subscript::All(_) => None,
            })
            .collect();
        if let Some(sizes) = literals {
            return sizes.into_iter().map(Some).collect();
        }
        let before = self.instances.diagnostics.len();
        let outer = std::mem::replace(&mut self.sizes.constants_only, true);
        let sizes = self.sizes(component);
        self.sizes.constants_only = outer;
        match sizes {
            Ok(sizes) => sizes.iter().copied().map(Some).collect(),
            Err(_) => {
                // The size belongs to an instance; nothing is wrong with the class.
                self.instances.diagnostics.truncate(before);
                self.instances.components[component].sizes = SizeState::Unknown;
                vec![None; dimensions.len()]
            }
        }
    }

    /// The sizes of the fields of a record, where they are constant.
    pub(crate) fn field_sizes(&mut self, record: &RecordType) -> Arc<Vec<Vec<Option<usize>>>> {
        if let Some(known) = self.sizes.records.get(&record.class) {
            return known.clone();
        }
        // Until they are known, nothing is known about them.
        let unknown = record.fields.iter().map(|field| vec![None; field.ty.rank]).collect();
        self.sizes.records.insert(record.class, Arc::new(unknown));
        let components = self.instances.components_of(record.class);
        let sizes = Arc::new(components.into_iter().map(|component| self.constant_sizes(component)).collect());
        self.sizes.records.insert(record.class, Arc::clone(&sizes));
        sizes
    }

    /// The value of a parameter or constant (all its elements), or why there is none. `above` are the element numbers of
    /// the arrays above it.
    pub fn value(&mut self, component: CompId, above: &[u32]) -> Outcome<Symbolic> {
        let key = (component, Indices::from_slice(above));
        match self.values.scalars.get(&key) {
            Some(ValueState::Known(value)) => return Ok(value.clone()),
            Some(ValueState::Failed(diagnostic)) => return Err(diagnostic.clone()),
            Some(ValueState::Busy) => {
                let name = self.instances.path(component);
                return Err(Box::new(
                    Diagnostic::error("cyclic-parameter", format!("the value of `{name}` depends on itself"))
                        .at(self.instances.span(component), format!("`{name}` is declared here"))
                        .specification("4.4.4"),
                ));
            }
            None => {}
        }
        self.values.scalars.insert(key.clone(), ValueState::Busy);
        let found = stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.find_value(component, above));
        let found = found.map_err(|diagnostic| self.with_cycle(diagnostic, component));
        let state = match &found {
            Ok(value) => ValueState::Known(value.clone()),
            Err(diagnostic) => ValueState::Failed(diagnostic.clone()),
        };
        self.values.scalars.insert(key, state);
        found
    }

    /// Each component on a cycle adds its place to the message.
    fn with_cycle(&self, mut diagnostic: Box<Diagnostic>, component: CompId) -> Box<Diagnostic> {
        if matches!(diagnostic.code, "cyclic-parameter" | "cyclic-size") {
            let name = self.instances.path(component);
            let text = format!("`{name}` is declared here");
            if diagnostic.labels.len() < 12 && !diagnostic.labels.iter().any(|label| label.text == text) {
                *diagnostic = (*diagnostic).at(self.instances.span(component), text);
            }
        }
        diagnostic
    }

    fn find_value(&mut self, component: CompId, above: &[u32]) -> Outcome<Symbolic> {
        let ty = self.component_type(component)?;
        if let Some(source) = self.instances.binding(component) {
            let value = self.binding_value(&source, component, above, Mode::Evaluate)?;
            return self.check_sizes(component, above, value);
        }
        if let Base::Record(_) = ty.base {
            return self.value_of_fields(component, above);
        }
        if let Some(start) = self.attribute(component, Name::new("start"), above, Mode::Evaluate)? {
            return Ok(start);
        }
        let name = self.instances.path(component);
        Err(Box::new(
            Diagnostic::error("no-value", format!("`{name}` has no value, and it is needed at translation"))
                .at(self.instances.span(component), "declared here")
                .hint(format!("give it a value, such as `{name} = …`"))
                .specification("4.4.4"),
        ))
    }

    fn value_of_fields(&mut self, component: CompId, above: &[u32]) -> Outcome<Symbolic> {
        let ComponentType::Class(class) = self.instances.component_type(component)? else {
            return Err(self.no_size(component, self.instances.span(component)));
        };
        let sizes = self.sizes_at(component, above)?;
        let fields = self.instances.components_of(class);
        let mut elements = Vec::new();
        let mut failed = None;
        for_each_index(&sizes, |own| {
            if failed.is_some() {
                return;
            }
            let mut indices = Indices::from_slice(above);
            indices.extend_from_slice(own);
            let mut values = Vec::with_capacity(fields.len());
            for &field in &fields {
                match self.value(field, &indices) {
                    Ok(value) => values.push(value),
                    Err(diagnostic) => {
                        failed = Some(diagnostic);
                        return;
                    }
                }
            }
            elements.push(Symbolic::record(values));
        });
        match failed {
            Some(diagnostic) => Err(diagnostic),
            None => Ok(Symbolic::array(sizes.to_vec(), elements)),
        }
    }

    /// The value must have the sizes that were declared.
    pub fn check_sizes(&mut self, component: CompId, above: &[u32], value: Symbolic) -> Outcome<Symbolic> {
        let sizes = self.sizes_at(component, above)?;
        let fits = value.sizes() == &*sizes || (sizes.contains(&0) && arrays::is_empty(&value));
        if fits {
            return Ok(value);
        }
        let name = self.instances.path(component);
        let mut diagnostic = Diagnostic::error(
            "size-mismatch",
            format!("`{name}` has the sizes {}, and its value {}", sizes_text(&sizes), sizes_text(value.sizes())),
        )
        .at(self.instances.span(component), format!("declared with sizes {}", sizes_text(&sizes)))
        .specification("10.6.1");
        if let Some(BindingSource::Expression(binding)) = self.instances.binding(component) {
            diagnostic = diagnostic.at(binding.span, format!("this has sizes {}", sizes_text(value.sizes())));
        }
        for (dimension, size) in self.instances.dimensions(component)?.iter().zip(sizes.iter()) {
            if let Some((name, span)) = self.origin_of_size(dimension) {
                diagnostic = diagnostic.at(span, format!("`{name}` is {size}"));
            }
        }
        Err(Box::new(diagnostic))
    }

    /// The parameter that is the size of a dimension, and where it gets its value.
    fn origin_of_size(&mut self, dimension: &Dimension) -> Option<(Name, Span)> {
        let ast::Subscript::Expr(text) = &dimension.subscript else { return None };
        let ast::ExprKind::Ref(reference) = &text.kind else { return None };
        let Ok(Resolved::Component { steps }) = self.instances.lookup_reference(dimension.scope, reference) else {
            return None;
        };
        let &parameter = steps.last()?;
        match self.instances.binding(parameter)? {
            BindingSource::Expression(binding) => Some((self.instances.component(parameter).name, binding.span)),
            BindingSource::Field(_) => None,
        }
    }

    /// What a binding gives to the component at the element numbers `above`.
    pub fn binding_value(
        &mut self,
        source: &BindingSource,
        component: CompId,
        above: &[u32],
        mode: Mode,
    ) -> Outcome<Symbolic> {
        match source {
            BindingSource::Expression(binding) => {
                let ty = self.component_type(component)?;
                self.expression_value(binding, component, Name::new(""), &ty, above, mode)
            }
            BindingSource::Field(record) => {
                let name = self.instances.component(component).name;
                let rank = self.instances.dimensions(*record)?.len();
                let (outer, own) = above.split_at(above.len().saturating_sub(rank));
                let whole = self.record_value(*record, outer, mode)?;
                let Base::Record(ty) = self.component_type(*record)?.base else {
                    let diagnostic = Diagnostic::error(
                        "not-a-record",
                        format!("`{}` is no record and cannot have a value", self.instances.path(*record)),
                    );
                    return Err(Box::new(diagnostic.at(self.instances.span(*record), "declared here")));
                };
                let positions: Vec<Positions> = own.iter().map(|&at| Positions::One(at as usize - 1)).collect();
                let element = whole.index(&positions);
                let field = ty.field(name).and_then(|at| element.and_then(|element| element.field(at)));
                field.ok_or_else(|| self.no_size(component, self.instances.span(component)))
            }
        }
    }

    /// The value of a record that has a binding as a whole; found once for all its fields.
    fn record_value(&mut self, record: CompId, above: &[u32], mode: Mode) -> Outcome<Symbolic> {
        if mode == Mode::Evaluate {
            return self.value(record, above);
        }
        let key = (record, Indices::from_slice(above));
        if mode == Mode::Flat
            && let Some(known) = self.values.records.get(&key)
        {
            return Ok(known.clone());
        }
        let Some(source) = self.instances.binding(record) else {
            return Err(self.no_size(record, self.instances.span(record)));
        };
        let value = self.binding_value(&source, record, above, mode)?;
        if mode == Mode::Flat {
            self.values.records.insert(key, value.clone());
        }
        Ok(value)
    }

    /// The value of an attribute such as `start` for all elements of a component; `None` where nothing is said.
    pub fn attribute(&mut self, component: CompId, name: Name, above: &[u32], mode: Mode) -> Outcome<Option<Symbolic>> {
        let ComponentType::Builtin { attributes, .. } = self.instances.component_type(component)? else {
            return Ok(None);
        };
        let Some(modifier) = attributes.child(name) else { return Ok(None) };
        let Some(binding) = modifier.binding.clone().filter(|binding| binding.expr.is_some()) else { return Ok(None) };
        let own = self.component_type(component)?;
        let ty = match name.as_str() {
            "unit" | "displayUnit" | "quantity" => Type::new(Base::String, own.rank),
            "fixed" => Type::new(Base::Boolean, own.rank),
            "nominal" => Type::new(Base::Real, own.rank),
            "stateSelect" | "uncertain" => Type::new(Base::Unknown, own.rank),
            _ => own,
        };
        let value = self.expression_value(&binding, component, name, &ty, above, mode)?;
        let sizes = self.sizes_at(component, above)?;
        // One value behind `each`, or of the type of the elements, holds for all elements.
        let open = sizes.len().saturating_sub(value.sizes().len());
        let value = if open > 0 { arrays::fill(&value, &sizes[..open]) } else { value };
        if value.sizes() != &*sizes && !sizes.contains(&0) {
            return Err(self.wrong_attribute_sizes(&binding, component, name, &sizes, value.sizes()));
        }
        Ok(Some(value))
    }

    /// An expression of the text of `frame.class` as a constant, and what its scalars are. The name of an enumeration or
    /// Boolean stands for all its values.
    pub fn evaluate(&mut self, frame: &Frame, text: &ast::Expr) -> Outcome<(Base, Symbolic)> {
        let before = self.error_count();
        let typed = Typer::new(self, frame.class, Context::Model).values(text);
        if self.error_count() > before {
            return Err(self.failed_above(text.span));
        }
        let value = Expander::new(self, frame.clone(), Mode::Evaluate).expand(&typed)?;
        Ok((typed.ty.base, value))
    }

    /// A condition, as of a conditional component.
    pub fn evaluate_condition(&mut self, frame: &Frame, text: &ast::Expr) -> Outcome<bool> {
        let (_, value) = self.evaluate(frame, text)?;
        match value.scalar().and_then(|id| self.flat.model.exprs.as_boolean(id)) {
            Some(value) => Ok(value),
            None => Err(Box::new(
                Diagnostic::error("not-a-condition", "this must be a Boolean that is known at translation")
                    .at(text.span, ""),
            )),
        }
    }
}

impl Typer<'_> {
    /// The value of a component must not vary more than the component (3.8.5).
    pub(crate) fn check_variability(&mut self, component: CompId, ty: &Type, value: &Expr) {
        if value.ty.is_unknown() || matches!(ty.base, Base::Record(_) | Base::Object(_)) {
            return;
        }
        let declared = self.elaborator.component_variability(component, ty);
        self.check_pure_value(declared);
        let prefix = self.elaborator.instances.component(component).type_prefixes.variability;
        if prefix == ast::Variability::Discrete && matches!(ty.base, Base::Real) {
            let name = self.elaborator.instances.path(component);
            let message = format!("`{name}` is a discrete Real, which only a when clause may assign");
            let place = self.elaborator.instances.span(component);
            let diagnostic = Diagnostic::breach("variability", message)
                .at(value.span, "it has a value here")
                .at(place, "declared discrete")
                .specification("4.4.4");
            // What changes at events only is a value of a discrete variable.
            let is_plain = value.variability <= Variability::Discrete;
            self.report(if is_plain { diagnostic } else { diagnostic.refused() });
            return;
        }
        if value.variability <= declared {
            return;
        }
        let word = |variability| match variability {
            Variability::Constant => "constant",
            Variability::Parameter => "a parameter",
            Variability::Discrete => "discrete",
            Variability::Continuous => "continuous",
        };
        let name = self.elaborator.instances.path(component);
        let diagnostic = Diagnostic::breach(
            "variability",
            format!("`{name}` is {}, and its value is {}", word(declared), word(value.variability)),
        )
        .at(value.span, format!("this is {}", word(value.variability)))
        .at(self.elaborator.instances.span(component), format!("declared {}", word(declared)))
        .specification("3.8.5");
        // A parameter does not change, and has the value that it has at translation.
        let is_plain = value.variability == Variability::Parameter;
        self.report(if is_plain { diagnostic } else { diagnostic.refused() });
    }
}
