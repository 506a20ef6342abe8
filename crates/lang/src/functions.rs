//! Functions (chapter 12): what they take and give, their typed bodies, and their form in the flat model.
//!
//! A function class is typed once and made a `dae::Function` once, when something calls it.

use std::sync::Arc;

use base::{Diagnostic, Id, Name, Span};
use dae::function::{self as ir, Inline, LocalId};
use dae::{FunctionId, Variability};
use rustc_hash::FxHashMap;
use syntax::ast;

use crate::declaration_order::{cyclic_default, declaration_order};
use crate::elaborate::Elaborator;
use crate::instance::{ClassId, CompId, Member, Outcome};
use crate::typed::{
    Base, EnumerationType, Expr, FunctionKey, FunctionType, Kind, Local, Locals, RecordType, Statement, StatementKind,
    Type,
};
use crate::typing::{Context, Typer, literal};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignatureKind {
    Function,
    /// The constructor of a record.
    Record,
    /// The constructor of an external object.
    Object,
}

#[derive(Debug)]
pub struct Signature {
    pub key: FunctionKey,
    pub name: Name,
    pub class: ClassId,
    pub kind: SignatureKind,
    pub inputs: Vec<SignatureInput>,
    pub outputs: Vec<(Name, Type)>,
    pub output_locals: Vec<LocalId>,
    /// All variables, in the order of the class.
    pub fields: Vec<SignatureInput>,
    /// What a record constructor makes.
    pub record: Option<Arc<RecordType>>,
    pub locals: Locals,
    pub(crate) components: FxHashMap<CompId, LocalId>,
    pub impure: bool,
    /// Its annotation asks for events, and it gives no Real: the results change at events only.
    pub generates_events: bool,
}

#[derive(Clone, Debug)]
pub struct SignatureInput {
    pub name: Name,
    pub ty: Type,
    /// Over the inputs as locals, and over components where a modifier gave it.
    pub default: Option<Expr>,
    pub local: LocalId,
    pub span: Span,
}

impl Signature {
    pub fn input(&self, name: Name) -> Option<usize> {
        self.inputs.iter().position(|input| input.name == name)
    }
}

/// The body of a function with all its names found.
#[derive(Debug)]
pub struct TypedFunction {
    pub signature: Arc<Signature>,
    pub locals: Locals,
    pub body: TypedBody,
    pub inline: Inline,
}

#[derive(Debug)]
pub enum TypedBody {
    Algorithm(Vec<Statement>),
    External(TypedExternal),
    Record,
    /// `der(f, x, …)`: the function and the positions of the inputs.
    PartialDerivative(FunctionKey, Vec<u32>),
}

#[derive(Debug)]
pub struct TypedExternal {
    pub language: Name,
    pub symbol: Name,
    pub arguments: Vec<Expr>,
    pub result: Option<Expr>,
    pub libraries: Vec<Arc<str>>,
    pub source: Arc<dae::function::ExternalSource>,
}

/// The variables of a function or record with their types.
struct Declared {
    variables: Vec<(CompId, Type)>,
    /// What the constructor of a record makes.
    record: Option<Arc<RecordType>>,
}

type DeclaredLocals = (Locals, FxHashMap<CompId, LocalId>);

/// Which variables of a function get their sizes and first values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Inputs,
    All,
}

/// What is known about a function so far.
pub struct FunctionEntry {
    pub signature: Arc<Signature>,
    /// Whether the sizes and first values of all variables are known.
    is_complete: bool,
    pub(crate) typed: TypedState,
    pub(crate) id: Option<FunctionId>,
}

pub(crate) enum TypedState {
    Untyped,
    Typed(Arc<TypedFunction>),
    Failed(Box<Diagnostic>),
}

/// What makes two function classes the same function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Identity {
    Class(ClassId),
    /// Nothing around an encapsulated class changes its meaning.
    Definition(crate::library::DefId),
    /// A function of an operator record, and what the record stands in.
    Operator(crate::library::DefId, ClassId),
}

impl Elaborator {
    pub fn function(&self, key: FunctionKey) -> &FunctionEntry {
        &self.functions.entries[key]
    }

    fn identity(&mut self, class: ClassId) -> Identity {
        let node = self.instances.class(class);
        let (def, scope) = (node.def, node.scope);
        let plain = node.modifier.is_empty();
        let operator = scope.is_some_and(|scope| {
            self.instances.kind(scope) == ast::ClassKind::Operator && self.instances.definition(scope).encapsulated
        });
        if plain && (operator || self.instances.definition(class).encapsulated) {
            return Identity::Definition(def);
        }
        match self.scope_of_record(class).filter(|_| plain) {
            Some(outside) => Identity::Operator(def, outside),
            None => Identity::Class(class),
        }
    }

    /// The class instance around the operator record that a function stands in, where that record is not modified: all
    /// components of the record have the same function. Otherwise one whose inputs are of the record would have another one
    /// inside of each of its inputs, without an end.
    fn scope_of_record(&self, function: ClassId) -> Option<ClassId> {
        let mut scope = self.instances.class(function).scope?;
        if self.instances.kind(scope) == ast::ClassKind::Operator {
            scope = self.instances.class(scope).scope?;
        }
        let record = self.instances.class(scope);
        let is_plain = record.modifier.is_empty() && record.instance == scope;
        (is_plain && self.instances.kind(scope) == ast::ClassKind::OperatorRecord).then_some(record.scope?)
    }

    /// What a function or the constructor of a record takes and gives.
    pub fn signature(&mut self, class: ClassId) -> Outcome<Arc<Signature>> {
        if self.instances.is_external_object(class) {
            let constructor = match self.instances.member(class, Name::new("constructor")) {
                Some(Member::Class(member)) => self.instances.class_of(member)?,
                _ => {
                    let name = self.instances.class_name(class);
                    return Err(Box::new(Diagnostic::error(
                        "no-constructor",
                        format!("the external object `{name}` has no constructor"),
                    )));
                }
            };
            return self.signature_of(constructor, SignatureKind::Object);
        }
        let kind = match self.instances.kind(class) {
            ast::ClassKind::Function | ast::ClassKind::OperatorFunction => SignatureKind::Function,
            ast::ClassKind::Record | ast::ClassKind::OperatorRecord => SignatureKind::Record,
            kind => {
                let name = self.instances.class_name(class);
                let text = format!("{kind:?}").to_lowercase();
                return Err(Box::new(
                    Diagnostic::error("not-a-function", format!("`{name}` is a {text}, not a function"))
                        .specification("12.4"),
                ));
            }
        };
        self.signature_of(class, kind)
    }

    fn signature_of(&mut self, class: ClassId, kind: SignatureKind) -> Outcome<Arc<Signature>> {
        let identity = self.identity(class);
        if let Some(&key) = self.functions.keys.get(&identity) {
            return Ok(self.functions.entries[key].signature.clone());
        }
        if let ast::ClassBody::PartialDerivative { function, variables } = self.instances.definition(class).body.clone()
        {
            let signature = self.derivative_signature(class, &function, &variables)?;
            return Ok(self.enter(identity, signature, true));
        }
        let declared = self.declared(class, kind)?;
        // What is declared may call the function itself: then its inputs and outputs have to be known already.
        let known = self.assemble(class, kind, &declared, self.undefined_locals(&declared));
        let key = self.enter(identity, known, false).key;
        let inputs = self.declare_locals(class, kind, &declared, Extent::Inputs);
        let known = self.assemble(class, kind, &declared, inputs);
        self.functions.entries[key].signature = Arc::new(Signature { key, ..known });
        let locals = self.sorted_locals(class, kind, &declared);
        let signature = Arc::new(Signature { key, ..self.assemble(class, kind, &declared, locals) });
        let entry = &mut self.functions.entries[key];
        (entry.signature, entry.is_complete) = (signature.clone(), true);
        Ok(signature)
    }

    fn enter(&mut self, identity: Identity, signature: Signature, is_complete: bool) -> Arc<Signature> {
        let key = self.functions.entries.next_id();
        let signature = Arc::new(Signature { key, ..signature });
        let typed = TypedState::Untyped;
        self.functions.entries.push(FunctionEntry { signature: signature.clone(), is_complete, typed, id: None });
        self.functions.keys.insert(identity, key);
        signature
    }

    /// The variables of a function or record, in the order of the text.
    fn declared(&mut self, class: ClassId, kind: SignatureKind) -> Outcome<Declared> {
        if kind != SignatureKind::Record {
            self.check_function(class)?;
        }
        let components = self.instances.components_of(class);
        let record = match kind {
            SignatureKind::Record => Some(self.record_type(class)?),
            _ => None,
        };
        let mut variables = Vec::with_capacity(components.len());
        for &component in &components {
            variables.push((component, self.component_type(component)?));
        }
        if kind != SignatureKind::Record {
            self.check_function_components(class, &components)?;
        }
        Ok(Declared { variables, record })
    }

    /// All locals, in an order in which their declarations can be evaluated.
    fn sorted_locals(&mut self, class: ClassId, kind: SignatureKind, declared: &Declared) -> DeclaredLocals {
        let (locals, map) = self.declare_locals(class, kind, declared, Extent::All);
        if kind == SignatureKind::Record {
            return (locals, map);
        }
        let is_input = |local: LocalId| {
            let component = declared.variables[local.index()].0;
            self.instances.component(component).type_prefixes.direction == ast::Direction::Input
        };
        let cyclic = cyclic_default(&locals, declared.variables.len(), is_input);
        let order = declaration_order(&locals, declared.variables.len(), is_input);
        if let Some(local) = cyclic {
            let (name, span) = (locals[local].name, locals[local].span);
            let function = self.instances.class_name(class);
            let message = format!("the first value of `{name}` of `{function}` depends on itself");
            let diagnostic = Diagnostic::error("cyclic-parameter", message).at(span, "declared here");
            self.report(diagnostic.specification("12.4.4"));
        }
        match order {
            Some(order) => {
                let variables = order.into_iter().map(|local| declared.variables[local.index()].clone()).collect();
                let sorted = Declared { variables, record: declared.record.clone() };
                self.declare_locals(class, kind, &sorted, Extent::All)
            }
            None => (locals, map),
        }
    }

    /// Puts together what a function takes and gives.
    fn assemble(
        &mut self,
        class: ClassId,
        kind: SignatureKind,
        declared: &Declared,
        (locals, map): DeclaredLocals,
    ) -> Signature {
        let field = |component: CompId| {
            let local = map[&component];
            let Local { name, ty, default, span, .. } = &locals[local];
            SignatureInput { name: *name, ty: ty.clone(), default: default.clone(), local, span: *span }
        };
        let components: Vec<CompId> = declared.variables.iter().map(|(component, _)| *component).collect();
        let fields: Vec<SignatureInput> = components.iter().map(|&component| field(component)).collect();
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        let mut output_locals = Vec::new();
        for &component in &components {
            let node = self.instances.component(component);
            let direction = node.type_prefixes.direction;
            let protected = node.prefixes.protected;
            let is_input = match kind {
                SignatureKind::Record => !protected && !node.prefixes.is_final,
                _ => direction == ast::Direction::Input && !protected,
            };
            if is_input {
                inputs.push(field(component));
            } else if direction == ast::Direction::Output && kind != SignatureKind::Record {
                let local = map[&component];
                outputs.push((locals[local].name, locals[local].ty.clone()));
                output_locals.push(local);
            }
        }
        if let Some(record) = &declared.record {
            outputs.push((Name::new("result"), Type::new(Base::Record(record.clone()), 0)));
        }
        let impure = self.is_impure(class);
        let is_real = |(_, ty): &(Name, Type)| !matches!(ty.base, Base::Boolean | Base::Integer | Base::Enumeration(_));
        let generates_events =
            kind == SignatureKind::Function && !outputs.iter().any(is_real) && asks_for_events(self, class);
        Signature {
            key: self.functions.entries.next_id(),
            name: self.instances.class_name(class),
            class,
            kind,
            inputs,
            outputs,
            output_locals,
            fields,
            record: declared.record.clone(),
            locals,
            components: map,
            impure,
            generates_events,
        }
    }

    /// Locals whose sizes and first values are not known yet.
    fn undefined_locals(&self, declared: &Declared) -> DeclaredLocals {
        let (mut locals, mut map) = (Locals::default(), FxHashMap::default());
        for (component, ty) in &declared.variables {
            let (name, span) = (self.instances.component(*component).name, self.instances.span(*component));
            map.insert(*component, locals.push(Local { name, ty: ty.clone(), sizes: Vec::new(), default: None, span }));
        }
        (locals, map)
    }

    /// Locals in the given order, with their sizes and first values.
    fn declare_locals(
        &mut self,
        class: ClassId,
        kind: SignatureKind,
        declared: &Declared,
        extent: Extent,
    ) -> DeclaredLocals {
        let (locals, components) = self.undefined_locals(declared);
        let mut typer = Typer::new(self, class, Context::Function);
        (typer.locals, typer.components) = (locals, components);
        for (component, ty) in &declared.variables {
            let local = typer.components[component];
            let is_given = kind == SignatureKind::Record || typer.is_input(*component);
            if extent == Extent::Inputs && !is_given {
                continue;
            }
            let sizes = typer.local_sizes(*component);
            let default = typer.local_default(*component, ty, is_given);
            typer.locals[local].sizes = sizes;
            typer.locals[local].default = default;
        }
        (std::mem::take(&mut typer.locals), std::mem::take(&mut typer.components))
    }

    /// What a function may contain, before anything in it is looked at more closely.
    fn check_function(&mut self, class: ClassId) -> Outcome<()> {
        let before = self.error_count();
        for part in self.instances.with_bases(class) {
            crate::restrictions::check_class(&mut self.instances, part);
        }
        crate::restrictions::check_function_variables(&mut self.instances, class);
        if self.error_count() > before {
            return Err(self.failed_above(self.instances.definition(class).name.span));
        }
        Ok(())
    }

    /// Public variables of a function are inputs and outputs, protected ones are neither (12.2).
    fn check_function_components(&mut self, class: ClassId, components: &[CompId]) -> Outcome<()> {
        for &component in components {
            let node = self.instances.component(component);
            let direction = node.type_prefixes.direction;
            let inside = direction == ast::Direction::None;
            let constant = node.type_prefixes.variability == ast::Variability::Constant;
            if node.prefixes.protected == inside || (inside && constant) {
                continue;
            }
            let (name, function) = (node.name, self.instances.class_name(class));
            let what = if inside { "must be protected, or an input or output" } else { "cannot be protected" };
            let diagnostic =
                Diagnostic::breach("function-variable", format!("`{name}` of the function `{function}` {what}"))
                    .at(self.instances.span(component), "declared here")
                    .specification("12.2");
            // What is neither an input nor an output can only be a variable of the function.
            if !inside {
                return Err(Box::new(diagnostic.refused()));
            }
            self.report(diagnostic);
        }
        Ok(())
    }

    /// `function f_x = der(f, x)` takes what `f` takes (12.7.2).
    fn derivative_signature(
        &mut self,
        class: ClassId,
        function: &ast::TypeName,
        variables: &[ast::Ident],
    ) -> Outcome<Signature> {
        let scope = self.instances.class(class).scope.unwrap_or(class);
        let of = self.instances.lookup_type(scope, function)?;
        let base = self.signature(of)?;
        for variable in variables {
            if base.input(variable.name).is_none() {
                return Err(Box::new(
                    Diagnostic::error("unknown-argument", format!("`{}` has no input `{}`", base.name, variable.name))
                        .at(variable.span, "")
                        .specification("12.7.2"),
                ));
            }
        }
        Ok(Signature {
            key: self.functions.entries.next_id(),
            name: self.instances.class_name(class),
            class,
            kind: SignatureKind::Function,
            inputs: base.inputs.clone(),
            outputs: base.outputs.clone(),
            output_locals: base.output_locals.clone(),
            fields: base.fields.clone(),
            record: None,
            locals: base.locals.clone(),
            components: base.components.clone(),
            impure: base.impure,
            generates_events: false,
        })
    }

    fn is_impure(&mut self, class: ClassId) -> bool {
        self.instances
            .with_bases(class)
            .into_iter()
            .any(|class| self.instances.definition(class).purity == ast::Purity::Impure)
    }

    /// The name of the function of the language that `external "builtin"` stands for, as in `Modelica.Math.sin`.
    pub fn builtin_function(&mut self, class: ClassId) -> Option<Name> {
        let definition = self.instances.definition(class);
        let ast::ClassBody::Long(composition) = &definition.body else { return None };
        let external = composition.external.as_ref()?;
        if external.language.as_deref() != Some("builtin") {
            return None;
        }
        Some(external.function.map_or(definition.name.name, |ident| ident.name))
    }

    /// The functions of an operator of a record (14.1), in the order of the text.
    pub fn operator_functions(&mut self, class: ClassId, operator: Name) -> Vec<Arc<Signature>> {
        let class_of_record = class;
        let Some(Member::Class(member)) = self.instances.member(class, operator) else { return Vec::new() };
        let Ok(found) = self.instances.class_of(member) else { return Vec::new() };
        if let Some(known) = self.functions.operators.get(&found) {
            return known.clone();
        }
        let mut classes = vec![found];
        if self.instances.kind(found) == ast::ClassKind::Operator {
            classes.clear();
            for (_, member) in self.instances.members(found) {
                if let Member::Class(member) = member
                    && let Ok(class) = self.instances.class_of(member)
                {
                    classes.push(class);
                }
            }
        }
        let mut signatures = Vec::new();
        for class in classes {
            match self.signature(class) {
                Ok(signature) if operator == "'constructor'" && signature.outputs.len() != 1 => {
                    let diagnostic = Diagnostic::error(
                        "constructor-results",
                        format!("the constructor `{}` must have one output", signature.name),
                    )
                    .at(self.instances.definition(class).name.span, "declared here")
                    .specification("14.3");
                    self.report(diagnostic);
                }
                Ok(signature) if operator == "'constructor'" && !self.constructs(&signature, class_of_record) => {
                    let given = signature.outputs.first().map(|(_, ty)| ty.text()).unwrap_or_default();
                    let diagnostic = Diagnostic::error(
                        "constructor-results",
                        format!(
                            "the constructor `{}` must give a `{}`, not a `{given}`",
                            signature.name,
                            self.instances.class_name(class_of_record)
                        ),
                    )
                    .at(self.instances.definition(class).name.span, "declared here")
                    .specification("14.3");
                    self.report(diagnostic);
                }
                Ok(signature) => signatures.push(signature),
                Err(diagnostic) => self.report(*diagnostic),
            }
        }
        self.functions.operators.insert(found, signatures.clone());
        signatures
    }

    /// Whether the one output of a constructor is of the operator record, or of the one that it is another name for.
    fn constructs(&mut self, signature: &Signature, record: ClassId) -> bool {
        let [(_, only)] = signature.outputs.as_slice() else { return false };
        let Base::Record(made) = &only.base else { return only.is_unknown() };
        let made = self.instances.class(made.class).def;
        let parts = self.instances.with_bases(record);
        only.rank == 0 && parts.into_iter().any(|part| self.instances.class(part).def == made)
    }

    pub fn has_constructors(&mut self, class: ClassId) -> bool {
        self.instances.kind(class) == ast::ClassKind::OperatorRecord
            && self.instances.member(class, Name::new("'constructor'")).is_some()
    }

    /// The type of a function as a value.
    pub fn function_type(&mut self, class: ClassId) -> Outcome<Arc<FunctionType>> {
        let signature = self.signature(class)?;
        let inputs = signature.inputs.iter().map(|input| (input.name, input.ty.clone())).collect();
        Ok(Arc::new(FunctionType { inputs, outputs: signature.outputs.clone() }))
    }

    /// The typed body.
    pub fn typed_function(&mut self, key: FunctionKey) -> Outcome<Arc<TypedFunction>> {
        match &self.functions.entries[key].typed {
            TypedState::Typed(typed) => return Ok(typed.clone()),
            TypedState::Failed(diagnostic) => return Err(diagnostic.clone()),
            TypedState::Untyped => {}
        }
        if !self.functions.entries[key].is_complete {
            let signature = &self.functions.entries[key].signature;
            let message = format!("what is declared in the function `{}` needs the function itself", signature.name);
            let span = self.instances.definition(signature.class).name.span;
            return Err(Box::new(Diagnostic::error("cyclic-function", message).at(span, "declared here")));
        }
        let before = self.error_count();
        let made = self.type_function(key).and_then(|typed| {
            if self.error_count() > before {
                // What is wrong with it was said when it was typed.
                let span = self.instances.definition(typed.signature.class).name.span;
                return Err(self.failed_above(span));
            }
            Ok(Arc::new(typed))
        });
        self.functions.entries[key].typed = match &made {
            Ok(typed) => TypedState::Typed(typed.clone()),
            Err(diagnostic) => TypedState::Failed(diagnostic.clone()),
        };
        made
    }

    fn type_function(&mut self, key: FunctionKey) -> Outcome<TypedFunction> {
        let signature = self.functions.entries[key].signature.clone();
        let class = signature.class;
        if signature.kind == SignatureKind::Record {
            return Ok(TypedFunction {
                locals: signature.locals.clone(),
                signature,
                body: TypedBody::Record,
                inline: Inline::Unstated,
            });
        }
        let (locals, body) = match self.instances.definition(class).body.clone() {
            ast::ClassBody::PartialDerivative { function, variables } => {
                let scope = self.instances.class(class).scope.unwrap_or(class);
                let of = self.instances.lookup_type(scope, &function)?;
                let base = self.signature(of)?;
                let positions =
                    variables.iter().filter_map(|variable| base.input(variable.name).map(|at| at as u32)).collect();
                (signature.locals.clone(), TypedBody::PartialDerivative(base.key, positions))
            }
            _ => self.type_body(&signature)?,
        };
        Ok(TypedFunction { signature, locals, body, inline: inline_annotation(self, class) })
    }

    fn type_body(&mut self, signature: &Arc<Signature>) -> Outcome<(Locals, TypedBody)> {
        let class = signature.class;
        let mut locals = signature.locals.clone();
        let mut statements = Vec::new();
        let mut external = None;
        let mut found = false;
        for part in self.instances.with_bases(class) {
            let definition = self.instances.definition(part).clone();
            let ast::ClassBody::Long(composition) = &definition.body else { continue };
            let mut typer = Typer::new(self, part, Context::Function);
            typer.locals = locals;
            typer.components = signature.components.clone();
            typer.inputs = signature.inputs.iter().map(|input| input.local).collect();
            let mut found_here = false;
            for section in composition.algorithms.iter().filter(|section| !section.initial) {
                if found {
                    let diagnostic = Diagnostic::breach(
                        "several-algorithms",
                        format!("the function `{}` has more than one algorithm", signature.name),
                    )
                    .at(section.span, "a further one")
                    .specification("12.2");
                    // Sections of one text follow each other.
                    typer.report(if found_here { diagnostic } else { diagnostic.refused() });
                }
                (found, found_here) = (true, true);
                statements.extend(typer.statements(&section.statements));
            }
            if let Some(text) = &composition.external {
                let mut text = text.clone();
                // Where the annotation stands behind the semicolon, it is that of the function.
                text.annotation = text.annotation.or_else(|| definition.annotation.clone());
                let typed = typer.external(&text, definition.name.name, part, signature);
                let known = typer.known_external(&text, &typed);
                external = Some(known.map_or(TypedBody::External(typed), |known| TypedBody::Algorithm(vec![known])));
            }
            locals = typer.locals;
        }
        let partial = self.instances.definition(class).partial;
        if let Some(body) = external.filter(|_| !partial) {
            return Ok((locals, body));
        }
        let has_value = |local: &Local| local.default.is_some() || has_no_elements(local);
        if partial || (!found && signature.output_locals.iter().any(|&local| !has_value(&locals[local]))) {
            let name = signature.name;
            let what = if partial { "is partial" } else { "has no algorithm" };
            return Err(Box::new(
                Diagnostic::error("partial-function", format!("the function `{name}` is called but {what}"))
                    .at(self.instances.definition(class).name.span, "declared here")
                    .specification("12.2"),
            ));
        }
        Ok((locals, TypedBody::Algorithm(statements)))
    }
}

/// Libraries with which a function called `sin` is that of `math.h`: the C library of mathematics, and that of the Modelica
/// Standard Library, whose functions all begin with its name.
const NEXT_TO_MATHEMATICS: [&str; 2] = ["m", "ModelicaExternalC"];

/// An array that is declared with a size of zero needs no value.
fn has_no_elements(local: &Local) -> bool {
    local.sizes.iter().flatten().any(|size| matches!(size.kind, Kind::Integer(0)))
}

impl Typer<'_> {
    fn is_input(&self, component: CompId) -> bool {
        self.elaborator.instances.component(component).type_prefixes.direction == ast::Direction::Input
    }

    /// The declared sizes of a variable of a function; `None` for `:`.
    pub(crate) fn local_sizes(&mut self, component: CompId) -> Vec<Option<Expr>> {
        let Ok(dimensions) = self.elaborator.instances.dimensions(component) else { return Vec::new() };
        dimensions
            .iter()
            .map(|dimension| match &dimension.subscript {
                ast::Subscript::All(_) => None,
                ast::Subscript::Expr(text) => Some(self.in_scope(dimension.scope, |typer| typer.dimension_size(text))),
            })
            .collect()
    }

    /// The size of a dimension declared by a number, an enumeration or Boolean.
    pub fn dimension_size(&mut self, text: &ast::Expr) -> Expr {
        let value = self.values(text);
        if value.ty.rank == 1
            && let Kind::Array(items) = &value.kind
        {
            return literal(Kind::Integer(items.len() as i64), Type::INTEGER, text.span);
        }
        self.expect(value, &Type::INTEGER, "the size of a dimension")
    }

    fn external(&mut self, text: &ast::External, own: Name, part: ClassId, signature: &Signature) -> TypedExternal {
        let language = text.language.as_deref().unwrap_or("C");
        let known = crate::restrictions::LANGUAGES.into_iter().find(|known| known.eq_ignore_ascii_case(language));
        let language = Name::new(known.unwrap_or(language));
        let symbol = text.function.map_or(own, |ident| ident.name);
        let libraries = self.libraries(text);
        self.check_definition(text, symbol, &libraries);
        let source = Arc::new(self.external_source(text, part));
        if text.function.is_none() {
            // Without a call the inputs are passed in order, each array with its sizes, and the one output is the result
            // (12.9.1.2, 12.9.2).
            let local = |typer: &Self, local: LocalId| {
                let ty = typer.locals[local].ty.clone();
                Expr { kind: Kind::Local(local), ty, variability: Variability::Continuous, span: text.span }
            };
            let passed: Vec<LocalId> = signature.inputs.iter().map(|input| input.local).collect();
            let (passed, result) = match signature.output_locals.as_slice() {
                &[only] if self.locals[only].ty.rank == 0 => (passed, Some(local(self, only))),
                outputs => (passed.into_iter().chain(outputs.iter().copied()).collect(), None),
            };
            let mut arguments = Vec::with_capacity(passed.len());
            for argument in passed.into_iter().map(|passed| local(self, passed)) {
                let sizes = (0..argument.ty.rank).map(|dimension| Expr {
                    kind: Kind::SizeOf(Box::new(argument.clone()), dimension as u32),
                    ty: Type::INTEGER,
                    variability: Variability::Continuous,
                    span: text.span,
                });
                let sizes: Vec<Expr> = sizes.collect();
                arguments.push(argument);
                arguments.extend(sizes);
            }
            return TypedExternal { language, symbol, arguments, result, libraries, source };
        }
        let arguments = text.arguments.iter().map(|argument| self.expr(argument)).collect();
        let result = text.output.as_ref().map(|output| self.target(output));
        if let Some(result) = result.as_ref().filter(|result| result.ty.rank > 0) {
            let diagnostic = Diagnostic::error("external-result", "a C function cannot give an array as its result")
                .at(result.span, format!("this is `{}`", result.ty.text()))
                .hint("hand the array over as an argument, which the C function fills")
                .specification("12.9.1");
            self.report(diagnostic);
        }
        TypedExternal { language, symbol, arguments, result, libraries, source }
    }

    /// What a C function that every tool has means in Modelica: `ModelicaError(text)` is an assertion that fails (12.9.6), and
    /// the functions of `math.h` are those of the language.
    fn known_external(&mut self, text: &ast::External, external: &TypedExternal) -> Option<Statement> {
        let TypedExternal { language, symbol, arguments, result, libraries, .. } = external;
        let span = text.span;
        let kind = match (symbol.as_str(), arguments.as_slice(), result) {
            _ if *language != "C" => return None,
            ("ModelicaError", [message], None) if message.ty == Type::STRING => StatementKind::Assert {
                condition: literal(Kind::Boolean(false), Type::BOOLEAN, span),
                message: message.clone(),
                level: None,
            },
            (name, arguments, Some(result))
                if dae::Elementary::named(name).is_some_and(|function| function.is_mathematical)
                    && arguments.iter().chain([result]).all(|one| one.ty == Type::REAL)
                    && libraries.iter().all(|library| NEXT_TO_MATHEMATICS.contains(&&**library))
                    && self.annotation_texts(text, "Include").is_empty() =>
            {
                let value = self.builtin_on(*symbol, arguments.to_vec(), span);
                StatementKind::Assign(result.clone(), value)
            }
            _ => return None,
        };
        Some(Statement { kind, span })
    }

    /// A C function that the text of the model should define must be named there (12.9.4). What a header or a library
    /// holds is not known here.
    fn check_definition(&mut self, text: &ast::External, symbol: Name, libraries: &[Arc<str>]) {
        let includes = self.annotation_texts(text, "Include");
        let code: String = includes.iter().map(|include| without_comments(include)).collect();
        if includes.is_empty() || !libraries.is_empty() || code.contains("#include") {
            return;
        }
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        if words.clone().any(|word| symbol == word) {
            return;
        }
        let near = crate::lookup::nearest(symbol.as_str(), words).map(str::to_owned);
        let message = format!("the C function `{symbol}` is not defined in the annotation `Include`");
        let mut diagnostic = Diagnostic::error("undefined-external", message)
            .at(text.function.map_or(text.span, |ident| ident.span), "called here")
            .hint("define it there, or name the library that holds it")
            .specification("12.9.4");
        if let Some(near) = near {
            diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic);
    }

    fn libraries(&mut self, text: &ast::External) -> Vec<Arc<str>> {
        self.annotation_texts(text, "Library")
    }

    /// The strings of one annotation of an external clause.
    pub(crate) fn annotation_texts(&self, text: &ast::External, name: &str) -> Vec<Arc<str>> {
        let mut found = Vec::new();
        let Some(annotation) = &text.annotation else { return found };
        for argument in &annotation.arguments {
            if let ast::Argument::Element(element) = argument
                && let [only] = element.path.as_slice()
                && only.name == name
                && let Some(modification) = &element.modification
                && let Some(ast::ModificationValue::Expr(value)) = &modification.value
            {
                match &value.kind {
                    ast::ExprKind::String(name) => found.push(name.clone()),
                    ast::ExprKind::Array(items) => found.extend(items.iter().filter_map(|item| match &item.kind {
                        ast::ExprKind::String(name) => Some(name.clone()),
                        _ => None,
                    })),
                    _ => {}
                }
            }
        }
        found
    }
}

/// C text without its comments.
fn without_comments(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        let (before, comment) = rest.split_at(start);
        kept.push_str(before);
        kept.push(' ');
        let end = if comment.starts_with("/*") { comment.find("*/").map(|at| at + 2) } else { comment.find('\n') };
        rest = end.map_or("", |end| &comment[end..]);
    }
    kept.push_str(rest);
    kept
}

/// `Package.f` as `Package.f#2`, inside the quotes where the name has some.
pub(crate) fn numbered(name: Name, number: usize) -> Name {
    match name.as_str().strip_suffix('\'') {
        Some(quoted) => Name::new(&format!("{quoted}#{number}'")),
        None => Name::new(&format!("{name}#{number}")),
    }
}

pub(crate) fn flat_enumeration(known: &EnumerationType) -> Arc<dae::model::Enumeration> {
    Arc::new(dae::model::Enumeration { name: known.name, literals: known.literals.clone() })
}

/// `derivative(order = 1, zeroDerivative = x) = f`, as read from the text.
pub(crate) struct DerivativeText {
    pub order: u32,
    pub function: ast::ComponentRef,
    pub scope: ClassId,
    pub zero: Vec<Name>,
    pub none: Vec<Name>,
}

/// `inverse(x = f(y, …))`.
pub(crate) struct InverseText {
    pub input: ast::Ident,
    pub function: ast::ComponentRef,
    pub arguments: ast::Arguments,
    pub scope: ClassId,
}

/// When the annotations of a function ask for its calls to be written out.
fn inline_annotation(elaborator: &mut Elaborator, class: ClassId) -> Inline {
    let mut inline = Inline::Unstated;
    for (name, modification, _) in function_annotations(elaborator, class) {
        match (name.as_str(), truth(modification.as_deref())) {
            ("Inline", Some(true)) => inline = Inline::Early,
            ("Inline", Some(false)) => inline = Inline::Never,
            ("LateInline" | "InlineAfterIndexReduction", Some(true)) => inline = Inline::Late,
            _ => {}
        }
    }
    inline
}

/// Whether a function is to make events where its body would make them outside of a function (12.8).
fn asks_for_events(elaborator: &mut Elaborator, class: ClassId) -> bool {
    let annotations = function_annotations(elaborator, class);
    let last = annotations.iter().rev().find(|(name, ..)| *name == "GenerateEvents");
    last.is_some_and(|(_, modification, _)| truth(modification.as_deref()) == Some(true))
}

fn truth(modification: Option<&ast::Modification>) -> Option<bool> {
    match modification?.value.as_ref()? {
        ast::ModificationValue::Expr(value) => match value.kind {
            ast::ExprKind::Boolean(value) => Some(value),
            _ => None,
        },
        ast::ModificationValue::Break(_) => None,
    }
}

type NamedAnnotation = (Name, Option<Arc<ast::Modification>>, ClassId);

/// The arguments of the annotations of a function and its bases, and of their external clauses; own ones last.
fn function_annotations(elaborator: &mut Elaborator, class: ClassId) -> Vec<NamedAnnotation> {
    let mut found = Vec::new();
    for part in elaborator.instances.with_bases(class) {
        let definition = elaborator.instances.definition(part).clone();
        let external = match &definition.body {
            ast::ClassBody::Long(composition) => {
                composition.external.as_ref().and_then(|external| external.annotation.clone())
            }
            _ => None,
        };
        for annotation in definition.annotation.iter().chain(&external) {
            for argument in &annotation.arguments {
                if let ast::Argument::Element(element) = argument
                    && let [only] = element.path.as_slice()
                {
                    found.push((only.name, element.modification.clone(), part));
                }
            }
        }
    }
    found
}

impl Elaborator {
    pub(crate) fn derivative_texts(&mut self, class: ClassId) -> Vec<DerivativeText> {
        let mut found = Vec::new();
        for (name, modification, scope) in function_annotations(self, class) {
            let Some(modification) = modification.filter(|_| name == "derivative") else { continue };
            let Some(ast::ModificationValue::Expr(value)) = &modification.value else { continue };
            let ast::ExprKind::Ref(function) = &value.kind else { continue };
            let mut text =
                DerivativeText { order: 1, function: function.clone(), scope, zero: Vec::new(), none: Vec::new() };
            let options = modification.arguments.iter().flat_map(|arguments| &arguments.arguments);
            for option in options {
                let ast::Argument::Element(element) = option else { continue };
                let ([only], Some(option)) = (element.path.as_slice(), &element.modification) else { continue };
                let Some(ast::ModificationValue::Expr(value)) = &option.value else { continue };
                match (only.name.as_str(), &value.kind) {
                    ("order", ast::ExprKind::Integer(order)) => text.order = (*order).max(1) as u32,
                    ("zeroDerivative", ast::ExprKind::Ref(input)) => {
                        text.zero.extend(input.parts.first().map(|part| part.ident.name));
                    }
                    ("noDerivative", ast::ExprKind::Ref(input)) => {
                        text.none.extend(input.parts.first().map(|part| part.ident.name));
                    }
                    _ => {}
                }
            }
            found.push(text);
        }
        found
    }

    pub(crate) fn inverse_texts(&mut self, class: ClassId) -> Vec<InverseText> {
        let mut found = Vec::new();
        for (name, modification, scope) in function_annotations(self, class) {
            let Some(modification) = modification.filter(|_| name == "inverse") else { continue };
            let arguments = modification.arguments.iter().flat_map(|arguments| &arguments.arguments);
            for argument in arguments {
                let ast::Argument::Element(element) = argument else { continue };
                let ([input], Some(inner)) = (element.path.as_slice(), &element.modification) else { continue };
                let Some(ast::ModificationValue::Expr(value)) = &inner.value else { continue };
                let ast::ExprKind::Call { function, arguments } = &value.kind else { continue };
                let (function, arguments) = (function.clone(), arguments.clone());
                found.push(InverseText { input: *input, function, arguments, scope });
            }
        }
        found
    }

    /// The type of a local for the flat model.
    pub(crate) fn flat_type(&mut self, base: &Base) -> ir::Type {
        match base {
            Base::Real | Base::Unknown => ir::Type::Real,
            Base::Integer => ir::Type::Integer,
            Base::Boolean => ir::Type::Boolean,
            Base::String => ir::Type::String,
            Base::Enumeration(known) => ir::Type::Enumeration(flat_enumeration(known)),
            Base::Record(record) => ir::Type::Record(self.flat_record(record)),
            Base::Function(function) => {
                let mut fields = |all: &[(Name, Type)]| -> Vec<ir::Field> {
                    let field = |(name, ty): &(Name, Type)| ir::Field {
                        name: *name,
                        ty: self.flat_type(&ty.base),
                        sizes: vec![None; ty.rank],
                    };
                    all.iter().map(field).collect()
                };
                let (inputs, outputs) = (fields(&function.inputs), fields(&function.outputs));
                ir::Type::Function(Arc::new(ir::FunctionType { inputs, outputs }))
            }
            Base::Object(name) => ir::Type::Object(*name),
            Base::Clock | Base::Component | Base::Tuple(_) => ir::Type::Object(Name::new("ExternalObject")),
        }
    }

    pub(crate) fn flat_record(&mut self, record: &RecordType) -> Arc<ir::RecordType> {
        let sizes = self.field_sizes(record);
        let fields: Vec<ir::Field> = record
            .fields
            .iter()
            .zip(sizes.iter())
            .map(|(field, sizes)| ir::Field {
                name: field.name,
                ty: self.flat_type(&field.ty.base),
                sizes: sizes.clone(),
            })
            .collect();
        let name = self.record_name(record.name, &fields);
        Arc::new(ir::RecordType { name, fields })
    }

    /// Records of one class may differ by the sizes of their fields, or by what was redeclared: then they get numbers.
    fn record_name(&mut self, name: Name, fields: &[ir::Field]) -> Name {
        let known = self.functions.record_names.entry(name).or_default();
        let position = known.iter().position(|own| own.as_slice() == fields).unwrap_or_else(|| {
            known.push(fields.to_vec());
            known.len() - 1
        });
        if position == 0 { name } else { numbered(name, position + 1) }
    }
}
