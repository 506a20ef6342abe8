//! The instance tree: classes with their modifiers, and components, both in arenas and made when they are asked for.
//!
//! A class instance is a definition, the class instance around its text (so that redeclarations are seen), and modifiers.
//! A base class is a class instance of its own that shares its elements with the class that inherits it. An array of
//! components is one component; its element numbers come in only when equations are expanded.

use std::sync::Arc;

use base::{Diagnostic, IdVec, Name, Span};
use rustc_hash::FxHashMap;
use syntax::ast;

use crate::instantiate::deselection::Deselection;
use crate::instantiate::recursion::Endless;

use crate::interfaces::ToCheck;
use crate::library::{DefId, Libraries};
use crate::modifier::{Binding, Modifier, Redeclare};

base::id_type!(
    /// A class instance.
    pub ClassId, "class"
);
base::id_type!(
    /// A component, which may be an array.
    pub CompId, "comp"
);
base::id_type!(
    /// A class that is declared in a class instance, made a `ClassId` when it is first asked for.
    pub ClassMemberId, "member"
);

/// A failed lookup or instantiation says why.
pub type Outcome<T> = Result<T, Box<Diagnostic>>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Builtin {
    Real,
    Integer,
    Boolean,
    String,
    Clock,
    /// The base of external objects.
    ExternalObject,
    /// The class that lists the literals.
    Enumeration(DefId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Member {
    Component(CompId),
    Class(ClassMemberId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expansion {
    Unexpanded,
    Busy,
    Done,
}

#[derive(Debug)]
pub struct ClassNode {
    pub def: DefId,
    /// The class instance in which the text stands; `None` for the root.
    pub scope: Option<ClassId>,
    /// The component whose type it is. Base classes have the owner of the class that inherits them.
    pub owner: Option<CompId>,
    /// The class that inherits this one as a base class, the outermost of them; itself if there is none.
    pub instance: ClassId,
    /// For a base class, the class whose extends clause it stands in.
    pub(crate) derived: Option<ClassId>,
    pub modifier: Arc<Modifier>,
    /// Predefined types and enumerations.
    pub builtin: Option<Builtin>,
    /// What a class extension (`redeclare model extends M`) extends.
    pub(crate) extended: Option<ClassMemberId>,
    pub(crate) expansion: Expansion,
    /// Own and inherited elements by name.
    pub(crate) members: FxHashMap<Name, Member>,
    /// The names of `members`: inherited ones stand where the extends clause stands.
    pub(crate) order: Vec<Name>,
    /// How many base classes it has, those of its base classes included; counted in the class that inherits them all.
    pub(crate) base_count: usize,
    /// One for each extends clause, in order.
    pub bases: Vec<ClassId>,
    pub(crate) simple: Option<Option<Arc<SimpleType>>>,
    /// For a base class, what its extends clause leaves out.
    pub(crate) deselection: Deselection,
    /// Names of its text that a derived class deselects without a replacement.
    pub(crate) without: Vec<ast::Ident>,
}

/// A class that stands for a predefined type: `type Voltage = Real(unit = "V")`.
#[derive(Debug, Default)]
pub struct SimpleType {
    pub builtin: Option<Builtin>,
    pub attributes: Arc<Modifier>,
    pub dimensions: Vec<Dimension>,
    pub prefixes: ast::TypePrefixes,
}

/// One dimension of a component.
#[derive(Clone, Debug)]
pub struct Dimension {
    pub subscript: ast::Subscript,
    /// Where the subscript is resolved.
    pub scope: ClassId,
}

#[derive(Debug)]
pub struct ClassMember {
    pub name: Name,
    /// The class instance whose text declares it.
    pub declared_in: ClassId,
    /// `None` while its file was not read.
    pub declaration: Option<Arc<ast::ClassDef>>,
    pub modifier: Arc<Modifier>,
    pub protected: bool,
    /// What a class extension without `redeclare` extends.
    pub(crate) under: Option<ClassMemberId>,
    pub(crate) node: MemberNode,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemberNode {
    Unknown,
    Busy,
    Known(ClassId),
}

/// What the type of a component is.
#[derive(Clone, Debug)]
pub enum ComponentType {
    /// A scalar of a predefined type (or an array of it); the children of `attributes` are `start`, `unit` ….
    Builtin {
        /// The predefined type.
        builtin: Builtin,
        /// What the declarations say about its attributes.
        attributes: Arc<Modifier>,
    },
    /// An external object of that class.
    Object(ClassId),
    /// A class with elements.
    Class(ClassId),
}

#[derive(Debug)]
pub struct ComponentNode {
    pub name: Name,
    /// The class instance of which it is an element (never a base class).
    pub parent: ClassId,
    /// The class instance, perhaps a base class of `parent`, whose text declares it: its condition and the
    /// subscripts at its name are resolved there.
    pub declared_in: ClassId,
    /// The declaration, after redeclaration.
    pub declaration: Arc<ast::Component>,
    /// The declaration before redeclaration, and the redeclaration, if it was redeclared.
    pub(crate) original: Option<(Arc<ast::Component>, Arc<Redeclare>)>,
    /// Where the type name is resolved.
    pub type_scope: ClassId,
    /// All that is said about it: the binding and what goes to its elements or attributes.
    pub modifier: Arc<Modifier>,
    /// As declared, with those of the original declaration where a redeclaration says nothing. Those of the type are
    /// added when it is known.
    pub type_prefixes: ast::TypePrefixes,
    pub prefixes: ast::ElementPrefixes,
    pub condition: Option<Arc<ast::Expr>>,
    /// Those at the name; those of the type behind them when it is known.
    pub(crate) dimensions: Vec<Dimension>,
    /// How many of them stand at the name.
    pub(crate) own_dimensions: usize,
    /// An element of an expandable connector that no text declares there.
    pub(crate) added: bool,
    /// An element of an expandable connector that nothing uses.
    pub(crate) removed: bool,
    pub(crate) ty: TypeState,
    pub(crate) sizes: SizeState,
}

impl ComponentNode {
    /// Whether its declaration or a modifier says `final`.
    pub fn is_final(&self) -> bool {
        self.prefixes.is_final || self.modifier.is_final
    }
}

#[derive(Clone, Debug)]
pub(crate) enum TypeState {
    Unknown,
    Busy,
    Known(ComponentType),
    Failed(Box<Diagnostic>),
}

#[derive(Clone, Debug)]
pub(crate) enum SizeState {
    Unknown,
    Busy,
    Known(Arc<[usize]>),
    /// In an array of components whose elements have it with different sizes.
    Ragged(Arc<Ragged>),
    Failed(Box<Diagnostic>),
}

/// The sizes of a component in each element of the arrays of components above it.
#[derive(Debug)]
pub(crate) struct Ragged {
    /// In each dimension the largest of all.
    pub largest: Arc<[usize]>,
    /// The sizes of the components above it, outermost first.
    pub above: Vec<usize>,
    /// In row-major order over `above`.
    pub each: Vec<Arc<[usize]>>,
}

/// Where the value of a component comes from.
#[derive(Clone, Debug)]
pub enum BindingSource {
    /// An expression of a declaration or modifier.
    Expression(Binding),
    /// The field of that name of the record `parent`, which has a binding as a whole.
    Field(CompId),
}

/// The class instance in which an expression stands, with the element numbers (from 1) of the arrays of components
/// above it, outermost first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    pub class: ClassId,
    pub indices: smallvec::SmallVec<[u32; 4]>,
}

/// The instance tree with what it is made from.
pub struct Instances {
    /// The definitions.
    pub libraries: Libraries,
    pub(crate) classes: IdVec<ClassId, ClassNode>,
    pub(crate) components: IdVec<CompId, ComponentNode>,
    pub(crate) members: IdVec<ClassMemberId, ClassMember>,
    /// What was found on the way.
    pub diagnostics: Vec<Diagnostic>,
    pub(crate) predefined: FxHashMap<Name, ClassId>,
    /// Classes that are to be compared with their constraining classes when the tree stands.
    pub(crate) redeclarations: Vec<ToCheck>,
    /// Deselected components whose kind is to be checked when the tree stands, with the place of the deselection.
    pub(crate) deselected: Vec<(CompId, Span)>,
    /// Components that a class got more than once, to be compared when the tree stands: what stands for both, and the other.
    pub(crate) duplicates: Vec<(CompId, CompId)>,
    /// Final elements of records that have a value as a whole, and these records.
    pub(crate) final_elements: Vec<(CompId, CompId)>,
    /// Classes of components that were found to contain themselves without an end.
    pub(crate) endless: FxHashMap<DefId, Endless>,
    /// How many components of a class there are inside of others of that class.
    pub(crate) nested: FxHashMap<DefId, usize>,
    /// Names of elements are also found where they are protected, for text that the program makes.
    pub(crate) ignore_protection: bool,
    /// Inner components that were added because an outer one found none.
    pub(crate) implicit_inner: FxHashMap<(ClassId, Name), CompId>,
}

impl Instances {
    /// The class that holds the top-level classes.
    pub fn root(&self) -> ClassId {
        base::Id::from_index(0)
    }

    /// The instance of a class.
    pub fn class(&self, id: ClassId) -> &ClassNode {
        &self.classes[id]
    }

    /// The instance of a component.
    pub fn component(&self, id: CompId) -> &ComponentNode {
        &self.components[id]
    }

    /// The instance of a class that is a member of another one.
    pub fn class_member(&self, id: ClassMemberId) -> &ClassMember {
        &self.members[id]
    }

    /// The syntax of a class.
    pub fn definition(&self, id: ClassId) -> &Arc<ast::ClassDef> {
        &self.libraries.get(self.classes[id].def).class
    }

    /// The kind of a class instance.
    pub fn kind(&self, id: ClassId) -> ast::ClassKind {
        self.definition(id).kind
    }

    /// The full name of a class as in the text.
    pub fn class_name(&self, id: ClassId) -> Name {
        self.libraries.get(self.classes[id].def).name
    }

    /// The components from the outermost to this one.
    pub fn chain(&self, id: CompId) -> Vec<CompId> {
        let mut chain = vec![id];
        let mut current = id;
        while let Some(owner) = self.classes[self.components[current].parent].owner {
            chain.push(owner);
            current = owner;
        }
        chain.reverse();
        chain
    }

    /// Whether a component is, or is a part of, what connections added to an expandable connector.
    pub(crate) fn is_added(&self, id: CompId) -> bool {
        self.chain(id).into_iter().any(|id| self.components[id].added)
    }

    /// `motor.R1.p`, without subscripts.
    pub fn path(&self, id: CompId) -> String {
        let names: Vec<&str> = self.chain(id).into_iter().map(|id| self.components[id].name.as_str()).collect();
        names.join(".")
    }

    /// The path of the component in which a class instance stands; `None` for the model itself and for packages.
    pub fn owner_path(&self, class: ClassId) -> Option<String> {
        self.classes[class].owner.map(|owner| self.path(owner))
    }

    /// Where a component is declared.
    pub fn span(&self, id: CompId) -> Span {
        self.components[id].declaration.name.span
    }

    // Boxed because that is how failures come.
    #[allow(clippy::boxed_local)]
    pub(crate) fn report(&mut self, diagnostic: Box<Diagnostic>) {
        let same = |known: &Diagnostic| {
            known.code == diagnostic.code && known.message == diagnostic.message && known.labels == diagnostic.labels
        };
        if !self.diagnostics.iter().any(same) {
            self.diagnostics.push(*diagnostic);
        }
    }
}
