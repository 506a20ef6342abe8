//! Automatic layout and routes on random pictures: nothing overlaps, and every connection meets its pins with right angles.

use diagram::{Component, Connection, Extent, Kind, Picture, Point, Role, Side, Transform};
use proptest::prelude::*;

fn connector(name: &str, x: f64, y: f64) -> Component {
    let at = Extent::new(x - 10.0, y - 10.0, x + 10.0, y + 10.0);
    Component {
        name: name.to_owned(),
        kind: Kind::Connector,
        transform: Transform::between(Extent::DEFAULT, at),
        present: true,
        placed: true,
        ..Component::default()
    }
}

fn component(number: usize, role: Role, height: f64) -> Component {
    let connectors = match role {
        Role::Ground => vec![connector("p", 0.0, height)],
        _ => vec![connector("p", -100.0, 0.0), connector("n", 100.0, 0.0), connector("q", 0.0, -height)],
    };
    Component {
        name: format!("c{number}"),
        extent: Extent::new(-100.0, -height, 100.0, height),
        connectors,
        role,
        present: true,
        ..Component::default()
    }
}

fn end(number: usize, pin: usize, role: Role) -> Vec<String> {
    let pin = if role == Role::Ground { "p" } else { ["p", "n", "q"][pin] };
    vec![format!("c{number}"), pin.to_owned()]
}

fn picture() -> impl Strategy<Value = Picture> {
    let role = prop_oneof![6 => Just(Role::Other), 1 => Just(Role::Source), 1 => Just(Role::Ground)];
    let parts = prop::collection::vec((role, 50.0..300.0, any::<bool>()), 1..25);
    let links = prop::collection::vec(
        (any::<prop::sample::Index>(), 0..3usize, any::<prop::sample::Index>(), 0..3usize),
        0..40,
    );
    (parts, links, 0..3u8).prop_map(|(parts, links, placed)| {
        let mut picture = Picture::default();
        for (number, (role, height, is_placed)) in parts.iter().enumerate() {
            let mut part = component(number, *role, *height);
            // In one picture of three some components have a place.
            if placed == 0 && *is_placed {
                let x = number as f64 * 40.0;
                part.transform = Transform::between(part.extent, Extent::new(x, 0.0, x + 20.0, 20.0));
                part.placed = true;
            }
            picture.components.push(part);
        }
        for (from, pin, to, other) in links {
            let (from, to) = (from.index(parts.len()), to.index(parts.len()));
            let ends = [end(from, pin, parts[from].0), end(to, other, parts[to].0)];
            if from != to {
                picture.connections.push(Connection { ends, present: true, ..Connection::default() });
            }
        }
        picture
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nothing_overlaps_and_connections_meet_their_pins(mut picture in picture()) {
        picture.arrange();
        let areas: Vec<Extent> = picture.components.iter().map(|component| component.area()).collect();
        for (a, first) in areas.iter().enumerate() {
            for (b, second) in areas.iter().enumerate().skip(a + 1) {
                prop_assert!(!first.overlaps(second), "c{a} {first:?} and c{b} {second:?}");
            }
        }
        for connection in &picture.connections {
            let points = &connection.line.points;
            let pins = [picture.pin(&connection.ends[0]).unwrap(), picture.pin(&connection.ends[1]).unwrap()];
            prop_assert_eq!(points.first(), Some(&pins[0].at));
            prop_assert_eq!(points.last(), Some(&pins[1].at));
            for two in points.windows(2) {
                prop_assert!(two[0].x == two[1].x || two[0].y == two[1].y, "{two:?} is no right angle");
            }
            // Away from the component, not through it.
            let (first, second) = (points[0], points[1]);
            prop_assert!(second.minus(first).x * pins[0].side.outward().x >= 0.0);
            prop_assert!(second.minus(first).y * pins[0].side.outward().y >= 0.0);
        }
    }
}

#[test]
fn a_circuit_goes_from_its_source_to_the_right_with_ground_below() {
    let mut picture = Picture::default();
    for (number, role) in [Role::Source, Role::Other, Role::Other, Role::Ground].into_iter().enumerate() {
        picture.components.push(component(number, role, 100.0));
    }
    for (a, b) in
        [(["c0", "p"], ["c1", "p"]), (["c1", "n"], ["c2", "p"]), (["c2", "n"], ["c0", "n"]), (["c0", "n"], ["c3", "p"])]
    {
        let ends = [a.map(str::to_owned).to_vec(), b.map(str::to_owned).to_vec()];
        picture.connections.push(Connection { ends, present: true, ..Connection::default() });
    }
    picture.arrange();
    let at: Vec<Point> = picture.components.iter().map(|component| component.centre()).collect();
    assert!(at[0].x < at[1].x && at[1].x < at[2].x, "{at:?}");
    assert!(at[3].y < at[0].y && at[3].y < at[2].y, "{at:?}");
    assert_eq!(picture.pin(&["c1".to_owned(), "n".to_owned()]).map(|pin| pin.side), Some(Side::Right));
    let between = &picture.connections[1].line.points;
    assert_eq!(between.len(), 2, "a straight line joins neighbours: {between:?}");
}

#[test]
fn transitions_leave_and_reach_states_and_say_their_conditions() {
    let state = |name: &str, x: f64| Component {
        name: name.to_owned(),
        transform: Transform::between(Extent::DEFAULT, Extent::new(x, 0.0, x + 20.0, 20.0)),
        present: true,
        placed: true,
        ..Component::default()
    };
    let transition = |from: &[&str], to: &str, caption: &str| Connection {
        ends: [from.iter().map(|&name| name.to_owned()).collect(), vec![to.to_owned()]],
        caption: caption.to_owned(),
        present: true,
        ..Connection::default()
    };
    let mut picture = Picture {
        components: vec![state("a", 0.0), state("b", 60.0)],
        connections: vec![
            transition(&[], "a", ""),
            transition(&["a"], "b", "go"),
            transition(&["b"], "a", "back"),
            transition(&["b"], "b", "again"),
        ],
        ..Picture::default()
    };
    picture.arrange();
    let ways: Vec<&[Point]> = picture.connections.iter().map(|it| it.line.points.as_slice()).collect();
    let point = Point::new;
    // The entry from the left, to the middle of the side.
    assert_eq!(ways[0], [point(-15.0, 10.0), point(0.0, 10.0)]);
    // There above and back below the middle, straight.
    assert_eq!(ways[1], [point(20.0, 15.0), point(60.0, 15.0)]);
    assert_eq!(ways[2], [point(60.0, 5.0), point(20.0, 5.0)]);
    // A loop leaves at the top and comes back at the right.
    assert_eq!((ways[3].first(), ways[3].last()), (Some(&point(75.0, 20.0)), Some(&point(80.0, 15.0))));
    let texts: Vec<usize> = picture.connections.iter().map(|it| it.texts.len()).collect();
    assert_eq!(texts, [0, 1, 1, 1]);
    assert!(diagram::svg(&picture).contains(">go</text>"));
}
