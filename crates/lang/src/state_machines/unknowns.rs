//! What the equations of a state may determine: its variables but for its inputs, the inputs of the states inside it, and
//! what it declares as `outer output` (17.3.5).

use base::{Id, Name, Span};
use dae::{ExprId, Node, VarId, Variability};
use rustc_hash::FxHashSet;
use syntax::ast;

use super::machines::StateId;
use super::states::Translation;
use crate::flat::{Indices, for_each_index};
use crate::instance::{ComponentType, Frame, Outcome};
use crate::symbolic::{Expander, Mode};
use crate::typing::{Context, Typer};

/// What equations of states may determine.
pub(super) struct Unknowns {
    /// By state, the variables of blocks around it that it declares as `outer output`.
    pub(super) outer: Vec<FxHashSet<VarId>>,
    /// Those of all states.
    merged: FxHashSet<VarId>,
    /// Inputs of states, which are determined outside of these.
    inputs: FxHashSet<VarId>,
}

impl Unknowns {
    pub(super) fn new(translation: &mut Translation) -> Self {
        let mut outer = vec![FxHashSet::default(); translation.machines.states.len()];
        for number in 0..translation.parts.len() {
            let part = &translation.parts[number];
            let ComponentType::Class(class) = part.ty else { continue };
            let mut elements = Vec::new();
            for_each_index(&part.sizes, |indices| elements.push(Indices::from_slice(indices)));
            for (indices, path) in elements.into_iter().zip(&translation.paths[number]) {
                let Some(state) = translation.state_of(*path) else { continue };
                let frame = Frame { class, indices };
                outer[state].extend(translation.outer_outputs(&frame));
            }
        }
        let merged = outer.iter().flatten().copied().collect();
        Unknowns { outer, merged, inputs: translation.state_inputs() }
    }

    pub(super) fn contains(&self, translation: &Translation, state: StateId, variable: VarId) -> bool {
        if self.outer[state].contains(&variable) {
            return true;
        }
        let declared = &translation.elaborator.flat.model.variables[variable];
        if declared.variability <= Variability::Parameter || self.merged.contains(&variable) {
            return false;
        }
        let Some(owner) = translation.owner(variable) else { return false };
        match self.inputs.contains(&variable) {
            true => translation.machines.around(owner) == Some(state),
            false => owner == state,
        }
    }
}

impl Translation<'_> {
    /// An element of a state that is inner and outer is the outer one, also for what is below (17.3.7).
    pub fn find_aliases(&mut self) {
        for part in self.parts {
            let prefixes = self.elaborator.instances.component(part.component).prefixes;
            let is_variable = matches!(part.ty, ComponentType::Builtin { .. });
            if !(prefixes.inner && prefixes.outer && is_variable)
                || self.elaborator.instances.binding(part.component).is_some()
            {
                continue;
            }
            let Ok(target) = self.elaborator.instances.resolve_outer(part.component) else { continue };
            let parent = self.elaborator.instances.component(target).parent;
            let above = self.elaborator.instances.rank_above(parent);
            let flat = &self.elaborator.flat;
            for_each_index(&part.sizes, |indices| {
                let own = indices.len() - part.rank;
                let outer: Indices = indices[..above.min(own)].iter().chain(&indices[own..]).copied().collect();
                if let (Some(alias), Some(variable)) =
                    (flat.variable(part.component, indices), flat.variable(target, &outer))
                    && self.owner.get(alias.index()).copied().flatten().is_some()
                    && alias != variable
                {
                    self.aliases.insert(alias, variable);
                }
            });
        }
        // What is inner and outer at several levels is the outermost.
        for alias in self.aliases.keys().copied().collect::<Vec<_>>() {
            let mut target = alias;
            while let Some(&next) = self.aliases.get(&target) {
                target = next;
            }
            self.aliases.insert(alias, target);
        }
    }

    /// The variables that the class of a frame declares as `outer output`.
    fn outer_outputs(&mut self, frame: &Frame) -> Vec<VarId> {
        let mut found = Vec::new();
        for component in self.elaborator.instances.components_of(frame.class) {
            let node = self.elaborator.instances.component(component);
            let (name, span) = (node.name, node.declaration.name.span);
            if !node.prefixes.outer || self.elaborator.instances.direction(component) != ast::Direction::Output {
                continue;
            }
            if let Ok(scalars) = self.scalars(frame, name, span) {
                found.extend(scalars);
            }
        }
        found.iter().map(|variable| self.aliases.get(variable).copied().unwrap_or(*variable)).collect()
    }

    /// The scalar variables that a name stands for.
    fn scalars(&mut self, frame: &Frame, name: Name, span: Span) -> Outcome<Vec<VarId>> {
        let part = ast::RefPart { ident: ast::Ident { name, span }, subscripts: Vec::new() };
        let reference = ast::ComponentRef { global: false, parts: vec![part], span };
        let text = ast::Expr { kind: ast::ExprKind::Ref(reference), span };
        let typed = Typer::new(self.elaborator, frame.class, Context::Model).expr(&text);
        let value = Expander::new(self.elaborator, frame.clone(), Mode::Flat).expand(&typed)?;
        let exprs = &self.elaborator.flat.model.exprs;
        let variable = |id: ExprId| match exprs.node(id) {
            Node::Var(variable) => Some(variable),
            _ => None,
        };
        Ok(value.scalars().into_iter().filter_map(variable).collect())
    }

    /// The inputs of states: variables of theirs, or of connectors of theirs, that are determined outside.
    fn state_inputs(&mut self) -> FxHashSet<VarId> {
        let mut inputs = FxHashSet::default();
        for part in self.parts {
            let is_input = self.elaborator.instances.direction(part.component) == ast::Direction::Input;
            let (true, ComponentType::Builtin { .. }) = (is_input, &part.ty) else { continue };
            let mut levels = 1;
            let mut above = part.parent.and_then(|parent| self.parts.get(parent));
            while let Some(part) = above
                && crate::connect::collect::is_connector(self.elaborator, part.component).unwrap_or(false)
            {
                levels += 1;
                above = part.parent.and_then(|parent| self.parts.get(parent));
            }
            let Some(scalars) = self.elaborator.flat.scalars.get(&part.component) else { continue };
            let model = &self.elaborator.flat.model;
            for &variable in scalars.variables.iter().flatten() {
                let mut path = Some(model.variables[variable].path);
                for _ in 0..levels {
                    path = path.and_then(|path| model.paths.parent(path));
                }
                if path.is_some_and(|path| self.machines.by_path.contains_key(&path)) {
                    inputs.insert(variable);
                }
            }
        }
        inputs
    }
}
