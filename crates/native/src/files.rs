//! Files, streams and the environment: ModelicaInternal_*, ModelicaStreams_* and ModelicaIO_*, after the documentation of
//! Modelica.Utilities.
//!
//! What a model may touch, `dae::Access` decides; what it may not change, it changes in memory alone (`shadow`). The current directory and environment variables that a model sets are
//! its own: the process keeps its.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use dae::Value;
use dae::access::{self, Change};

use crate::arguments::Arguments;
use crate::shadow::Entry;
use crate::tables::Matrix;
use crate::{Native, mat_file};

type Answer = Result<Option<Value>, String>;

/// What a function touches besides reading files, and what it does to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Files; what it does to them.
    Files(&'static str),
    /// The environment of the process; what it does to it.
    Environment(&'static str),
}

/// The effect that a function has whenever it is called. Printing is none: it may go to the terminal.
pub fn effect(symbol: &str) -> Option<Effect> {
    Some(match symbol {
        "ModelicaInternal_mkdir" => Effect::Files("makes folders"),
        "ModelicaInternal_rmdir" => Effect::Files("removes folders"),
        "ModelicaInternal_removeFile" => Effect::Files("removes files"),
        "ModelicaInternal_rename" => Effect::Files("renames files"),
        "ModelicaInternal_copyFile" => Effect::Files("copies files"),
        "ModelicaInternal_chdir" => Effect::Files("changes the folder"),
        "ModelicaIO_writeRealMatrix" => Effect::Files("writes files"),
        "ModelicaInternal_getenv" => Effect::Environment("reads environment variables"),
        "ModelicaInternal_setenv" => Effect::Environment("sets environment variables"),
        _ => return None,
    })
}

/// What is not done while a model is only being translated.
const EFFECTS: [&str; 9] = [
    "ModelicaInternal_mkdir",
    "ModelicaInternal_rmdir",
    "ModelicaInternal_removeFile",
    "ModelicaInternal_rename",
    "ModelicaInternal_copyFile",
    "ModelicaInternal_print",
    "ModelicaInternal_chdir",
    "ModelicaInternal_setenv",
    "ModelicaIO_writeRealMatrix",
];

/// `None` if the symbol is none of them.
pub fn call(native: &mut Native, arguments: &mut Arguments<'_>) -> Option<Answer> {
    if native.without_effects && EFFECTS.contains(&arguments.symbol) {
        return Some(Err(format!("`{}` has effects outside and is called during the run only", arguments.symbol)));
    }
    Some(match arguments.symbol {
        "ModelicaInternal_mkdir" => make_directory(native, arguments),
        "ModelicaInternal_rmdir" => remove(native, arguments, Kind::Folder),
        "ModelicaInternal_removeFile" => remove(native, arguments, Kind::File),
        "ModelicaInternal_stat" => stat(native, arguments),
        "ModelicaInternal_rename" => rename(native, arguments),
        "ModelicaInternal_copyFile" => copy(native, arguments),
        "ModelicaInternal_readDirectory" => read_directory(native, arguments),
        "ModelicaInternal_getNumberOfFiles" => arguments
            .text(0)
            .and_then(|name| entries(native, name))
            .map(|names| Some(Value::Integer(names.len() as i64))),
        "ModelicaInternal_fullPathName" => full_path(native, arguments),
        "ModelicaInternal_temporaryFileName" => Ok(Some(temporary_name(native))),
        "ModelicaInternal_print" => print(native, arguments),
        "ModelicaInternal_readFile" => read_file(native, arguments),
        "ModelicaInternal_readLine" => read_line(native, arguments),
        "ModelicaInternal_countLines" => lines(native, arguments).map(|lines| Some(Value::Integer(lines.len() as i64))),
        "ModelicaStreams_closeFile" => Ok(None),
        "ModelicaInternal_getcwd" => Ok(Some(Value::string(slashes(&native.directory())))),
        "ModelicaInternal_chdir" => change_directory(native, arguments),
        "ModelicaInternal_getenv" => get_environment(native, arguments),
        "ModelicaInternal_setenv" => set_environment(native, arguments),
        "ModelicaInternal_getTime" => time(arguments),
        "ModelicaInternal_getpid" => Ok(Some(Value::Integer(i64::from(std::process::id())))),
        "ModelicaIO_readMatrixSizes" => matrix_sizes(native, arguments),
        "ModelicaIO_readRealMatrix" => read_matrix(native, arguments),
        "ModelicaIO_writeRealMatrix" => write_matrix(native, arguments),
        _ => return None,
    })
}

fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// What a path is, on the disk or by the changes of the model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    File,
    Folder,
    Other,
}

fn kind(native: &Native, path: &Path) -> Kind {
    match native.shadow.entry(path) {
        Some(Entry::File(_)) => Kind::File,
        Some(Entry::Folder) => Kind::Folder,
        Some(Entry::Absent) => Kind::Nothing,
        None => match fs::metadata(path) {
            Err(_) => Kind::Nothing,
            Ok(data) if data.is_file() => Kind::File,
            Ok(data) if data.is_dir() => Kind::Folder,
            Ok(_) => Kind::Other,
        },
    }
}

fn make_directory(native: &mut Native, arguments: &Arguments<'_>) -> Answer {
    match writable(native, arguments.text(0)?, "make")? {
        Change::Disk(path) => {
            fs::create_dir_all(&path).map_err(|error| format!("cannot make `{}`: {error}", path.display()))?;
        }
        Change::Shadow(path) => {
            for folder in path.ancestors() {
                match kind(native, folder) {
                    Kind::Folder => break,
                    Kind::Nothing => native.shadow.set(folder.to_owned(), Entry::Folder)?,
                    _ => return Err(format!("cannot make `{}`: `{}` is a file", path.display(), folder.display())),
                }
            }
        }
    }
    Ok(None)
}

fn remove(native: &mut Native, arguments: &Arguments<'_>, expected: Kind) -> Answer {
    let name = arguments.text(0)?;
    match native.access.change_entry(&native.locate(name)?, "remove")? {
        Change::Disk(path) => {
            let action = if expected == Kind::Folder { fs::remove_dir(&path) } else { fs::remove_file(&path) };
            action.map_err(|error| format!("cannot remove `{}`: {error}", path.display()))?;
        }
        Change::Shadow(path) => {
            let shown = path.display();
            if kind(native, &path) != expected {
                let what = if expected == Kind::Folder { "folder" } else { "file" };
                return Err(format!("cannot remove `{shown}`: there is no such {what}"));
            }
            if expected == Kind::Folder && !entries(native, name)?.is_empty() {
                return Err(format!("cannot remove `{shown}`: the folder is not empty"));
            }
            native.shadow.set(path, Entry::Absent)?;
        }
    }
    Ok(None)
}

fn writable(native: &Native, name: &str, verb: &str) -> Result<Change, String> {
    native.access.write(&native.locate(name)?, verb)
}

/// Writes a file as a whole.
fn write(native: &mut Native, change: Change, content: Vec<u8>) -> Result<(), String> {
    match change {
        Change::Disk(path) => {
            fs::write(&path, content).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
        }
        Change::Shadow(path) if path.parent().is_some_and(|folder| kind(native, folder) != Kind::Folder) => {
            Err(format!("cannot write `{}`: there is no such folder", path.display()))
        }
        Change::Shadow(path) => native.shadow.set(path, Entry::File(content)),
    }
}

/// The content of a file that is about to be changed, if it exists.
fn content_before(native: &Native, name: &str, change: &Change) -> Result<Option<Vec<u8>>, String> {
    match change {
        Change::Disk(path) => Ok(fs::read(path).ok()),
        Change::Shadow(path) if kind(native, path) == Kind::Nothing => Ok(None),
        Change::Shadow(_) => native.read(name).map(Some),
    }
}

/// The ordinals of Modelica.Utilities.Types.FileType.
fn stat(native: &Native, arguments: &Arguments<'_>) -> Answer {
    let name = arguments.text(0)?;
    let path = match native.changed(name)? {
        Some((path, _)) => path,
        None => native.readable(name)?,
    };
    Ok(Some(Value::Integer(match kind(native, &path) {
        Kind::Nothing => 1,
        Kind::File => 2,
        Kind::Folder => 3,
        Kind::Other => 4,
    })))
}

fn rename(native: &mut Native, arguments: &Arguments<'_>) -> Answer {
    let entry = |position| native.access.change_entry(&native.locate(arguments.text(position)?)?, "rename");
    let (from, to) = (entry(0)?, entry(1)?);
    let failed = |why: &str| format!("cannot rename `{}` to `{}`: {why}", from.path().display(), to.path().display());
    if let (Change::Disk(from), Change::Disk(to)) = (&from, &to) {
        fs::rename(from, to).map_err(|error| failed(&error.to_string()))?;
        return Ok(None);
    }
    match kind(native, from.path()) {
        Kind::File => {}
        Kind::Nothing => return Err(failed("there is no such file")),
        _ => return Err(failed("folders are renamed with `--allow-write` only")),
    }
    let content = native.read(arguments.text(0)?)?;
    write(native, to, content)?;
    match from {
        Change::Disk(path) => {
            fs::remove_file(&path).map_err(|error| format!("cannot remove `{}`: {error}", path.display()))?;
        }
        Change::Shadow(path) => native.shadow.set(path, Entry::Absent)?,
    }
    Ok(None)
}

fn copy(native: &mut Native, arguments: &Arguments<'_>) -> Answer {
    let to = writable(native, arguments.text(1)?, "write")?;
    let content = native.read(arguments.text(0)?)?;
    if kind(native, to.path()) != Kind::Nothing {
        return Err(format!("`{}` exists already", to.path().display()));
    }
    write(native, to, content)?;
    Ok(None)
}

fn entries(native: &Native, name: &str) -> Result<Vec<String>, String> {
    let path = match native.changed(name)? {
        Some((path, _)) => path,
        None => native.readable(name)?,
    };
    let failed = |error: std::io::Error| format!("cannot read the directory `{}`: {error}", path.display());
    let mut names = BTreeSet::new();
    if native.shadow.entry(&path).is_none() {
        for entry in fs::read_dir(&path).map_err(failed)? {
            names.insert(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
        }
    } else if kind(native, &path) != Kind::Folder {
        return Err(format!("cannot read the directory `{}`: there is none", path.display()));
    }
    for (name, is_there) in native.shadow.children(&path) {
        if is_there {
            names.insert(name);
        } else {
            names.remove(&name);
        }
    }
    Ok(names.into_iter().collect())
}

fn read_directory(native: &Native, arguments: &mut Arguments<'_>) -> Answer {
    let count = arguments.size(1)?;
    let names = entries(native, arguments.text(0)?)?;
    if names.len() != count {
        return Err(format!("the directory holds {} entries, not {count}", names.len()));
    }
    arguments.set(2, texts(names))?;
    Ok(None)
}

fn texts(items: Vec<String>) -> Value {
    Value::array(vec![items.len()], items.into_iter().map(Value::string).collect())
}

fn full_path(native: &Native, arguments: &Arguments<'_>) -> Answer {
    let path = native.locate(arguments.text(0)?)?;
    Ok(Some(Value::string(slashes(&access::resolve(&path)?))))
}

fn temporary_name(native: &mut Native) -> Value {
    native.temporary_names += 1;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let name = format!("gyrator-{}-{now:x}-{}", std::process::id(), native.temporary_names);
    Value::string(slashes(&std::env::temp_dir().join(name)))
}

fn print(native: &mut Native, arguments: &Arguments<'_>) -> Answer {
    let (text, file) = (arguments.text(0)?, arguments.text(1)?);
    if file.trim().is_empty() {
        native.say(text);
        return Ok(None);
    }
    match writable(native, file, "write")? {
        Change::Disk(path) => {
            let opened = fs::OpenOptions::new().create(true).append(true).open(&path);
            opened
                .and_then(|mut file| writeln!(file, "{text}"))
                .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        }
        change => {
            let mut content = content_before(native, file, &change)?.unwrap_or_default();
            content.extend_from_slice(text.as_bytes());
            content.push(b'\n');
            write(native, change, content)?;
        }
    }
    Ok(None)
}

fn lines(native: &Native, arguments: &Arguments<'_>) -> Result<Vec<String>, String> {
    let bytes = native.read(arguments.text(0)?)?;
    Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

fn read_file(native: &Native, arguments: &mut Arguments<'_>) -> Answer {
    let mut found = lines(native, arguments)?;
    found.resize(arguments.size(2)?, String::new());
    arguments.set(1, texts(found))?;
    Ok(None)
}

fn read_line(native: &Native, arguments: &mut Arguments<'_>) -> Answer {
    let number = arguments.integer(1)?;
    let found = lines(native, arguments)?;
    let line = usize::try_from(number - 1).ok().and_then(|number| found.get(number));
    arguments.set(2, Value::Boolean(line.is_none()))?;
    Ok(Some(Value::string(line.map_or("", String::as_str))))
}

fn change_directory(native: &mut Native, arguments: &Arguments<'_>) -> Answer {
    let path = writable(native, arguments.text(0)?, "work in")?.path().to_owned();
    if kind(native, &path) != Kind::Folder {
        return Err(format!("there is no directory `{}`", path.display()));
    }
    native.current_directory = Some(path);
    Ok(None)
}

fn get_environment(native: &Native, arguments: &mut Arguments<'_>) -> Answer {
    let name = arguments.text(0)?;
    native.access.environment("read", name)?;
    let found = native.environment.get(name).cloned().or_else(|| std::env::var(name).ok());
    let exists = found.is_some();
    let mut content = found.unwrap_or_default();
    if arguments.boolean(1)? {
        content = content.replace('\\', "/");
    }
    arguments.set(2, Value::string(content))?;
    arguments.set(3, Value::Boolean(exists))?;
    Ok(None)
}

fn set_environment(native: &mut Native, arguments: &Arguments<'_>) -> Answer {
    let (name, content) = (arguments.text(0)?.to_owned(), arguments.text(1)?.to_owned());
    native.access.environment("set", &name)?;
    native.environment.insert(name, content);
    Ok(None)
}

/// The present time in UTC, as seven outputs from milliseconds to the year.
fn time(arguments: &mut Arguments<'_>) -> Answer {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = now.as_secs() as i64;
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let second_of_day = seconds.rem_euclid(86_400);
    let parts = [
        i64::from(now.subsec_millis()),
        second_of_day % 60,
        second_of_day / 60 % 60,
        second_of_day / 3600,
        day,
        month,
        year,
    ];
    for (position, part) in parts.into_iter().enumerate() {
        arguments.set(position, Value::Integer(part))?;
    }
    Ok(None)
}

/// Year, month and day of a day counted from 1970 (H. Hinnant, *chrono-compatible low-level date algorithms*).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn file_matrix(native: &Native, arguments: &Arguments<'_>) -> Result<Matrix, String> {
    let name = arguments.text(0)?;
    mat_file::read(&native.read(name)?, arguments.text(1)?).map_err(|error| format!("{name}: {error}"))
}

fn matrix_sizes(native: &Native, arguments: &mut Arguments<'_>) -> Answer {
    let matrix = file_matrix(native, arguments)?;
    arguments.set_integers(2, vec![matrix.rows as i64, matrix.columns as i64])?;
    Ok(None)
}

fn read_matrix(native: &Native, arguments: &mut Arguments<'_>) -> Answer {
    let matrix = file_matrix(native, arguments)?;
    let expected = (arguments.size(3)?, arguments.size(4)?);
    if (matrix.rows, matrix.columns) != expected {
        return Err(format!(
            "the matrix has size {} x {}, not {} x {}",
            matrix.rows, matrix.columns, expected.0, expected.1
        ));
    }
    arguments.set_matrix(2, matrix)?;
    Ok(None)
}

fn write_matrix(native: &mut Native, arguments: &Arguments<'_>) -> Answer {
    let file = arguments.text(0)?;
    let change = writable(native, file, "write")?;
    let (name, matrix) = (arguments.text(1)?, arguments.matrix(2)?);
    let existing = if arguments.boolean(5)? { content_before(native, file, &change)? } else { None };
    let format = match &existing {
        Some(bytes) if mat_file::is_version_5(bytes) => "6",
        Some(_) => "4",
        None => arguments.text(6)?,
    };
    let variable = match format {
        "4" => mat_file::write_4(name, &matrix),
        "6" | "7" => mat_file::write_5(name, &matrix, format == "7"),
        other => return Err(format!("MAT-files of version {other} cannot be written; versions 4, 6 and 7 can")),
    };
    let mut bytes = match (existing, format) {
        (Some(bytes), _) => bytes,
        (None, "4") => Vec::new(),
        (None, _) => mat_file::header_5(),
    };
    bytes.extend(variable);
    write(native, change, bytes)?;
    Ok(Some(Value::Boolean(true)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dae::{Access, Allowed, Model};

    use super::*;

    fn run(native: &mut Native, symbol: &str, values: Vec<Value>) -> (Answer, Vec<Value>) {
        let mut values = values;
        let answer = call(native, &mut Arguments { symbol, values: &mut values }).unwrap();
        (answer, values)
    }

    /// May write into the folder for temporary files, and read the environment.
    fn allowed() -> Native {
        let write = vec![std::env::temp_dir()];
        let access = Access::new(Allowed { write, environment: true, ..Allowed::default() }, Vec::new());
        Native::for_model(&Model { access: Arc::new(access), ..Model::default() })
    }

    fn text(text: &str) -> Value {
        Value::string(text)
    }

    #[test]
    fn translation_leaves_files_alone() {
        let mut native = Native::new().without_effects();
        let outcome = run(&mut native, "ModelicaInternal_removeFile", vec![text("a.txt")]).0;
        let expected = "`ModelicaInternal_removeFile` has effects outside and is called during the run only";
        assert_eq!(outcome.err().as_deref(), Some(expected));
    }

    fn strict() -> Native {
        let access = Access::new(Allowed { strict: true, ..Allowed::default() }, Vec::new());
        Native::for_model(&Model { access: Arc::new(access), ..Model::default() })
    }

    #[test]
    fn nothing_outside_is_changed_unless_it_is_allowed() {
        let (name, two) = (|| text("gyrator-refused"), Value::Integer(2));
        let matrix = Value::matrix(2, 2, [0.0; 4]);
        let calls = [
            ("ModelicaInternal_mkdir", vec![name()]),
            ("ModelicaInternal_rmdir", vec![name()]),
            ("ModelicaInternal_removeFile", vec![name()]),
            ("ModelicaInternal_rename", vec![name(), name()]),
            ("ModelicaInternal_copyFile", vec![text("Cargo.toml"), name()]),
            ("ModelicaInternal_print", vec![text("line"), name()]),
            ("ModelicaInternal_chdir", vec![text("src")]),
            ("ModelicaInternal_setenv", vec![name(), text(""), Value::Boolean(false)]),
            ("ModelicaInternal_getenv", vec![text("PATH"), Value::Boolean(false), text(""), Value::Boolean(false)]),
            (
                "ModelicaIO_writeRealMatrix",
                vec![name(), text("a"), matrix, two.clone(), two, Value::Boolean(false), text("4")],
            ),
        ];
        for (symbol, values) in calls {
            let error = run(&mut strict(), symbol, values).0.unwrap_err();
            assert!(error.starts_with("the model may not ") && error.ends_with(" allows it"), "{symbol}: {error}");
        }
        assert!(!Path::new("gyrator-refused").exists());
    }

    /// Without permission a model works with copies: it reads what it wrote, and the disk has none of it.
    #[test]
    fn changes_without_permission_are_seen_by_the_model_alone() {
        let folder = std::env::temp_dir().join(format!("gyrator-shadow-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("old")).unwrap();
        fs::write(folder.join("kept.txt"), "one\n").unwrap();
        fs::write(folder.join("old/a.txt"), "a\n").unwrap();
        let access = dae::Access::new(dae::Allowed::default(), vec![folder.clone()]);
        let native = &mut Native { access: access.into(), ..Native::new() };
        let path = |name: &str| text(&slashes(&folder.join(name)));
        let done = |native: &mut Native, symbol: &str, values: Vec<Value>| run(native, symbol, values).0.unwrap();
        let count = |native: &mut Native, name: &str| run(native, "ModelicaInternal_countLines", vec![path(name)]).0;
        let stat = |native: &mut Native, name: &str| run(native, "ModelicaInternal_stat", vec![path(name)]).0;
        let number = |value: i64| Ok(Some(Value::Integer(value)));
        // Lines go behind those on the disk.
        done(native, "ModelicaInternal_print", vec![text("two"), path("kept.txt")]);
        assert_eq!(count(native, "kept.txt"), number(2));
        done(native, "ModelicaInternal_print", vec![text("one"), path("new.txt")]);
        assert_eq!((count(native, "new.txt"), stat(native, "new.txt")), (number(1), number(2)));
        done(native, "ModelicaInternal_copyFile", vec![path("kept.txt"), path("copy.txt")]);
        assert!(run(native, "ModelicaInternal_copyFile", vec![path("new.txt"), path("copy.txt")]).0.is_err());
        done(native, "ModelicaInternal_rename", vec![path("copy.txt"), path("moved.txt")]);
        assert_eq!((count(native, "moved.txt"), stat(native, "copy.txt")), (number(2), number(1)));
        assert!(count(native, "copy.txt").is_err());
        // Folders.
        done(native, "ModelicaInternal_mkdir", vec![path("x/y")]);
        assert_eq!((stat(native, "x"), stat(native, "x/y")), (number(3), number(3)));
        assert!(run(native, "ModelicaInternal_print", vec![text(""), path("z/new.txt")]).0.is_err());
        assert!(run(native, "ModelicaInternal_rmdir", vec![path("old")]).0.is_err(), "it is not empty");
        done(native, "ModelicaInternal_removeFile", vec![path("old/a.txt")]);
        done(native, "ModelicaInternal_rmdir", vec![path("old")]);
        assert!(run(native, "ModelicaInternal_removeFile", vec![path("old/a.txt")]).0.is_err());
        assert_eq!((stat(native, "old"), stat(native, "old/a.txt")), (number(1), number(1)));
        let names = vec![path(""), Value::Integer(4), text("")];
        let (_, values) = run(native, "ModelicaInternal_readDirectory", names);
        assert_eq!(values[2].to_string(), "{\"kept.txt\", \"moved.txt\", \"new.txt\", \"x\"}");
        // The disk has none of it.
        assert_eq!(fs::read_to_string(folder.join("kept.txt")).unwrap(), "one\n");
        assert!(folder.join("old/a.txt").exists());
        assert!(["new.txt", "moved.txt", "x"].iter().all(|name| !folder.join(name).exists()));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_not_read() {
        let error = run(&mut Native::new(), "ModelicaInternal_countLines", vec![text("/dev/zero")]).0.unwrap_err();
        assert_eq!(error, "the model may not read `/dev/zero` of the system; `--allow-read /dev` allows it");
    }

    #[test]
    fn streams_and_directories() {
        let mut native = allowed();
        let directory = run(&mut native, "ModelicaInternal_temporaryFileName", vec![]).0.unwrap().unwrap();
        run(&mut native, "ModelicaInternal_mkdir", vec![directory.clone()]).0.unwrap();
        let stat = |native: &mut Native, name: Value| run(native, "ModelicaInternal_stat", vec![name]).0;
        assert_eq!(stat(&mut native, directory.clone()), Ok(Some(Value::Integer(3))));
        run(&mut native, "ModelicaInternal_chdir", vec![directory.clone()]).0.unwrap();
        for line in ["one", "two"] {
            run(&mut native, "ModelicaInternal_print", vec![text(line), text("a.txt")]).0.unwrap();
        }
        let count = run(&mut native, "ModelicaInternal_countLines", vec![text("a.txt")]).0;
        assert_eq!(count, Ok(Some(Value::Integer(2))));
        let second = vec![text("a.txt"), Value::Integer(2), Value::Boolean(true)];
        let (line, values) = run(&mut native, "ModelicaInternal_readLine", second);
        assert_eq!((line, values[2].clone()), (Ok(Some(text("two"))), Value::Boolean(false)));
        run(&mut native, "ModelicaInternal_copyFile", vec![text("a.txt"), text("b.txt")]).0.unwrap();
        let names = vec![directory.clone(), Value::Integer(2), text("")];
        let (answer, values) = run(&mut native, "ModelicaInternal_readDirectory", names);
        assert_eq!(answer, Ok(None));
        assert_eq!(values[2].to_string(), "{\"a.txt\", \"b.txt\"}");
        for name in ["a.txt", "b.txt"] {
            run(&mut native, "ModelicaInternal_removeFile", vec![text(name)]).0.unwrap();
        }
        run(&mut native, "ModelicaInternal_rmdir", vec![directory.clone()]).0.unwrap();
        assert_eq!(stat(&mut native, directory), Ok(Some(Value::Integer(1))));
    }

    #[test]
    fn matrices() {
        let mut native = allowed();
        let file = run(&mut native, "ModelicaInternal_temporaryFileName", vec![]).0.unwrap().unwrap();
        let matrix = Value::matrix(2, 2, [1.0, 2.0, 3.0, 4.0]);
        for format in ["4", "6", "7"] {
            for (name, append) in [("A", false), ("B", true)] {
                let size = Value::Integer(2);
                let arguments = vec![
                    file.clone(),
                    text(name),
                    matrix.clone(),
                    size.clone(),
                    size,
                    Value::Boolean(append),
                    text(format),
                ];
                let written = run(&mut native, "ModelicaIO_writeRealMatrix", arguments).0;
                assert_eq!(written, Ok(Some(Value::Boolean(true))));
            }
            let sizes = vec![file.clone(), text("B"), Value::integers([0, 0])];
            let (_, values) = run(&mut native, "ModelicaIO_readMatrixSizes", sizes);
            assert_eq!(values[2], Value::integers([2, 2]));
            let zeros = Value::matrix(2, 2, [0.0; 4]);
            let arguments = vec![file.clone(), text("A"), zeros, Value::Integer(2), Value::Integer(2)];
            assert_eq!(run(&mut native, "ModelicaIO_readRealMatrix", arguments).1[2], matrix);
        }
        run(&mut native, "ModelicaInternal_removeFile", vec![file]).0.unwrap();
    }

    #[test]
    fn the_environment_of_a_model_is_its_own() {
        let mut native = allowed();
        let set = vec![text("GYRATOR_TEST_ONLY"), text("a\\b"), Value::Boolean(false)];
        run(&mut native, "ModelicaInternal_setenv", set).0.unwrap();
        let get = vec![text("GYRATOR_TEST_ONLY"), Value::Boolean(true), text(""), Value::Boolean(false)];
        let (_, values) = run(&mut native, "ModelicaInternal_getenv", get);
        assert_eq!(values[2..], [text("a/b"), Value::Boolean(true)]);
        assert!(std::env::var("GYRATOR_TEST_ONLY").is_err());
    }

    #[test]
    fn days() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(-1), (1969, 12, 31));
    }
}
