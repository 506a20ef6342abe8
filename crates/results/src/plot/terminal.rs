//! A figure as text: curves in Braille dots (two by four a character), with axes and a legend.

use std::fmt::Write as _;

use super::axis::{Range, Tick, ticks};
use super::layout::equalled;
use super::{Figure, Panel, Style, placed, shown_unit};

/// What the terminal can do.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// The width in characters.
    pub columns: usize,
    /// Lines of one panel, without its axis and legend.
    pub lines: usize,
    /// Without colour each curve gets a panel of its own.
    pub colour: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { columns: 80, lines: 14, colour: false }
    }
}

const COLOURS: [u8; 6] = [34, 31, 32, 35, 33, 36];

/// The figure as text.
pub fn terminal(figure: &Figure, terminal: Terminal) -> String {
    let alone;
    let mut lines = terminal.lines;
    let figure = if terminal.colour {
        figure
    } else {
        alone = figure.one_curve_a_panel();
        if alone.panels.len() > 1 {
            lines = lines.min(8);
        }
        &alone
    };
    let mut time = figure.x_range();
    let mut out = String::new();
    if !figure.title.is_empty() {
        let _ = writeln!(out, "{}", figure.title);
    }
    let mut y_ranges: Vec<Range> = figure.panels.iter().map(|panel| panel.y_range(time)).collect();
    if figure.equal {
        lines = terminal.lines.max(20);
        let shape = terminal.columns.saturating_sub(10).max(10) as f64 * 2.0 / (lines * 4) as f64;
        let padded = y_ranges.into_iter().map(Range::padded).collect();
        (time, y_ranges) = equalled(time.padded(), padded, shape);
    }
    let marks: Vec<Vec<Tick>> = y_ranges.iter().map(|&range| labelled_ticks(range, (lines / 2).max(2))).collect();
    let margin = marks.iter().flatten().map(|tick| tick.label.chars().count()).max().unwrap_or(1);
    let width = terminal.columns.saturating_sub(margin + 3).max(10);
    for ((panel, &range), marks) in figure.panels.iter().zip(&y_ranges).zip(&marks) {
        push_legend(&mut out, panel, margin, width, terminal.colour);
        let grid = Grid::draw(panel, time, range, width, lines);
        push_panel(&mut out, &grid, range, marks, margin, terminal.colour);
    }
    push_time_axis(&mut out, time, &figure.x.label(), margin, width);
    out
}

fn labelled_ticks(range: Range, most: usize) -> Vec<Tick> {
    ticks(range, most).into_iter().filter(|tick| !tick.label.is_empty()).collect()
}

fn painted(text: &str, curve: usize, colour: bool) -> String {
    if colour { format!("\x1b[{}m{text}\x1b[0m", COLOURS[curve % COLOURS.len()]) } else { text.to_owned() }
}

/// The names in as many lines as they need, the unit after the last one.
fn push_legend(out: &mut String, panel: &Panel, margin: usize, width: usize, colour: bool) {
    let indent = " ".repeat(margin + 3);
    let mut used = 0;
    out.push_str(&indent);
    if !panel.y.quantity.is_empty() {
        let label = panel.y.label() + ": ";
        out.push_str(&label);
        used = label.chars().count();
    }
    let curves = panel.curves.iter().zip(panel.colours()).filter(|(curve, _)| !curve.name.is_empty());
    let curves = curves.map(|(curve, number)| (curve.name.clone(), number));
    let marks = panel.marks.iter().filter(|marks| !marks.name.is_empty());
    let marks = marks.map(|marks| (format!("{} {}", marks.shape.character(), marks.name), None));
    for (number, (name, curve)) in curves.chain(marks).enumerate() {
        let length = name.chars().count();
        if number > 0 && used + 2 + length > width {
            out.push('\n');
            out.push_str(&indent);
            used = 0;
        } else if number > 0 {
            out.push_str("  ");
            used += 2;
        }
        match curve {
            Some(curve) => out.push_str(&painted(&name, curve, colour)),
            None => out.push_str(&name),
        }
        used += length;
    }
    if panel.y.quantity.is_empty() && !panel.y.unit.is_empty() {
        let _ = write!(out, " ({})", shown_unit(&panel.y.unit));
    }
    let kept = out.trim_end_matches([' ', ':']).len();
    out.truncate(kept);
    out.push('\n');
}

fn push_panel(out: &mut String, grid: &Grid, range: Range, marks: &[Tick], margin: usize, colour: bool) {
    let mut labels = vec![""; grid.lines];
    for tick in marks {
        let line = ((1.0 - range.fraction(tick.value)) * (grid.lines as f64 - 1.0)).round() as usize;
        if let Some(label) = labels.get_mut(line) {
            *label = &tick.label;
        }
    }
    for (line, label) in labels.iter().enumerate() {
        let edge = if label.is_empty() { '│' } else { '┤' };
        let text = grid.line_text(line, colour);
        let _ = writeln!(out, "{label:>margin$} {edge}{}", text.trim_end());
    }
}

fn push_time_axis(out: &mut String, time: Range, label: &str, margin: usize, width: usize) {
    let mut rule = vec!['─'; width];
    let mut labels = vec![' '; margin + 2 + width];
    let mut free = 0;
    for tick in labelled_ticks(time, (width / 12).max(2)) {
        let column = ((time.fraction(tick.value) * (width as f64 - 1.0)).round() as usize).min(width - 1);
        rule[column] = '┬';
        let length = tick.label.chars().count();
        let start = (margin + 2 + column).saturating_sub(length / 2).min((margin + 2 + width).saturating_sub(length));
        if start >= free {
            labels[start..start + length].iter_mut().zip(tick.label.chars()).for_each(|(cell, c)| *cell = c);
            free = start + length + 1;
        }
    }
    let _ = writeln!(out, "{:margin$} └{}", "", rule.into_iter().collect::<String>());
    let labels: String = labels.into_iter().collect();
    let centre = margin + 2 + width / 2 + label.chars().count() / 2;
    let _ = writeln!(out, "{}\n{label:>centre$}", labels.trim_end());
}

#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    /// The curve that was drawn here last.
    curve: usize,
    /// Stands instead of the dots.
    mark: Option<char>,
}

struct Grid {
    columns: usize,
    lines: usize,
    cells: Vec<Cell>,
}

impl Grid {
    fn draw(panel: &Panel, time: Range, range: Range, columns: usize, lines: usize) -> Self {
        let mut grid = Self { columns, lines, cells: vec![Cell::default(); columns * lines] };
        let (right, bottom) = ((columns * 2 - 1) as f64, (lines * 4 - 1) as f64);
        for (curve, number) in panel.curves.iter().zip(panel.colours()) {
            // Guides are too faint for dots.
            let Some(number) = number.filter(|_| curve.style != Style::Guide) else { continue };
            for run in placed(curve, time, range, columns * 2) {
                let place = |(x, y): (f64, f64)| ((x * right).round() as i64, ((1.0 - y) * bottom).round() as i64);
                let mut last = None;
                for point in run.into_iter().map(place) {
                    grid.line(last.unwrap_or(point), point, number);
                    last = Some(point);
                }
            }
        }
        for marks in &panel.marks {
            for point in &marks.points {
                let (x, y) = (time.fraction(point.0), range.fraction(point.1));
                if (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y) {
                    let (column, line) = ((x * right).round() as usize / 2, ((1.0 - y) * bottom).round() as usize / 4);
                    if let Some(cell) = grid.cells.get_mut(line * columns + column) {
                        cell.mark = Some(marks.shape.character());
                    }
                }
            }
        }
        grid
    }

    /// One line of characters; neighbours of one curve share their colour code.
    fn line_text(&self, line: usize, colour: bool) -> String {
        let cells = &self.cells[line * self.columns..(line + 1) * self.columns];
        let same = |a: &Cell, b: &Cell| {
            a.mark.is_none()
                && b.mark.is_none()
                && (a.dots == 0) == (b.dots == 0)
                && (a.dots == 0 || a.curve == b.curve)
        };
        let mut text = String::new();
        for part in cells.chunk_by(same) {
            if let Some(mark) = part[0].mark {
                text.push(mark);
            } else if part[0].dots == 0 {
                text.extend(part.iter().map(|_| ' '));
            } else {
                let dots = part.iter().filter_map(|cell| char::from_u32(0x2800 + u32::from(cell.dots)));
                text.push_str(&painted(&dots.collect::<String>(), part[0].curve, colour));
            }
        }
        text
    }

    fn line(&mut self, from: (i64, i64), to: (i64, i64), curve: usize) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
        for step in 0..=steps {
            let between = |a: i64, b: i64| a + ((b - a) as f64 * step as f64 / steps as f64).round() as i64;
            self.dot(between(from.0, to.0), between(from.1, to.1), curve);
        }
    }

    fn dot(&mut self, x: i64, y: i64, curve: usize) {
        const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x / 2 < self.columns
            && let Some(cell) = self.cells.get_mut(y / 4 * self.columns + x / 2)
        {
            cell.dots |= DOTS[y % 4][x % 2];
            cell.curve = curve;
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::plot::{Axis, Curve, Marks, Scale, Shape};

    #[test]
    fn a_step_in_a_small_terminal() {
        let figure = Figure {
            title: String::new(),
            x: Axis::new("time", "s"),
            panels: vec![Panel {
                y: Axis::new("", "V"),
                curves: vec![Curve::new("u", vec![0.0, 1.0, 1.0, 2.0].into(), vec![0.0, 0.0, 1.0, 1.0])],
                ..Panel::default()
            }],
            equal: false,
        };
        let text = terminal(&figure, Terminal { columns: 40, lines: 5, colour: false });
        expect![[r#"
                  u (V)
              1 ┤                 ⡏⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
                │                 ⡇
            0.5 ┤                 ⡇
                │                 ⡇
              0 ┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⡇
                └┬────────────────┬───────────────┬
                 0                1               2
                              time (s)
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_logarithmic_axis_with_a_mark() {
        let x: Vec<f64> = (0..=30).map(|k| 10f64.powf(f64::from(k) / 10.0)).collect();
        let y = x.iter().map(|x| -20.0 * x.hypot(10.0).log10()).collect();
        let marks = Marks { name: "corner".to_owned(), shape: Shape::Circle, points: vec![(10.0, -23.0)] };
        let panel = Panel {
            y: Axis::new("magnitude", "dB"),
            curves: vec![Curve::new("G", x.into(), y)],
            marks: vec![marks],
            ..Panel::default()
        };
        let x = Axis::new("frequency", "rad/s").scale(Scale::Logarithmic);
        let figure = Figure { x, panels: vec![panel], ..Figure::default() };
        expect![[r#"
                  magnitude (dB): G  o corner
                │⠉⠉⠉⠉⠉⠉⠉⠉⠉⠑⠒⠒⠒⠒o⠤⠤⣀⡀
                │                  ⠈⠉⠒⠢⢄⣀
            -40 ┤                        ⠉⠑⠒⠤⣀
                │                             ⠉⠒⠢⠤⣀⡀
                │                                  ⠈⠉⠒⠤⣀
            -60 ┤                                       ⠉⠒⠢⠤⣀
                └┬─────────────┬──────────────┬─────────────┬
                 1            10             100         1000
                              frequency (rad/s)
        "#]]
        .assert_eq(&terminal(&figure, Terminal { columns: 50, lines: 6, colour: false }));
    }

    #[test]
    fn eighty_columns_are_enough() {
        let text = terminal(&crate::plot::tests::figure(), Terminal::default());
        assert!(text.lines().all(|line| line.chars().count() <= 80));
        assert!(!text.contains('\x1b'));
        assert!(
            terminal(&crate::plot::tests::figure(), Terminal { colour: true, ..Terminal::default() }).contains('\x1b')
        );
    }
}
