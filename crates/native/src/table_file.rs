//! Matrices from text files (`#1` and `double name(rows,columns)`) and from comma-separated values, as the documentation
//! of Modelica.Blocks.Tables describes them.

use crate::tables::Matrix;

/// More numbers than any file of this kind holds.
const MAX_ELEMENTS: usize = 100_000_000;

/// The matrix with a certain name from a text file.
pub fn text_matrix(text: &str, name: &str) -> Result<Matrix, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.starts_with("#1") {
        return Err("a text file with tables starts with `#1`".into());
    }
    // Comments end with their line.
    let mut tokens = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""))
        .flat_map(|line| line.split([' ', '\t', ',', ';', '(', ')', '\r']))
        .filter(|token| !token.is_empty())
        .peekable();
    let mut names = Vec::new();
    while let Some(token) = tokens.next() {
        if token != "double" && token != "float" {
            return Err(format!("`double name(rows,columns)` is expected, not `{token}`"));
        }
        let found = tokens.next().ok_or("the file ends after `double`")?;
        let mut size = || -> Result<usize, String> {
            let token = tokens.next().ok_or("the file ends within the sizes of a table")?;
            token.parse().map_err(|_| format!("the size `{token}` of table `{found}` is no number"))
        };
        let (rows, columns) = (size()?, size()?);
        if found != name {
            // What stands in other tables does not matter.
            while tokens.next_if(|token| !matches!(*token, "double" | "float")).is_some() {}
            names.push(found);
            continue;
        }
        let count = rows.checked_mul(columns).filter(|&count| count <= MAX_ELEMENTS);
        let count = count.ok_or_else(|| format!("table `{found}` of size {rows} x {columns} is too large"))?;
        let mut values = Vec::with_capacity(count.min(1 << 20));
        for _ in 0..count {
            let token = tokens.next().ok_or_else(|| format!("table `{found}` ends before {count} numbers"))?;
            let value: f64 = token.parse().map_err(|_| format!("`{token}` in table `{found}` is no number"))?;
            values.push(value);
        }
        return Ok(Matrix { rows, columns, values });
    }
    Err(format!("there is no table `{name}` in the file; it holds {}", names.join(", ")))
}

/// The numbers of a file of separated values behind its header lines.
pub fn separated_values(text: &str, delimiter: &str, header_lines: usize) -> Result<Matrix, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let delimiter = delimiter.chars().next().unwrap_or(',');
    let mut matrix = Matrix::default();
    for (number, line) in text.lines().enumerate().skip(header_lines) {
        if line.trim().is_empty() {
            continue;
        }
        let row: Vec<f64> = line
            .split(delimiter)
            .map(str::trim)
            .filter(|field| delimiter != ' ' || !field.is_empty())
            .map(|field| {
                let field = field.trim_matches('"');
                field.parse().map_err(|_| format!("line {}: `{field}` is no number", number + 1))
            })
            .collect::<Result<_, String>>()?;
        if matrix.rows > 0 && row.len() != matrix.columns {
            return Err(format!(
                "line {} has {} values, the ones before have {}",
                number + 1,
                row.len(),
                matrix.columns
            ));
        }
        matrix.columns = row.len();
        matrix.rows += 1;
        matrix.values.extend(row);
    }
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#1
# two tables
double first(2,3)   # comment
0.0 1.0, 2.0
3;4 +5.e0
float second(1,2)
-1
2
";

    #[test]
    fn text() {
        let first = text_matrix(TEXT, "first").unwrap();
        assert_eq!(first, Matrix { rows: 2, columns: 3, values: vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0] });
        assert_eq!(text_matrix(TEXT, "second").unwrap().values, [-1.0, 2.0]);
        assert_eq!(
            text_matrix(TEXT, "third").unwrap_err(),
            "there is no table `third` in the file; it holds first, second"
        );
        let without_data = format!("{TEXT}double third(2,2)\ndouble fourth(1,1)\n7\n");
        assert_eq!(text_matrix(&without_data, "fourth").unwrap().values, [7.0]);
        assert!(text_matrix(&without_data, "third").is_err());
        assert!(text_matrix("double x(1,1) 2", "x").is_err());
        assert!(text_matrix("#1\ndouble x(2,2)\n1 2 3", "x").is_err());
        assert!(text_matrix("#1\ndouble x(99999999999,99999999999)\n1", "x").is_err());
    }

    #[test]
    fn separated() {
        let matrix = separated_values("t;x\n0;1\n2;3\n", ";", 1).unwrap();
        assert_eq!(matrix, Matrix { rows: 2, columns: 2, values: vec![0.0, 1.0, 2.0, 3.0] });
        assert_eq!(separated_values("0,1\n2\n", ",", 0).unwrap_err(), "line 2 has 1 values, the ones before have 2");
        assert_eq!(separated_values("0,x\n", ",", 0).unwrap_err(), "line 1: `x` is no number");
    }
}
