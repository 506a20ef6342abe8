//! A result file that is readable at every moment.
//!
//! What is appended is always a number of complete rows. When the disk fills up in the middle of an append, the file
//! is cut back to what it held before, so that no half row stays.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::ResultError;

/// Rows are kept back at most this long, so that the file of a slow run can be watched.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct OutputFile {
    file: File,
    path: PathBuf,
    length: u64,
    last_append: Instant,
}

impl OutputFile {
    pub fn create(path: &Path) -> Result<Self, ResultError> {
        let file = File::create(path).map_err(|error| ResultError::io(path, "create", error))?;
        Ok(Self { file, path: path.to_owned(), length: 0, last_append: Instant::now() })
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether rows have been kept back long enough.
    pub fn is_stale(&self) -> bool {
        self.last_append.elapsed() > PATIENCE
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<(), ResultError> {
        self.last_append = Instant::now();
        if let Err(error) = self.file.write_all(bytes) {
            // A pipe cannot be cut, and then there is nothing left to save.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::Start(self.length));
            return Err(ResultError::io(&self.path, "write", error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Overwrites bytes that are already there.
    pub fn patch(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ResultError> {
        let write = |file: &mut File| {
            file.seek(SeekFrom::Start(offset))?;
            file.write_all(bytes)?;
            file.seek(SeekFrom::Start(self.length))
        };
        write(&mut self.file).map(drop).map_err(|error| ResultError::io(&self.path, "write", error))
    }

    /// Cuts the file; what follows is appended there.
    pub fn truncate(&mut self, length: u64) -> Result<(), ResultError> {
        self.length = length;
        let cut = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::Start(length)));
        cut.map(drop).map_err(|error| ResultError::io(&self.path, "write", error))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A path of its own in the temporary folder; the file is removed with the value.
    pub struct TemporaryPath(pub PathBuf);

    impl TemporaryPath {
        pub fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("gyrator-results-{}-{name}", std::process::id())))
        }
    }

    impl Drop for TemporaryPath {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_full_disk_is_an_error_value() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            return;
        }
        let error = OutputFile::create(full).unwrap().append(b"x").unwrap_err();
        assert_eq!(error.to_string(), "cannot write `/dev/full`: the disk is full");
    }
}
