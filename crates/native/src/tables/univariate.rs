//! Tables of one input: the first column is the abscissa, chosen others are interpolated.

use super::Matrix;
use super::basis::{Basis, Extrapolation, Jet, Smoothness};
use super::slopes::slopes;

#[derive(Clone, PartialEq, Debug)]
pub struct Table1 {
    pub(super) abscissa: Vec<f64>,
    pub(super) columns: Vec<Column>,
    pub(super) smoothness: Smoothness,
    pub(super) extrapolation: Extrapolation,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Column {
    pub(super) values: Vec<f64>,
    slopes: Vec<f64>,
}

impl Column {
    pub(super) fn at(&self, basis: &Basis) -> Jet {
        std::array::from_fn(|order| {
            (0..2)
                .map(|side| {
                    let node = basis.nodes[side];
                    basis.value[side][order] * self.values[node] + basis.slope[side][order] * self.slopes[node]
                })
                .sum()
        })
    }
}

impl Table1 {
    /// `columns` count from 1, as in Modelica.
    pub fn new(
        table: &Matrix,
        columns: &[i64],
        smoothness: Smoothness,
        extrapolation: Extrapolation,
    ) -> Result<Self, String> {
        if table.rows == 0 || table.columns == 0 {
            return Err(format!("a table needs rows and columns, not {} x {}", table.rows, table.columns));
        }
        let abscissa = table.column(0);
        check_grid(&abscissa, smoothness.is_cubic())?;
        let columns = columns
            .iter()
            .map(|&column| {
                let index = usize::try_from(column - 1).ok().filter(|&index| index < table.columns);
                let index =
                    index.ok_or_else(|| format!("the table has {} columns, but no column {column}", table.columns))?;
                let values = table.column(index);
                Ok(Column { slopes: slopes(&abscissa, &values, smoothness), values })
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { abscissa, columns, smoothness, extrapolation })
    }

    /// An error where the table jumps.
    pub fn check_continuous(&self) -> Result<(), String> {
        check_grid(&self.abscissa, true)
    }

    pub fn minimum(&self) -> f64 {
        self.abscissa[0]
    }

    pub fn maximum(&self) -> f64 {
        self.abscissa[self.abscissa.len() - 1]
    }

    /// The value and its first two derivatives; `output` counts the chosen columns from 1.
    pub fn at(&self, output: i64, input: f64) -> Result<Jet, String> {
        let basis = Basis::find(&self.abscissa, input, self.smoothness, self.extrapolation)
            .ok_or_else(|| outside(input, self.minimum(), self.maximum()))?;
        Ok(self.column(output)?.at(&basis))
    }

    pub(super) fn column(&self, output: i64) -> Result<&Column, String> {
        let column = usize::try_from(output - 1).ok().and_then(|index| self.columns.get(index));
        column.ok_or_else(|| format!("the table has {} outputs, but no output {output}", self.columns.len()))
    }
}

pub(super) fn outside(input: f64, minimum: f64, maximum: f64) -> String {
    format!("the input {input} is outside of the table, {minimum} to {maximum}, and extrapolation is not allowed")
}

/// Points must increase; equal ones are jumps, which only straight segments can have.
pub(super) fn check_grid(grid: &[f64], strictly: bool) -> Result<(), String> {
    if let Some(bad) = grid.iter().find(|x| !x.is_finite()) {
        return Err(format!("the table holds the abscissa {bad}"));
    }
    for pair in grid.windows(2) {
        if pair[1] < pair[0] || (strictly && pair[1] == pair[0]) {
            let how = if strictly { "strictly " } else { "" };
            return Err(format!(
                "the abscissae of the table must be {how}increasing, but {} follows {}",
                pair[1], pair[0]
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(smoothness: Smoothness, extrapolation: Extrapolation) -> Table1 {
        let values = (0..6).flat_map(|k| [f64::from(k), f64::from(k * k)]).collect();
        let matrix = Matrix { rows: 6, columns: 2, values };
        Table1::new(&matrix, &[2], smoothness, extrapolation).unwrap()
    }

    #[test]
    fn segments() {
        let linear = squares(Smoothness::Linear, Extrapolation::Linear);
        assert_eq!(linear.at(1, 1.5), Ok([2.5, 3.0, 0.0]));
        assert_eq!(linear.at(1, 2.0), Ok([4.0, 5.0, 0.0]));
        assert_eq!(linear.at(1, 6.0), Ok([34.0, 9.0, 0.0]));
        assert_eq!(linear.at(1, -1.0), Ok([-1.0, 1.0, 0.0]));
        let constant = squares(Smoothness::Constant, Extrapolation::Hold);
        assert_eq!(constant.at(1, 1.99), Ok([1.0, 0.0, 0.0]));
        assert_eq!(constant.at(1, 2.0), Ok([4.0, 0.0, 0.0]));
        assert_eq!(constant.at(1, 5.0), Ok([25.0, 0.0, 0.0]));
        assert_eq!(constant.at(1, 9.0), Ok([25.0, 0.0, 0.0]));
    }

    #[test]
    fn cubic_pieces_join_smoothly() {
        for smoothness in
            [Smoothness::Akima, Smoothness::FritschButland, Smoothness::Steffen, Smoothness::ModifiedAkima]
        {
            let table = squares(smoothness, Extrapolation::Linear);
            for k in 0..=5 {
                let x = f64::from(k);
                let (left, right) = (table.at(1, x - 1e-9).unwrap(), table.at(1, x + 1e-9).unwrap());
                assert!((left[0] - x * x).abs() < 1e-7 && (right[0] - x * x).abs() < 1e-7, "{smoothness:?} at {x}");
                assert!((left[1] - right[1]).abs() < 1e-6, "{smoothness:?} at {x}: {left:?} {right:?}");
            }
        }
    }

    /// What is inside of a table does not depend on what is outside.
    #[test]
    fn splines_do_not_depend_on_extrapolation() {
        for smoothness in
            [Smoothness::Akima, Smoothness::FritschButland, Smoothness::Steffen, Smoothness::ModifiedAkima]
        {
            let held = squares(smoothness, Extrapolation::Hold);
            let periodic = squares(smoothness, Extrapolation::Periodic);
            for input in [0.25, 0.5, 2.3, 4.7] {
                assert_eq!(periodic.at(1, input), held.at(1, input), "{smoothness:?}");
                assert_eq!(periodic.at(1, input + 5.0).unwrap()[0], periodic.at(1, (input + 5.0) - 5.0).unwrap()[0]);
            }
        }
    }

    /// A table that begins and ends with a step goes on as it was before and behind it.
    #[test]
    fn steps_at_the_ends_of_a_table() {
        let values = vec![1.0, 0.0, 1.0, 5.0, 2.0, 7.0, 2.0, 9.0];
        let matrix = Matrix { rows: 4, columns: 2, values };
        for smoothness in [Smoothness::Linear, Smoothness::Constant] {
            for extrapolation in [Extrapolation::Linear, Extrapolation::Hold] {
                let table = Table1::new(&matrix, &[2], smoothness, extrapolation).unwrap();
                assert_eq!(table.at(1, 0.5).unwrap()[0], 0.0, "{smoothness:?}");
                assert_eq!(table.at(1, 1.0).unwrap()[0], 5.0, "{smoothness:?}");
                assert_eq!(table.at(1, 2.5).unwrap()[0], 9.0, "{smoothness:?}");
            }
        }
    }

    #[test]
    fn periodic_and_forbidden() {
        let periodic = squares(Smoothness::Linear, Extrapolation::Periodic);
        assert_eq!(periodic.at(1, 6.5), periodic.at(1, 1.5));
        assert_eq!(periodic.at(1, -3.5), periodic.at(1, 1.5));
        let never = squares(Smoothness::Linear, Extrapolation::Never);
        assert!(never.at(1, 5.1).is_err());
        assert!(never.at(2, 1.0).is_err());
    }

    #[test]
    fn wrong_tables_are_refused() {
        let matrix = Matrix { rows: 2, columns: 2, values: vec![1.0, 0.0, 0.0, 0.0] };
        assert!(Table1::new(&matrix, &[2], Smoothness::Linear, Extrapolation::Hold).is_err());
        let matrix = Matrix { rows: 2, columns: 2, values: vec![1.0, 0.0, 1.0, 0.0] };
        assert!(Table1::new(&matrix, &[2], Smoothness::Akima, Extrapolation::Hold).is_err());
        assert!(Table1::new(&matrix, &[3], Smoothness::Linear, Extrapolation::Hold).is_err());
    }
}
