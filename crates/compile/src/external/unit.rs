//! The C code of one library: the texts of its annotations `Include`, and for each external function a small function that takes
//! its arguments from an array and calls it. So the C compiler checks and converts arguments, and functions that are `static` or
//! macros can be called too.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dae::function::{ArgumentType, External, ExternalSource, Type};

use super::arguments::Language;
use super::compiler::Job;
use super::record::Structs;
use super::utilities::{HEADER, Utilities};

/// What every file begins with. Code that libraries include often takes these headers of the C library for granted.
const BEGIN: &str = "#include <math.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    #include \"ModelicaUtilities.h\"\n";
const WORD: &str = "typedef union { double real; long long number; void *pointer; } gyrator_word;\n";
/// In the calls, what would be converted to something else is a mistake.
const STRICT: &str = "#line 1 \"calls\"\n\
    #pragma GCC diagnostic error \"-Wimplicit-function-declaration\"\n\
    #pragma GCC diagnostic error \"-Wint-conversion\"\n\
    #pragma GCC diagnostic error \"-Wfloat-conversion\"\n\
    #pragma GCC diagnostic error \"-Wincompatible-pointer-types\"\n";

/// Functions that end the process. In compiled code they end the call instead (`utilities.c`).
const ENDING: [&str; 6] = ["exit", "_exit", "_Exit", "quick_exit", "abort", "__assert_fail"];

/// The name of the function that calls the one at a position.
pub fn caller(position: usize) -> String {
    format!("gyrator_call_{position}")
}

/// The texts and files of a library.
pub struct Unit {
    name: String,
    /// Functions whose prototypes the annotations give.
    included: String,
    /// Those whose prototypes are made from their declarations, in a file of their own.
    plain: String,
    sources: Vec<PathBuf>,
    include: Vec<PathBuf>,
    linked: Vec<PathBuf>,
    linker_options: Vec<String>,
}

impl Unit {
    pub fn new(package: &str, functions: &[Arc<External>], utilities: &Utilities) -> Result<Self, String> {
        let name: String = package.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
        let mut unit = Self {
            name,
            included: BEGIN.to_owned(),
            plain: BEGIN.to_owned() + WORD,
            sources: Vec::new(),
            include: Vec::new(),
            linked: Vec::new(),
            linker_options: Vec::new(),
        };
        unit.add_includes(functions);
        unit.included.push_str(WORD);
        unit.included.push_str(STRICT);
        unit.plain.push_str(STRICT);
        for (position, function) in functions.iter().enumerate() {
            unit.add_call(position, function).map_err(|reason| format!("`{}`: {reason}", function.symbol))?;
            unit.add_libraries(function)?;
        }
        unit.linked.push(utilities.file.clone());
        unit.linker_options.push("-lm".to_owned());
        if cfg!(target_os = "linux") {
            unit.linker_options.extend(ENDING.map(|function| format!("-Wl,--wrap={function}")));
        }
        Ok(unit)
    }

    pub fn job(&self) -> Job<'_> {
        Job {
            name: &self.name,
            texts: vec![HEADER, ("included.c", &self.included), ("plain.c", &self.plain)],
            compiled: vec!["included.c", "plain.c"],
            sources: self.sources.clone(),
            include: self.include.clone(),
            linked: self.linked.clone(),
            linker_options: self.linker_options.clone(),
        }
    }

    /// Equal texts once, as the specification has it.
    fn add_includes(&mut self, functions: &[Arc<External>]) {
        let mut known: Vec<&str> = Vec::new();
        for function in functions {
            for folder in function.source.include_directories.iter().filter(|folder| folder.is_dir()) {
                add(&mut self.include, folder.clone());
            }
            for text in &function.source.includes {
                if !known.contains(&text.trim()) {
                    known.push(text.trim());
                    let _ = writeln!(self.included, "#line 1 \"annotation Include of {}\"\n{text}", function.symbol);
                }
            }
        }
    }

    fn add_call(&mut self, position: usize, function: &External) -> Result<(), String> {
        let language = Language::of(function.language.as_str())?;
        let symbol = language.symbol(function.symbol.as_str());
        let types = &function.argument_types;
        let is_output = |position: usize| function.outputs.get(position).copied().unwrap_or(false);
        let arguments: Vec<String> = types
            .iter()
            .enumerate()
            .map(|(at, ty)| match language {
                Language::C => argument(at, ty, is_output(at)),
                Language::Fortran => format!("a[{at}].pointer"),
            })
            .collect();
        let call = format!("{symbol}({})", arguments.join(", "));
        let body = match &function.result_type {
            None => format!("  {call};"),
            Some(Type::Real) => format!("  *(double *)answer = {call};"),
            Some(Type::String) => format!("  *(const char **)answer = {call};"),
            Some(Type::Object(_)) => format!("  *(void **)answer = {call};"),
            Some(Type::Record(record)) if language == Language::C => {
                let size = Structs::room(record, 1)?.stride();
                format!(
                    "  __typeof__({call}) result = {call};\n  _Static_assert(sizeof result == {size}, \"the struct that \
                     `{symbol}` returns differs from the record\");\n  memcpy(answer, &result, sizeof result);"
                )
            }
            Some(Type::Record(_) | Type::Function(_)) => return Err("its result has no form there".to_owned()),
            Some(_) => format!("  *(int *)answer = {call};"),
        };
        let made = format!(
            "void {}(const void *function, const gyrator_word *a, void *answer) {{\n  (void)function; (void)a; \
             (void)answer;\n{body}\n}}\n",
            caller(position)
        );
        if language == Language::C && !function.source.includes.is_empty() {
            self.included.push_str(&made);
            return Ok(());
        }
        let prototype = prototype(function, language, &symbol, is_output)?;
        if !self.plain.contains(&prototype) {
            self.plain.push_str(&prototype);
        }
        self.plain.push_str(&made);
        Ok(())
    }

    fn add_libraries(&mut self, function: &External) -> Result<(), String> {
        for library in &function.libraries {
            if library.is_empty() || library.contains(['/', '\\', '\0']) || library.starts_with('-') {
                return Err(format!("`{library}` is no name of a library"));
            }
            if let Some(file) = object_library(&function.source, library) {
                if is_shared(&file)
                    && let Some(folder) = file.parent()
                {
                    add(&mut self.linker_options, format!("-Wl,-rpath,{}", folder.display()));
                }
                add(&mut self.linked, file);
                continue;
            }
            let sources = sources_of(&function.source, library);
            if sources.is_empty() {
                // One of the system.
                add(&mut self.linker_options, format!("-l{library}"));
            }
            for (folder, file) in sources {
                add(&mut self.include, folder);
                add(&mut self.sources, file);
            }
        }
        Ok(())
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// An argument as its type says.
fn argument(at: usize, ty: &ArgumentType, is_output: bool) -> String {
    let is_reference = ty.rank > 0 || is_output;
    match &ty.ty {
        Type::Real if is_reference => format!("(double *)a[{at}].pointer"),
        Type::Real => format!("a[{at}].real"),
        Type::Integer | Type::Boolean | Type::Enumeration(_) if is_reference => format!("(int *)a[{at}].pointer"),
        Type::Integer if ty.is_size => format!("(size_t)a[{at}].number"),
        Type::Integer | Type::Boolean | Type::Enumeration(_) => format!("(int)a[{at}].number"),
        Type::String if !is_reference => format!("(char *)a[{at}].pointer"),
        _ => format!("a[{at}].pointer"),
    }
}

/// The declaration that follows from the one in Modelica (specification 12.9.1 and 12.9.2).
fn prototype(
    function: &External,
    language: Language,
    symbol: &str,
    is_output: impl Fn(usize) -> bool,
) -> Result<String, String> {
    let taken = function.argument_types.iter().enumerate().map(|(at, ty)| {
        let (is_reference, constant) = (ty.rank > 0 || is_output(at), if is_output(at) { "" } else { "const " });
        match &ty.ty {
            _ if language == Language::Fortran => "void *".to_owned(),
            Type::Real if is_reference => format!("{constant}double *"),
            Type::Real => "double".to_owned(),
            Type::Integer if ty.is_size => "size_t".to_owned(),
            Type::Integer | Type::Boolean | Type::Enumeration(_) if is_reference => format!("{constant}int *"),
            Type::Integer | Type::Boolean | Type::Enumeration(_) => "int".to_owned(),
            Type::String if is_reference => "const char **".to_owned(),
            Type::String => "const char *".to_owned(),
            Type::Object(_) | Type::Record(_) | Type::Function(_) => "void *".to_owned(),
        }
    });
    let taken: Vec<String> = taken.collect();
    let taken = if taken.is_empty() { "void".to_owned() } else { taken.join(", ") };
    let given = match &function.result_type {
        None => "void ",
        Some(Type::Real) => "double ",
        Some(Type::String) => "const char *",
        Some(Type::Object(_)) => "void *",
        Some(Type::Record(_) | Type::Function(_)) => {
            return Err("it returns a record, so the annotation `Include` has to declare it".to_owned());
        }
        Some(_) => "int ",
    };
    Ok(format!("extern {given}{symbol}({taken});\n"))
}

/// The folders of the platform below one for libraries, the most special first.
fn platform_folders(folder: &Path) -> Vec<PathBuf> {
    let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux64".to_owned(),
        ("linux", "x86") => "linux32".to_owned(),
        ("windows", "x86_64") => "win64".to_owned(),
        ("windows", "x86") => "win32".to_owned(),
        ("macos", "x86_64") => "darwin64".to_owned(),
        // The specification names no others.
        (system, machine) => format!("{machine}-{system}"),
    };
    let platform = folder.join(platform);
    // Those of compilers, such as `gcc47`.
    let inner = std::fs::read_dir(&platform).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = inner.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.reverse();
    folders.extend([platform, folder.to_owned()]);
    folders
}

/// The file of a library that is there as it is.
fn object_library(source: &ExternalSource, library: &str) -> Option<PathBuf> {
    let endings = if cfg!(windows) {
        ["dll", "lib"]
    } else if cfg!(target_os = "macos") {
        ["dylib", "a"]
    } else {
        ["so", "a"]
    };
    let folders = source.library_directories.iter().flat_map(|folder| platform_folders(folder));
    folders.into_iter().find_map(|folder| {
        let names = endings.iter().flat_map(|ending| [format!("lib{library}.{ending}"), format!("{library}.{ending}")]);
        names.map(|name| folder.join(name)).find(|file| file.is_file())
    })
}

fn is_shared(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "so" || ending == "dylib" || ending == "dll")
}

/// The sources of a library with the folders they are in: the file or the folder of its name, else all of the folder for
/// sources, since what belongs to which library is not written anywhere.
fn sources_of(source: &ExternalSource, library: &str) -> Vec<(PathBuf, PathBuf)> {
    let with_folder = |file: PathBuf| Some((file.parent()?.to_owned(), file));
    for folder in &source.source_directories {
        let file = folder.join(format!("{library}.c"));
        if file.is_file() {
            return with_folder(file).into_iter().collect();
        }
        let found = c_files(&folder.join(library));
        if !found.is_empty() {
            return found.into_iter().filter_map(with_folder).collect();
        }
    }
    let all = source.source_directories.iter().map(|folder| c_files(folder)).find(|files| !files.is_empty());
    all.unwrap_or_default().into_iter().filter_map(with_folder).collect()
}

fn c_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect();
    files.sort();
    files
}
