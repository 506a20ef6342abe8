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

    /// Whether rows have been kept back long enough.
    pub fn is_stale(&self) -> bool {
        self.is_stale_by(1)
    }

    /// The same for several times the usual patience.
    pub fn is_stale_by(&self, times: u32) -> bool {
        self.last_append.elapsed() > PATIENCE * times
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

    /// Replaces the end of the file, which begins at `at`, by data of the given size and a new end. The file has one of the
    /// two ends at every moment: the old one is moved to where the new one will be, the data are written before it, then
    /// the new end takes its place. When that fails, the file is as it was before.
    pub fn insert(
        &mut self,
        at: u64,
        size: u64,
        data: impl Iterator<Item = Vec<u8>>,
        old_end: &[u8],
        new_end: &[u8],
    ) -> Result<(), ResultError> {
        self.last_append = Instant::now();
        let length = at + size + new_end.len() as u64;
        let write = |file: &mut File| {
            file.seek(SeekFrom::Start(length - old_end.len() as u64))?;
            file.write_all(old_end)?;
            file.seek(SeekFrom::Start(at))?;
            for piece in data {
                file.write_all(&piece)?;
            }
            file.write_all(new_end)
        };
        if let Err(error) = write(&mut self.file) {
            let _ = self.file.set_len(at);
            let _ = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(old_end));
            return Err(ResultError::io(&self.path, "write", error));
        }
        self.length = length;
        Ok(())
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
