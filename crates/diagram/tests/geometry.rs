//! Transformations: nested placements are products of matrices.

use diagram::{Extent, Point, Transform};
use proptest::prelude::*;

/// A placement with the matrix that the specification says, written out: scale and shift, turn, shift.
fn placement() -> impl Strategy<Value = (Transform, [[f64; 3]; 3])> {
    let side = || prop_oneof![-200.0..-1.0, 1.0..200.0];
    let right_angles = prop::sample::select(vec![0.0, 90.0, -90.0, 180.0, 270.0, 450.0]);
    let rotation = prop_oneof![right_angles, -360.0..360.0];
    (side(), side(), -100.0..100.0, -100.0..100.0, rotation, -100.0..100.0, -100.0..100.0).prop_map(
        |(width, height, x, y, rotation, origin_x, origin_y): (f64, f64, f64, f64, f64, f64, f64)| {
            let icon = Extent::new(-100.0, -50.0, 100.0, 150.0);
            let extent = Extent::new(x, y, x + width, y + height);
            let transform = Transform::placement(icon, extent, rotation, Point::new(origin_x, origin_y));
            let (a, d) = (width / 200.0, height / 200.0);
            let scale = [[a, 0.0, x + 100.0 * a], [0.0, d, y + 50.0 * d], [0.0, 0.0, 1.0]];
            let (sine, cosine) = rotation.to_radians().sin_cos();
            let turn = [[cosine, -sine, origin_x], [sine, cosine, origin_y], [0.0, 0.0, 1.0]];
            (transform, product(&turn, &scale))
        },
    )
}

fn product(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

proptest! {
    #[test]
    fn a_point_in_nested_placements_is_mapped_by_the_product(
        levels in prop::collection::vec(placement(), 1..5),
        x in -100.0..100.0,
        y in -100.0..100.0,
    ) {
        let (mut point, mut all) = (Point::new(x, y), Transform::IDENTITY);
        let mut matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for (transform, own) in &levels {
            point = transform.apply(point);
            all = all.then(transform);
            matrix = product(own, &matrix);
        }
        let expected = Point::new(
            matrix[0][0] * x + matrix[0][1] * y + matrix[0][2],
            matrix[1][0] * x + matrix[1][1] * y + matrix[1][2],
        );
        let size = expected.length().max(1.0);
        prop_assert!(point.minus(expected).length() < 1e-9 * size, "{point:?} {expected:?}");
        prop_assert!(all.apply(Point::new(x, y)).minus(expected).length() < 1e-9 * size);
        if let Some(back) = all.inverse() {
            let size = (1.0 + size) / all.scale().min(1.0);
            prop_assert!(back.apply(expected).minus(Point::new(x, y)).length() < 1e-6 * size);
        }
    }
}

#[test]
fn right_angles_are_exact() {
    let icon = Extent::DEFAULT;
    let turned = Transform::placement(icon, Extent::new(-10.0, -10.0, 10.0, 10.0), 90.0, Point::new(40.0, 20.0));
    assert_eq!(turned.apply(Point::new(100.0, 0.0)), Point::new(40.0, 30.0));
    let mirrored = Transform::placement(icon, Extent::new(10.0, -10.0, -10.0, 10.0), 0.0, Point::new(40.0, 20.0));
    assert_eq!(mirrored.apply(Point::new(100.0, 50.0)), Point::new(30.0, 25.0));
}
