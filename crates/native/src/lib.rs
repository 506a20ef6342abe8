//! The functions that the Modelica Standard Library calls in C and FORTRAN, in Rust under the same names: tables, strings,
//! files, random numbers, Fourier transforms, linear algebra. Written from their documented behaviour.
//!
//! `Native` serves the evaluator of functions. Table lookups can be had as plain functions on numbers too, for compiled
//! code (`resolve`).

mod arguments;
mod files;
mod fourier;
mod lapack;
mod mat_file;
mod outside;
mod random;
mod shadow;
mod strings;
mod table_calls;
mod table_file;
mod tables;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use base::Name;
use dae::evaluate::NoExternals;
use dae::function::External;
use dae::{Access, Externals, Model, OutsideFunctions, Value, access};
use rustc_hash::FxHashMap;

use arguments::Arguments;
pub use files::{Effect, effect};
pub use lapack::eigenvalues;
use outside::OutsideObject;
use shadow::{Entry, Shadow};
pub use table_calls::Lookup;
use tables::{Table1, Table2, TimeTable};

/// Takes the lines that a model prints.
pub type Output = Arc<dyn Fn(&str) + Send + Sync>;

/// External objects by their handles.
enum Object {
    Table1(Table1),
    Table2(Table2),
    TimeTable(TimeTable),
    Outside(OutsideObject),
}

/// The outside library. One for each simulation: it owns the external objects.
#[derive(Clone, Default)]
pub struct Native {
    objects: FxHashMap<u64, Arc<Object>>,
    last_handle: u64,
    /// The folders of top-level packages, in which `modelica://` files are, by name.
    packages: FxHashMap<Name, PathBuf>,
    /// The same folders with links resolved, once they are needed.
    libraries: OnceLock<Vec<PathBuf>>,
    access: Arc<Access>,
    /// Where printed lines go; standard error without it.
    output: Option<Output>,
    /// What the model changed for itself.
    current_directory: Option<PathBuf>,
    environment: FxHashMap<String, String>,
    /// Of the generator with hidden state.
    random_state: Vec<i64>,
    temporary_names: u64,
    /// What it changed without permission.
    shadow: Shadow,
    without_effects: bool,
    /// Functions of shared libraries.
    outside: Option<Arc<dyn OutsideFunctions>>,
    /// Which functions are called there.
    is_outside: FxHashMap<Name, bool>,
}

impl Native {
    /// Functions without state.
    pub fn new() -> Self {
        Self::default()
    }

    /// With what a model may use: the folders of its packages, the shared libraries that are allowed, files.
    pub fn for_model(model: &Model) -> Self {
        // The first of two folders with one name counts.
        let packages = model.package_folders.iter().rev().cloned().collect();
        Self { outside: model.outside.clone(), access: model.access.clone(), packages, ..Self::default() }
    }

    /// Refuses everything that changes the world outside: for evaluation while a model is only being translated.
    pub fn without_effects(mut self) -> Self {
        self.without_effects = true;
        self
    }

    /// Sends what the model prints somewhere else than to standard error.
    pub fn set_output(&mut self, output: Output) {
        self.output = Some(output);
    }

    fn say(&mut self, text: &str) {
        match &self.output {
            Some(output) => output(text),
            // Nobody may be listening.
            None => drop(writeln!(std::io::stderr(), "{text}")),
        }
    }

    fn directory(&self) -> PathBuf {
        self.current_directory.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default()
    }

    fn add_object(&mut self, object: Object) -> Value {
        self.last_handle += 1;
        self.objects.insert(self.last_handle, Arc::new(object));
        Value::Object(self.last_handle)
    }

    fn remove_object(&mut self, handle: u64) {
        self.objects.remove(&handle);
    }

    fn object(&self, handle: u64) -> Result<&Object, String> {
        self.objects
            .get(&handle)
            .map(|object| &**object)
            .ok_or_else(|| "an external object is used that was not made".into())
    }

    /// The file that a name in the model means.
    fn locate(&self, name: &str) -> Result<PathBuf, String> {
        match name.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("modelica") => self.resource(name, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => Ok(PathBuf::from(rest)),
            _ => Ok(self.current_directory.as_ref().map_or_else(|| PathBuf::from(name), |folder| folder.join(name))),
        }
    }

    /// The file of `modelica://class/file`, which must be in the library of the class.
    fn resource(&self, address: &str, rest: &str) -> Result<PathBuf, String> {
        let (class, file) = rest.split_once('/').unwrap_or((rest, ""));
        let mut parts = class.split('.');
        let library = parts.next().unwrap_or_default();
        let Some(top) = self.packages.get(&Name::new(library)) else {
            return Err(format!("there is no package `{library}` with a folder, in which `{address}` would be"));
        };
        let mut folder = top.clone();
        for part in parts {
            // A package without a folder of its own has its files in that of the one around it.
            if folder.join(part).is_dir() {
                folder.push(part);
            }
        }
        let path = folder.join(file.trim_start_matches('/'));
        let resolved = access::resolve(&path)?;
        if access::is_below(&resolved, &[access::resolve(top)?]) || self.access.allows_reading(&resolved) {
            return Ok(path);
        }
        let shown = resolved.display();
        Err(format!("the address `{address}` leaves its library: it leads to `{shown}`"))
    }

    /// The file or folder of a name, if the model may look at it.
    fn readable(&self, name: &str) -> Result<PathBuf, String> {
        let libraries = self
            .libraries
            .get_or_init(|| self.packages.values().filter_map(|folder| access::resolve(folder).ok()).collect());
        self.access.read(&self.locate(name)?, libraries)
    }

    /// The file or folder of a name, and what it is, if the model has changed it without permission.
    fn changed(&self, name: &str) -> Result<Option<(PathBuf, &Entry)>, String> {
        let path = access::resolve(&self.locate(name)?)?;
        Ok(self.shadow.entry(&path).map(|entry| (path.clone(), entry)))
    }

    /// The content of a file.
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        match self.changed(name)? {
            Some((_, Entry::File(content))) => return Ok(content.clone()),
            Some((path, Entry::Folder)) => return Err(format!("cannot read `{}`: it is no file", path.display())),
            Some((path, Entry::Absent)) => return Err(format!("cannot read `{}`: it was removed", path.display())),
            None => {}
        }
        let path = self.readable(name)?;
        read_regular(&path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
    }

    fn dispatch(&mut self, arguments: &mut Arguments<'_>) -> Result<Option<Value>, String> {
        if let Some(lookup) = resolve(arguments.symbol) {
            let numbers: Option<Vec<f64>> = arguments.values.iter().map(Value::as_real).collect();
            let numbers = numbers.ok_or_else(|| format!("`{}` takes numbers", arguments.symbol))?;
            return lookup(self, &numbers).map(|value| Some(Value::Real(value)));
        }
        self.built_in(arguments).unwrap_or_else(|| {
            Err(format!(
                "the external function `{}` is not built in; `--allow-external LIBRARY` or `--allow-external build` lets \
                 the model call it",
                arguments.symbol
            ))
        })
    }

    /// `None` where no function of the name is known.
    fn built_in(&mut self, arguments: &mut Arguments<'_>) -> Option<Result<Option<Value>, String>> {
        table_calls::call(self, arguments)
            .or_else(|| strings::call(arguments))
            .or_else(|| files::call(self, arguments))
            .or_else(|| random::call(self, arguments))
            .or_else(|| fourier::call(arguments))
            .or_else(|| lapack::call(arguments))
    }
}

/// Whether a function is built in: those that are complain about missing arguments at most.
pub fn provides(symbol: &str) -> bool {
    let arguments = &mut Arguments { symbol, values: &mut [] };
    resolve(symbol).is_some() || Native::new().without_effects().built_in(arguments).is_some()
}

/// Devices and pipes may have no end.
fn read_regular(path: &Path) -> std::io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    std::fs::read(path)
}

impl Externals for Native {
    fn mark_objects(&self) -> u64 {
        self.last_handle
    }

    fn free_objects_since(&mut self, mark: u64) {
        if self.last_handle > mark {
            self.objects.retain(|&handle, _| handle <= mark);
        }
    }

    fn call(&mut self, external: &External, values: &mut [Value]) -> Result<Option<Value>, String> {
        let symbol = external.symbol.as_str();
        if let Some(outside) = &self.outside {
            let is_outside =
                *self.is_outside.entry(external.symbol).or_insert_with(|| !provides(symbol) && outside.has(external));
            if is_outside {
                let outside = outside.clone();
                return self.call_outside(&outside, external, values);
            }
        }
        self.dispatch(&mut Arguments { symbol, values })
    }
}

/// Those of the functions whose results depend on their arguments alone: texts and linear algebra.
pub struct Stateless;

impl Externals for Stateless {
    fn call(&mut self, external: &External, values: &mut [Value]) -> Result<Option<Value>, String> {
        let arguments = &mut Arguments { symbol: external.symbol.as_str(), values };
        let answer = strings::call(arguments).or_else(|| lapack::call(arguments));
        answer.unwrap_or_else(|| NoExternals.call(external, values))
    }
}

/// A table lookup as a function on numbers, the handle of the table first; for code that calls it often.
pub fn resolve(symbol: &str) -> Option<Lookup> {
    table_calls::lookup(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a function with values.
    fn call(native: &mut Native, symbol: &str, mut values: Vec<Value>) -> Result<Option<Value>, String> {
        native.dispatch(&mut Arguments { symbol, values: &mut values })
    }

    fn table(native: &mut Native) -> Value {
        let arguments = vec![
            Value::string("NoName"),
            Value::string("NoName"),
            Value::matrix(3, 2, [0.0, 0.0, 1.0, 1.0, 2.0, 4.0]),
            Value::Integer(3),
            Value::Integer(2),
            Value::integers([2]),
            Value::Integer(1),
            Value::Enumeration(1),
            Value::Enumeration(2),
            Value::Boolean(false),
            Value::string(","),
            Value::Integer(0),
        ];
        call(native, "ModelicaStandardTables_CombiTable1D_init3", arguments).unwrap().unwrap()
    }

    #[test]
    fn a_table_lives_until_it_is_closed() {
        let mut native = Native::new();
        let object = table(&mut native);
        let get = "ModelicaStandardTables_CombiTable1D_getValue";
        let arguments = vec![object.clone(), Value::Integer(1), Value::Real(1.5)];
        assert_eq!(call(&mut native, get, arguments.clone()), Ok(Some(Value::Real(2.5))));
        let handle = object.as_real().unwrap();
        assert_eq!(resolve(get).unwrap()(&native, &[handle, 1.0, 1.5]), Ok(2.5));
        let slope = resolve("ModelicaStandardTables_CombiTable1D_getDerValue").unwrap();
        assert_eq!(slope(&native, &[handle, 1.0, 1.5, 2.0]), Ok(6.0));
        assert_eq!(call(&mut native, "ModelicaStandardTables_CombiTable1D_close", vec![object]), Ok(None));
        assert!(call(&mut native, get, arguments).is_err());
    }

    #[test]
    fn addresses_lead_into_the_folders_of_packages() {
        let folder = std::env::temp_dir();
        let model = Model { package_folders: vec![(Name::new("Lib"), folder.clone())], ..Model::default() };
        let native = Native::for_model(&model);
        assert_eq!(native.locate("modelica://Lib/Resources/x.txt"), Ok(folder.join("Resources/x.txt")));
        assert_eq!(native.locate("Modelica://Lib.NoFolder/x.txt"), Ok(folder.join("x.txt")));
        assert_eq!(native.locate("modelica://Lib/a/../x.txt"), Ok(folder.join("a/../x.txt")));
        assert!(native.locate("modelica://Other/x.txt").unwrap_err().contains("`Other`"));
        assert_eq!(native.locate("file:///a/b"), Ok(PathBuf::from("/a/b")));
        for address in ["modelica://Lib/../x", "modelica://Lib/a/../../x", "modelica://Lib//../x"] {
            let error = native.locate(address).unwrap_err();
            assert!(error.contains(address) && error.contains("leaves its library"), "{error}");
        }
    }

    #[test]
    fn an_error_that_the_model_reports_is_one() {
        let told = call(&mut Native::new(), "ModelicaError", vec![Value::string("no solution")]);
        assert_eq!(told, Err("no solution".to_owned()));
        assert!(provides("ModelicaError"));
    }

    #[test]
    fn unknown_functions_are_named() {
        let error = call(&mut Native::new(), "myFunction", vec![]).unwrap_err();
        assert!(error.contains("`myFunction`") && error.contains("--allow-external"), "{error}");
    }
}
