//! Interval arithmetic for functions of time: bounds of values and of slopes over a piece of time (Moore, *Interval Analysis*,
//! 1966). All results are rounded outwards.

use dae::Builtin;

/// Bounds of a function of time and of its slope.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    pub value: Interval,
    pub slope: Interval,
}

impl Bounds {
    pub const UNKNOWN: Bounds = Bounds { value: Interval::ALL, slope: Interval::ALL };

    pub fn constant(value: f64) -> Self {
        Bounds { value: Interval::point(value), slope: Interval::point(0.0) }
    }

    pub fn plus(self, other: Self) -> Self {
        Bounds { value: self.value.plus(other.value), slope: self.slope.plus(other.slope) }
    }

    pub fn minus(self, other: Self) -> Self {
        self.plus(other.negative())
    }

    pub fn negative(self) -> Self {
        Bounds { value: self.value.negative(), slope: self.slope.negative() }
    }

    pub fn times(self, other: Self) -> Self {
        let slope = self.slope.times(other.value).plus(self.value.times(other.slope));
        Bounds { value: self.value.times(other.value), slope }
    }

    pub fn inverse(self) -> Self {
        let value = self.value.inverse();
        Bounds { value, slope: self.slope.times(value.power(2).negative()) }
    }

    pub fn power(self, exponent: f64) -> Self {
        /// Powers by multiplication.
        const LARGEST: f64 = 64.0;
        if exponent.fract() == 0.0 && exponent.abs() <= LARGEST {
            let positive = exponent.abs() as u32;
            let derivative = match positive {
                0 => Interval::point(0.0),
                _ => self.value.power(positive - 1).times(Interval::point(f64::from(positive))),
            };
            let result = Bounds { value: self.value.power(positive), slope: derivative.times(self.slope) };
            return if exponent < 0.0 { result.inverse() } else { result };
        }
        let logarithm = self.function(Builtin::Log);
        logarithm.times(Bounds::constant(exponent)).function(Builtin::Exp)
    }

    /// A function that rises in steps.
    fn stairs(x: Interval, function: impl Fn(f64) -> f64) -> Self {
        let value = Interval { low: function(x.low), high: function(x.high) };
        let slope = if value.low == value.high { Interval::point(0.0) } else { Interval::ALL };
        Bounds { value, slope }
    }

    pub fn smallest(self, other: Self) -> Self {
        match () {
            () if self.value.high <= other.value.low => self,
            () if other.value.high <= self.value.low => other,
            () => Bounds {
                value: Interval {
                    low: self.value.low.min(other.value.low),
                    high: self.value.high.min(other.value.high),
                },
                slope: self.slope.with(other.slope),
            },
        }
    }

    pub fn largest(self, other: Self) -> Self {
        self.negative().smallest(other.negative()).negative()
    }

    /// Of two values of which the one or the other holds, and which may jump where they change places.
    pub fn either(self, other: Self) -> Self {
        Bounds { value: self.value.with(other.value), slope: Interval::ALL }
    }

    /// `div(self, other)`: the quotient without its fraction.
    pub fn quotient(self, other: Self) -> Self {
        Self::stairs(self.times(other.inverse()).value, f64::trunc)
    }

    /// `mod(self, other)`.
    pub fn modulo(self, other: Self) -> Self {
        let turns = Self::stairs(self.times(other.inverse()).value, f64::floor);
        let Interval { low, high } = other.value;
        match () {
            // Rounded outwards, what is inside of the first turn would reach into its neighbours.
            () if low == high && self.value.low >= 0.0 && self.value.high < low => self,
            () if turns.value.low == turns.value.high => self.minus(turns.times(other)),
            () => {
                // What is subtracted is rounded as it is large.
                let rounding = 4.0 * f64::EPSILON * self.value.high.abs().max(self.value.low.abs());
                let value = Interval { low: low.min(0.0) - rounding, high: high.max(0.0) + rounding };
                Bounds { value, slope: Interval::ALL }
            }
        }
    }

    /// The angle of the point `(x, self)`.
    pub fn angle(self, x: Self) -> Self {
        let right_angle = Bounds::constant(std::f64::consts::FRAC_PI_2);
        let tangent = |y: Self, x: Self| y.times(x.inverse()).function(Builtin::Atan);
        match () {
            () if x.value.low > 0.0 => tangent(self, x),
            () if self.value.low > 0.0 => right_angle.minus(tangent(x, self)),
            () if self.value.high < 0.0 => right_angle.negative().minus(tangent(x, self)),
            () => Bounds { value: Interval::wider(-std::f64::consts::PI, std::f64::consts::PI), slope: Interval::ALL },
        }
    }

    /// A function of a function: its own bounds, and those of its derivative times the slope inside.
    pub fn function(self, function: Builtin) -> Self {
        let x = self.value;
        let one = Interval::point(1.0);
        let (value, derivative) = match function {
            Builtin::Sin => (x.sine(), x.cosine()),
            Builtin::Cos => (x.cosine(), x.sine().negative()),
            Builtin::Sinh => (x.rising(f64::sinh), x.hyperbolic_cosine()),
            Builtin::Cosh => (x.hyperbolic_cosine(), x.rising(f64::sinh)),
            Builtin::Tanh => {
                let value = x.rising(f64::tanh);
                (value, one.minus(value.power(2)))
            }
            Builtin::Atan => (x.rising(f64::atan), one.plus(x.power(2)).inverse()),
            Builtin::Exp => (x.rising(f64::exp), x.rising(f64::exp)),
            Builtin::Log if x.low > 0.0 => (x.rising(f64::ln), x.inverse()),
            Builtin::Log10 if x.low > 0.0 => {
                (x.rising(f64::log10), x.times(Interval::point(std::f64::consts::LN_10)).inverse())
            }
            // Where an argument is undefined, the run ends by itself.
            Builtin::Sqrt if x.high >= 0.0 => {
                let value = Interval { low: x.low.max(0.0), high: x.high }.rising(f64::sqrt);
                let value = Interval { low: value.low.max(0.0), high: value.high };
                let steepest = if value.low > 0.0 { 0.5 / value.low } else { f64::INFINITY };
                (value, Interval::wider(0.5 / value.high, steepest))
            }
            Builtin::Asin if x.low <= 1.0 && x.high >= -1.0 => {
                (x.within(-1.0, 1.0).rising(f64::asin), x.slope_of_arc())
            }
            Builtin::Acos if x.low <= 1.0 && x.high >= -1.0 => {
                (x.within(-1.0, 1.0).negative().rising(|x| (-x).acos()), x.slope_of_arc().negative())
            }
            Builtin::Tan if x.has_no_pole_of_tangent() => {
                let value = x.rising(f64::tan);
                (value, one.plus(value.power(2)))
            }
            // They jump, unless they are constant.
            Builtin::Sign => return Self::stairs(x, |x| if x == 0.0 { 0.0 } else { x.signum() }),
            Builtin::Floor => return Self::stairs(x, f64::floor),
            Builtin::Ceil => return Self::stairs(x, f64::ceil),
            Builtin::Abs if x.low >= 0.0 => return self,
            Builtin::Abs if x.high <= 0.0 => return self.negative(),
            Builtin::Abs => (Interval { low: 0.0, high: x.high.max(-x.low) }, Interval { low: -1.0, high: 1.0 }),
            _ => (Interval::ALL, Interval::ALL),
        };
        Bounds { value, slope: derivative.times(self.slope) }
    }
}

/// All numbers from `low` to `high`; results are rounded outwards.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    pub fn point(value: f64) -> Self {
        Interval { low: value, high: value }
    }

    /// Rounded outwards, for an operation with a relative error of some units in the last place.
    fn wider(low: f64, high: f64) -> Self {
        const ROUNDING: f64 = 4.0 * f64::EPSILON;
        let (low, high) = (low - ROUNDING * low.abs(), high + ROUNDING * high.abs());
        if low.is_nan() || high.is_nan() { Interval::ALL } else { Interval { low, high } }
    }

    pub fn middle(self) -> f64 {
        0.5 * (self.low + self.high)
    }

    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    fn negative(self) -> Self {
        Interval { low: -self.high, high: -self.low }
    }

    pub fn plus(self, other: Self) -> Self {
        Interval::wider(self.low + other.low, self.high + other.high)
    }

    pub fn minus(self, other: Self) -> Self {
        self.plus(other.negative())
    }

    fn times(self, other: Self) -> Self {
        let is_zero = |x: Self| x.low == 0.0 && x.high == 0.0;
        if is_zero(self) || is_zero(other) {
            return Interval::point(0.0);
        }
        let products = [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        if products.iter().any(|product| product.is_nan()) {
            return Interval::ALL;
        }
        let low = products.iter().copied().fold(f64::INFINITY, f64::min);
        Interval::wider(low, products.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    fn inverse(self) -> Self {
        if self.contains(0.0) { Interval::ALL } else { Interval::wider(1.0 / self.high, 1.0 / self.low) }
    }

    fn power(self, exponent: u32) -> Self {
        let mut result = Interval::point(1.0);
        let is_even = exponent.is_multiple_of(2);
        // The power of an even exponent is that of the absolute value.
        let base = match () {
            () if !is_even || self.low >= 0.0 => self,
            () if self.high <= 0.0 => self.negative(),
            () => Interval { low: 0.0, high: self.high.max(-self.low) },
        };
        if is_even || base.low >= 0.0 {
            (0..exponent).for_each(|_| result = result.times(base));
            return result;
        }
        let odd = |x: f64| {
            let power = Interval::point(x.abs()).power(exponent);
            if x < 0.0 { power.negative() } else { power }
        };
        Interval { low: odd(self.low).low, high: odd(self.high).high }
    }

    /// The smallest interval that holds both.
    pub fn with(self, other: Self) -> Self {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The part of it between two numbers; never empty.
    pub fn within(self, low: f64, high: f64) -> Self {
        Interval { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }

    /// The slope of the arc sine.
    fn slope_of_arc(self) -> Self {
        let slope = |x: f64| if x.abs() < 1.0 { 1.0 / (1.0 - x * x).sqrt() } else { f64::INFINITY };
        let lowest = if self.contains(0.0) { 1.0 } else { slope(self.low).min(slope(self.high)) };
        Interval::wider(lowest, slope(self.low).max(slope(self.high)))
    }

    fn has_no_pole_of_tangent(self) -> bool {
        let half_turns = |x: f64| x / std::f64::consts::PI - 0.5;
        let slack = 4.0 * f64::EPSILON * (1.0 + self.low.abs().max(self.high.abs()));
        (half_turns(self.low) - slack).floor() == (half_turns(self.high) + slack).floor()
    }

    /// Of a function that rises everywhere.
    fn rising(self, function: impl Fn(f64) -> f64) -> Self {
        Interval::wider(function(self.low), function(self.high))
    }

    fn hyperbolic_cosine(self) -> Self {
        let highest = self.low.abs().max(self.high.abs());
        let lowest = if self.contains(0.0) { 0.0 } else { self.low.abs().min(self.high.abs()) };
        Interval::wider(lowest.cosh(), highest.cosh())
    }

    fn sine(self) -> Self {
        self.wave(f64::sin, 0.25)
    }

    fn cosine(self) -> Self {
        self.wave(f64::cos, 0.0)
    }

    /// Of sine or cosine, which has its crest at this part of its period.
    fn wave(self, function: impl Fn(f64) -> f64, crest: f64) -> Self {
        use std::f64::consts::TAU;
        let (low, high) = (self.low / TAU, self.high / TAU);
        let is_part = high - low < 1.0;
        if !is_part {
            return Interval { low: -1.0, high: 1.0 };
        }
        // Rounding may take a crest out of the piece that it is in.
        let slack = 4.0 * f64::EPSILON * (1.0 + low.abs().max(high.abs()));
        let reaches = |place: f64| ((low - place - slack).ceil() + place) <= high + slack;
        let (at_low, at_high) = (function(self.low), function(self.high));
        let lowest = if reaches(crest + 0.5) { -1.0 } else { at_low.min(at_high) };
        let highest = if reaches(crest) { 1.0 } else { at_low.max(at_high) };
        let wider = Interval::wider(lowest, highest);
        Interval { low: wider.low.max(-1.0), high: wider.high.min(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds hold at all points of a piece, for values and for slopes.
    #[test]
    fn bounds_hold_inside() {
        type Function = (&'static str, fn(Bounds) -> Bounds, fn(f64) -> f64, fn(f64) -> f64);
        let functions: &[Function] = &[
            ("sin", |x| x.function(Builtin::Sin), f64::sin, f64::cos),
            ("cos", |x| x.function(Builtin::Cos), f64::cos, |x| -x.sin()),
            ("exp", |x| x.function(Builtin::Exp), f64::exp, f64::exp),
            ("cosh", |x| x.function(Builtin::Cosh), f64::cosh, f64::sinh),
            ("tanh", |x| x.function(Builtin::Tanh), f64::tanh, |x| 1.0 - x.tanh().powi(2)),
            ("atan", |x| x.function(Builtin::Atan), f64::atan, |x| 1.0 / (1.0 + x * x)),
            ("square", |x| x.power(2.0), |x| x * x, |x| 2.0 * x),
            ("cube", |x| x.power(3.0), |x| x * x * x, |x| 3.0 * x * x),
            ("inverse square", |x| x.power(-2.0), |x| x.powi(-2), |x| -2.0 * x.powi(-3)),
            ("root", |x| x.power(2.0).function(Builtin::Sqrt), f64::abs, f64::signum),
            (
                "arc sine",
                |x| x.function(Builtin::Sin).function(Builtin::Asin),
                |x| x.sin().asin(),
                |x| x.cos().signum(),
            ),
            (
                "arc cosine",
                |x| x.times(Bounds::constant(0.1)).function(Builtin::Acos),
                |x| (0.1 * x).acos(),
                |x| -0.1 / (1.0 - 0.01 * x * x).sqrt(),
            ),
            ("tan", |x| x.function(Builtin::Tan), f64::tan, |x| x.cos().powi(-2)),
            (
                "least",
                |x| x.smallest(x.function(Builtin::Cos)),
                |x| x.min(x.cos()),
                |x| if x < x.cos() { 1.0 } else { -x.sin() },
            ),
            (
                "angle",
                |x| x.function(Builtin::Sin).angle(x.function(Builtin::Cos)),
                |x| x.sin().atan2(x.cos()),
                |_| 1.0,
            ),
            ("stairs", |x| x.function(Builtin::Floor), f64::floor, |_| 0.0),
            ("remainder", |x| x.modulo(Bounds::constant(0.7)), |x| x - 0.7 * (x / 0.7).floor(), |_| 1.0),
            ("quotient", |x| x.quotient(Bounds::constant(-0.7)), |x| (x / -0.7).trunc(), |_| 0.0),
            ("product", |x| x.function(Builtin::Sin).times(x), |x| x * x.sin(), |x| x.sin() + x * x.cos()),
        ];
        for &(name, bounds, value, slope) in functions {
            for place in 0..60 {
                let low = -7.03 + 0.23 * f64::from(place);
                let high = low + 0.01 + 0.17 * f64::from(place % 9);
                let found = bounds(Bounds { value: Interval { low, high }, slope: Interval::point(1.0) });
                for step in 0..=20 {
                    let x = low + (high - low) * f64::from(step) / 20.0;
                    assert!(found.value.contains(value(x)), "{name} at {x} in {low}..{high}: {found:?}");
                    assert!(found.slope.contains(slope(x)), "slope of {name} at {x} in {low}..{high}: {found:?}");
                }
            }
        }
    }

    /// Over short pieces bounds are narrow.
    #[test]
    fn bounds_are_narrow() {
        let x = Bounds { value: Interval { low: 1.0, high: 1.001 }, slope: Interval::point(1.0) };
        let found = x.function(Builtin::Sin).times(x.function(Builtin::Exp));
        assert!(found.value.high - found.value.low < 0.005, "{found:?}");
        assert!(found.slope.low > 3.7 && found.slope.high < 3.8, "{found:?}");
    }
}
