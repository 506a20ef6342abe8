//! Libraries from folders, archives, an index on the disk and one on a server of this computer.
#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;

use packages::{Done, Index, Installer, LibraryFolder, Version, Wanted, fetch};
use zip::write::{SimpleFileOptions, ZipWriter};

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gyrator-packages-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Names and versions in the library folder.
    fn installed(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join("libraries")).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn libraries(&self) -> LibraryFolder {
        LibraryFolder::at(self.0.join("libraries"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn package(name: &str, version: &str, uses: &str) -> String {
    format!(
        "package {name}\n  model M\n    Real x = 1;\n  end M;\n  annotation(version = \"{version}\"{uses});\nend {name};\n"
    )
}

fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in entries {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn wanted(text: &str) -> Wanted {
    Wanted::parse(text).unwrap()
}

#[test]
fn from_a_folder_a_file_and_an_archive() {
    let folder = Folder::new("paths");
    let libraries = folder.libraries();
    folder.write("checkout/.git/config", "secret");
    folder.write("checkout/README.md", "text");
    folder.write("checkout/Lib/package.mo", package("Lib", "1.2.3", ""));
    folder.write("checkout/Lib/Resources/data.txt", "data");
    folder.write("checkout/Other/package.mo", package("Other", "2.0", ""));
    let mut installer = Installer::new(&libraries, None);
    let several = installer.from_path(&folder.0.join("checkout"), None).unwrap_err();
    assert!(several.contains("Lib, Other"), "{several}");
    installer.from_path(&folder.0.join("checkout"), Some(&wanted("Lib@1.2"))).unwrap();
    let wrong = installer.from_path(&folder.0.join("checkout"), Some(&wanted("Lib@1.3"))).unwrap_err();
    assert!(wrong.contains("is version 1.2.3"), "{wrong}");
    let single = folder.write("Single.mo", package("Single", "4.0.0", ""));
    installer.from_path(&single, None).unwrap();
    let text = package("Packed", "0.1", "");
    let packed = folder.write("x.zip", archive(&[("root-abc/Packed/package.mo", &text)]));
    installer.from_path(&packed, None).unwrap();
    assert_eq!(folder.installed(), ["Lib 1.2.3", "Packed 0.1", "Single 4.0.0"]);
    assert_eq!(std::fs::read_to_string(folder.0.join("libraries/Lib 1.2.3/Resources/data.txt")).unwrap(), "data");
    assert!(!folder.0.join("libraries/Lib 1.2.3/.git").exists());
    let listed = libraries.list();
    let lib = listed.iter().find(|known| known.name == "Lib").unwrap();
    assert_eq!(lib.version, "1.2.3");
    assert!(lib.from.as_ref().unwrap().ends_with("checkout") && lib.sha256.as_ref().unwrap().len() == 64);
    // The same once more is no change; other content of the same version is an error.
    installer.from_path(&folder.0.join("checkout/Lib"), None).unwrap();
    assert!(matches!(installer.done().last(), Some(Done::Present(known)) if known.name == "Lib"));
    folder.write("checkout/Lib/Resources/data.txt", "other");
    let other = installer.from_path(&folder.0.join("checkout/Lib"), None).unwrap_err();
    assert!(other.contains("--replace"), "{other}");
    installer.replace = true;
    installer.from_path(&folder.0.join("checkout/Lib"), None).unwrap();
    assert_eq!(std::fs::read_to_string(folder.0.join("libraries/Lib 1.2.3/Resources/data.txt")).unwrap(), "other");
    libraries.remove("Lib", None).unwrap();
    assert_eq!(libraries.remove("Lib", None).unwrap_err(), "`Lib` is not installed");
    libraries.remove("Single", Some(&Version::new("4.0"))).unwrap();
    assert_eq!(folder.installed(), ["Packed 0.1"]);
}

#[test]
fn nothing_leaves_its_folder_and_nothing_is_left_behind() {
    let folder = Folder::new("slip");
    let libraries = folder.libraries();
    let text = package("Lib", "1.0", "");
    let mut installer = Installer::new(&libraries, None);
    for name in ["../evil.txt", "Lib/../../evil.txt", "/evil.txt"] {
        let path = folder.write("evil.zip", archive(&[("Lib/package.mo", &text), (name, "evil")]));
        let reason = installer.from_path(&path, None).unwrap_err();
        assert!(reason.contains("leads out of its folder"), "{reason}");
    }
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("Lib/package.mo", SimpleFileOptions::default()).unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    writer.add_symlink("Lib/link", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let path = folder.write("link.zip", writer.finish().unwrap().into_inner());
    assert!(installer.from_path(&path, None).unwrap_err().contains("is a link"));
    let path = folder.write("broken.zip", &archive(&[("Lib/package.mo", &text)])[..80]);
    assert!(installer.from_path(&path, None).is_err());
    let path = folder.write("none.zip", archive(&[("x.txt", "x")]));
    let reason = installer.from_path(&path, None).unwrap_err();
    assert_eq!(reason, format!("there is no package in `{}`", path.display()));
    let path = folder.write("name.zip", archive(&[("Lib/package.mo", &package("'../../Lib'", "1.0", ""))]));
    assert!(installer.from_path(&path, None).unwrap_err().contains("cannot be the name of a folder"));
    let path = folder.write("versionless.zip", archive(&[("Lib/package.mo", "package Lib end Lib;")]));
    assert!(installer.from_path(&path, None).unwrap_err().contains("which version"));
    let path = folder.write("bad.zip", archive(&[("Lib/package.mo", &package("Lib", "../1", ""))]));
    assert!(installer.from_path(&path, None).unwrap_err().contains("is no version"));
    // A few bytes that become many.
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("Lib/package.mo", SimpleFileOptions::default()).unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    writer.start_file("Lib/zeroes", SimpleFileOptions::default()).unwrap();
    (0..65).for_each(|_| writer.write_all(&vec![0; 1 << 20]).unwrap());
    let path = folder.write("bomb.zip", writer.finish().unwrap().into_inner());
    let reason = installer.from_path(&path, None).unwrap_err();
    assert!(reason.contains("too large: an archive of this size may hold 64 MB"), "{reason}");
    // Not even hidden folders.
    assert_eq!(folder.installed(), Vec::<String>::new());
    assert!(!folder.0.join("evil.txt").exists() && !PathBuf::from("/evil.txt").exists());
    for text in ["", "a/b", "../x", "Lib@", "1x"] {
        assert!(Wanted::parse(text).is_err(), "{text}");
    }
}

/// Answers so many requests with files of a list; others are not found.
fn serve(files: Vec<(String, Vec<u8>)>, count: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(count) {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut part = [0; 1024];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                let length = stream.read(&mut part).unwrap();
                request.extend_from_slice(&part[..length]);
            }
            let line = String::from_utf8_lossy(&request).into_owned();
            let path = line.split(' ').nth(1).unwrap_or_default();
            let (status, body) = match files.iter().find(|(name, _)| name == path) {
                Some((_, body)) => ("200 OK", body.clone()),
                None => ("404 Not Found", Vec::new()),
            };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&body).unwrap();
        }
    });
    address
}

#[test]
fn from_an_index_on_a_server_with_what_is_used() {
    let folder = Folder::new("index");
    let libraries = folder.libraries();
    let base = archive(&[("base-1/Base/package.mo", &package("Base", "2.0.1", ""))]);
    let lib = archive(&[
        (
            "lib-1/Lib/package.mo",
            &package("Lib", "3.1.0", ", uses(Base(version = \"2.0.0\"), Absent(version = \"1\"))"),
        ),
        ("lib-1/Other/package.mo", &package("Other", "1", "")),
    ]);
    let index = r#"{"libs": {
        "Base": {"versions": {"2.0.1": {"zipfile": "base.zip", "path": "Base", "provides": ["2.0.0"], "sha": "x"}}},
        "Gone": {"versions": {"1.0.0": {"zipfile": "gone.zip", "path": "Gone"}}},
        "Wrong": {"versions": {"1.0.0": {"zipfile": "base.zip", "path": "Base", "sha256": "00"}}},
        "Named": {"versions": {"1.0.0": {"zipfile": "base.zip", "path": "Base"}}},
        "Out": {"versions": {"1.0.0": {"zipfile": "base.zip", "path": "../../x"}}},
        "Lib": {"versions": {
            "3.0.0": {"zipfile": "old.zip", "path": "Lib"},
            "3.1.0": {"zipfile": "lib.zip", "path": "Lib", "uses": {"Base": "2.0.0", "Absent": "1"}}}}}}"#;
    let files = vec![
        ("/x/index.json".to_owned(), index.as_bytes().to_vec()),
        ("/x/base.zip".to_owned(), base),
        ("/x/lib.zip".to_owned(), lib),
    ];
    let address = format!("{}/x/index.json", serve(files, 8));
    let index = Index::parse(&address, &fetch(&address).unwrap()).unwrap();
    let mut installer = Installer::new(&libraries, Some(&index));
    installer.from_index(&wanted("Lib@3.1")).unwrap();
    assert_eq!(folder.installed(), ["Base 2.0.1", "Lib 3.1.0"]);
    assert_eq!(installer.missing, ["the index has no library `Absent`"]);
    let gone = installer.from_index(&wanted("Gone")).unwrap_err();
    assert!(gone.contains("gone.zip") && gone.contains("404"), "{gone}");
    assert!(installer.from_index(&wanted("Wrong")).unwrap_err().contains("SHA-256"));
    let named = installer.from_index(&wanted("Named")).unwrap_err();
    assert!(named.contains("holds the package `Base`"), "{named}");
    assert!(installer.from_index(&wanted("Out")).unwrap_err().contains("leaves the archive"));
    assert_eq!(folder.installed(), ["Base 2.0.1", "Lib 3.1.0"]);
}

/// A file at the top does not hide the packages that lie in a folder of sources.
#[test]
fn a_file_beside_folders_of_packages() {
    let folder = Folder::new("sources");
    let libraries = folder.libraries();
    let (single, foo, bar) = (package("Single", "0.1", ""), package("Foo", "1.0", ""), package("Bar", "2.0", ""));
    let bytes = archive(&[
        ("repo-main/Single.mo", single.as_str()),
        ("repo-main/src/Foo/package.mo", foo.as_str()),
        ("repo-main/src/Bar/package.mo", bar.as_str()),
    ]);
    let path = folder.write("deep.zip", bytes);
    let mut installer = Installer::new(&libraries, None);
    let several = installer.from_path(&path, None).unwrap_err();
    assert!(several.contains("Single, Bar, Foo"), "{several}");
    installer.from_path(&path, Some(&wanted("Foo"))).unwrap();
    assert_eq!(folder.installed(), ["Foo 1.0"]);
}

/// The same library from a clean folder and from one that was looked at, packed and edited.
#[test]
fn what_other_programs_leave_behind_is_no_part_of_a_library() {
    let folder = Folder::new("left-behind");
    let text = package("Lib", "1.2.3", "");
    let content = [("package.mo", text.as_str()), ("Resources/data.txt", "data")];
    let junk = [
        ".git/config",
        ".DS_Store",
        "__MACOSX/package.mo",
        "Resources/Thumbs.db",
        "Resources/.DS_Store",
        "desktop.ini",
        "package.mo~",
    ];
    for (name, text) in content {
        folder.write(&format!("clean/Lib/{name}"), text);
        folder.write(&format!("used/Lib/{name}"), text);
    }
    for name in junk {
        folder.write(&format!("used/Lib/{name}"), "junk");
        folder.write(&format!("used/{name}"), "junk");
    }
    let libraries = folder.libraries();
    let mut installer = Installer::new(&libraries, None);
    installer.from_path(&folder.0.join("used"), None).unwrap();
    let [made] = libraries.list().try_into().unwrap();
    for name in junk {
        assert!(!made.folder.join(name).exists(), "{name}");
    }
    // With the same hash it is the same library.
    installer.from_path(&folder.0.join("clean"), None).unwrap();
    assert!(matches!(installer.done(), [Done::Installed(_), Done::Present(_)]), "{:?}", installer.done());
    let entries: Vec<(String, &str)> = content.iter().map(|(name, text)| (format!("Lib/{name}"), *text)).collect();
    let mut entries: Vec<(&str, &str)> = entries.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    entries.push(("__MACOSX/Lib/package.mo", "junk"));
    let packed = folder.write("lib.zip", archive(&entries));
    let mut installer = Installer::new(&libraries, None);
    installer.from_path(&packed, None).unwrap();
    assert!(matches!(installer.done(), [Done::Present(_)]), "{:?}", installer.done());
}
