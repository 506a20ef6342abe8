//! What can go wrong with a result file, as a value: a full disk, a missing folder, a file of another layout.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum ResultError {
    /// The operating system refused; `doing` says what was tried (`write`, `read` …).
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    /// The file is not of the layout that its ending promises.
    Format { path: PathBuf, message: String },
    /// The caller broke the contract of [`crate::ResultSink`].
    Contract(String),
}

impl ResultError {
    pub fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), doing, source }
    }

    pub fn format(path: &Path, message: impl Into<String>) -> Self {
        Self::Format { path: path.to_owned(), message: message.into() }
    }
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, doing, source } if source.kind() == io::ErrorKind::StorageFull => {
                write!(f, "cannot {doing} `{}`: the disk is full", path.display())
            }
            Self::Io { path, doing, source } => write!(f, "cannot {doing} `{}`: {source}", path.display()),
            Self::Format { path, message } => write!(f, "`{}`: {message}", path.display()),
            Self::Contract(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ResultError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
