//! Dots where lines of one net branch, and none where nets cross.

use diagram::{Component, Connection, Extent, Kind, Line, Picture, Point, Transform};

fn pin(name: &str, x: f64, y: f64) -> Component {
    Component {
        name: name.to_owned(),
        kind: Kind::Connector,
        transform: Transform::between(Extent::DEFAULT, Extent::new(x - 1.0, y - 1.0, x + 1.0, y + 1.0)),
        present: true,
        placed: true,
        ..Component::default()
    }
}

fn connection(from: &str, to: &str, points: &[(f64, f64)]) -> Connection {
    Connection {
        // Two names: a connector of a component.
        ends: [from, to].map(|name| vec![name.to_owned(), "p".to_owned()]),
        line: Line { points: points.iter().map(|&(x, y)| Point::new(x, y)).collect(), ..Line::default() },
        present: true,
        ..Connection::default()
    }
}

fn dots(connections: Vec<Connection>) -> usize {
    let components = vec![pin("a", 0.0, 0.0), pin("b", 40.0, 0.0), pin("c", 20.0, 30.0), pin("d", 20.0, -30.0)];
    let picture = Picture { components, connections, ..Picture::default() };
    diagram::svg(&picture).matches("<circle").count()
}

#[test]
fn a_branch_of_one_net_has_a_dot() {
    let level = connection("a", "b", &[(0.0, 0.0), (40.0, 0.0)]);
    let branch = connection("a", "c", &[(0.0, 0.0), (20.0, 0.0), (20.0, 30.0)]);
    assert_eq!(dots(vec![level, branch]), 1);
}

#[test]
fn a_crossing_of_two_nets_has_none() {
    let level = connection("a", "b", &[(0.0, 0.0), (40.0, 0.0)]);
    let upright = connection("c", "d", &[(20.0, 30.0), (20.0, -30.0)]);
    assert_eq!(dots(vec![level, upright]), 0);
}

#[test]
fn lines_that_meet_at_a_connector_have_none() {
    let one = connection("a", "b", &[(0.0, 0.0), (40.0, 0.0)]);
    let two = connection("a", "c", &[(0.0, 0.0), (0.0, 30.0), (20.0, 30.0)]);
    let three = connection("a", "d", &[(0.0, 0.0), (0.0, -30.0), (20.0, -30.0)]);
    assert_eq!(dots(vec![one, two, three]), 0);
}
