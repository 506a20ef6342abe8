//! Runs the program in a folder of its own.
#![allow(clippy::unwrap_used, dead_code)]

use std::path::PathBuf;
use std::process::Command;

pub struct Folder {
    path: PathBuf,
    /// Removed with the value.
    own: bool,
}

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gyrator-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self { path, own: true }
    }

    /// A folder in another one.
    pub fn within(outer: &Folder, name: &str) -> Self {
        Self { path: outer.path(name), own: false }
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.path.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    pub fn read(&self, file: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.path.join(file)).unwrap()).into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.own {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

pub fn gyrator(folder: &Folder, arguments: &[&str]) -> Run {
    gyrator_with(folder, arguments, &[])
}

/// The same with variables of the environment.
pub fn gyrator_with(folder: &Folder, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_gyrator"))
        .args(arguments)
        .current_dir(&folder.path)
        .env_remove("COLUMNS")
        .env_remove("MODELICAPATH")
        .env_remove("GYRATOR_INDEX")
        // What is installed on this machine does not count.
        .env("GYRATOR_LIBRARIES", folder.path.join("installed"))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
