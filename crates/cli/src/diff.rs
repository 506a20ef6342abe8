//! The difference of two texts as a unified diff: the shortest list of removed and added lines, by the algorithm of Myers (An O(ND)
//! difference algorithm, 1986), with three lines around each change.

use std::fmt::Write as _;
use std::path::Path;

const AROUND: usize = 3;
/// Beyond so many differences the rest counts as changed as a whole.
const MOST_DIFFERENCES: usize = 1000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Line {
    Kept(usize, usize),
    Removed(usize),
    Added(usize),
}

/// What `diff -u` prints for a file.
pub fn unified(path: &Path, old: &str, new: &str) -> String {
    let (old, new) = (lines(old), lines(new));
    let script = script(&old, &new);
    let shown = path.display();
    let mut text = format!("--- {shown}\n+++ {shown}\n");
    let changes: Vec<usize> = (0..script.len()).filter(|&at| !matches!(script[at], Line::Kept(..))).collect();
    let mut next = 0;
    while next < changes.len() {
        let first = next;
        while next + 1 < changes.len() && changes[next + 1] - changes[next] <= 2 * AROUND {
            next += 1;
        }
        let begin = changes[first].saturating_sub(AROUND);
        let end = (changes[next] + AROUND + 1).min(script.len());
        hunk(&mut text, &script, begin..end, &old, &new);
        next += 1;
    }
    text
}

fn hunk(text: &mut String, script: &[Line], part: std::ops::Range<usize>, old: &[&str], new: &[&str]) {
    let is_old = |line: &&Line| !matches!(line, Line::Added(_));
    let is_new = |line: &&Line| !matches!(line, Line::Removed(_));
    let (before, inside) = (&script[..part.start], &script[part]);
    let count = |lines: &[Line], of: &dyn Fn(&&Line) -> bool| lines.iter().filter(|line| of(line)).count();
    let (old_count, new_count) = (count(inside, &is_old), count(inside, &is_new));
    // Of nothing, the line before it counts.
    let start = |before: usize, count: usize| if count == 0 { before } else { before + 1 };
    let (old_start, new_start) = (start(count(before, &is_old), old_count), start(count(before, &is_new), new_count));
    let _ = writeln!(text, "@@ -{old_start},{old_count} +{new_start},{new_count} @@");
    for line in inside {
        let (sign, content) = match *line {
            Line::Kept(at, _) => (' ', old[at]),
            Line::Removed(at) => ('-', old[at]),
            Line::Added(at) => ('+', new[at]),
        };
        text.push(sign);
        text.push_str(content);
        if !content.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn script(old: &[&str], new: &[&str]) -> Vec<Line> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_inner, new_inner) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    let mut made: Vec<Line> = (0..same).map(|at| Line::Kept(at, at)).collect();
    made.extend(myers(old_inner, new_inner).into_iter().map(|line| match line {
        Line::Kept(a, b) => Line::Kept(a + same, b + same),
        Line::Removed(a) => Line::Removed(a + same),
        Line::Added(b) => Line::Added(b + same),
    }));
    made.extend((0..tail).map(|at| Line::Kept(old.len() - tail + at, new.len() - tail + at)));
    made
}

/// The furthest points on the diagonals for each count of differences, then the way back.
fn myers(old: &[&str], new: &[&str]) -> Vec<Line> {
    let (n, m) = (old.len() as isize, new.len() as isize);
    let most = (old.len() + new.len()).min(MOST_DIFFERENCES) as isize;
    let offset = most + 1;
    let mut furthest = vec![0isize; (2 * offset + 1) as usize];
    let mut history: Vec<Vec<isize>> = Vec::new();
    let step = |furthest: &[isize], k: isize, d: isize| -> bool {
        k == -d || k != d && furthest[(k - 1 + offset) as usize] < furthest[(k + 1 + offset) as usize]
    };
    for d in 0..=most {
        history.push(furthest.clone());
        for k in (-d..=d).step_by(2) {
            let down = step(&furthest, k, d);
            let mut x =
                if down { furthest[(k + 1 + offset) as usize] } else { furthest[(k - 1 + offset) as usize] + 1 };
            while x < n && x - k < m && x - k >= 0 && old[x as usize] == new[(x - k) as usize] {
                x += 1;
            }
            furthest[(k + offset) as usize] = x;
            if x >= n && x - k >= m {
                return way_back(&history, d, (n, m), offset, step);
            }
        }
    }
    (0..old.len()).map(Line::Removed).chain((0..new.len()).map(Line::Added)).collect()
}

fn way_back(
    history: &[Vec<isize>],
    differences: isize,
    (mut x, mut y): (isize, isize),
    offset: isize,
    step: impl Fn(&[isize], isize, isize) -> bool,
) -> Vec<Line> {
    let mut made = Vec::new();
    for d in (0..=differences).rev() {
        let furthest = &history[d as usize];
        let k = x - y;
        let before = if step(furthest, k, d) { k + 1 } else { k - 1 };
        let (from_x, from_y) = match d {
            0 => (0, 0),
            _ => {
                let from_x = furthest[(before + offset) as usize];
                (from_x, from_x - before)
            }
        };
        while x > from_x && y > from_y {
            x -= 1;
            y -= 1;
            made.push(Line::Kept(x as usize, y as usize));
        }
        if d > 0 {
            made.push(if x == from_x { Line::Added(from_y as usize) } else { Line::Removed(from_x as usize) });
        }
        (x, y) = (from_x, from_y);
    }
    made.reverse();
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_with_the_lines_around_it() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\n";
        let expected = "--- x.mo\n+++ x.mo\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n";
        assert_eq!(unified(Path::new("x.mo"), old, new), expected);
    }

    #[test]
    fn the_script_makes_the_new_text_of_the_old() {
        let texts = ["", "a\n", "a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", "x\na\nb\nc\n", "a\nb\nc"];
        for old in texts {
            for new in texts {
                let (a, b) = (lines(old), lines(new));
                let script = script(&a, &b);
                let made: String = script
                    .iter()
                    .filter_map(|line| match *line {
                        Line::Kept(at, other) => {
                            assert_eq!(a[at], b[other]);
                            Some(a[at])
                        }
                        Line::Added(at) => Some(b[at]),
                        Line::Removed(_) => None,
                    })
                    .collect();
                let kept: String = script
                    .iter()
                    .filter_map(|line| match *line {
                        Line::Kept(at, _) | Line::Removed(at) => Some(a[at]),
                        Line::Added(_) => None,
                    })
                    .collect();
                assert_eq!((made.as_str(), kept.as_str()), (new, old));
            }
        }
        // The shortest script for the example of the paper has five differences.
        let paper = script(&lines("A\nB\nC\nA\nB\nB\nA\n"), &lines("C\nB\nA\nB\nA\nC\n"));
        assert_eq!(paper.iter().filter(|line| !matches!(line, Line::Kept(..))).count(), 5);
    }
}
