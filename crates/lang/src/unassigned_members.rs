//! Members of records that a function returns without having given them a value (12.4.4).
//!
//! Libraries leave members out that do not matter, such as those of another kind of device. Such a member is zero where others
//! of its record have values: the function begins with that assignment. What the function itself reads, and arrays of which it
//! assigns parts, are left without a value, so that reading it is an error.

use base::Diagnostic;
use dae::function::{
    Accessor, ArrayFunction, Body, Expr, Field, Function, LocalId, Statement, StatementKind, Target, Type,
    for_each_statement,
};

/// The positions of fields that lead to a member.
type Path = Vec<u32>;

/// What the statements of a function do with the members of one record.
struct Uses<'f> {
    local: LocalId,
    statements: &'f [Statement],
    /// Where the record, a member or a part of one is assigned, and whether that is a part that subscripts select.
    assigned: Vec<(Path, bool)>,
    read: Vec<Path>,
}

/// A member without a value, and whether nothing in the function assigns it.
struct Missing {
    path: Path,
    never: bool,
    zero: Expr,
}

/// Gives members of returned records their zeros; warnings name those that are never assigned.
pub(crate) fn complete(function: &mut Function) -> Vec<Diagnostic> {
    let Body::Algorithm(statements) = &function.body else { return Vec::new() };
    let (mut first, mut warnings) = (Vec::new(), Vec::new());
    for &output in &function.outputs {
        let local = &function.locals[output];
        let Type::Record(record) = &local.ty else { continue };
        if !local.sizes.is_empty() {
            continue;
        }
        let uses = Uses::of(output, statements);
        // A record that is assigned as a whole, or not at all, has all of its members or none.
        if local.default.is_none() && uses.assigned.iter().all(|(path, _)| path.is_empty()) {
            continue;
        }
        let mut missing = Vec::new();
        uses.missing(&record.fields, local.default.as_ref(), &mut Vec::new(), &mut missing);
        let names: Vec<String> =
            missing.iter().filter(|member| member.never).map(|member| name(&record.fields, &member.path)).collect();
        if !names.is_empty() {
            let message =
                format!("`{}` returns `{}` without a value of `{}`", function.name, local.name, names.join("`, `"));
            let diagnostic = Diagnostic::warning("unassigned-member", message)
                .at(local.span, "what is not assigned counts as zero")
                .specification("12.4.4");
            warnings.push(diagnostic);
        }
        first.extend(missing.into_iter().map(|member| {
            let steps = member.path.into_iter().map(Accessor::Field).collect();
            let kind = StatementKind::Assign(Target { local: output, steps }, member.zero);
            Statement { kind, span: local.span }
        }));
    }
    if let Body::Algorithm(statements) = &mut function.body {
        statements.splice(0..0, first);
    }
    warnings
}

impl<'f> Uses<'f> {
    fn of(local: LocalId, statements: &'f [Statement]) -> Self {
        let mut uses = Uses { local, statements, assigned: Vec::new(), read: Vec::new() };
        for_each_statement(statements, &mut |statement| {
            for target in targets(statement).filter(|target| target.local == local) {
                let path = fields(&target.steps);
                let in_part = path.len() < target.steps.len();
                uses.assigned.push((path, in_part));
            }
            statement.for_each_expression(&mut |expr| uses.reads(expr));
        });
        uses
    }

    fn reads(&mut self, expr: &Expr) {
        let mut stack = vec![expr];
        while let Some(expr) = stack.pop() {
            match read_path(expr, self.local) {
                Some(path) => self.read.push(path),
                None => expr.for_each_operand(&mut |operand| stack.push(operand)),
            }
        }
    }

    /// Members below a path that may be without a value at the end; `first` is what their record begins with.
    fn missing(&self, members: &[Field], first: Option<&Expr>, path: &mut Path, found: &mut Vec<Missing>) {
        for (position, field) in members.iter().enumerate() {
            let first = match first {
                None => None,
                Some(Expr::Record(_, values)) => values.get(position).filter(|value| !is_unset(value)),
                Some(_) => continue,
            };
            path.push(position as u32);
            let inside = |(own, in_part): &&(Path, bool)| own.starts_with(path) && (*in_part || own.len() > path.len());
            let is_assigned_in_part = self.assigned.iter().any(|assigned| inside(&assigned));
            match &field.ty {
                Type::Record(record) if (is_assigned_in_part || first.is_some()) && field.sizes.is_empty() => {
                    stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.missing(&record.fields, first, path, found));
                }
                _ if first.is_some() => {}
                _ if is_assigned_in_part || self.is_read(path) || self.certain(self.statements, path) => {}
                _ => found.extend(zero(field).map(|zero| {
                    let never = !self.assigned.iter().any(|(own, _)| path.starts_with(own));
                    Missing { path: path.clone(), never, zero }
                })),
            }
            path.pop();
        }
    }

    fn is_read(&self, path: &Path) -> bool {
        self.read.iter().any(|read| read.starts_with(path) || path.starts_with(read))
    }

    /// Whether all ways through the statements assign the member.
    fn certain(&self, statements: &[Statement], path: &Path) -> bool {
        for statement in statements {
            let assigns = targets(statement).any(|target| {
                let own = fields(&target.steps);
                target.local == self.local && own.len() == target.steps.len() && path.starts_with(&own)
            });
            if assigns {
                return true;
            }
            if let StatementKind::If { branches, otherwise } = &statement.kind
                && stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                    branches.iter().all(|(_, body)| self.certain(body, path)) && self.certain(otherwise, path)
                })
            {
                return true;
            }
            let mut leaves = false;
            for_each_statement(std::slice::from_ref(statement), &mut |inner| {
                leaves |= matches!(inner.kind, StatementKind::Return | StatementKind::Break);
            });
            if leaves {
                return false;
            }
        }
        false
    }
}

/// What a statement itself assigns.
pub(crate) fn targets(statement: &Statement) -> impl Iterator<Item = &Target> {
    let (one, several): (Option<&Target>, &[Option<Target>]) = match &statement.kind {
        StatementKind::Assign(target, _) => (Some(target), &[]),
        StatementKind::AssignSeveral(targets, _) => (None, targets),
        _ => (None, &[]),
    };
    one.into_iter().chain(several.iter().flatten())
}

/// The fields that steps lead through before the first subscript.
fn fields(steps: &[Accessor]) -> Path {
    let field = |step: &Accessor| match step {
        Accessor::Field(position) => Some(*position),
        Accessor::Index(_) => None,
    };
    steps.iter().map_while(field).collect()
}

/// The member of the variable that an expression reads.
fn read_path(expr: &Expr, of: LocalId) -> Option<Path> {
    match expr {
        Expr::Local(local) if *local == of => Some(Vec::new()),
        Expr::Field(inner, position) => {
            let mut path = read_path(inner, of)?;
            path.push(*position);
            Some(path)
        }
        _ => None,
    }
}

/// Whether no part of it has a value.
fn is_unset(value: &Expr) -> bool {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || match value {
        Expr::Unset(_) => true,
        Expr::Whole(ArrayFunction::Fill, arguments) => arguments.first().is_some_and(is_unset),
        Expr::Record(_, values) => values.iter().all(is_unset),
        _ => false,
    })
}

/// Zero of the type of a member; nothing where that has no size, or is no number, text or truth value.
fn zero(field: &Field) -> Option<Expr> {
    let element = match &field.ty {
        Type::Real => Expr::Real(0.0),
        Type::Integer => Expr::Integer(0),
        Type::Boolean => Expr::Boolean(false),
        Type::String => Expr::String("".into()),
        Type::Enumeration(enumeration) => Expr::Enumeration(enumeration.clone(), 1),
        Type::Record(record) => {
            let fields = || record.fields.iter().map(zero).collect::<Option<Vec<Expr>>>();
            Expr::Record(record.clone(), stacker::maybe_grow(64 * 1024, 1024 * 1024, fields)?)
        }
        Type::Object(_) | Type::Function(_) => return None,
    };
    if field.sizes.is_empty() {
        return Some(element);
    }
    let mut arguments = vec![element];
    for size in &field.sizes {
        arguments.push(Expr::Integer((*size)? as i64));
    }
    Some(Expr::Whole(ArrayFunction::Fill, arguments))
}

fn name(members: &[Field], path: &[u32]) -> String {
    let (mut members, mut names) = (members, Vec::with_capacity(path.len()));
    for &position in path {
        let Some(field) = members.get(position as usize) else { break };
        names.push(field.name.as_str());
        if let Type::Record(record) = &field.ty {
            members = &record.fields;
        }
    }
    names.join(".")
}
