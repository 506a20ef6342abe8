//! Points, rectangular areas and affine transformations of the plane.

/// A point or a vector.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
}

impl Point {
    /// The point with these coordinates.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The sum of two vectors.
    pub fn plus(self, other: Point) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }

    /// The vector from `other` to this point.
    pub fn minus(self, other: Point) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }

    /// The vector times a number.
    pub fn times(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor)
    }

    /// The length of the vector.
    pub fn length(self) -> f64 {
        self.x.hypot(self.y)
    }

    /// The point in the middle between two.
    pub fn middle(self, other: Point) -> Self {
        self.plus(other).times(0.5)
    }

    /// The distance from the straight line between `a` and `b`.
    pub fn distance_from_segment(self, a: Point, b: Point) -> f64 {
        let (along, to) = (b.minus(a), self.minus(a));
        let square = along.x * along.x + along.y * along.y;
        let share = if square > 0.0 { ((to.x * along.x + to.y * along.y) / square).clamp(0.0, 1.0) } else { 0.0 };
        to.minus(along.times(share)).length()
    }
}

/// A rectangular area between two corners. The second corner may lie left of or below the first: contents are mirrored then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Extent {
    /// The corner that is written first.
    pub first: Point,
    /// The opposite corner.
    pub second: Point,
}

impl Extent {
    /// The area of coordinate systems that say nothing else.
    pub const DEFAULT: Extent = Extent::new(-100.0, -100.0, 100.0, 100.0);

    /// The area between `(x1, y1)` and `(x2, y2)`.
    pub const fn new(x1: f64, y1: f64, x2: f64, y2: f64) -> Self {
        Self { first: Point::new(x1, y1), second: Point::new(x2, y2) }
    }

    /// The smallest area with all points; `None` without any.
    pub fn around(points: impl IntoIterator<Item = Point>) -> Option<Self> {
        let mut points = points.into_iter();
        let first = points.next()?;
        Some(points.fold(Self { first, second: first }, |area, point| area.with(point)))
    }

    /// The x coordinate of the left side.
    pub fn left(&self) -> f64 {
        self.first.x.min(self.second.x)
    }

    /// The x coordinate of the right side.
    pub fn right(&self) -> f64 {
        self.first.x.max(self.second.x)
    }

    /// The y coordinate of the lower side.
    pub fn bottom(&self) -> f64 {
        self.first.y.min(self.second.y)
    }

    /// The y coordinate of the upper side.
    pub fn top(&self) -> f64 {
        self.first.y.max(self.second.y)
    }

    /// Never negative.
    pub fn width(&self) -> f64 {
        self.right() - self.left()
    }

    /// Never negative.
    pub fn height(&self) -> f64 {
        self.top() - self.bottom()
    }

    /// The middle of the area.
    pub fn centre(&self) -> Point {
        self.first.middle(self.second)
    }

    /// The four corners, counter-clockwise from the lower left one.
    pub fn corners(&self) -> [Point; 4] {
        let (left, right, bottom, top) = (self.left(), self.right(), self.bottom(), self.top());
        [Point::new(left, bottom), Point::new(right, bottom), Point::new(right, top), Point::new(left, top)]
    }

    /// Whether a point is inside or on a side.
    pub fn contains(&self, point: Point) -> bool {
        (self.left()..=self.right()).contains(&point.x) && (self.bottom()..=self.top()).contains(&point.y)
    }

    /// Whether two areas have more than a side in common.
    pub fn overlaps(&self, other: &Extent) -> bool {
        self.left() < other.right()
            && other.left() < self.right()
            && self.bottom() < other.top()
            && other.bottom() < self.top()
    }

    /// The area and a point.
    pub fn with(&self, point: Point) -> Self {
        Self::new(
            self.left().min(point.x),
            self.bottom().min(point.y),
            self.right().max(point.x),
            self.top().max(point.y),
        )
    }

    /// The smallest area that holds both.
    pub fn union(&self, other: &Extent) -> Self {
        self.with(other.first).with(other.second)
    }

    /// Larger by a margin on all sides.
    pub fn grown(&self, margin: f64) -> Self {
        Self::new(self.left() - margin, self.bottom() - margin, self.right() + margin, self.top() + margin)
    }

    /// Whether it has no area.
    pub fn is_empty(&self) -> bool {
        self.width() == 0.0 || self.height() == 0.0
    }
}

/// An affine map: `x' = xx·x + xy·y + x0`, `y' = yx·x + yy·y + y0`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transform {
    /// `x'` by `x`.
    pub xx: f64,
    /// `y'` by `x`.
    pub yx: f64,
    /// `x'` by `y`.
    pub xy: f64,
    /// `y'` by `y`.
    pub yy: f64,
    /// Added to `x'`.
    pub x0: f64,
    /// Added to `y'`.
    pub y0: f64,
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Transform {
    /// Everything stays where it is.
    pub const IDENTITY: Transform = Transform { xx: 1.0, yx: 0.0, xy: 0.0, yy: 1.0, x0: 0.0, y0: 0.0 };

    /// Moves the origin to a point.
    pub fn translation(to: Point) -> Self {
        Self { x0: to.x, y0: to.y, ..Self::IDENTITY }
    }

    /// A factor for each axis.
    pub fn scaling(x: f64, y: f64) -> Self {
        Self { xx: x, yy: y, ..Self::IDENTITY }
    }

    /// Turns around the origin, by degrees. Right angles are exact.
    pub fn rotation(degrees: f64) -> Self {
        let (sine, cosine) = match degrees.rem_euclid(360.0) {
            0.0 => (0.0, 1.0),
            90.0 => (1.0, 0.0),
            180.0 => (0.0, -1.0),
            270.0 => (-1.0, 0.0),
            other => other.to_radians().sin_cos(),
        };
        Self { xx: cosine, yx: sine, xy: -sine, yy: cosine, x0: 0.0, y0: 0.0 }
    }

    /// Maps one area to another one, corner by corner. A side without length keeps its scale.
    pub fn between(from: Extent, to: Extent) -> Self {
        let factor = |from: f64, to: f64| if from == 0.0 { 1.0 } else { to / from };
        let (source, target) = (from.second.minus(from.first), to.second.minus(to.first));
        let scale = Self::scaling(factor(source.x, target.x), factor(source.y, target.y));
        let moved = scale.apply(from.first);
        Self { x0: to.first.x - moved.x, y0: to.first.y - moved.y, ..scale }
    }

    /// The placement of a component: the area of its icon is mapped to `extent`, the result turned around `(0, 0)` and moved to
    /// `origin`.
    pub fn placement(icon: Extent, extent: Extent, rotation: f64, origin: Point) -> Self {
        Self::between(icon, extent).then(&Self::rotation(rotation)).then(&Self::translation(origin))
    }

    /// Where a point goes.
    pub fn apply(&self, point: Point) -> Point {
        Point::new(self.xx * point.x + self.xy * point.y + self.x0, self.yx * point.x + self.yy * point.y + self.y0)
    }

    /// Where a vector goes.
    pub fn apply_vector(&self, vector: Point) -> Point {
        Point::new(self.xx * vector.x + self.xy * vector.y, self.yx * vector.x + self.yy * vector.y)
    }

    /// The area around the image of an area.
    pub fn apply_extent(&self, extent: &Extent) -> Extent {
        let [first, others @ ..] = extent.corners().map(|corner| self.apply(corner));
        others.iter().fold(Extent { first, second: first }, |area, &corner| area.with(corner))
    }

    /// This map and then another one.
    pub fn then(&self, outer: &Transform) -> Self {
        let x = outer.apply_vector(Point::new(self.xx, self.yx));
        let y = outer.apply_vector(Point::new(self.xy, self.yy));
        let origin = outer.apply(Point::new(self.x0, self.y0));
        Self { xx: x.x, yx: x.y, xy: y.x, yy: y.y, x0: origin.x, y0: origin.y }
    }

    /// By how much areas grow; negative where they are mirrored.
    pub fn determinant(&self) -> f64 {
        self.xx * self.yy - self.xy * self.yx
    }

    /// By how much lengths grow, in the mean over all directions.
    pub fn scale(&self) -> f64 {
        self.determinant().abs().sqrt()
    }

    /// The way back, where there is one.
    pub fn inverse(&self) -> Option<Self> {
        let determinant = self.determinant();
        if determinant == 0.0 || !determinant.is_finite() {
            return None;
        }
        let back = Self {
            xx: self.yy / determinant,
            yx: -self.yx / determinant,
            xy: -self.xy / determinant,
            yy: self.xx / determinant,
            x0: 0.0,
            y0: 0.0,
        };
        let origin = back.apply(Point::new(self.x0, self.y0));
        Some(Self { x0: -origin.x, y0: -origin.y, ..back })
    }
}
