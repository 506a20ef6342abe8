//! Completions and manual pages come from the description of the arguments.

mod common;

use common::{Folder, gyrator};

#[test]
fn shells_complete_commands_and_options() {
    let folder = Folder::new("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = gyrator(&folder, &["completions", shell]);
        assert_eq!(run.status, 0, "{shell}");
        for word in ["simulate", "equations", "stop-time"] {
            assert!(run.stdout.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn one_of_shell_and_folder_is_needed() {
    let folder = Folder::new("completions-call");
    for arguments in [&["completions"][..], &["completions", "bash", "--man", "x"], &["completions", "nosh"]] {
        assert_eq!(gyrator(&folder, arguments).status, 2, "{arguments:?}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new("manual");
    assert_eq!(gyrator(&folder, &["completions", "--man", "pages"]).status, 0);
    for page in ["gyrator.1", "gyrator-simulate.1", "gyrator-check.1"] {
        assert!(folder.read(&format!("pages/{page}")).contains(".SH SYNOPSIS"), "{page}");
    }
}
