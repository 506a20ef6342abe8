//! Components at their places (specification 18.6.2): icons with their connectors, and which of them are shown.

use diagram::{Component, Extent, Kind, Layer, Picture, Point, Role, Transform};
use rustc_hash::FxHashMap;
use syntax::ast;

use super::Painter;
use super::fields::Fields;
use super::macros::Subject;
use super::shapes::{connector_outline, outline};
use super::signals::Signal;
use crate::instance::{Builtin, ClassId, CompId, ComponentType, Outcome};
use crate::overrides::Overrides;

/// Where a component is.
struct Placement {
    visible: bool,
    /// From the annotation: area, rotation, origin.
    at: Option<(Extent, f64, Point)>,
}

/// What kind of class a component has, as far as drawings care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Connector,
    /// A model or block, which a diagram shows even where nothing says where.
    Model,
    /// A record and the like, which is shown where it is placed.
    Other,
    /// A variable or parameter.
    Value,
}

/// Connectors in connectors are followed this deep.
const DEEPEST: usize = 3;

impl Painter {
    /// A layer of the class of that name.
    pub(super) fn class(
        &mut self,
        name: &str,
        overrides: &Overrides,
        layer: Option<Layer>,
        with_signals: bool,
    ) -> Outcome<(Picture, Vec<Signal>)> {
        let found = self.instances().class_by_name(name)?;
        let modifier = overrides.modifier(self.instances(), found)?;
        let class = self.instances().top_instance(found, std::sync::Arc::new(modifier));
        self.instances().expand(class);
        let layer = layer.unwrap_or_else(|| if self.has_parts(class) { Layer::Diagram } else { Layer::Icon });
        let subject = Subject { name: short_name(name).to_owned(), class };
        let content = self.content(class, layer, &subject);
        let mut picture =
            Picture { class: name.to_owned(), layer, coordinates: content.coordinates(), ..Picture::default() };
        picture.graphics = content.items;
        let mut shown = Vec::new();
        for component in self.instances().components_of(class) {
            if let Some(drawn) = self.component(component, layer, &content.maps) {
                picture.components.push(drawn);
                shown.push(component);
            }
        }
        if layer == Layer::Diagram {
            self.connections(class, &content.maps, &mut picture);
            self.leave_out(&mut picture, &mut shown);
            picture.arrange();
        }
        let signals = if with_signals { self.signals(&picture, &shown) } else { Vec::new() };
        Ok((picture, signals))
    }

    /// Whether a class has components other than connectors that its diagram shows. Where some have a place, those count.
    fn has_parts(&mut self, class: ClassId) -> bool {
        let (mut is_placed, mut has_models) = (false, false);
        for component in self.instances().components_of(class) {
            let here = self.placement(component, Layer::Diagram);
            is_placed |= here.at.is_some();
            if !here.visible || has_models && here.at.is_none() {
                continue;
            }
            match self.sort(component) {
                Some((Sort::Model | Sort::Other, _)) if here.at.is_some() => return true,
                Some((Sort::Model, _)) => has_models = true,
                _ => {}
            }
        }
        has_models && !is_placed
    }

    /// What has no place and is not connected is no part of a diagram in which others have one.
    fn leave_out(&mut self, picture: &mut Picture, shown: &mut Vec<CompId>) {
        let is_placed = picture.components.iter().any(|component| component.placed);
        if !is_placed {
            return;
        }
        let connected: Vec<&str> = picture
            .connections
            .iter()
            .flat_map(|connection| connection.ends.iter())
            .filter_map(|end| end.first().map(|name| name.split('[').next().unwrap_or(name)))
            .collect();
        let keep: Vec<bool> = picture
            .components
            .iter()
            .map(|component| component.placed || connected.contains(&component.name.as_str()))
            .collect();
        let mut kept = keep.iter();
        picture.components.retain(|_| kept.next().copied().unwrap_or(true));
        let mut kept = keep.iter();
        shown.retain(|_| kept.next().copied().unwrap_or(true));
    }

    /// What a component is, and the class that has its icon.
    fn sort(&mut self, component: CompId) -> Option<(Sort, ClassId)> {
        let instances = &mut self.elaborator.instances;
        let class = match instances.component_type(component) {
            Ok(ComponentType::Class(class)) => class,
            Ok(ComponentType::Object(class)) => return Some((Sort::Other, class)),
            Ok(ComponentType::Builtin { builtin, .. }) => {
                let node = instances.component(component);
                let (scope, name) = (node.type_scope, node.declaration.type_name.clone());
                // Without a class of its own it has no icon.
                if let ([_], Builtin::Real | Builtin::Integer | Builtin::Boolean | Builtin::String) =
                    (name.parts.as_slice(), builtin)
                    && matches!(name.parts[0].name.as_str(), "Real" | "Integer" | "Boolean" | "String")
                {
                    return None;
                }
                let class = instances.lookup_type(scope, &name).ok()?;
                let is_connector = instances.kind(class) == ast::ClassKind::Connector;
                return Some((if is_connector { Sort::Connector } else { Sort::Value }, class));
            }
            Err(diagnostic) => {
                instances.report(diagnostic);
                return None;
            }
        };
        let sort = match instances.kind(class) {
            ast::ClassKind::Connector | ast::ClassKind::ExpandableConnector => Sort::Connector,
            ast::ClassKind::Model | ast::ClassKind::Block | ast::ClassKind::Class => Sort::Model,
            _ => Sort::Other,
        };
        Some((sort, class))
    }

    /// A component of the class that is drawn.
    fn component(&mut self, id: CompId, layer: Layer, maps: &FxHashMap<ClassId, Transform>) -> Option<Component> {
        let node = self.instances().component(id);
        if node.removed {
            return None;
        }
        let (is_protected, prefixes, declared_in) = (node.prefixes.protected, node.prefixes, node.declared_in);
        if layer == Layer::Icon && is_protected {
            return None;
        }
        let placement = self.placement(id, layer);
        if !placement.visible {
            return None;
        }
        let Some((sort, class)) = self.sort(id) else { return self.unknown(id, layer, &placement) };
        let is_drawn = match (layer, placement.at.is_some()) {
            (Layer::Icon, is_placed) => sort == Sort::Connector && is_placed,
            (Layer::Diagram, true) => sort != Sort::Value,
            (Layer::Diagram, false) => match sort {
                Sort::Connector => !is_protected,
                Sort::Model => !prefixes.outer || prefixes.inner,
                Sort::Other | Sort::Value => false,
            },
        };
        if !is_drawn {
            return None;
        }
        let mut drawn = self.drawn(id, class, sort == Sort::Connector, layer, 0);
        drawn.placed = placement.at.is_some();
        if let Some((extent, rotation, origin)) = placement.at {
            drawn.transform = Transform::placement(drawn.extent, extent, rotation, origin);
            if let Some(map) = maps.get(&declared_in) {
                drawn.transform = drawn.transform.then(map);
            }
        }
        // An icon shows what exists.
        (layer == Layer::Diagram || drawn.present).then_some(drawn)
    }

    /// The outline of a component whose class is not known.
    fn unknown(&mut self, id: CompId, layer: Layer, placement: &Placement) -> Option<Component> {
        let (extent, rotation, origin) = placement.at.filter(|_| layer == Layer::Diagram)?;
        let node = self.instances().component(id);
        let (name, class) = (node.name.to_string(), node.declaration.type_name.to_string());
        Some(Component {
            graphics: outline(Extent::DEFAULT, &name, short_name(&class)),
            transform: Transform::placement(Extent::DEFAULT, extent, rotation, origin),
            present: true,
            placed: true,
            name,
            class,
            ..Component::default()
        })
    }

    /// The icon of a component with its connectors, in its own coordinates. A connector that a diagram shows has its diagram
    /// layer, as far as there is something in it.
    fn drawn(&mut self, id: CompId, class: ClassId, is_connector: bool, layer: Layer, depth: usize) -> Component {
        let name = self.instances().component(id).name.to_string();
        let sizes = self.sizes(id);
        let subject = Subject { name: format!("{name}{}", sizes_text(&sizes)), class };
        let mut own = if is_connector { layer } else { Layer::Icon };
        let mut content = self.content(class, own, &subject);
        if own == Layer::Diagram && !content.has_primitives {
            own = Layer::Icon;
            content = self.content(class, own, &subject);
        }
        let class_name = self.instances().class_name(class).to_string();
        let coordinates = content.coordinates();
        let mut drawn = Component {
            name,
            kind: if is_connector { Kind::Connector } else { Kind::Component },
            extent: coordinates.extent,
            graphics: content.items,
            sizes: sizes.iter().map(|size| size.unwrap_or(0)).collect(),
            present: self.exists(id),
            role: Role::Other,
            ..Component::default()
        };
        if !content.has_primitives && !is_connector {
            drawn.graphics = outline(drawn.extent, &subject.name, short_name(&class_name));
        } else if !content.has_primitives && is_connector {
            drawn.graphics = connector_outline(drawn.extent, &subject.name, layer);
        }
        drawn.class = class_name;
        if depth < DEEPEST && !(is_connector && own == Layer::Icon) {
            self.add_connectors(&mut drawn, class, &content.maps, depth);
        }
        drawn.role = self.role(&drawn);
        drawn
    }

    /// The public connectors of a class, as its icon shows them. Those of a class without any placement stand at the sides of its
    /// outline.
    fn add_connectors(
        &mut self,
        drawn: &mut Component,
        class: ClassId,
        maps: &FxHashMap<ClassId, Transform>,
        depth: usize,
    ) {
        let mut unplaced = Vec::new();
        let mut is_placed = false;
        for id in self.instances().components_of(class) {
            let node = self.instances().component(id);
            if node.prefixes.protected || node.removed {
                continue;
            }
            let declared_in = node.declared_in;
            let placement = self.placement(id, Layer::Icon);
            is_placed |= placement.at.is_some();
            if !placement.visible {
                continue;
            }
            let Some((extent, rotation, origin)) = placement.at else {
                unplaced.push(id);
                continue;
            };
            let Some(mut connector) = self.connector(id, drawn, depth) else { continue };
            connector.placed = true;
            connector.transform = Transform::placement(connector.extent, extent, rotation, origin);
            if let Some(map) = maps.get(&declared_in) {
                connector.transform = connector.transform.then(map);
            }
            drawn.connectors.push(connector);
        }
        if !is_placed && drawn.kind == Kind::Component {
            let mut found = Vec::new();
            for id in unplaced {
                if let Some(connector) = self.connector(id, drawn, depth) {
                    found.push((connector, self.instances().direction(id)));
                }
            }
            place_at_sides(drawn, found, is_ground(&drawn.class));
        }
    }

    /// An element of a class as a connector of its icon; nothing for all else, and for one that does not exist.
    fn connector(&mut self, id: CompId, drawn: &Component, depth: usize) -> Option<Component> {
        let class = self.connector_class(id)?;
        if !self.exists(id) {
            self.absent.insert((drawn.name.clone(), self.elaborator.instances.component(id).name.to_string()));
            return None;
        }
        Some(self.drawn(id, class, true, Layer::Icon, depth + 1))
    }

    /// The class of a connector. Most elements are something else, and are not instantiated to find that out.
    fn connector_class(&mut self, id: CompId) -> Option<ClassId> {
        let node = self.instances().component(id);
        if matches!(node.type_prefixes.variability, ast::Variability::Parameter | ast::Variability::Constant) {
            return None;
        }
        let (scope, name) = (node.type_scope, node.declaration.type_name.clone());
        let declared = self.quietly(|elaborator| elaborator.instances.lookup_type(scope, &name).ok())?;
        let is_connector = |kind| matches!(kind, ast::ClassKind::Connector | ast::ClassKind::ExpandableConnector);
        if !is_connector(self.instances().kind(declared)) {
            return None;
        }
        match self.quietly(|elaborator| elaborator.instances.component_type(id).ok())? {
            ComponentType::Class(class) | ComponentType::Object(class) => Some(class),
            ComponentType::Builtin { .. } => Some(declared),
        }
    }

    /// The placement of a component, of its original declaration where a redeclaration has none.
    fn placement(&mut self, id: CompId, layer: Layer) -> Placement {
        let node = self.instances().component(id);
        let has = |declaration: &ast::Component| {
            let annotation = declaration.annotation.clone()?;
            let is_placement = |argument: &ast::Argument| {
                matches!(argument, ast::Argument::Element(element)
                    if matches!(element.path.as_slice(), [only] if only.name == "Placement"))
            };
            annotation.arguments.iter().any(is_placement).then_some(annotation)
        };
        let original = || node.original.as_ref().and_then(|(original, _)| has(original));
        let declared_in = node.declared_in;
        let Some(annotation) = has(&node.declaration).or_else(original) else {
            return Placement { visible: true, at: None };
        };
        let frame = self.frame(declared_in);
        let Some(fields) = Fields::of_modification(&annotation, &frame).parts("Placement") else {
            return Placement { visible: true, at: None };
        };
        let mut visible = self.boolean(&fields, "visible").unwrap_or(true);
        let mut transformation = fields.parts("transformation");
        if layer == Layer::Icon {
            visible = self.boolean(&fields, "iconVisible").unwrap_or(visible);
            transformation = fields.parts("iconTransformation").or(transformation);
        }
        let at = transformation.map(|fields| {
            let extent = self.extent(&fields, "extent");
            if extent.is_none() {
                self.warn(declared_in, fields.span, "the placement has no `extent`");
            }
            let rotation = self.number(&fields, "rotation").unwrap_or(0.0);
            let origin = self.point(&fields, "origin").unwrap_or_default();
            (extent.unwrap_or(Extent::new(-10.0, -10.0, 10.0, 10.0)), rotation, origin)
        });
        Placement { visible, at }
    }

    /// Whether the condition of a component is true; one that cannot be evaluated counts as true.
    fn exists(&mut self, id: CompId) -> bool {
        let node = self.instances().component(id);
        let (scope, Some(condition)) = (node.declared_in, node.condition.clone()) else { return true };
        let frame = self.frame(scope);
        self.quietly(|elaborator| elaborator.evaluate_condition(&frame, &condition).ok()).unwrap_or(true)
    }

    /// The sizes of an array; `None` where one is not known.
    fn sizes(&mut self, id: CompId) -> Vec<Option<usize>> {
        let dimensions = self.quietly(|elaborator| elaborator.instances.dimensions(id).ok()).unwrap_or_default();
        if dimensions.is_empty() {
            return Vec::new();
        }
        match self.quietly(|elaborator| elaborator.sizes(id).ok()) {
            Some(sizes) => sizes.iter().map(|&size| Some(size)).collect(),
            None => vec![None; dimensions.len()],
        }
    }

    /// Where an automatic layout puts a component. The name of its class says what its connectors do not.
    fn role(&mut self, drawn: &Component) -> Role {
        let name = drawn.class.to_lowercase();
        let short = short_name(&name);
        let is_any = |words: &[&str]| words.iter().any(|word| short.contains(word));
        if drawn.connectors.len() == 1 && is_ground(&drawn.class) {
            return Role::Ground;
        }
        if name.contains(".sources.") || is_any(&["source", "supply", "battery", "world"]) {
            return Role::Source;
        }
        Role::Other
    }
}

/// Whether a class is a reference for potentials, by its name.
fn is_ground(class: &str) -> bool {
    let name = short_name(class).to_lowercase();
    ["ground", "fixed", "earth", "ambient"].iter().any(|word| name.contains(word))
}

/// Inputs at the left, outputs at the right, others at both sides in turn. The connector of a ground is at its top.
fn place_at_sides(drawn: &mut Component, connectors: Vec<(Component, ast::Direction)>, is_ground: bool) {
    let mut sides: [Vec<Component>; 2] = Default::default();
    let mut others = 0;
    for (connector, direction) in connectors {
        let side = match direction {
            ast::Direction::Input => 0,
            ast::Direction::Output => 1,
            ast::Direction::None => {
                others += 1;
                (others + 1) % 2
            }
        };
        sides[side].push(connector);
    }
    let is_only = sides.iter().map(Vec::len).sum::<usize>() == 1;
    let area = drawn.extent;
    let half = area.width().min(area.height()) * 0.05;
    for (side, connectors) in sides.into_iter().enumerate() {
        let x = if side == 0 { area.left() } else { area.right() };
        let count = connectors.len();
        for (position, mut connector) in connectors.into_iter().enumerate() {
            let y = area.top() - area.height() * (position + 1) as f64 / (count + 1) as f64;
            let (x, y) = if is_ground && is_only { (area.centre().x, area.top()) } else { (x, y) };
            let at = Extent::new(x - half, y - half, x + half, y + half);
            connector.transform = Transform::between(connector.extent, at);
            drawn.connectors.push(connector);
        }
    }
}

fn sizes_text(sizes: &[Option<usize>]) -> String {
    if sizes.is_empty() {
        return String::new();
    }
    let sizes: Vec<String> = sizes.iter().map(|size| size.map_or(":".to_owned(), |size| size.to_string())).collect();
    format!("[{}]", sizes.join(","))
}

pub(super) fn short_name(class: &str) -> &str {
    crate::library::name_parts(class).last().copied().unwrap_or(class)
}
