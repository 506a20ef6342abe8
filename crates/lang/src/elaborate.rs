//! The elaborator: the instance tree and the flat model that is made from it, with what is known about types, functions
//! and values so far. Typing, evaluation and expansion are methods of it in files of their own.

use std::sync::Arc;

use base::{Diagnostic, IdVec, Name, Span};
use dae::Externals;
use dae::{ExprId, PathId, VarId, Variability};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::ast;

use crate::conditional::Existence;
use crate::equations::TypedEquation;
use crate::flat::{Flat, Indices};
use crate::functions::{FunctionEntry, Identity, Signature};
use crate::instance::{Builtin, ClassId, CompId, ComponentType, Frame, Instances, Outcome};
use crate::library::DefId;
use crate::lookup::Resolved;
use crate::overrides::Overrides;
use crate::repeated_equations::RepeatedEquations;
use crate::spread::TypedBinding;
use crate::state_machines::Machines;
use crate::symbolic::{Mode, Symbolic};
use crate::typed::{Base, EnumerationType, FunctionKey, Locals, RecordField, RecordType, Statement, Type};

/// Turns an instantiated class into a flat model.
pub struct Elaborator {
    /// The classes and components.
    pub instances: Instances,
    /// What is made of them.
    pub flat: Flat,
    /// Functions in other languages that may be called while constants are evaluated.
    pub externals: Box<dyn Externals>,
    /// Parameters whose value became part of the structure.
    pub structural: FxHashMap<CompId, Span>,
    /// Where conditional components exist, of those that do not exist everywhere.
    pub(crate) conditional: FxHashMap<CompId, Existence>,
    /// Of arrays in expandable connectors of which not all elements are connected, which are.
    pub(crate) unconnected: FxHashMap<CompId, Arc<[bool]>>,
    /// What connections give: see `connection_values`.
    pub connected: Connected,
    pub(crate) machines: Machines,
    pub(crate) functions: FunctionTable,
    pub(crate) types: TypeTable,
    pub(crate) sizes: SizeTable,
    pub(crate) values: ValueTable,
    pub(crate) typed: TypedTexts,
    pub(crate) expansion: Expansion,
    /// As in `Overrides`.
    pub(crate) name_differentiated: bool,
    pub(crate) inputs: FxHashSet<String>,
}

/// The functions of the model, and those that are made for it.
#[derive(Default)]
pub(crate) struct FunctionTable {
    pub entries: IdVec<FunctionKey, FunctionEntry>,
    pub keys: FxHashMap<Identity, FunctionKey>,
    pub operators: FxHashMap<ClassId, Vec<Arc<Signature>>>,
    /// Functions that make texts.
    pub texts: FxHashMap<crate::symbolic::TextFunction, dae::FunctionId>,
    /// Functions that were made for sums and products of records.
    pub record_operations: FxHashMap<crate::record_arithmetic::RecordOperation, dae::FunctionId>,
    /// The records of the flat model by the names of their classes.
    pub record_names: FxHashMap<Name, Vec<Vec<dae::function::Field>>>,
    /// Functions made from statements of algorithm sections, by the statement and the shapes of what it reads.
    pub outlined: FxHashMap<(ClassId, usize, Vec<dae::expr::Shape>), (dae::FunctionId, Option<dae::FunctionId>)>,
    pub differentiator: dae::Differentiator,
}

/// Types that have been found.
#[derive(Default)]
pub(crate) struct TypeTable {
    components: FxHashMap<CompId, Type>,
    /// What the dimensions of components are indexed by.
    indices: FxHashMap<CompId, Arc<Vec<Option<Base>>>>,
    records: FxHashMap<ClassId, Arc<RecordType>>,
    records_busy: FxHashSet<ClassId>,
    enumerations: FxHashMap<DefId, Arc<EnumerationType>>,
    /// Enumerations to which numbers are converted that are not known at translation.
    pub converted: FxHashSet<u32>,
}

/// Sizes of arrays while they are found.
#[derive(Default)]
pub(crate) struct SizeTable {
    /// Of components whose sizes are being found.
    pub so_far: FxHashMap<CompId, Vec<Option<usize>>>,
    /// While the sizes of a record class are found, its parameters are not known.
    pub constants_only: bool,
    pub records: FxHashMap<ClassId, Arc<Vec<Vec<Option<usize>>>>>,
}

/// Values of components as far as they are known.
#[derive(Default)]
pub(crate) struct ValueTable {
    pub bindings: FxHashMap<(CompId, Name), TypedBinding>,
    pub scalars: FxHashMap<(CompId, Indices), ValueState>,
    pub records: FxHashMap<(CompId, Indices), Symbolic>,
    /// The value that was taken apart last.
    pub taken_apart: Option<TakenApart>,
}

/// Sections of classes, typed once for all instances of a class.
#[derive(Default)]
pub(crate) struct TypedTexts {
    pub equations: FxHashMap<(ClassId, usize), Arc<Vec<TypedEquation>>>,
    pub repeated: RepeatedEquations,
    pub algorithms: FxHashMap<(ClassId, usize), Arc<(Vec<Statement>, Locals)>>,
}

/// What the expansion of equations and statements adds to the model.
#[derive(Default)]
pub(crate) struct Expansion {
    /// The conditions of the when statements of the algorithm section that is being expanded.
    pub when_conditions: Vec<VarId>,
    pub auxiliary_variables: FxHashMap<ExprId, VarId>,
    /// What stands in `noEvent` and is no Real.
    pub without_events: FxHashSet<ExprId>,
    /// Whether there are relations in the bodies of when clauses (`right_limits`).
    pub has_right_limits: bool,
    /// Variables whose left limits are asked for outside of when clauses, with the place and the component.
    pub left_limits: Vec<(VarId, Span, PathId)>,
    pub call_checks: crate::symbolic::CallChecks,
    /// How many when clauses, algorithm sections and auxiliary variables there are.
    pub clauses: u32,
    pub sections: u32,
    pub auxiliaries: u32,
}

/// What the connections of the model say about operators on connectors; filled before equations are expanded.
#[derive(Default)]
pub struct Connected {
    /// `inStream(v)` for each stream variable of a connector.
    pub in_stream: FxHashMap<VarId, ExprId>,
    /// The flow variable that belongs to a stream variable.
    pub flow_of_stream: FxHashMap<VarId, VarId>,
    /// How many connections a connector takes part in.
    pub cardinality: FxHashMap<(CompId, Indices), i64>,
    /// Nodes of the overconstrained graph that were chosen as roots.
    pub roots: FxHashSet<(CompId, Indices)>,
    /// Parameters and constants of connected connectors, which must be equal.
    pub equal_parameters: Vec<(VarId, VarId, base::Span)>,
    /// External objects that connections and equations make equal.
    pub equal_objects: Vec<(VarId, VarId, base::Span)>,
    /// Nodes whose branch leads to a root first.
    pub rooted: FxHashSet<(CompId, Indices)>,
    /// The Boolean variables that say whether a block is the active state of its state machine.
    pub active: FxHashMap<(CompId, Indices), VarId>,
}

/// The value of a modifier that arrays of components take apart.
pub(crate) struct TakenApart {
    pub component: CompId,
    pub attribute: Name,
    pub mode: Mode,
    pub frame: Frame,
    pub value: Symbolic,
}

/// The value of a parameter or constant as far as it is known.
#[derive(Clone, Debug)]
pub(crate) enum ValueState {
    Busy,
    Known(Symbolic),
    Failed(Box<Diagnostic>),
}

impl Elaborator {
    pub fn new(instances: Instances, overrides: &Overrides) -> Self {
        let mut flat = Flat::default();
        flat.model.outside = overrides.outside.clone();
        flat.model.access = overrides.access.clone();
        flat.model.package_folders = instances.libraries.package_folders();
        Self {
            instances,
            externals: Box::new(native::Native::for_model(&flat.model).without_effects()),
            flat,
            structural: FxHashMap::default(),
            conditional: FxHashMap::default(),
            unconnected: FxHashMap::default(),
            connected: Connected::default(),
            machines: Machines::default(),
            functions: FunctionTable::default(),
            types: TypeTable::default(),
            sizes: SizeTable::default(),
            values: ValueTable::default(),
            typed: TypedTexts::default(),
            expansion: Expansion::default(),
            name_differentiated: overrides.name_differentiated,
            inputs: overrides.inputs.iter().cloned().collect(),
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.instances.report(Box::new(diagnostic));
    }

    pub fn error_count(&self) -> usize {
        self.instances.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count()
    }

    /// The type of a component with its own dimensions.
    pub fn component_type(&mut self, component: CompId) -> Outcome<Type> {
        if let Some(known) = self.types.components.get(&component) {
            return Ok(known.clone());
        }
        let base = match self.instances.component_type(component)? {
            ComponentType::Builtin { builtin, .. } => self.builtin_base(builtin),
            ComponentType::Object(class) => Base::Object(self.instances.external_object_name(class)),
            ComponentType::Class(class) => match self.instances.kind(class) {
                _ if self.is_record(class) => Base::Record(self.record_type(class)?),
                ast::ClassKind::Function | ast::ClassKind::OperatorFunction => {
                    Base::Function(self.function_type(class)?)
                }
                _ => Base::Component,
            },
        };
        let rank = self.instances.dimensions(component)?.len();
        let ty = Type::new(base, rank);
        self.types.components.insert(component, ty.clone());
        Ok(ty)
    }

    /// A record, or a connector that is one: `connector ComplexInput = input Complex`.
    fn is_record(&mut self, class: ClassId) -> bool {
        let is_record = |kind| matches!(kind, ast::ClassKind::Record | ast::ClassKind::OperatorRecord);
        match self.instances.kind(class) {
            kind if is_record(kind) => true,
            ast::ClassKind::Connector | ast::ClassKind::Type | ast::ClassKind::Class => {
                let parts = self.instances.with_bases(class);
                parts.iter().any(|&part| is_record(self.instances.kind(part)))
            }
            _ => false,
        }
    }

    fn builtin_base(&mut self, builtin: Builtin) -> Base {
        match builtin {
            Builtin::Real => Base::Real,
            Builtin::Integer => Base::Integer,
            Builtin::Boolean => Base::Boolean,
            Builtin::String => Base::String,
            Builtin::Clock => Base::Clock,
            Builtin::ExternalObject => Base::Component,
            Builtin::Enumeration(definition) => Base::Enumeration(self.enumeration_type(definition)),
        }
    }

    pub fn enumeration_type(&mut self, definition: DefId) -> Arc<EnumerationType> {
        if let Some(known) = self.types.enumerations.get(&definition) {
            return known.clone();
        }
        let made = Arc::new(EnumerationType {
            name: self.instances.libraries.get(definition).name,
            literals: self.instances.enumeration_literals(definition),
        });
        self.types.enumerations.insert(definition, made.clone());
        made
    }

    /// For each dimension of a component the type of its subscripts: the enumeration or Boolean that it is declared with, or
    /// Integer. `None` where the value of the component says it.
    pub(crate) fn index_types(&mut self, component: CompId) -> Arc<Vec<Option<Base>>> {
        if let Some(known) = self.types.indices.get(&component) {
            return known.clone();
        }
        let dimensions = self.instances.dimensions(component).unwrap_or_default();
        let mut types = Vec::with_capacity(dimensions.len());
        for dimension in &dimensions {
            types.push(match &dimension.subscript {
                ast::Subscript::Expr(text) => match &text.kind {
                    ast::ExprKind::Ref(name) => match self.instances.lookup_reference(dimension.scope, name) {
                        Ok(Resolved::Class(class)) => self.simple_base(class),
                        Ok(_) => Some(Base::Integer),
                        Err(_) => None,
                    },
                    _ => Some(Base::Integer),
                },
                ast::Subscript::All(_) => None,
            });
        }
        let types = Arc::new(types);
        self.types.indices.insert(component, Arc::clone(&types));
        types
    }

    /// The predefined type or enumeration that a class stands for.
    pub fn simple_base(&mut self, class: ClassId) -> Option<Base> {
        let builtin = self.instances.simple_type(class)?.builtin?;
        Some(self.builtin_base(builtin))
    }

    pub fn enumeration(&mut self, class: ClassId) -> Option<Arc<EnumerationType>> {
        match self.simple_base(class)? {
            Base::Enumeration(enumeration) => Some(enumeration),
            _ => None,
        }
    }

    pub fn record_type(&mut self, class: ClassId) -> Outcome<Arc<RecordType>> {
        if let Some(known) = self.types.records.get(&class) {
            return Ok(known.clone());
        }
        if !self.types.records_busy.insert(class) {
            let name = self.instances.class_name(class);
            return Err(Box::new(Diagnostic::error(
                "recursive-record",
                format!("the record `{name}` contains itself"),
            )));
        }
        let made = self.make_record_type(class);
        self.types.records_busy.remove(&class);
        let made = Arc::new(made?);
        self.types.records.insert(class, made.clone());
        Ok(made)
    }

    fn make_record_type(&mut self, class: ClassId) -> Outcome<RecordType> {
        let mut fields = Vec::new();
        for component in self.instances.components_of(class) {
            let ty = self.component_type(component)?;
            let name = self.instances.component(component).name;
            fields.push(RecordField { name, ty });
        }
        let parts = self.instances.with_bases(class);
        // Bases come first, and the first operator record among them is the one with the operations.
        let operator = parts.into_iter().find(|&part| self.instances.kind(part) == ast::ClassKind::OperatorRecord);
        let operator = operator.map(|part| self.instances.class(part).def);
        Ok(RecordType { name: self.instances.class_name(class), class, operator, fields })
    }

    /// How a component varies: as declared, and by its type where nothing is declared.
    pub fn component_variability(&self, component: CompId, ty: &Type) -> Variability {
        match self.instances.variability(component) {
            ast::Variability::Constant => Variability::Constant,
            ast::Variability::Parameter => Variability::Parameter,
            ast::Variability::Discrete => Variability::Discrete,
            ast::Variability::Unstated => match ty.base {
                Base::Integer | Base::Boolean | Base::String | Base::Enumeration(_) | Base::Clock => {
                    Variability::Discrete
                }
                _ => Variability::Continuous,
            },
        }
    }
}
