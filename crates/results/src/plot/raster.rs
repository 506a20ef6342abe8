//! Lines on a grid of pixels, smoothed by how much of a pixel they cover.

/// An RGB picture that starts white.
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[u8; 3]>,
    mask: Vec<f32>,
}

impl Picture {
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![[255; 3]; width * height], mask: vec![0.0; width * height] }
    }

    /// Adds a segment to the mask; where segments overlap, the stronger one counts, so joints do not darken.
    pub fn segment(&mut self, from: (f64, f64), to: (f64, f64), width: f64, clip: [f64; 4]) {
        let reach = width / 2.0 + 1.0;
        let [clip_left, clip_top, clip_right, clip_bottom] = clip;
        let bounds = |a: f64, b: f64, low: f64, high: f64, size: usize| {
            let first = (a.min(b) - reach).max(low).max(0.0).floor();
            let last = (a.max(b) + reach).min(high).min(size as f64).ceil();
            first as usize..(last.max(first) as usize).min(size)
        };
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length_squared = (dx * dx + dy * dy).max(1e-12);
        for y in bounds(from.1, to.1, clip_top, clip_bottom, self.height) {
            for x in bounds(from.0, to.0, clip_left, clip_right, self.width) {
                let (px, py) = (x as f64 + 0.5 - from.0, y as f64 + 0.5 - from.1);
                let along = ((px * dx + py * dy) / length_squared).clamp(0.0, 1.0);
                let distance = (px - along * dx).hypot(py - along * dy);
                let coverage = (width / 2.0 + 0.5 - distance).clamp(0.0, 1.0) as f32;
                let cell = &mut self.mask[y * self.width + x];
                *cell = cell.max(coverage);
            }
        }
    }

    /// Paints the mask in one colour and clears it.
    pub fn paint(&mut self, colour: [u8; 3]) {
        for (pixel, coverage) in self.pixels.iter_mut().zip(&mut self.mask) {
            if *coverage > 0.0 {
                for (channel, target) in pixel.iter_mut().zip(colour) {
                    *channel = (f32::from(*channel) * (1.0 - *coverage) + f32::from(target) * *coverage).round() as u8;
                }
                *coverage = 0.0;
            }
        }
    }
}
