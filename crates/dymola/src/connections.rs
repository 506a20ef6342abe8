//! What `connect` means: pairs of cuts that are joined.
//!
//! Every object has a begin and an end: the two cuts of its path, or twice its only cut. `a - b` joins the end of `a` with the
//! begin of `b`; `a // b` joins begins and ends; a node takes the form of what is connected with it.

use base::{Diagnostic, Name, Span};
use rustc_hash::FxHashMap;

use crate::ast::*;
use crate::classes::{ClassId, Classes, CutId};
use crate::language;

/// One place that is connected: a cut of variables, or what stands for one.
#[derive(Clone, PartialEq, Debug)]
pub enum Point {
    /// Of a submodel, or of the model itself.
    Cut {
        owner: Option<Name>,
        cut: CutId,
    },
    Node {
        node: Name,
        part: usize,
    },
    /// A connector of a class that is not in this file.
    Foreign(Reference),
}

#[derive(Clone, Debug)]
pub struct Join {
    pub left: Point,
    pub right: Point,
    pub span: Span,
}

/// The connections of one class.
#[derive(Default)]
pub struct Joined {
    /// For every connect statement, in order.
    pub statements: Vec<Vec<Join>>,
    /// The cuts whose form the nodes have.
    pub nodes: FxHashMap<Name, Vec<CutId>>,
}

#[derive(Clone)]
enum End {
    Points(Vec<Point>),
    Node(Name),
}

struct RawJoin {
    left: End,
    right: End,
    span: Span,
}

pub fn join(classes: &Classes, class: ClassId, diagnostics: &mut Vec<Diagnostic>) -> Joined {
    let mut joiner = Joiner { classes, class, raw: Vec::new(), diagnostics };
    let mut lengths = Vec::new();
    for item in &classes.classes[class].model.items {
        if let ItemKind::Connect(connections) = &item.kind {
            for connection in connections {
                joiner.connection(connection);
            }
            lengths.push(joiner.raw.len());
        }
    }
    let raw = std::mem::take(&mut joiner.raw);
    let nodes = node_forms(classes, &raw);
    let (mut statements, mut begin) = (Vec::new(), 0);
    for end in lengths {
        let joins = raw[begin..end].iter().flat_map(|raw| joiner.expand(raw, &nodes)).collect();
        statements.push(joins);
        begin = end;
    }
    Joined { statements, nodes }
}

/// A node has the form of the first cut that is connected with it, also by way of other nodes.
fn node_forms(classes: &Classes, raw: &[RawJoin]) -> FxHashMap<Name, Vec<CutId>> {
    let mut forms: FxHashMap<Name, Vec<CutId>> = FxHashMap::default();
    let cuts = |points: &[Point]| -> Option<Vec<CutId>> {
        let cut = |point: &Point| match point {
            Point::Cut { cut, .. } => Some(classes.parts(*cut)),
            _ => None,
        };
        points.iter().map(cut).collect::<Option<Vec<_>>>().map(|parts| parts.concat())
    };
    loop {
        let before = forms.len();
        for RawJoin { left, right, .. } in raw {
            for (one, other) in [(left, right), (right, left)] {
                let End::Node(node) = one else { continue };
                let form = match other {
                    End::Points(points) => cuts(points),
                    End::Node(other) => forms.get(other).cloned(),
                };
                if let Some(form) = form {
                    forms.entry(*node).or_insert(form);
                }
            }
        }
        if forms.len() == before {
            return forms;
        }
    }
}

struct Joiner<'a, 'd> {
    classes: &'d Classes<'a>,
    class: ClassId,
    raw: Vec<RawJoin>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Joiner<'_, '_> {
    fn connection(&mut self, connection: &Connection) {
        match &connection.kind {
            ConnectionKind::Chain(chain) => {
                if let ChainKind::Object(_) = chain.kind {
                    let message = "one object alone is not connected with anything";
                    let hint = "write `a - b`, `a // b`, `a at n` or `a from n1 to n2`";
                    self.report("lonely-object", message.to_owned(), chain.span, hint.to_owned());
                    return;
                }
                self.ends(chain);
            }
            ConnectionKind::At(left, right) => {
                if let (Some(left), Some(right)) = (self.single(left), self.single(right)) {
                    self.raw.push(RawJoin { left, right, span: connection.span });
                }
            }
            ConnectionKind::FromTo { object, from, to } => {
                let ends = self.ends(object);
                let places = [from, to].map(|place| place.as_ref().and_then(|place| self.single(place)));
                let Some((begin, end)) = ends else { return };
                for (place, end) in places.into_iter().zip([begin, end]) {
                    if let Some(place) = place {
                        self.raw.push(RawJoin { left: end, right: place, span: connection.span });
                    }
                }
            }
        }
    }

    fn report(&mut self, code: &'static str, message: String, span: Span, hint: String) {
        self.diagnostics.push(language::error(code, message, span, "", hint, "Connections"));
    }

    /// Begin and end of a chain, whose inner connections are made.
    fn ends(&mut self, chain: &Chain) -> Option<(End, End)> {
        match &chain.kind {
            ChainKind::Object(object) => {
                let (single, path) = self.object(object)?;
                if let Some(path) = path {
                    return Some(path);
                }
                if let Some(single) = single {
                    return Some((single.clone(), single));
                }
                let message = format!("`{}` has neither a main path nor a main cut", text_of(object));
                let hint = "declare `main path P < A - B >` in its class, or name its cut here";
                self.report("no-main-path", message, object.span, hint.to_owned());
                None
            }
            ChainKind::Series(chains) => {
                let ends: Vec<Option<(End, End)>> = chains.iter().map(|chain| self.ends(chain)).collect();
                for (pair, chains) in ends.windows(2).zip(chains.windows(2)) {
                    if let [Some((_, left)), Some((right, _))] = pair {
                        let span = chains[0].span.to(chains[1].span);
                        self.raw.push(RawJoin { left: left.clone(), right: right.clone(), span });
                    }
                }
                let begin = ends.first()?.clone()?.0;
                Some((begin, ends.last()?.clone()?.1))
            }
            ChainKind::Parallel(chains) => {
                let ends: Vec<Option<(End, End)>> = chains.iter().map(|chain| self.ends(chain)).collect();
                for (pair, chains) in ends.windows(2).zip(chains.windows(2)) {
                    if let [Some(left), Some(right)] = pair {
                        let span = chains[0].span.to(chains[1].span);
                        self.raw.push(RawJoin { left: left.0.clone(), right: right.0.clone(), span });
                        self.raw.push(RawJoin { left: left.1.clone(), right: right.1.clone(), span });
                    }
                }
                ends.into_iter().next()?
            }
            ChainKind::Loop(inner) => {
                let (begin, end) = self.ends(inner)?;
                self.raw.push(RawJoin { left: end.clone(), right: begin.clone(), span: chain.span });
                Some((begin, end))
            }
        }
    }

    /// The only cut that is meant.
    fn single(&mut self, chain: &Chain) -> Option<End> {
        let ChainKind::Object(object) = &chain.kind else {
            let message = "`at`, `from` and `to` need one object";
            self.report(
                "no-object",
                message.to_owned(),
                chain.span,
                "name a node, or an object with a main cut".to_owned(),
            );
            return None;
        };
        let (single, path) = self.object(object)?;
        if single.is_none() {
            let name = text_of(object);
            let message = format!("`{name}` has no main cut");
            let hint = match path {
                Some(_) => format!("connect its path: `{name} from n1 to n2`, or name one of its cuts"),
                None => "declare `main cut` in its class, or name one of its cuts".to_owned(),
            };
            self.report("no-main-cut", message, object.span, hint);
        }
        single
    }

    /// The cut and the path of an object.
    fn object(&mut self, object: &Reference) -> Option<(Option<End>, Option<(End, End)>)> {
        match &object.parts[..] {
            [name] => self.simple_object(*name, object),
            [owner, name] => self.part_of_submodel(*owner, *name, object),
            _ => {
                let message = format!("`{}` lies inside of a submodel", text_of(object));
                let hint = "only the cuts of a submodel itself can be connected";
                self.report("too-deep", message, object.span, hint.to_owned());
                None
            }
        }
    }

    fn simple_object(&mut self, name: Ident, object: &Reference) -> Option<(Option<End>, Option<(End, End)>)> {
        let (classes, class) = (self.classes, self.class);
        if classes.has_node(class, name.name) {
            return Some((Some(End::Node(name.name)), None));
        }
        if let Some(of) = classes.submodel(class, name.name) {
            let Some(of) = of else {
                let message = format!("the class of `{}` is not in this file, so its main cut is unknown", name.name);
                let hint = format!("name its connector: `{}.p`", name.name);
                self.report("no-main-cut", message, object.span, hint);
                return None;
            };
            let single = classes.main_cut(of).map(|cut| self.end(Some(name.name), cut));
            let path = classes.main_path(of);
            let path = path.map(|(from, to)| (self.end(Some(name.name), from), self.end(Some(name.name), to)));
            return Some((single, path));
        }
        if let Some(cut) = classes.cut(class, name.name) {
            return Some((Some(self.end(None, cut)), None));
        }
        if let Some((from, to)) = classes.path(class, name.name) {
            return Some((None, Some((self.end(None, from), self.end(None, to)))));
        }
        if classes.is_open(class) {
            return Some((Some(End::Points(vec![Point::Foreign(object.clone())])), None));
        }
        let model = &classes.classes[class];
        let lineage = classes.lineage(class).into_iter();
        let known = lineage.flat_map(|above| {
            let class = &classes.classes[above];
            class.submodels.keys().chain(class.nodes.keys()).chain(class.cuts.keys()).map(|name| name.as_str())
        });
        let hint = match language::near(name.name.as_str(), known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare it: `node {}` or `submodel (Class) {}`", name.name, name.name),
        };
        let message = format!("there is no submodel, node or cut `{}` in `{}`", name.name, model.model.called);
        self.diagnostics.push(language::error("unknown-object", message, name.span, "not found", hint, "Connections"));
        None
    }

    fn part_of_submodel(
        &mut self,
        owner: Ident,
        name: Ident,
        object: &Reference,
    ) -> Option<(Option<End>, Option<(End, End)>)> {
        let foreign = || Some((Some(End::Points(vec![Point::Foreign(object.clone())])), None));
        let classes = self.classes;
        let of = match classes.submodel(self.class, owner.name) {
            Some(Some(of)) => of,
            Some(None) => return foreign(),
            None if classes.is_open(self.class) => return foreign(),
            None => return self.simple_object(owner, object),
        };
        if let Some(cut) = classes.cut(of, name.name) {
            return Some((Some(self.end(Some(owner.name), cut)), None));
        }
        if let Some((from, to)) = classes.path(of, name.name) {
            return Some((None, Some((self.end(Some(owner.name), from), self.end(Some(owner.name), to)))));
        }
        if classes.is_open(of) {
            return foreign();
        }
        self.diagnostics.push(classes.unknown_cut(of, name));
        None
    }

    fn end(&self, owner: Option<Name>, cut: CutId) -> End {
        End::Points(self.classes.parts(cut).into_iter().map(|cut| Point::Cut { owner, cut }).collect())
    }

    /// The pairs of cuts of variables that are joined.
    fn expand(&mut self, raw: &RawJoin, nodes: &FxHashMap<Name, Vec<CutId>>) -> Vec<Join> {
        let points = |end: &End| -> Option<Vec<Point>> {
            Some(match end {
                End::Points(points) => points.clone(),
                End::Node(node) => (0..nodes.get(node)?.len()).map(|part| Point::Node { node: *node, part }).collect(),
            })
        };
        let (Some(left), Some(right)) = (points(&raw.left), points(&raw.right)) else {
            let message = "nothing tells which variables this node has";
            let hint = "connect it with a cut of a class of this file";
            self.report("formless-node", message.to_owned(), raw.span, hint.to_owned());
            return Vec::new();
        };
        let same_form = left.len() == right.len()
            && left.iter().zip(&right).all(|(left, right)| {
                let form = |point: &Point| {
                    let cut = self.cut_of(point, nodes)?;
                    let slots = self.classes.slots(cut);
                    Some((slots.across.len(), slots.through.len()))
                };
                match (form(left), form(right)) {
                    (Some(left), Some(right)) => left == right,
                    _ => true,
                }
            });
        if !same_form {
            let mut diagnostic = language::error(
                "different-cuts",
                "cuts of different form cannot be connected",
                raw.span,
                "",
                "both need as many across and through variables, in the same order",
                "Connections",
            );
            for point in left.iter().chain(&right) {
                if let Some(cut) = self.cut_of(point, nodes) {
                    let slots = self.classes.slots(cut);
                    let text = format!("{} across and {} through", slots.across.len(), slots.through.len());
                    diagnostic = diagnostic.at(self.classes.cuts[cut].name.span, text);
                }
            }
            self.diagnostics.push(diagnostic);
            return Vec::new();
        }
        left.into_iter().zip(right).map(|(left, right)| Join { left, right, span: raw.span }).collect()
    }

    fn cut_of(&self, point: &Point, nodes: &FxHashMap<Name, Vec<CutId>>) -> Option<CutId> {
        match point {
            Point::Cut { cut, .. } => Some(*cut),
            Point::Node { node, part } => nodes.get(node)?.get(*part).copied(),
            Point::Foreign(_) => None,
        }
    }
}

fn text_of(reference: &Reference) -> String {
    reference.parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(".")
}
