//! Files, folders and texts of a session that lives.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use gyrator::{Error, Session};

/// A folder that goes away again.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gyrator-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.0.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The last value of `x`.
fn last(session: &mut Session, target: impl AsRef<Path>) -> Result<f64, Error> {
    let model = session.model(target.as_ref().to_str().unwrap())?;
    Ok(model.simulate(&model.experiment())?.last("x").unwrap())
}

#[test]
fn a_text_belongs_to_its_file_however_the_path_is_spelled() -> Result<(), Error> {
    let folder = Folder::new("spelling");
    let file = folder.write("m.mo", "model M Real x = time; end M;");
    let mut session = Session::new();
    assert_eq!(last(&mut session, &file)?, 1.0);
    session.replace_text(folder.0.join("inner/../m.mo"), "model M Real x = 2*time; end M;");
    assert_eq!(last(&mut session, &file)?, 2.0);
    session.replace_text(folder.0.join("./m.mo"), "model M Real x = 3*time; end M;");
    assert_eq!(last(&mut session, folder.0.join("inner/../m.mo"))?, 3.0);
    session.replace_text("new.mo", "model N Real x = 4*time; end N;");
    assert_eq!(last(&mut session, "./new.mo")?, 4.0);
    assert_eq!(last(&mut session, std::env::current_dir().unwrap().join("new.mo"))?, 4.0);
    session.forget_text(&file);
    assert_eq!(last(&mut session, &file)?, 1.0);
    Ok(())
}

#[test]
fn an_unsaved_file_is_part_of_its_package() -> Result<(), Error> {
    let folder = Folder::new("package");
    folder.write("P/package.mo", "within; package P constant Real c = 4; end P;");
    let mut session = Session::new();
    session.add_file(folder.0.join("P"));
    let new = folder.0.join("P/New.mo");
    session.replace_text(&new, "within P; model New Real x = c*time; end New;");
    assert_eq!(last(&mut session, "P.New")?, 4.0);
    assert_eq!(last(&mut session, &new)?, 4.0);
    session.replace_text(folder.0.join("P/Q/package.mo"), "within P; package Q end Q;");
    session.replace_text(folder.0.join("P/Q/Deep.mo"), "within P.Q; model Deep Real x = 2*c*time; end Deep;");
    assert_eq!(last(&mut session, "P.Q.Deep")?, 8.0);
    session.forget_text(&new);
    assert!(last(&mut session, "P.New").is_err());
    Ok(())
}

#[test]
fn files_and_libraries_can_be_taken_back() -> Result<(), Error> {
    let folder = Folder::new("removal");
    let base = folder.write("base.mo", "model Base Real x = time; end Base;");
    let user = folder.write("user.mo", "model User extends Base; end User;");
    let mut session = Session::new();
    session.add_file(&base);
    session.add_library(folder.0.join("none"));
    assert!(last(&mut session, &user).is_err());
    session.remove_library(folder.0.join("./none"));
    assert_eq!(last(&mut session, &user)?, 1.0);
    std::fs::rename(&base, folder.0.join("renamed.mo")).unwrap();
    assert!(last(&mut session, &user).is_err());
    session.remove_file(folder.0.join("x/../base.mo"));
    session.add_file(folder.0.join("renamed.mo"));
    assert_eq!(last(&mut session, &user)?, 1.0);
    Ok(())
}

#[test]
fn diagnostics_have_places() {
    let mut session = Session::new();
    session.replace_text("m.mo", "model M\n  Real x = 1 + true;\nend M;");
    let report = session.check("m.mo").unwrap();
    let place = report.place(report.diagnostics[0].labels[0].span).unwrap();
    assert_eq!((place.path.as_path(), place.line, place.end_line), (Path::new("m.mo"), 2, 2));
    assert!(place.column >= 12 && place.end_column > place.column, "{place:?}");
}

#[test]
fn sessions_move_and_snapshots_are_shared() {
    fn moves<T: Send>() {}
    fn is_shared<T: Sync>() {}
    moves::<Session>();
    moves::<gyrator::Snapshot>();
    is_shared::<gyrator::Snapshot>();
    is_shared::<gyrator::Model>();
}
