//! Sorting by hand, as it is taught (Junglas; after Tarjan): the edges between equations and unknowns are coloured, one red
//! edge for each equation and each unknown.
//!
//! An equation with one edge left that has no colour determines that unknown; it gets the smallest number that is free, and
//! the other edges of the unknown become blue. An unknown with one edge left is determined by that equation, which gets the
//! largest number that is free, and the equation's other edges become blue. What stays without colour has to be solved
//! simultaneously; an equation whose edges are all blue determines nothing. Matching and strong components find the same and
//! more; this is the explanation.

use super::{Incidence, NONE};

/// A red edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RedEdge {
    /// The equation.
    pub row: u32,
    /// The unknown.
    pub column: u32,
    /// The place of the equation in the order, from 1.
    pub number: u32,
    /// Whether the equation had one edge left, or the unknown.
    pub from_row: bool,
}

/// The red edges in the order in which they are found.
pub fn colour(incidence: &Incidence) -> Vec<RedEdge> {
    let transposed = incidence.transpose();
    let mut red_of_row = vec![NONE; incidence.rows()];
    let mut red_of_column = vec![NONE; incidence.columns()];
    let (mut smallest, mut largest) = (1, incidence.rows() as u32);
    let mut steps = Vec::new();
    loop {
        let before = steps.len();
        for row in 0..incidence.rows() as u32 {
            let open = incidence.row(row as usize).iter().filter(|&&column| red_of_column[column as usize] == NONE);
            if red_of_row[row as usize] == NONE
                && let Some(column) = only(open)
            {
                (red_of_row[row as usize], red_of_column[column as usize]) = (column, row);
                steps.push(RedEdge { row, column, number: smallest, from_row: true });
                smallest += 1;
            }
        }
        for column in 0..incidence.columns() as u32 {
            let open = transposed.row(column as usize).iter().filter(|&&row| red_of_row[row as usize] == NONE);
            if red_of_column[column as usize] == NONE
                && let Some(row) = only(open)
            {
                (red_of_row[row as usize], red_of_column[column as usize]) = (column, row);
                steps.push(RedEdge { row, column, number: largest, from_row: false });
                largest -= 1;
            }
        }
        if steps.len() == before {
            return steps;
        }
    }
}

fn only<'a>(mut items: impl Iterator<Item = &'a u32>) -> Option<u32> {
    let first = *items.next()?;
    items.next().is_none().then_some(first)
}
