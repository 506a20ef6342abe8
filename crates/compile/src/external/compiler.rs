//! The C compiler of the system: makes shared libraries from texts and files, in a folder of their own in the user's cache.
//!
//! What is made is kept under the hash of everything that it is made from: the preprocessed texts, and so all headers, the
//! libraries that become part of it, the options and the version of the compiler. A change of any of them makes it anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};

/// How everything is compiled.
const OPTIONS: [&str; 4] = ["-std=gnu11", "-O2", "-fPIC", "-fno-strict-aliasing"];

/// What of a compiler's complaint is shown.
const MOST_LINES: usize = 12;

/// The compiler, and where its results are kept.
pub struct Compiler {
    /// The program with its first arguments: `CC` may have some.
    command: Vec<String>,
    /// What it says about itself.
    version: String,
    cache: PathBuf,
}

/// What a shared library is made from.
#[derive(Clone, Default)]
pub struct Job<'a> {
    /// For people who look into the cache.
    pub name: &'a str,
    /// Texts with the names of their files.
    pub texts: Vec<(&'a str, &'a str)>,
    /// Those of the texts that are compiled; the others are headers.
    pub compiled: Vec<&'a str>,
    /// Files that are compiled as well.
    pub sources: Vec<PathBuf>,
    /// Folders of headers.
    pub include: Vec<PathBuf>,
    /// Libraries as files, and what else the linker is told.
    pub linked: Vec<PathBuf>,
    pub linker_options: Vec<String>,
}

impl Compiler {
    /// `CC`, or `cc`.
    pub fn find() -> Result<Self, String> {
        let command = std::env::var("CC").ok().filter(|command| !command.trim().is_empty());
        let command = command.unwrap_or_else(|| "cc".to_owned());
        let command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let shown = command.join(" ");
        let version = Command::new(&command[0]).args(&command[1..]).arg("--version").output();
        let version = version.map_err(|error| {
            format!("the C compiler `{shown}` cannot be started: {error}; the variable CC names another one")
        })?;
        let cache = base::folders::cache()
            .ok_or("there is no folder for compiled code: neither HOME nor XDG_CACHE_HOME is set")?;
        let version = String::from_utf8_lossy(&version.stdout).into_owned();
        Ok(Self { command, version, cache: cache.join("external") })
    }

    /// The shared library of a job, from the cache where it is there.
    pub fn make(&self, job: &Job<'_>) -> Result<PathBuf, String> {
        let folder = WorkFolder::new(&self.cache)?;
        for (name, text) in &job.texts {
            folder.write(name, text)?;
        }
        let key = self.key(job, &folder)?;
        let made = self.cache.join(format!("{}-{key}.so", job.name));
        if made.is_file() {
            return Ok(made);
        }
        let mut command = self.command(job, &folder);
        command.args(["-shared", "-o", "made.so"]).args(&job.compiled).args(&job.sources);
        command.args(&job.linked).args(&job.linker_options);
        if cfg!(target_os = "linux") {
            // What is missing is told now instead of ending the process later.
            command.arg("-Wl,-z,defs");
        }
        output_of(command)?;
        let moved = std::fs::rename(folder.0.join("made.so"), &made);
        moved.map_err(|error| format!("cannot write `{}`: {error}", made.display()))?;
        Ok(made)
    }

    /// In its folder, with options and headers.
    fn command(&self, job: &Job<'_>, folder: &WorkFolder) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).args(OPTIONS).current_dir(&folder.0).arg("-I.");
        // Only what the annotations name, not what somebody has set.
        for name in ["CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH"] {
            command.env_remove(name);
        }
        for folder in &job.include {
            command.arg("-I").arg(folder);
        }
        command
    }

    /// The hash of all that goes into the library.
    fn key(&self, job: &Job<'_>, folder: &WorkFolder) -> Result<String, String> {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(self.command.join(" ").as_bytes());
        add(self.version.as_bytes());
        OPTIONS.iter().for_each(|option| add(option.as_bytes()));
        job.linker_options.iter().for_each(|option| add(option.as_bytes()));
        let texts = job.compiled.iter().map(Path::new);
        for file in texts.chain(job.sources.iter().map(PathBuf::as_path)) {
            let mut command = self.command(job, folder);
            command.args(["-E", "-P"]).arg(file);
            add(&output_of(command)?);
        }
        for file in &job.linked {
            add(file.to_string_lossy().as_bytes());
            add(&std::fs::read(file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?);
        }
        Ok(hash.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }
}

/// What a command prints; an error where it fails.
fn output_of(mut command: Command) -> Result<Vec<u8>, String> {
    let done = command.output().map_err(|error| format!("the C compiler cannot be started: {error}"))?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    Err(format!("its code cannot be compiled:\n{}", complaint(&String::from_utf8_lossy(&done.stderr))))
}

/// The lines that tell what is wrong; all of them where none is marked as an error.
fn complaint(said: &str) -> String {
    let is_error =
        |line: &&str| line.contains("error:") || line.contains("undefined reference") || line.contains("cannot find");
    let mut lines: Vec<&str> = said.lines().filter(is_error).collect();
    if lines.is_empty() {
        lines = said.lines().collect();
    }
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    let mut text = lines.join("\n");
    if more > 0 {
        let _ = write!(text, "\n… and {more} more lines");
    }
    text
}

/// A folder for one job, which goes with it.
struct WorkFolder(PathBuf);

impl WorkFolder {
    fn new(cache: &Path) -> Result<Self, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let fault = |error: std::io::Error| format!("cannot make a folder in `{}`: {error}", cache.display());
        std::fs::create_dir_all(cache).map_err(fault)?;
        only_for_user(cache).map_err(fault)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = cache.join(format!(".work-{}-{number}", std::process::id()));
        // One that was left behind by a process that had this id.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).map_err(fault)?;
        Ok(Self(folder))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.0.join(name);
        std::fs::write(&path, text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What stays costs room alone.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Code is loaded from there, so nobody else may write.
#[cfg(unix)]
fn only_for_user(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn only_for_user(_: &Path) -> std::io::Result<()> {
    Ok(())
}
