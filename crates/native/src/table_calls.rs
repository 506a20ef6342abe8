//! The functions ModelicaStandardTables_*: construction of tables, and what is asked of them.

use std::path::Path;

use dae::Value;

use crate::arguments::Arguments;
use crate::tables::{Extrapolation, Matrix, Smoothness, Table1, Table2, TimeEvents, TimeTable};
use crate::{Native, Object, mat_file, table_file};

type Answer = Result<Option<Value>, String>;

/// A table function on numbers alone: the first is the handle of the table.
pub type Lookup = fn(&Native, &[f64]) -> Result<f64, String>;

/// The functions on tables that give one number.
pub fn lookup(symbol: &str) -> Option<Lookup> {
    Some(match symbol.strip_prefix("ModelicaStandardTables_")? {
        "CombiTable1D_getValue" => |native, a| Ok(table1(native, a)?.at(integer(a, 1)?, real(a, 2)?)?[0]),
        "CombiTable1D_getDerValue" => {
            |native, a| Ok(table1(native, a)?.at(integer(a, 1)?, real(a, 2)?)?[1] * real(a, 3)?)
        }
        "CombiTable1D_getDer2Value" => |native, a| {
            let jet = table1(native, a)?.at(integer(a, 1)?, real(a, 2)?)?;
            Ok(jet[2] * real(a, 3)? * real(a, 3)? + jet[1] * real(a, 4)?)
        },
        "CombiTable1D_minimumAbscissa" => |native, a| Ok(table1(native, a)?.minimum()),
        "CombiTable1D_maximumAbscissa" => |native, a| Ok(table1(native, a)?.maximum()),
        "CombiTimeTable_getValue" => |native, a| Ok(time_jet(native, a)?[0]),
        "CombiTimeTable_getDerValue" => |native, a| Ok(time_jet(native, a)?[1] * real(a, 5)?),
        "CombiTimeTable_getDer2Value" => |native, a| {
            let jet = time_jet(native, a)?;
            Ok(jet[2] * real(a, 5)? * real(a, 5)? + jet[1] * real(a, 6)?)
        },
        "CombiTimeTable_minimumTime" => |native, a| Ok(time_table(native, a)?.minimum()),
        "CombiTimeTable_maximumTime" => |native, a| Ok(time_table(native, a)?.maximum()),
        "CombiTimeTable_nextTimeEvent" => |native, a| Ok(time_table(native, a)?.next_event(real(a, 1)?)),
        "CombiTable2D_getValue" => |native, a| Ok(table2(native, a)?.at([real(a, 1)?, real(a, 2)?])?.value),
        "CombiTable2D_getDerValue" => {
            |native, a| Ok(table2(native, a)?.at([real(a, 1)?, real(a, 2)?])?.rate([real(a, 3)?, real(a, 4)?]))
        }
        "CombiTable2D_getDer2Value" => |native, a| {
            let surface = table2(native, a)?.at([real(a, 1)?, real(a, 2)?])?;
            Ok(surface.acceleration([real(a, 3)?, real(a, 4)?], [real(a, 5)?, real(a, 6)?]))
        },
        _ => return None,
    })
}

fn real(arguments: &[f64], position: usize) -> Result<f64, String> {
    arguments.get(position).copied().ok_or_else(|| format!("argument {} of a table is missing", position + 1))
}

fn integer(arguments: &[f64], position: usize) -> Result<i64, String> {
    real(arguments, position).map(|value| value as i64)
}

fn object<'a>(native: &'a Native, arguments: &[f64]) -> Result<&'a Object, String> {
    native.object(real(arguments, 0)? as u64)
}

fn table1<'a>(native: &'a Native, arguments: &[f64]) -> Result<&'a Table1, String> {
    match object(native, arguments)? {
        Object::Table1(table) => Ok(table),
        _ => Err("the object is no table of one input".into()),
    }
}

fn table2<'a>(native: &'a Native, arguments: &[f64]) -> Result<&'a Table2, String> {
    match object(native, arguments)? {
        Object::Table2(table) => Ok(table),
        _ => Err("the object is no table of two inputs".into()),
    }
}

fn time_table<'a>(native: &'a Native, arguments: &[f64]) -> Result<&'a TimeTable, String> {
    match object(native, arguments)? {
        Object::TimeTable(table) => Ok(table),
        _ => Err("the object is no table over time".into()),
    }
}

fn time_jet(native: &Native, a: &[f64]) -> Result<[f64; 3], String> {
    time_table(native, a)?.at(integer(a, 1)?, real(a, 2)?, real(a, 3)?, real(a, 4)?)
}

/// All other table functions; `None` if the symbol is none of them.
pub fn call(native: &mut Native, arguments: &mut Arguments<'_>) -> Option<Answer> {
    let name = arguments.symbol.strip_prefix("ModelicaStandardTables_")?;
    Some(match name {
        // The oldest form has the names exchanged and fewer arguments.
        "CombiTimeTable_init" => time_init(native, arguments, 1, 0),
        "CombiTimeTable_init2" | "CombiTimeTable_init3" => time_init(native, arguments, 0, 1),
        "CombiTable1D_init" => init1(native, arguments, 1, 0),
        "CombiTable1D_init2" | "CombiTable1D_init3" => init1(native, arguments, 0, 1),
        "CombiTable2D_init" => init2(native, arguments, 1, 0),
        "CombiTable2D_init2" | "CombiTable2D_init3" => init2(native, arguments, 0, 1),
        "CombiTimeTable_close" | "CombiTable1D_close" | "CombiTable2D_close" => close(native, arguments),
        "CombiTimeTable_read" | "CombiTable1D_read" | "CombiTable2D_read" => Ok(Some(Value::Real(1.0))),
        "CombiTable2D_minimumAbscissa" => corners(native, arguments, Table2::minimum),
        "CombiTable2D_maximumAbscissa" => corners(native, arguments, Table2::maximum),
        _ => return None,
    })
}

fn close(native: &mut Native, arguments: &Arguments<'_>) -> Answer {
    native.remove_object(arguments.object(0)?);
    Ok(None)
}

fn corners(native: &Native, arguments: &mut Arguments<'_>, corner: fn(&Table2) -> [f64; 2]) -> Answer {
    let handle = arguments.object(0)? as f64;
    let corner = corner(table2(native, &[handle])?);
    arguments.set_reals(1, corner.to_vec())?;
    Ok(None)
}

fn smoothness(arguments: &Arguments<'_>, position: usize) -> Result<Smoothness, String> {
    let ordinal = arguments.integer(position)?;
    Smoothness::from_ordinal(ordinal).ok_or_else(|| format!("there is no smoothness {ordinal}"))
}

fn extrapolation(arguments: &Arguments<'_>, position: usize, default: Extrapolation) -> Result<Extrapolation, String> {
    if position >= arguments.values.len() {
        return Ok(default);
    }
    let ordinal = arguments.integer(position)?;
    Extrapolation::from_ordinal(ordinal).ok_or_else(|| format!("there is no extrapolation {ordinal}"))
}

/// Whether a name stands for no name.
fn is_absent(name: &str) -> bool {
    name.trim().is_empty() || name == "NoName"
}

/// The matrix of a table: from the arguments, or from a file. `delimiter` is the position of the arguments for files of
/// separated values.
fn source(
    native: &Native,
    arguments: &Arguments<'_>,
    file: usize,
    table: usize,
    delimiter: usize,
) -> Result<Matrix, String> {
    let (file, table) = (arguments.text(file)?, arguments.text(table)?);
    if is_absent(file) {
        if !is_absent(table) {
            return Err(format!("table `{table}` is to be taken from the function usertab, which is not supported"));
        }
        return arguments.matrix(2);
    }
    let bytes = native.read(file)?;
    let path = Path::new(file);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    let matrix = match ending.as_str() {
        "mat" => mat_file::read(&bytes, table),
        "csv" => {
            let given = delimiter < arguments.values.len();
            let separator = if given { arguments.text(delimiter)? } else { "," };
            let header = if given { arguments.size(delimiter + 1)? } else { 0 };
            table_file::separated_values(&String::from_utf8_lossy(&bytes), separator, header)
        }
        _ => table_file::text_matrix(&String::from_utf8_lossy(&bytes), table),
    };
    matrix.map_err(|error| format!("{}: {error}", path.display()))
}

fn time_init(native: &mut Native, arguments: &Arguments<'_>, file: usize, table: usize) -> Answer {
    let matrix = source(native, arguments, file, table, 13)?;
    let columns = arguments.integers(6)?;
    let shift = if arguments.values.len() > 10 { arguments.real(10)? } else { arguments.real(5)? };
    let events = if arguments.values.len() > 11 { arguments.integer(11)? } else { 1 };
    let events =
        TimeEvents::from_ordinal(events).ok_or_else(|| format!("there is no handling {events} of time events"))?;
    let made = TimeTable::new(
        &matrix,
        &columns,
        smoothness(arguments, 8)?,
        extrapolation(arguments, 9, Extrapolation::Linear)?,
        arguments.real(5)?,
        shift,
        events,
    )?;
    Ok(Some(native.add_object(Object::TimeTable(made))))
}

fn init1(native: &mut Native, arguments: &Arguments<'_>, file: usize, table: usize) -> Answer {
    let matrix = source(native, arguments, file, table, 10)?;
    let columns = arguments.integers(5)?;
    let extrapolation = extrapolation(arguments, 8, Extrapolation::Linear)?;
    let made = Table1::new(&matrix, &columns, smoothness(arguments, 7)?, extrapolation)?;
    // Only tables over time make events at which they can jump.
    made.check_continuous()?;
    Ok(Some(native.add_object(Object::Table1(made))))
}

fn init2(native: &mut Native, arguments: &Arguments<'_>, file: usize, table: usize) -> Answer {
    let matrix = source(native, arguments, file, table, 8)?;
    let extrapolation = extrapolation(arguments, 6, Extrapolation::Linear)?;
    let made = Table2::new(&matrix, smoothness(arguments, 5)?, extrapolation)?;
    Ok(Some(native.add_object(Object::Table2(made))))
}
