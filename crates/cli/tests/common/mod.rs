//! Runs the program in a folder of its own.
#![allow(clippy::unwrap_used, dead_code)]

use std::path::PathBuf;
use std::process::Command;

pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gyrator-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.join(file), text).unwrap();
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    pub fn read(&self, file: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.0.join(file)).unwrap()).into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

pub fn gyrator(folder: &Folder, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_gyrator"))
        .args(arguments)
        .current_dir(&folder.0)
        .env_remove("COLUMNS")
        .env_remove("MODELICAPATH")
        .output()
        .unwrap();
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
