//! What can go wrong with a result file, as a value: a full disk, a missing folder, a file of another layout.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a result cannot be read or written.
#[derive(Debug)]
pub enum ResultError {
    /// The operating system refused; `doing` says what was tried (`write`, `read` …).
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not of the layout that its ending promises.
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The caller broke the contract of [`crate::ResultSink`].
    Contract(String),
}

impl ResultError {
    /// A failed operation of the system.
    pub fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), doing, source }
    }

    /// A file that is not what it should be.
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
