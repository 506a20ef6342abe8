//! C code of libraries, compiled and called with `--allow-external build`. Without a C compiler there is nothing to try; on the
//! machines that check every change there has to be one.

mod common;

use std::process::Command;

use common::{Folder, Run, gyrator_with};

/// Whether there is a C compiler.
fn has_compiler() -> bool {
    let found = Command::new("cc").arg("--version").output().is_ok();
    if !found {
        assert!(std::env::var_os("CI").is_none(), "these tests need a C compiler");
        eprintln!("skipped: there is no C compiler");
    }
    found
}

/// A call whose cache is in the folder of the test.
fn run(folder: &Folder, arguments: &[&str]) -> Run {
    let cache = folder.path("cache").display().to_string();
    gyrator_with(folder, arguments, &[("XDG_CACHE_HOME", &cache)])
}

/// A library with a header, a source that a `Library` annotation names, code in `Include`, records, strings and an object that counts.
fn library(folder: &Folder) {
    folder.write(
        "Lib/package.mo",
        r##"package Lib
  record Inner
    Integer n;
    Boolean b;
  end Inner;
  record Data
    Real x;
    Inner part;
    Real z;
  end Data;
  function twice
    input Real x;
    output Real y;
  external "C" y = lib_twice(x) annotation(Include = "#include \"lib.h\"", Library = "mine");
  end twice;
  function inline
    input Real x;
    output Real y;
  external "C" y = square(x) annotation(Include = "static double square(double x) { return x*x; }");
  end inline;
  function swap "Records as arguments and as the result"
    input Data d;
    output Data r;
  external "C" r = lib_swap(d) annotation(Include = "#include \"lib.h\"", Library = "mine");
  end swap;
  function filled
    input Data d;
    output Data r[2];
  external "C" lib_fill(d, r, size(r, 1)) annotation(Include = "#include \"lib.h\"", Library = "mine");
  end filled;
  function rows "By rows, with sizes"
    input Real a[:, :];
    output Real s[size(a, 1)];
  external "C" lib_rows(a, size(a, 1), size(a, 2), s) annotation(Include = "#include \"lib.h\"", Library = "mine");
  end rows;
  function greet
    input String name;
    output String text;
  external "C" text = lib_greet(name) annotation(Include = "#include \"lib.h\"", Library = "mine");
  end greet;
  function length
    input String name;
    output Integer n;
  external "C" n = lib_length(name) annotation(Include = "#include \"lib.h\"", Library = "mine");
  end length;
  function plain "Without a header: the declaration follows from this one"
    input Real x[:];
    output Real s;
  external "C" s = lib_plain(x, size(x, 1)) annotation(Library = "mine");
  end plain;
  function positive
    input Real x;
    output Real y;
  external "C" y = lib_positive(x) annotation(Include = "#include \"lib.h\"", Library = "mine");
  end positive;
  class Counter
    extends ExternalObject;
    function constructor
      input String log;
      output Counter counter;
    external "C" counter = lib_open(log) annotation(Include = "#include \"lib.h\"", Library = "mine");
    end constructor;
    function destructor
      input Counter counter;
    external "C" lib_close(counter) annotation(Include = "#include \"lib.h\"", Library = "mine");
    end destructor;
  end Counter;
  function scaled
    input Counter counter;
    input Real x;
    output Real y;
  external "C" y = lib_scaled(counter, x) annotation(Include = "#include \"lib.h\"", Library = "mine");
  end scaled;
  model All
    Real a = twice(time);
    Real b = inline(time);
    Data d = swap(Data(time, Inner(3, false), 2));
    Data e[2] = filled(Data(1, Inner(2, true), time));
    Real s[2] = rows([1, 2, 3; 4, 5, time]);
    parameter Integer n = length(greet("World"));
    Real v[n] = fill(time, n);
    Real p = plain({1, 2, time});
    parameter Counter counter = Counter("log.txt");
    Real c = scaled(counter, time);
  end All;
  model Fails
    Real x(start = 1, fixed = true);
    Real y = positive(x);
  equation
    der(x) = -1;
  end Fails;
end Lib;
"##,
    );
    folder.write(
        "Lib/Resources/Include/lib.h",
        r#"#include <stddef.h>
typedef struct { int n; int b; } lib_inner;
typedef struct { double x; lib_inner inner; double z; } lib_data;
double lib_twice(double x);
lib_data lib_swap(const lib_data *d);
void lib_fill(const lib_data *d, lib_data *r, size_t n);
void lib_rows(const double *a, size_t n, size_t m, double *s);
const char *lib_greet(const char *name);
int lib_length(const char *text);
double lib_positive(double x);
void *lib_open(const char *log);
void lib_close(void *counter);
double lib_scaled(void *counter, double x);
"#,
    );
    folder.write(
        "Lib/Resources/C-Sources/mine.c",
        r#"#include "lib.h"
#include "ModelicaUtilities.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
double lib_twice(double x) { return 2*x; }
lib_data lib_swap(const lib_data *d) {
  lib_data r = {d->z, {d->inner.n + 1, !d->inner.b}, d->x};
  return r;
}
void lib_fill(const lib_data *d, lib_data *r, size_t n) {
  for (size_t i = 0; i < n; i++) { r[i] = *d; r[i].inner.n += (int)i; r[i].z *= (double)(i + 1); }
}
void lib_rows(const double *a, size_t n, size_t m, double *s) {
  for (size_t i = 0; i < n; i++) { s[i] = 0; for (size_t j = 0; j < m; j++) s[i] += a[i*m + j]; }
}
const char *lib_greet(const char *name) {
  char *text = ModelicaAllocateString(strlen(name) + 6);
  sprintf(text, "Hello %s", name);
  return text;
}
int lib_length(const char *text) { return (int)strlen(text); }
double lib_plain(const double *x, size_t n) { double s = 0; for (size_t i = 0; i < n; i++) s += x[i]; return s; }
double lib_positive(double x) {
  if (x < 0.5) ModelicaFormatError("the value %g is below %s", x, "one half");
  return x;
}
static void log_line(const char *log, const char *what) {
  FILE *file = fopen(log, "a");
  if (file == NULL) ModelicaError("no log");
  fprintf(file, "%s\n", what);
  fclose(file);
}
struct counter { double factor; char log[200]; };
void *lib_open(const char *log) {
  struct counter *made = malloc(sizeof(struct counter));
  made->factor = 3;
  strcpy(made->log, log);
  log_line(log, "open");
  ModelicaFormatMessage("opened %s\n", log);
  return made;
}
void lib_close(void *counter) { log_line(((struct counter *)counter)->log, "close"); free(counter); }
double lib_scaled(void *counter, double x) { return ((struct counter *)counter)->factor*x; }
"#,
    );
}

/// The last row of a result by the names of its columns.
fn last(text: &str) -> impl Fn(&str) -> f64 + use<> {
    let header: Vec<String> =
        text.lines().next().unwrap_or_default().split(',').map(|name| name.trim_matches('"').to_owned()).collect();
    let row: Vec<f64> =
        text.lines().last().unwrap_or_default().split(',').filter_map(|cell| cell.parse().ok()).collect();
    move |name| row[header.iter().position(|known| known == name).unwrap_or_else(|| panic!("no {name} in {header:?}"))]
}

#[test]
fn c_code_of_a_library_is_compiled_and_called() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-build");
    library(&folder);
    let refused = run(&folder, &["check", "Lib.All", "-L", "."]);
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("--allow-external build"), "{}", refused.stderr);
    let call = ["simulate", "Lib.All", "-L", ".", "--allow-external", "build", "--stop-time", "2", "-o", "out.csv"];
    let outcome = run(&folder, &call);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let value = last(&folder.read("out.csv"));
    assert_eq!((value("a"), value("b")), (4.0, 4.0));
    assert_eq!((value("d.x"), value("d.part.n"), value("d.part.b"), value("d.z")), (2.0, 4.0, 1.0, 2.0));
    assert_eq!((value("e[1].part.n"), value("e[2].part.n"), value("e[1].z"), value("e[2].z")), (2.0, 3.0, 2.0, 4.0));
    assert_eq!((value("s[1]"), value("s[2]")), (6.0, 11.0));
    assert_eq!((value("v[11]"), value("p"), value("c")), (2.0, 5.0, 6.0));
    // Each object is made and freed once, and messages are shown.
    assert_eq!(folder.read("log.txt"), "open\nclose\n");
    assert!(outcome.stderr.contains("opened log.txt"), "{}", outcome.stderr);
    // Nothing is written into the library, and what was compiled is used again.
    assert!(!folder.path("Lib/Resources/Library").exists());
    let compiled = || std::fs::read_dir(folder.path("cache/gyrator/external")).expect("the cache").count();
    let before = compiled();
    assert_eq!(run(&folder, &call).status, 0);
    assert_eq!(compiled(), before);
    // A change of the source is seen.
    let source = folder.read("Lib/Resources/C-Sources/mine.c").replace("return 2*x", "return 5*x");
    folder.write("Lib/Resources/C-Sources/mine.c", &source);
    assert_eq!(run(&folder, &call).status, 0);
    assert_eq!(last(&folder.read("out.csv"))("a"), 10.0);
}

#[test]
fn an_error_of_c_code_ends_the_run_with_a_message() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-error");
    library(&folder);
    let outcome = run(&folder, &["simulate", "Lib.Fails", "-L", ".", "--allow-external", "build", "-o", "out.csv"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("is below one half"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("lib_positive") && outcome.stderr.contains("package.mo:"), "{}", outcome.stderr);
    // What was computed before is in the file.
    let reached = last(&folder.read("out.csv"))("time");
    assert!(reached > 0.4 && reached <= 0.5 + 1e-6, "{reached}");
}

/// Libraries take headers of the C library for granted that other tools include before their code.
#[test]
fn the_usual_headers_are_there() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-headers");
    folder.write(
        "m.mo",
        r#"model M
  function f
    input Real x;
    output Real y;
  external "C" y = f(x) annotation(Include = "static double f(double x)
{ char s[32]; sprintf(s, \"%d\", abs(-2)); return strlen(s)*sqrt(x) + (RAND_MAX > 0); }");
  end f;
  Real y = f(4);
end M;
"#,
    );
    let outcome = run(&folder, &["simulate", "m.mo", "--allow-external", "build", "-o", "out.csv"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(last(&folder.read("out.csv"))("y"), 3.0);
}

#[test]
fn code_that_cannot_be_compiled_is_an_error_of_the_model() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-broken");
    folder.write(
        "m.mo",
        r#"package P
  function f
    input Real x;
    output Real y;
  external "C" y = f(x) annotation(Include = "double f(double x) { return x + ; }");
  end f;
  function g
    input Real x[2];
    output Real y;
  external "C" y = g(x) annotation(Include = "double g(int *x) { return x[0]; }");
  end g;
  model M
    Real y = f(time);
  end M;
  model N
    Real y = g({time, 1});
  end N;
end P;
"#,
    );
    let outcome = run(&folder, &["check", "m.mo", "-m", "P.M", "--allow-external", "build"]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("error[external-build]") && outcome.stderr.contains("m.mo:2"),
        "{}",
        outcome.stderr
    );
    // A declaration that contradicts the one in Modelica would be garbage at run time.
    let outcome = run(&folder, &["check", "m.mo", "-m", "P.N", "--allow-external", "build"]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("incompatible"), "{}", outcome.stderr);
}

#[test]
fn libraries_that_are_there_are_linked_as_they_are() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-prebuilt");
    library(&folder);
    let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux64",
        _ => return eprintln!("skipped: the folder of this platform has another name"),
    };
    // The library calls functions of ModelicaUtilities.h, which it does not bring.
    std::fs::create_dir_all(folder.path(&format!("Lib/Resources/Library/{platform}"))).expect("a folder");
    folder.write("utilities/ModelicaUtilities.h", "#include <stddef.h>\nchar *ModelicaAllocateString(size_t);\nvoid ModelicaError(const char *);\nvoid ModelicaFormatError(const char *, ...);\nvoid ModelicaFormatMessage(const char *, ...);\n");
    let made = format!("Lib/Resources/Library/{platform}/libmine.so");
    let status = Command::new("cc")
        .args([
            "-shared",
            "-fPIC",
            "-o",
            &made,
            "Lib/Resources/C-Sources/mine.c",
            "-ILib/Resources/Include",
            "-Iutilities",
        ])
        .current_dir(folder.path(""))
        .status();
    assert!(status.expect("cc runs").success());
    std::fs::remove_dir_all(folder.path("Lib/Resources/C-Sources")).expect("the sources go");
    let call = ["simulate", "Lib.All", "-L", ".", "--allow-external", "build", "--stop-time", "2", "-o", "out.csv"];
    let outcome = run(&folder, &call);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(last(&folder.read("out.csv"))("a"), 4.0);
    // Named by the user it is found too, except for what only `Include` defines.
    folder.write(
        "f.mo",
        "model F\n  Real x(start = 1, fixed = true);\n  Real y = Lib.positive(x);\nequation\n  der(x) = -1;\nend F;\n",
    );
    let path = folder.path(&made).display().to_string();
    let outcome = run(&folder, &["simulate", "f.mo", "-L", ".", "--allow-external", &path, "-o", "f.csv"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("is below one half"), "{}", outcome.stderr);
}

#[test]
fn fortran_takes_everything_by_reference_and_by_columns() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-fortran");
    // A C function with the interface of `SUBROUTINE SECOND(A, N, M, R)`, which gives the second element in memory.
    folder.write("Lib/package.mo", "package Lib\n  function second\n    input Real a[:, :];\n    output Real r;\n  external \"FORTRAN 77\" SECOND(a, size(a, 1), size(a, 2), r) annotation(Library = \"second\");\n  end second;\n  model M\n    Real r = second([1, 2, 3; 4, 5, time]);\n  end M;\nend Lib;\n");
    folder.write(
        "Lib/Resources/C-Sources/second.c",
        "void second_(double *a, int *n, int *m, double *r) { *r = a[1] + 100**n + 1000**m; }\n",
    );
    let outcome = run(&folder, &["simulate", "Lib.M", "-L", ".", "--allow-external", "build", "-o", "out.csv"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(last(&folder.read("out.csv"))("r"), 3204.0);
}

#[test]
fn without_a_call_arrays_are_followed_by_their_sizes() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-default-call");
    folder.write(
        "Lib/package.mo",
        r#"package Lib
  pure function total
    input Real x;
    input Real A[:, :];
    output Real y;
  external "C" annotation(Library = "def");
  end total;
  pure function scaled "An output array, and a further output"
    input Real a[:];
    input Integer k;
    output Real b[size(a, 1)];
    output Real s;
  external "C" annotation(Library = "def");
  end scaled;
  pure function corner
    input Real A[:, :];
    output Real y;
  external "FORTRAN 77" annotation(Library = "def");
  end corner;
  pure function written "A prototype that Include gives is checked by the compiler"
    input Integer n[:];
    output Integer y;
  external "C" annotation(Include = "static int written(const int *n, size_t size) { return n[size - 1]; }");
  end written;
  model M
    Real t = total(time, {{1, 2, 3}, {4, 5, 6}});
    Real b[3];
    Real s;
    Real c = corner({{1, 2, 3}, {4, 5, 6}});
    Integer w = written({7, 8, 9});
  equation
    (b, s) = scaled({1, 2, 3}, 4);
  end M;
end Lib;
"#,
    );
    folder.write(
        "Lib/Resources/C-Sources/def.c",
        "#include <stddef.h>\n\
         double total(double x, const double *A, size_t n, size_t m) {\n  double s = x + 100*n + 1000*m;\n  \
         for (size_t i = 0; i < n*m; i++) s += A[i];\n  return s;\n}\n\
         void scaled(const double *a, size_t n, int k, double *b, size_t m, double *s) {\n  *s = 10*m;\n  \
         for (size_t i = 0; i < n; i++) *s += b[i] = a[i]*k;\n}\n\
         double corner_(double *A, int *n, int *m) { return A[*n**m - 2] + 10**n + 100**m; }\n",
    );
    let outcome = run(&folder, &["simulate", "Lib.M", "-L", ".", "--allow-external", "build", "-o", "out.csv"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let value = last(&folder.read("out.csv"));
    assert_eq!(value("t"), 1.0 + 200.0 + 3000.0 + 21.0);
    assert_eq!([value("b[1]"), value("b[2]"), value("b[3]"), value("s")], [4.0, 8.0, 12.0, 30.0 + 24.0]);
    // By columns the last but one is A[1, 3].
    assert_eq!(value("c"), 3.0 + 20.0 + 300.0);
    assert_eq!(value("w"), 9.0);
}

/// A model whose C function does `code` when `x` is above one half.
fn ending(folder: &Folder, code: &str) -> Run {
    let text = format!(
        "model M\n  function f\n    input Real x;\n    output Real y;\n  external \"C\" y = foo(x) annotation(Include = \"\
         #include <assert.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         static int zero(void) {{ volatile int n = 0; return n; }}\n\
         static double deep(double x) {{ volatile char b[100000]; b[0] = 1; return deep(x + b[0]) + b[0]; }}\n\
         static double foo(double x) {{ if (x > 0.5) {{ {code} }} return x; }}\");\n  end f;\n  \
         Real y = f(time);\nend M;\n"
    );
    folder.write("m.mo", &text);
    run(folder, &["simulate", "m.mo", "--allow-external", "build", "-o", "out.csv"])
}

#[cfg(target_os = "linux")]
#[test]
fn code_that_wants_to_end_the_program_ends_its_call() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-exit");
    let cases = [
        ("exit(0);", "`exit(0)`"),
        ("_exit(0);", "`_exit(0)`"),
        ("quick_exit(7);", "`quick_exit(7)`"),
        ("abort();", "`abort`"),
        ("assert(x < 0.5);", "the assertion `x < 0.5` of `foo` failed"),
    ];
    for (code, said) in cases {
        let outcome = ending(&folder, code);
        assert_eq!(outcome.status, 3, "{code}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("`foo` failed") && outcome.stderr.contains(said), "{}", outcome.stderr);
        // What was computed before is in the file.
        assert!(last(&folder.read("out.csv"))("time") >= 0.4);
    }
    // A process of its own ends as it likes.
    let outcome = ending(&folder, "if (fork() == 0) { if (x < 0.75) exit(0); abort(); }");
    assert_eq!((outcome.status, outcome.stderr.contains("foo")), (0, false), "{}", outcome.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_crash_of_c_code_is_told() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-crash");
    let cases =
        [("return *(volatile double *)0;", "SIGSEGV"), ("return 7/zero();", "SIGFPE"), ("return deep(x);", "SIGSEGV")];
    for (code, signal) in cases {
        let outcome = ending(&folder, code);
        assert_eq!(outcome.status, 3, "{code}: {}", outcome.stderr);
        let begin = "error[external-crash]: the external function `foo` of `M` crashed: ";
        assert!(outcome.stderr.contains(begin) && outcome.stderr.contains(signal), "{}", outcome.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_shared_library_that_ends_the_program_is_named() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-exit-library");
    folder.write("lib.c", "#include <stdlib.h>\ndouble leave(double x) { if (x > 0.5) exit(0); return x; }\n");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o", "libleave.so", "lib.c"]).current_dir(folder.path(""));
    assert!(compiler.status().expect("cc runs").success());
    folder.write("m.mo", "model M\n  function leave\n    input Real x;\n    output Real y;\n  external \"C\";\n  end leave;\n  Real y = leave(time);\nend M;\n");
    let outcome = run(&folder, &["simulate", "m.mo", "--allow-external", "./libleave.so", "-o", "out.csv"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`leave` of `./libleave.so` failed: it called `exit`"), "{}", outcome.stderr);
}

#[test]
fn a_number_that_is_no_literal_of_an_enumeration_is_an_error() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-enumeration");
    for (call, status) in [("y = foo(7)", 3), ("y = foo(0)", 3), ("bar(7, y)", 3), ("y = foo(2)", 0), ("bar(1, y)", 0)]
    {
        folder.write("m.mo", &format!("model M\n  type E = enumeration(a, b);\n  function f\n    input Real x;\n    output E y;\n  external \"C\" {call} annotation(Include = \"static int foo(int x) {{ return x; }} static void bar(int x, int *y) {{ *y = x; }}\");\n  end f;\n  E e = f(if time > 0.5 then 1 else 0);\n  Real z[E] = {{1, 2}};\n  Real w = z[e];\nend M;\n"));
        let outcome = run(&folder, &["simulate", "m.mo", "--allow-external", "build", "-o", "out.csv"]);
        assert_eq!(outcome.status != 0, status != 0, "{call}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.contains("for the enumeration `M.E`"), status != 0, "{}", outcome.stderr);
    }
}

/// Real is `double` and Integer is `int` (specification 12.9.1.1); a header that says otherwise would cut digits off.
#[test]
fn numbers_that_c_would_cut_off_are_errors() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-conversion");
    for (output, c) in
        [("Real", "static double g(int x) { return x; }"), ("Integer", "static double g(double x) { return 2.7; }")]
    {
        folder.write("m.mo", &format!("model M\n  function f\n    input Real x;\n    output {output} y;\n  external \"C\" y = g(x) annotation(Include = \"{c}\");\n  end f;\n  Real y = f(0.7);\nend M;\n"));
        let outcome = run(&folder, &["simulate", "m.mo", "--allow-external", "build", "-o", "out.csv"]);
        assert_eq!(outcome.status, 1, "{c}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("conversion"), "{}", outcome.stderr);
    }
}

/// What external code prints does not get into the summary or the rows.
#[test]
fn what_c_code_prints_goes_to_standard_error() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-printing");
    folder.write("m.mo", "model M\n  function f\n    input Real x;\n    output Real y;\n  external \"C\" y = g(x) annotation(Include = \"static double g(double x) { printf(\\\"noise\\\\n\\\"); return 2*x; }\");\n  end f;\n  Real y = f(time);\nend M;\n");
    for arguments in [["--json", "-o", "out.csv"], ["--quiet", "-o", "-"]] {
        let outcome = run(&folder, &[&["simulate", "m.mo", "--allow-external", "build"], &arguments[..]].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("noise") && !outcome.stdout.contains("noise"), "{}", outcome.stdout);
        assert!(
            outcome.stdout.starts_with(if arguments[0] == "--json" { "{" } else { "time,y\n0,0\n" }),
            "{}",
            outcome.stdout
        );
    }
}

/// An object of a function ends with the call (specification 12.9.7), a null pointer is the failure of a constructor, and a header
/// beside a model that is named without a folder is found.
#[test]
fn objects_of_functions_end_with_their_calls() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("external-local-objects");
    folder.write(
        "count.h",
        "static int live, most;\nstatic void *make(double x) { if (x < 0) return 0; if (++live > most) most = live; return &live; }\n\
         static void release(void *o) { live--; }\nstatic double value(void *o) { return most; }\n",
    );
    let model = |start: &str| {
        let include = "annotation(Include = \"#include \\\"count.h\\\"\")";
        format!(
            "model M\n  class O\n    extends ExternalObject;\n    function constructor input Real x; output O o; external \"C\" o = make(x) {include}; end constructor;\n\
             function destructor input O o; external \"C\" release(o) {include}; end destructor;\n  end O;\n\
             function get input O o; output Real y; external \"C\" y = value(o) {include}; end get;\n\
             function f input Real x; output Real y; protected O o = O(x); algorithm y := get(o); end f;\n\
             Real y = f(time + {start});\nend M;\n"
        )
    };
    folder.write("m.mo", &model("1"));
    let outcome = run(&folder, &["simulate", "m.mo", "--allow-external", "build", "-o", "out.csv"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(folder.read("out.csv").trim_end().ends_with("\n1,1"), "{}", folder.read("out.csv"));
    folder.write("m.mo", &model("(-1)"));
    let outcome = run(&folder, &["simulate", "m.mo", "--allow-external", "build", "-o", "out.csv"]);
    assert_ne!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the constructor `make` returned a null pointer"), "{}", outcome.stderr);
}
