//! Algorithm sections whose loops depend on what is known at run time only, as functions of what they read.
//!
//! Every component that the section names becomes a variable of the function; one that it assigns is an output that begins
//! with the value the variable has before. What a function cannot compute (`time`, `pre(x)` …) is an input.

use base::Name;
use dae::expr::{CallSite, Shape};
use dae::function::LocalId;
use dae::{EquationRole, ExprId, Node, PathId};
use syntax::ast;

use crate::algorithms::has_when;
use crate::elaborate::Elaborator;
use crate::instance::{CompId, Frame, Outcome};
use crate::symbolic::{Expander, Mode, Symbolic, value_shape};
use crate::typed::{
    Base, Expr, Iterator, Kind, Local, Locals, Operator, Reference, Statement, StatementKind, Step, Subscript, Type,
};
use crate::typing::{rewrite, walk};

/// A component, or an expression of the simulator, that is a variable of the function.
struct Captured {
    outside: Expr,
    local: LocalId,
    /// The output, for what is assigned.
    output: Option<LocalId>,
}

struct Outline {
    locals: Locals,
    captured: Vec<Captured>,
    /// Something was met that no function can do.
    failed: bool,
}

impl Elaborator {
    /// `None` where the section uses what a function cannot.
    pub(crate) fn outlined_section(
        &mut self,
        frame: &Frame,
        (statements, locals): (&[Statement], &Locals),
        section: &ast::AlgorithmSection,
        path: PathId,
    ) -> Option<()> {
        if has_when(statements) {
            return None;
        }
        let mut outline = Outline { locals: locals.clone(), captured: Vec::new(), failed: false };
        outline.find_targets(self, statements);
        let body: Vec<Statement> = statements.iter().map(|statement| outline.statement(self, statement)).collect();
        if outline.failed {
            return None;
        }
        self.call_outlined(frame, outline, &body, section, path).ok()
    }

    fn call_outlined(
        &mut self,
        frame: &Frame,
        mut outline: Outline,
        body: &[Statement],
        section: &ast::AlgorithmSection,
        path: PathId,
    ) -> Outcome<()> {
        let mut arguments = Vec::new();
        let mut outputs: Vec<(LocalId, Symbolic)> = Vec::new();
        for captured in &outline.captured {
            let mut expander = Expander::new(self, frame.clone(), Mode::Flat);
            expander.path = path;
            let value = expander.expand(&captured.outside)?;
            let sizes = value.sizes().to_vec();
            let literal = |size: usize| Expr {
                kind: Kind::Integer(size as i64),
                ty: Type::INTEGER,
                variability: dae::Variability::Constant,
                span: section.span,
            };
            let sizes: Vec<Option<Expr>> = sizes.into_iter().map(|size| Some(literal(size))).collect();
            outline.locals[captured.local].sizes = sizes.clone();
            match captured.output {
                Some(output) => {
                    outline.locals[output].sizes = sizes;
                    arguments.push(self.values_before(&value));
                    outputs.push((output, value));
                }
                None => arguments.push(value),
            }
        }
        let inputs: Vec<LocalId> = outline.captured.iter().map(|captured| captured.local).collect();
        let output_locals: Vec<LocalId> = outputs.iter().map(|(local, _)| *local).collect();
        let name = Name::new(&format!("{}.algorithm", self.instances.class_name(frame.class)));
        let function =
            self.lower_section(name, frame.class, &outline.locals, (&inputs, &output_locals), body, section.span)?;
        let shapes: Vec<Shape> = arguments.iter().map(|value| value_shape(self, value)).collect();
        let output_shapes: Vec<Shape> = outputs.iter().map(|(_, value)| value_shape(self, value)).collect();
        let mut scalars = Vec::new();
        arguments.iter().for_each(|value| value.for_each_scalar(&mut |id| scalars.push(id)));
        let exprs = &mut self.flat.model.exprs;
        let site = exprs.site(CallSite { function, inputs: shapes, outputs: output_shapes });
        let args = exprs.args(&scalars);
        self.sections += 1;
        let role = EquationRole::Algorithm(self.sections);
        let targets: Vec<ExprId> = outputs.iter().flat_map(|(_, value)| value.scalars()).collect();
        for (output, left) in targets.into_iter().enumerate() {
            let right = self.flat.model.exprs.intern(Node::Call { site, args, output: output as u32 });
            self.push_section_equation(left, right, role.clone(), section, path);
        }
        Ok(())
    }

    fn values_before(&mut self, value: &Symbolic) -> Symbolic {
        value.map(&mut |id| match self.flat.model.exprs.node(id) {
            Node::Var(variable) => self.value_before(variable, false),
            _ => id,
        })
    }
}

impl Outline {
    /// What is assigned must be known before anything is rewritten.
    fn find_targets(&mut self, elaborator: &mut Elaborator, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(target, _) => self.add_target(elaborator, target),
                StatementKind::AssignSeveral(targets, _) => {
                    targets.iter().flatten().for_each(|target| self.add_target(elaborator, target));
                }
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.find_targets(elaborator, body));
                    self.find_targets(elaborator, otherwise);
                }
                StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                    self.find_targets(elaborator, body);
                }
                _ => {}
            }
        }
    }

    fn add_target(&mut self, elaborator: &mut Elaborator, target: &Expr) {
        let Kind::Component(reference) = &target.kind else {
            self.failed = true;
            return;
        };
        let Some(at) = self.capture(elaborator, reference, target) else { return };
        if self.captured[at].output.is_some() {
            return;
        }
        let input = self.captured[at].local;
        let mut local = self.locals[input].clone();
        let ty = local.ty.clone();
        let variability = dae::Variability::Continuous;
        self.locals[input].name = Name::new(&format!("{}_before", local.name));
        local.default = Some(Expr { kind: Kind::Local(input), ty, variability, span: target.span });
        self.captured[at].output = Some(self.locals.push(local));
    }

    /// The whole component that a reference names; only its last part may have subscripts that vary.
    fn capture(&mut self, elaborator: &mut Elaborator, reference: &Reference, whole: &Expr) -> Option<usize> {
        let components: Vec<CompId> = reference.steps.iter().map(|step| step.component).collect();
        let (last, before) = reference.steps.split_last()?;
        if before.iter().any(|step| !step.subscripts.is_empty()) {
            self.failed = true;
            return None;
        }
        let known = self.captured.iter().position(|captured| match &captured.outside.kind {
            Kind::Component(other) => {
                other.steps.len() == components.len()
                    && other.steps.iter().zip(&components).all(|(step, &component)| step.component == component)
            }
            _ => false,
        });
        if known.is_some() {
            return known;
        }
        let mut rank = 0;
        let mut base = Base::Unknown;
        for step in &reference.steps {
            match elaborator.component_type(step.component) {
                Ok(ty) => {
                    rank += ty.rank;
                    base = ty.base;
                }
                Err(_) => self.failed = true,
            }
        }
        if rank != elaborator.component_type(last.component).map_or(0, |ty| ty.rank) {
            self.failed = true;
            return None;
        }
        let steps = components.iter().map(|&component| Step { component, subscripts: Vec::new() }).collect();
        let kind = Kind::Component(Box::new(Reference { steps }));
        let outside = Expr { kind, ty: Type::new(base, rank), variability: whole.variability, span: whole.span };
        let name = Name::new(&elaborator.instances.path(last.component));
        Some(self.add(name, outside))
    }

    fn add(&mut self, name: Name, outside: Expr) -> usize {
        let (ty, span) = (outside.ty.clone(), outside.span);
        let local = self.locals.push(Local { name, ty, sizes: Vec::new(), default: None, span });
        self.captured.push(Captured { outside, local, output: None });
        self.captured.len() - 1
    }

    fn expr(&mut self, elaborator: &mut Elaborator, expr: &Expr) -> Expr {
        rewrite(expr, &mut |expr| match &expr.kind {
            Kind::Component(reference) => {
                let at = self.capture(elaborator, reference, expr)?;
                let captured = &self.captured[at];
                let local = captured.output.unwrap_or(captured.local);
                let whole = Expr { kind: Kind::Local(local), ..captured.outside.clone() };
                let subscripts = reference.steps.last()?.subscripts.clone();
                if subscripts.is_empty() {
                    return Some(whole);
                }
                let subscripts = subscripts
                    .iter()
                    .map(|subscript| match subscript {
                        Subscript::All => Subscript::All,
                        Subscript::Expr(inner) => Subscript::Expr(self.expr(elaborator, inner)),
                    })
                    .collect();
                Some(Expr { kind: Kind::Index(Box::new(whole), subscripts), ..expr.clone() })
            }
            Kind::Time | Kind::Operator(..) => {
                let mut local = false;
                walk(expr, &mut |inner| local |= matches!(inner.kind, Kind::Local(_)));
                if local {
                    // `noEvent(x[i] > 0)` and the like: functions make no events anyway.
                    self.failed |= !matches!(expr.kind, Kind::Operator(Operator::NoEvent | Operator::Smooth, _));
                    return None;
                }
                let at = self.add(Name::new("u"), expr.clone());
                Some(Expr { kind: Kind::Local(self.captured[at].local), ..expr.clone() })
            }
            _ => None,
        })
    }

    fn statements(&mut self, elaborator: &mut Elaborator, statements: &[Statement]) -> Vec<Statement> {
        statements.iter().map(|statement| self.statement(elaborator, statement)).collect()
    }

    fn statement(&mut self, elaborator: &mut Elaborator, statement: &Statement) -> Statement {
        let kind = match &statement.kind {
            StatementKind::Assign(target, value) => {
                StatementKind::Assign(self.expr(elaborator, target), self.expr(elaborator, value))
            }
            StatementKind::AssignSeveral(targets, value) => {
                let targets =
                    targets.iter().map(|target| target.as_ref().map(|target| self.expr(elaborator, target))).collect();
                StatementKind::AssignSeveral(targets, self.expr(elaborator, value))
            }
            StatementKind::If { branches, otherwise } => StatementKind::If {
                branches: branches
                    .iter()
                    .map(|(condition, body)| (self.expr(elaborator, condition), self.statements(elaborator, body)))
                    .collect(),
                otherwise: self.statements(elaborator, otherwise),
            },
            StatementKind::For { iterators, body } => {
                let iterators = iterators
                    .iter()
                    .map(|iterator| Iterator { local: iterator.local, range: self.expr(elaborator, &iterator.range) })
                    .collect();
                StatementKind::For { iterators, body: self.statements(elaborator, body) }
            }
            StatementKind::While { condition, body } => StatementKind::While {
                condition: self.expr(elaborator, condition),
                body: self.statements(elaborator, body),
            },
            StatementKind::Assert { condition, message, level } => StatementKind::Assert {
                condition: self.expr(elaborator, condition),
                message: self.expr(elaborator, message),
                level: level.clone(),
            },
            StatementKind::Call(call) => StatementKind::Call(self.expr(elaborator, call)),
            StatementKind::Break | StatementKind::Return => statement.kind.clone(),
            StatementKind::When { .. } | StatementKind::Terminate(_) | StatementKind::Reinit(..) => {
                self.failed = true;
                statement.kind.clone()
            }
        };
        Statement { kind, span: statement.span }
    }
}
