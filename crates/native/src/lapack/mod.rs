//! The functions of LAPACK that Modelica.Math.Matrices.LAPACK names, after the LAPACK Users' Guide (3rd edition, 1999).
//!
//! Arguments are those of the FORTRAN routines in order. Matrices come and go row by row, as Modelica stores them. The
//! numbers agree with LAPACK's up to rounding and to the freedom of signs and orders that LAPACK leaves open.

mod eigen;
mod factor;
mod least_squares;
mod pencil;
mod reflect;
mod schur;
mod solve;
mod sylvester;

use dae::Value;
use nalgebra::DMatrix;

use crate::arguments::Arguments;
use crate::tables::Matrix;

type Answer = Result<Option<Value>, String>;

/// The eigenvalues of a square matrix given by columns, real and imaginary parts; none where they are not found.
pub fn eigenvalues(size: usize, columns: &[f64]) -> Vec<(f64, f64)> {
    if columns.len() != size * size {
        return Vec::new();
    }
    let matrix = DMatrix::from_column_slice(size, size, columns);
    let found = schur::RealSchur::new(&matrix).map(|schur| schur.eigenvalues());
    found.unwrap_or_default().iter().map(|value| (value.re, value.im)).collect()
}

/// `None` if the symbol is none of them.
pub fn call(arguments: &mut Arguments<'_>) -> Option<Answer> {
    // Some declarations write the trailing underscore of FORTRAN compilers.
    Some(match arguments.symbol.trim_end_matches('_') {
        "dgesv" => solve::dgesv(arguments),
        "dgesvx" => solve::dgesvx(arguments),
        "dgbsv" => solve::dgbsv(arguments),
        "dgtsv" => solve::dgtsv(arguments),
        "dgetrf" => solve::dgetrf(arguments),
        "dgetrs" => solve::dgetrs(arguments),
        "dgetri" => solve::dgetri(arguments),
        "dgecon" => solve::dgecon(arguments),
        "dtrsm" => solve::dtrsm(arguments),
        "dpotrf" => factor::dpotrf(arguments),
        "dlange" => factor::dlange(arguments),
        "dgesvd" => factor::dgesvd(arguments),
        "dgesdd" => factor::dgesdd(arguments),
        "dgels" => least_squares::dgels(arguments),
        "dgelsx" | "dgelsy" => least_squares::dgelsy(arguments),
        "dgglse" => least_squares::dgglse(arguments),
        "dgeqrf" => reflect::dgeqrf(arguments),
        "dgeqpf" => reflect::dgeqpf(arguments),
        "dgeqp3" => reflect::dgeqp3(arguments),
        "dorgqr" => reflect::dorgqr(arguments),
        "dormqr" => reflect::dormqr(arguments),
        "dgehrd" => reflect::dgehrd(arguments),
        "dorghr" => reflect::dorghr(arguments),
        "dormhr" => reflect::dormhr(arguments),
        "dgees" => eigen::dgees(arguments),
        "dgeev" => eigen::dgeev(arguments),
        "dgeevx" => eigen::dgeevx(arguments),
        "dhseqr" => eigen::dhseqr(arguments),
        "dtrevc" => eigen::dtrevc(arguments),
        "dtrsen" => eigen::dtrsen(arguments),
        "dggev" | "dgegv" => pencil::dggev(arguments),
        "dggevx" => pencil::dggevx(arguments),
        "dhgeqz" => pencil::dhgeqz(arguments),
        "dtrsyl" => sylvester::dtrsyl(arguments),
        _ => return None,
    })
}

type Dense = DMatrix<f64>;

impl Arguments<'_> {
    fn dense(&self, position: usize) -> Result<Dense, String> {
        let matrix = self.matrix(position)?;
        Ok(Dense::from_row_slice(matrix.rows, matrix.columns, &matrix.values))
    }

    fn square(&self, position: usize) -> Result<Dense, String> {
        let matrix = self.dense(position)?;
        match matrix.is_square() {
            true => Ok(matrix),
            false => {
                Err(format!("`{}` needs a square matrix, not {} x {}", self.symbol, matrix.nrows(), matrix.ncols()))
            }
        }
    }

    fn set_dense(&mut self, position: usize, matrix: &Dense) -> Result<(), String> {
        let values = matrix.transpose().as_slice().to_vec();
        self.set_matrix(position, Matrix { rows: matrix.nrows(), columns: matrix.ncols(), values })
    }

    fn set_info(&mut self, position: usize, info: usize) -> Result<(), String> {
        self.set(position, Value::Integer(info as i64))
    }

    /// The first letter of an option, in upper case.
    fn option(&self, position: usize) -> Result<char, String> {
        Ok(self.text(position)?.chars().next().unwrap_or(' ').to_ascii_uppercase())
    }

    /// Checks that a matrix has at least as many rows as needed.
    fn need(&self, holds: bool, what: &str) -> Result<(), String> {
        if holds { Ok(()) } else { Err(format!("`{}`: {what}", self.symbol)) }
    }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Calls a function and gives the arguments afterwards.
    pub fn run(symbol: &str, mut values: Vec<Value>) -> Vec<Value> {
        call(&mut Arguments { symbol, values: &mut values }).unwrap().unwrap();
        values
    }

    pub fn value(matrix: &Dense) -> Value {
        Value::matrix(matrix.nrows(), matrix.ncols(), matrix.transpose().as_slice().to_vec())
    }

    pub fn dense(value: &Value) -> Dense {
        let values = value.to_reals().unwrap();
        match value.sizes() {
            [rows, columns] => Dense::from_row_slice(*rows, *columns, &values),
            _ => Dense::from_column_slice(values.len(), 1, &values),
        }
    }

    pub fn zeros(rows: usize, columns: usize) -> Value {
        value(&Dense::zeros(rows, columns))
    }

    pub fn integer(value: usize) -> Value {
        Value::Integer(value as i64)
    }

    pub fn text(text: &str) -> Value {
        Value::string(text)
    }

    /// A matrix of no special structure.
    pub fn example(rows: usize, columns: usize) -> Dense {
        Dense::from_fn(rows, columns, |i, j| ((3 * i * i + 5 * j + i * j * 7 + 2) % 11) as f64 - 4.5)
    }

    pub fn assert_close(a: &Dense, b: &Dense) {
        assert_eq!(a.shape(), b.shape());
        assert!((a - b).amax() < 1e-9, "{a} {b}");
    }
}
