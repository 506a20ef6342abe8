//! Random hierarchies of components with connections, as text and as sets of connectors found by union: inside and outside
//! connectors, arrays of connectors and components, conditional components, connectors that nothing is connected to.

use fastrand::Rng;

/// A class without components, given by its text.
pub struct Element {
    pub name: String,
    /// `p` alone, or `p` and elements of `q`.
    pub connectors: &'static [&'static str],
}

/// An end of a connection, from the class that has it.
#[derive(Clone)]
struct End {
    path: String,
    is_outside: bool,
    /// It belongs to a component that is switched off.
    is_absent: bool,
}

struct Class {
    name: String,
    connectors: Vec<String>,
    /// Class and name of each component, and whether it is there.
    components: Vec<(usize, String, bool)>,
    connections: Vec<(End, End)>,
}

/// Connectors that are connected to each other in one class: their paths, and which are connectors of that class itself.
pub type Set = Vec<(String, bool)>;

pub struct Hierarchy {
    pub text: String,
    /// All connectors of the instance.
    pub connectors: Vec<String>,
    /// The path and the number of each element.
    pub elements: Vec<(String, usize)>,
    pub sets: Vec<Set>,
}

impl Hierarchy {
    /// A model `Case` over elements whose texts are `definitions`.
    pub fn random(rng: &mut Rng, definitions: &str, elements: &[Element], connector: &str) -> Self {
        let mut generator = HierarchyGenerator { rng, connector, classes: Vec::new(), elements: elements.len() };
        for element in elements {
            let connectors = element.connectors.iter().map(|&name| name.to_owned()).collect();
            let name = element.name.clone();
            generator.classes.push(Class { name, connectors, components: Vec::new(), connections: Vec::new() });
        }
        let mut text = format!("model Case\n{definitions}");
        for level in 0..generator.rng.usize(1..=3) {
            let name = format!("L{level}");
            let body = generator.composite(&name, false);
            text += &format!("  model {name}\n{body}  end {name};\n");
        }
        text += &generator.composite("Case", true);
        text += "end Case;\n";
        let (classes, count) = (generator.classes, elements.len());
        let mut hierarchy = Self { text, connectors: Vec::new(), elements: Vec::new(), sets: Vec::new() };
        hierarchy.instance(&classes, count, classes.len() - 1, "");
        hierarchy
    }

    pub fn index(&self, connector: &str) -> usize {
        self.connectors.iter().position(|found| found == connector).unwrap_or(usize::MAX)
    }

    fn instance(&mut self, classes: &[Class], elements: usize, class: usize, path: &str) {
        if class < elements {
            self.elements.push((path.to_owned(), class));
            return;
        }
        let Class { connectors, components, connections, .. } = &classes[class];
        let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let mut ends: Set = connectors.iter().map(|name| (at(name), true)).collect();
        for (inner, name, _) in components.iter().filter(|(.., is_there)| *is_there) {
            let own = classes[*inner].connectors.iter().map(|end| at(&format!("{name}.{end}")));
            let own: Vec<String> = own.collect();
            self.connectors.extend(own.iter().cloned());
            ends.extend(own.into_iter().map(|end| (end, false)));
            self.instance(classes, elements, *inner, &at(name));
        }
        let mut set: Vec<usize> = (0..ends.len()).collect();
        for (a, b) in connections.iter().filter(|(a, b)| !a.is_absent && !b.is_absent) {
            let find =
                |end: &End| ends.iter().position(|(path, is_out)| *path == at(&end.path) && *is_out == end.is_outside);
            if let (Some(a), Some(b)) = (find(a), find(b)) {
                let (from, to) = (set[a], set[b]);
                set.iter_mut().filter(|found| **found == from).for_each(|found| *found = to);
            }
        }
        for representative in 0..ends.len() {
            let members: Set = (0..ends.len()).filter(|&k| set[k] == representative).map(|k| ends[k].clone()).collect();
            if !members.is_empty() {
                self.sets.push(members);
            }
        }
    }
}

struct HierarchyGenerator<'r> {
    rng: &'r mut Rng,
    connector: &'r str,
    classes: Vec<Class>,
    elements: usize,
}

impl HierarchyGenerator<'_> {
    /// The body of a class of components; the last one has no connectors of its own.
    fn composite(&mut self, name: &str, is_last: bool) -> String {
        let mut text = String::new();
        let connectors = if is_last { Vec::new() } else { self.connectors(&mut text) };
        let components = self.components(&mut text, is_last);
        let outside = connectors.iter().map(|name| End { path: name.clone(), is_outside: true, is_absent: false });
        let mut ends: Vec<End> = outside.collect();
        for (class, component, is_there) in &components {
            for connector in &self.classes[*class].connectors {
                let path = format!("{component}.{connector}");
                ends.push(End { path, is_outside: false, is_absent: !is_there });
            }
        }
        let mut connections = Vec::new();
        for _ in 0..self.rng.usize(1..=2 * ends.len()) {
            let (a, b) = (&ends[self.rng.usize(0..ends.len())], &ends[self.rng.usize(0..ends.len())]);
            if a.path != b.path {
                connections.push((a.clone(), b.clone()));
            }
        }
        self.connect_outside(&ends, &mut connections);
        text += "  equation\n";
        for (a, b) in &connections {
            text += &format!("    connect({}, {});\n", a.path, b.path);
        }
        // Whole arrays at once.
        let is_like = |class: usize| self.classes[class].connectors.len() == 3;
        if connectors.len() == 3
            && let Some((_, component, _)) = components.iter().find(|(class, _, is_there)| *is_there && is_like(*class))
        {
            text += &format!("    connect(q, {component}.q);\n");
            for k in 1..=2 {
                let end = |path: String, is_outside| End { path, is_outside, is_absent: false };
                connections.push((end(format!("q[{k}]"), true), end(format!("{component}.q[{k}]"), false)));
            }
        }
        self.classes.push(Class { name: name.to_owned(), connectors, components, connections });
        text
    }

    fn connectors(&mut self, text: &mut String) -> Vec<String> {
        let (of, count) = (self.connector, self.rng.usize(1..=3));
        *text += &format!("    {of} p;\n");
        if count > 1 {
            *text += &format!("    {of} q[{}];\n", count - 1);
        }
        std::iter::once("p".to_owned()).chain((1..count).map(|k| format!("q[{k}]"))).collect()
    }

    fn components(&mut self, text: &mut String, is_last: bool) -> Vec<(usize, String, bool)> {
        let mut components = Vec::new();
        for k in 0..self.rng.usize(2..=4) {
            let is_composite = is_last && k == 0 || self.classes.len() > self.elements && self.rng.u8(0..3) == 0;
            let class = match is_composite {
                true => self.rng.usize(self.elements..self.classes.len()),
                false => self.rng.usize(0..self.elements),
            };
            let of = &self.classes[class].name;
            let kind = if k == 0 { 2 } else { self.rng.u8(0..5) };
            match kind {
                0 => {
                    *text += &format!("    {of} c{k}[2];\n");
                    components.extend((1..=2).map(|at| (class, format!("c{k}[{at}]"), true)));
                }
                1 => {
                    let is_there = self.rng.bool();
                    *text += &format!("    {of} c{k} if {is_there};\n");
                    components.push((class, format!("c{k}"), is_there));
                }
                _ => {
                    *text += &format!("    {of} c{k};\n");
                    components.push((class, format!("c{k}"), true));
                }
            }
        }
        components
    }

    /// What is an end of the class is an end of something in it.
    fn connect_outside(&mut self, ends: &[End], connections: &mut Vec<(End, End)>) {
        let inner: Vec<&End> = ends.iter().filter(|end| !end.is_outside && !end.is_absent).collect();
        for own in ends.iter().filter(|end| end.is_outside) {
            let is_other = |end: &End| !end.is_absent && end.path != own.path;
            let is_connected =
                connections.iter().any(|(a, b)| a.path == own.path && is_other(b) || b.path == own.path && is_other(a));
            if !is_connected {
                connections.push((own.clone(), inner[self.rng.usize(0..inner.len())].clone()));
            }
        }
    }
}
