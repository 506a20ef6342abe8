//! The layers of a class: coordinates and primitives, those of base classes behind its own (specification 18.6, 18.6.3).

use diagram::{CoordinateSystem, Extent, Item, Layer, Shape, Transform};
use rustc_hash::FxHashMap;
use syntax::ast;

use super::Painter;
use super::fields::Fields;
use super::macros::Subject;
use crate::instance::ClassId;

/// A layer of a class with what it inherits.
#[derive(Default)]
pub(super) struct Content {
    extent: Option<Extent>,
    preserve_aspect_ratio: Option<bool>,
    initial_scale: Option<f64>,
    /// The primitives, back to front.
    pub items: Vec<Item>,
    /// Whether there are primitives, seen or not.
    pub has_primitives: bool,
    /// Where the contents of base classes go that are mapped to another area.
    pub maps: FxHashMap<ClassId, Transform>,
}

impl Content {
    pub fn coordinates(&self) -> CoordinateSystem {
        let default = CoordinateSystem::default();
        CoordinateSystem {
            extent: self.extent.unwrap_or(default.extent),
            preserve_aspect_ratio: self.preserve_aspect_ratio.unwrap_or(default.preserve_aspect_ratio),
            initial_scale: self.initial_scale.unwrap_or(default.initial_scale),
        }
    }
}

/// How an extends clause shows its base class.
#[derive(Clone, Copy)]
struct BaseMap {
    extent: Extent,
    primitives_visible: bool,
}

const NOWHERE: Extent = Extent::new(0.0, 0.0, 0.0, 0.0);

/// More levels of inheritance than this have no graphics.
const DEEPEST: usize = 100;

impl Painter {
    /// A layer of a class instance.
    pub(super) fn content(&mut self, class: ClassId, layer: Layer, subject: &Subject) -> Content {
        self.content_at(class, layer, subject, 0)
    }

    fn content_at(&mut self, class: ClassId, layer: Layer, subject: &Subject, depth: usize) -> Content {
        let mut result = Content::default();
        if depth > DEEPEST {
            return result;
        }
        self.instances().expand(class);
        let definition = self.instances().definition(class).clone();
        let maps = self.base_maps(class, &definition, layer);
        for base in self.instances().class(class).bases.clone() {
            let inner = self.content_at(base, layer, subject, depth + 1);
            let def = self.instances().class(base).def;
            let map = maps.iter().find(|(known, _)| *known == def).map(|(_, map)| *map);
            result.inherit(inner, base, map);
        }
        let name = match layer {
            Layer::Icon => "Icon",
            Layer::Diagram => "Diagram",
        };
        let Some(annotation) = definition.annotation.as_deref() else { return result };
        let frame = self.frame(class);
        let Some(fields) = Fields::of_modification(annotation, &frame).parts(name) else { return result };
        if let Some(system) = fields.parts("coordinateSystem") {
            let extent = self.extent(&system, "extent");
            if extent.is_some_and(|extent| extent.is_empty()) {
                self.warn(class, system.span, "the coordinate system has no area");
            }
            result.extent = extent.filter(|extent| !extent.is_empty()).or(result.extent);
            result.preserve_aspect_ratio =
                self.boolean(&system, "preserveAspectRatio").or(result.preserve_aspect_ratio);
            result.initial_scale = self.number(&system, "initialScale").or(result.initial_scale);
        }
        if let Some(graphics) = fields.expression("graphics") {
            let (items, any) = self.graphics(&frame, graphics, subject);
            // A name that a base class writes at the same place already is not written a second time.
            let known = |item: &Item| matches!(item.shape, Shape::Text(_)) && result.items.contains(item);
            let items: Vec<Item> = items.into_iter().filter(|item| !known(item)).collect();
            result.items.extend(items);
            result.has_primitives |= any;
        }
        result
    }

    /// The annotations `IconMap` and `DiagramMap` of the extends clauses of a class, by the base class.
    fn base_maps(
        &mut self,
        class: ClassId,
        definition: &ast::ClassDef,
        layer: Layer,
    ) -> Vec<(crate::library::DefId, BaseMap)> {
        let mut maps = Vec::new();
        let frame = self.frame(class);
        match &definition.body {
            ast::ClassBody::Long(composition) => {
                for element in &composition.elements {
                    let ast::Element::Extends(extends) = element else { continue };
                    let Some(annotation) = &extends.annotation else { continue };
                    let Some(map) = self.base_map(&Fields::of_modification(annotation, &frame), layer) else {
                        continue;
                    };
                    let base = self.quietly(|elaborator| elaborator.instances.lookup_type(class, &extends.base).ok());
                    maps.extend(base.map(|base| (self.instances().class(base).def, map)));
                }
            }
            ast::ClassBody::Short { .. } => {
                let Some(annotation) = &definition.annotation else { return maps };
                let map = self.base_map(&Fields::of_modification(annotation, &frame), layer);
                let base = self.instances().class(class).bases.first().copied();
                if let (Some(map), Some(base)) = (map, base) {
                    maps.push((self.instances().class(base).def, map));
                }
            }
            ast::ClassBody::Enumeration(_) | ast::ClassBody::PartialDerivative { .. } => {}
        }
        maps
    }

    fn base_map(&mut self, fields: &Fields<'_>, layer: Layer) -> Option<BaseMap> {
        let name = match layer {
            Layer::Icon => "IconMap",
            Layer::Diagram => "DiagramMap",
        };
        let map = fields.parts(name)?;
        let extent = self.extent(&map, "extent").unwrap_or(NOWHERE);
        Some(BaseMap { extent, primitives_visible: self.boolean(&map, "primitivesVisible").unwrap_or(true) })
    }
}

impl Content {
    fn inherit(&mut self, mut inner: Content, base: ClassId, map: Option<BaseMap>) {
        let is_mapped = map.is_some_and(|map| map.extent != NOWHERE);
        if let Some(map) = map {
            if !map.primitives_visible {
                inner.items.clear();
            }
            if is_mapped {
                let transform = mapped(&inner.coordinates(), map.extent);
                for item in &mut inner.items {
                    item.transform = item.transform.then(&transform);
                }
                for inside in inner.maps.values_mut() {
                    *inside = inside.then(&transform);
                }
                inner.maps.insert(base, transform);
            }
        }
        self.maps.extend(inner.maps);
        let known = |item: &Item| matches!(item.shape, Shape::Text(_)) && self.items.contains(item);
        inner.items.retain(|item| !known(item));
        self.items.append(&mut inner.items);
        self.has_primitives |= inner.has_primitives;
        if !is_mapped {
            self.extent = self.extent.or(inner.extent);
            self.preserve_aspect_ratio = self.preserve_aspect_ratio.or(inner.preserve_aspect_ratio);
            self.initial_scale = self.initial_scale.or(inner.initial_scale);
        }
    }
}

/// From the area of a base class to the one that it is mapped to, in the middle of it where proportions are kept.
fn mapped(base: &CoordinateSystem, to: Extent) -> Transform {
    if !base.preserve_aspect_ratio || to.is_empty() {
        return Transform::between(base.extent, to);
    }
    let scale = (to.width() / base.extent.width()).min(to.height() / base.extent.height());
    let (half_width, half_height) = (base.extent.width() * scale / 2.0, base.extent.height() * scale / 2.0);
    let (x, y) = ((to.second.x - to.first.x).signum(), (to.second.y - to.first.y).signum());
    let centre = to.centre();
    let kept = Extent::new(
        centre.x - x * half_width,
        centre.y - y * half_height,
        centre.x + x * half_width,
        centre.y + y * half_height,
    );
    Transform::between(base.extent, kept)
}
