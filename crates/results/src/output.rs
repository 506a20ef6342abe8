//! A result file that is readable at every moment, and that one run writes.
//!
//! The file appears with its first content in it: that is written beside it and moved to its name, so an older result stays
//! until there is a new one. What is appended is always a number of complete rows. When the disk fills up in the middle of
//! an append, the file is cut back to what it held before, so that no half row stays.
//!
//! A file of a format that cannot grow while it is read grows in a copy under a hidden name, which takes the name of the file
//! now and then; the copy that goes on to grow is made anew each time.
//!
//! A lock on the file, which ends with the process, keeps a second run from writing it.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::ResultError;

/// Rows are kept back at most this long, so that the file of a slow run can be watched.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct OutputFile {
    state: State,
    /// As the caller named it.
    path: PathBuf,
    length: u64,
    last_append: Instant,
    copy: Option<Copy>,
}

/// The copy that grows, from which the file is replaced.
#[derive(Debug)]
struct Copy {
    file: File,
    path: PathBuf,
    since: Instant,
    /// What it took to make it.
    cost: Duration,
}

/// Copies are made at most this part of the time.
const COPYING: u32 = 20;

#[derive(Debug)]
enum State {
    /// Nothing was written yet. The file that will be replaced is locked already.
    Waiting { target: PathBuf, old: Option<File> },
    /// With the lock of the file that was replaced, for those who opened that one. What is no file of a folder, such as a
    /// pipe, has no name under which it could be replaced.
    Open { file: File, target: Option<PathBuf>, old: Option<File> },
}

impl OutputFile {
    pub fn create(path: &Path) -> Result<Self, ResultError> {
        let state = claim(path).map_err(|error| ResultError::io(path, "create", error))?;
        Ok(Self { state, path: path.to_owned(), length: 0, last_append: Instant::now(), copy: None })
    }

    /// The file, once it has content, or the copy of it that grows.
    fn file(&mut self) -> io::Result<&mut File> {
        if let Some(copy) = &mut self.copy {
            return Ok(&mut copy.file);
        }
        match &mut self.state {
            State::Open { file, .. } => Ok(file),
            State::Waiting { .. } => Err(io::Error::other("nothing was written yet")),
        }
    }

    /// As the caller named it.
    pub fn path(&self) -> &Path {
        &self.path
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
        let length = self.length;
        let add = |file: &mut File| {
            file.write_all(bytes).inspect_err(|_| {
                // A pipe cannot be cut, and then there is nothing left to save.
                let _ = file.set_len(length);
                let _ = file.seek(SeekFrom::Start(length));
            })
        };
        let written = match &mut self.state {
            State::Open { file, .. } => add(self.copy.as_mut().map_or(file, |copy| &mut copy.file)),
            State::Waiting { target, old } => match publish(target, old, bytes) {
                Ok(file) => {
                    self.state = State::Open { file, target: Some(target.clone()), old: old.take() };
                    Ok(())
                }
                Err(error) => Err(error),
            },
        };
        written.map_err(|error| ResultError::io(&self.path, "write", error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Whether the content may be replaced as a whole.
    pub fn is_replaceable(&self) -> bool {
        !matches!(self.state, State::Open { target: None, .. })
    }

    /// Gives the file a new content. Who has opened it goes on to read the old one.
    pub fn replace(&mut self, bytes: &[u8]) -> Result<(), ResultError> {
        let State::Open { file, target: Some(target), old } = &mut self.state else { return self.append(bytes) };
        self.last_append = Instant::now();
        let replaced = file.try_clone().and_then(|clone| {
            let mut present = Some(clone);
            let new = publish(target, &mut present, bytes)?;
            *old = Some(std::mem::replace(file, new));
            Ok(())
        });
        replaced.map_err(|error| ResultError::io(&self.path, "write", error))?;
        self.length = bytes.len() as u64;
        Ok(())
    }

    /// From now on a copy of the file grows. Where none can be made, that is no failure: the caller then does without.
    pub fn grow_in_copy(&mut self) -> bool {
        let State::Open { file, target: Some(target), .. } = &self.state else { return false };
        let path = beside(target);
        let begin = Instant::now();
        match copied(target, &path, file, self.length) {
            Ok(file) => {
                self.copy = Some(Copy { file, path, since: begin, cost: begin.elapsed() });
                true
            }
            Err(_) => {
                let _ = std::fs::remove_file(&path);
                false
            }
        }
    }

    pub fn grows_in_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// Whether the copy should take the name of the file and be made anew.
    pub fn is_copy_due(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| copy.since.elapsed() > PATIENCE.max(copy.cost * COPYING))
    }

    /// The copy takes the name of the file. Who has opened that goes on to read the old content.
    pub fn publish_copy(&mut self) -> Result<(), ResultError> {
        let (Some(copy), State::Open { file, target: Some(target), old }) = (self.copy.take(), &mut self.state) else {
            return Ok(());
        };
        let moved = std::fs::rename(&copy.path, target).inspect_err(|_| {
            let _ = std::fs::remove_file(&copy.path);
        });
        moved.map_err(|error| ResultError::io(&self.path, "write", error))?;
        *old = Some(std::mem::replace(file, copy.file));
        Ok(())
    }

    /// Overwrites bytes that are already there.
    pub fn patch(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ResultError> {
        let written = self.file().and_then(|file| write_at(file, offset, bytes));
        written.map_err(|error| ResultError::io(&self.path, "write", error))
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// Cuts the file, or makes it longer by zeros.
    pub fn set_length(&mut self, length: u64) -> Result<(), ResultError> {
        let done = self.file().and_then(|file| {
            file.set_len(length)?;
            file.seek(SeekFrom::Start(length))
        });
        done.map_err(|error| ResultError::io(&self.path, "write", error))?;
        self.last_append = Instant::now();
        self.length = length;
        Ok(())
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
        let written = self.file().and_then(|file| {
            write(file).inspect_err(|_| {
                let _ = file.set_len(at);
                let _ = file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(old_end));
            })
        });
        written.map_err(|error| ResultError::io(&self.path, "write", error))?;
        self.length = length;
        Ok(())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(copy) = &self.copy {
            let _ = std::fs::remove_file(&copy.path);
        }
    }
}

/// A new file with the first bytes of another one, at their end and locked.
fn copied(from: &Path, path: &Path, opened: &File, length: u64) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    fill(&mut file, &[], Some(opened))?;
    let count = io::copy(&mut File::open(from)?.take(length), &mut file)?;
    if count < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(file)
}

/// Removes what runs that were killed left beside the file.
#[cfg(unix)]
fn remove_abandoned(target: &Path) {
    let Some(name) = target.file_name() else { return };
    let begin = format!(".{}.", name.to_string_lossy());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(&begin)?.strip_suffix(".part"));
        let is_part = number.is_some_and(|number| number.parse::<u32>().is_ok_and(|id| id != std::process::id()));
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_part
            && is_file
            && let Ok(file) = OpenOptions::new().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(not(unix))]
fn remove_abandoned(_target: &Path) {}

/// Makes sure that the file can be written, by this run alone.
fn claim(path: &Path) -> io::Result<State> {
    // A link stays, and the file that it leads to is written.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match OpenOptions::new().write(true).open(&target) {
        Ok(file) if !file.metadata()?.is_file() => Ok(State::Open { file, target: None, old: None }),
        Ok(file) => {
            lock(&file)?;
            remove_abandoned(&target);
            Ok(State::Waiting { target, old: Some(file) })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A folder that takes no files is known before the run.
            let beside = beside(&target);
            OpenOptions::new().write(true).create_new(true).open(&beside)?;
            std::fs::remove_file(&beside)?;
            remove_abandoned(&target);
            Ok(State::Waiting { target, old: None })
        }
        Err(error) => Err(error),
    }
}

/// Gives the file its first content.
fn publish(target: &Path, old: &mut Option<File>, bytes: &[u8]) -> io::Result<File> {
    let beside = beside(target);
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&beside) {
        Ok(file) => file,
        // A file that may be written, in a folder that takes none.
        Err(error) => match old.take() {
            Some(mut file) => {
                file.set_len(0)?;
                file.seek(SeekFrom::Start(0))?;
                return file.write_all(bytes).map(|()| file);
            }
            None => return Err(error),
        },
    };
    let moved = fill(&mut file, bytes, old.as_ref()).and_then(|()| move_to(&beside, target, old));
    if moved.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    moved.map(|()| file)
}

fn fill(file: &mut File, bytes: &[u8], old: Option<&File>) -> io::Result<()> {
    lock(file)?;
    if let Some(permissions) = old.and_then(|old| old.metadata().ok()).map(|data| data.permissions()) {
        let _ = file.set_permissions(permissions);
    }
    file.write_all(bytes)
}

/// Gives a file its name. Where another run has taken the name in the meantime, that one must be over.
fn move_to(beside: &Path, target: &Path, old: &mut Option<File>) -> io::Result<()> {
    if old.is_none() {
        match std::fs::hard_link(beside, target) {
            Ok(()) => return std::fs::remove_file(beside),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let other = OpenOptions::new().write(true).open(target)?;
                lock(&other)?;
                *old = Some(other);
            }
            // Not every file system has links.
            Err(_) => {}
        }
    }
    std::fs::rename(beside, target)
}

/// The hidden names that this program has used.
static HIDDEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The name under which a new file is prepared, in the same folder.
fn beside(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let path = target.with_file_name(format!(".{name}.{}.part", std::process::id()));
    if let Ok(mut hidden) = HIDDEN.lock() {
        hidden.insert(path.clone());
    }
    path
}

/// Removes files with hidden names, for a program that ends in the middle of a run.
pub fn remove_hidden() {
    if let Ok(hidden) = HIDDEN.lock() {
        hidden.iter().for_each(|path| drop(std::fs::remove_file(path)));
    }
}

/// Elsewhere a lock would keep readers out.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => Err(io::Error::other("another run is writing it")),
        // Not every file system has locks.
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(()),
    }
}

#[cfg(not(unix))]
fn lock(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Writes with one call of the system, where it has such calls.
#[cfg(unix)]
fn write_at(file: &mut File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_at(file: &mut File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let position = file.stream_position()?;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)?;
    file.seek(SeekFrom::Start(position)).map(drop)
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
    #[test]
    fn a_file_appears_with_content_and_replaces_the_old_one() {
        let path = TemporaryPath::new("appears.csv");
        let read = || std::fs::read_to_string(&path.0).ok();
        let mut file = OutputFile::create(&path.0).unwrap();
        assert_eq!(read(), None);
        file.append(b"one\n").unwrap();
        file.append(b"two\n").unwrap();
        drop(file);
        let mut file = OutputFile::create(&path.0).unwrap();
        assert_eq!(read().as_deref(), Some("one\ntwo\n"));
        file.append(b"three\n").unwrap();
        assert_eq!(read().as_deref(), Some("three\n"));
        let mut before = File::open(&path.0).unwrap();
        file.replace(b"four\nfive\n").unwrap();
        file.append(b"six\n").unwrap();
        assert_eq!(read().as_deref(), Some("four\nfive\nsix\n"));
        // Who is reading goes on to read what there was.
        let mut old = String::new();
        std::io::Read::read_to_string(&mut before, &mut old).unwrap();
        assert_eq!(old, "three\n");
        assert!(!beside(&path.0).exists());
    }

    #[cfg(unix)]
    #[test]
    fn one_run_writes_a_file() {
        let path = TemporaryPath::new("locked.csv");
        let expected = format!("cannot create `{}`: another run is writing it", path.0.display());
        let refused = || OutputFile::create(&path.0).map_err(|error| error.to_string()).err();
        let mut first = OutputFile::create(&path.0).unwrap();
        let mut second = OutputFile::create(&path.0).unwrap();
        first.append(b"first\n").unwrap();
        assert_eq!(refused().as_deref(), Some(&*expected));
        assert!(second.append(b"second\n").unwrap_err().to_string().contains("another run is writing it"));
        drop(first);
        assert_eq!(std::fs::read_to_string(&path.0).unwrap(), "first\n");
        // The lock on the old file counts until there is a new one, and after that.
        let third = OutputFile::create(&path.0).unwrap();
        assert_eq!(refused().as_deref(), Some(&*expected));
        drop(third);
        assert_eq!(refused(), None);
    }
}
