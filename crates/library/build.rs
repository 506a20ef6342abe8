//! The folder `Gyrator` is part of the crate: a file that is new or changed there makes it anew.

fn main() {
    println!("cargo::rerun-if-changed=Gyrator");
}
