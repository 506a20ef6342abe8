//! The content of a file by its path or its address: `file://`, `http://`, `https://`.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Larger archives are refused.
const MOST_BYTES: u64 = 2 << 30;
const CONNECT: Duration = Duration::from_secs(20);
/// For all of one file.
const LONGEST: Duration = Duration::from_secs(600);

/// Reads a file.
pub fn fetch(address: &str) -> Result<Vec<u8>, String> {
    if is_net(address) {
        return download(address);
    }
    let path = local(address);
    std::fs::read(&path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}

/// Whether an address is one of the net.
pub fn is_net(address: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme))
}

/// The path of an address on this computer.
pub fn local(address: &str) -> PathBuf {
    PathBuf::from(address.strip_prefix("file://").unwrap_or(address))
}

/// An address that may be relative to the file it was found in.
pub fn relative_to(origin: &str, address: &str) -> String {
    let is_whole = is_net(address) || address.starts_with("file://") || Path::new(address).is_absolute();
    match origin.rsplit_once('/') {
        Some((folder, _)) if !is_whole => format!("{folder}/{address}"),
        _ => address.to_owned(),
    }
}

fn download(address: &str) -> Result<Vec<u8>, String> {
    let fault = |error: ureq::Error| format!("cannot load `{address}`: {error}");
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(LONGEST))
        .user_agent(concat!("gyrator/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut response = agent.get(address).call().map_err(fault)?;
    response.body_mut().with_config().limit(MOST_BYTES).read_to_vec().map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_relative_to_their_index() {
        assert_eq!(relative_to("https://a.b/c/index.json", "x.zip"), "https://a.b/c/x.zip");
        assert_eq!(relative_to("https://a.b/index.json", "https://d/x.zip"), "https://d/x.zip");
        assert_eq!(relative_to("folder/index.json", "x.zip"), "folder/x.zip");
        assert_eq!(relative_to("index.json", "x.zip"), "x.zip");
    }
}
