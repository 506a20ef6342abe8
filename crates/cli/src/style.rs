//! Colour on the terminal, and none where nobody sees it.

use std::io::{IsTerminal as _, Write as _};

use crate::arguments::Color;
use crate::exit::Failure;
use crate::standard_output::standard_output;

#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether standard output may be coloured.
    pub out: bool,
    /// Whether standard error may be coloured.
    pub err: bool,
}

/// Prints to standard output. Whoever closes it early (`| head`) has seen enough.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = standard_output();
    done(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What became of writing to standard output.
pub fn done(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::call(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says something on standard error, if anybody listens.
pub fn tell(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The width of the window that standard output is in, in characters.
#[cfg(unix)]
#[allow(unsafe_code)]
pub fn window_width() -> Option<usize> {
    let mut size = std::mem::MaybeUninit::<libc::winsize>::uninit();
    // SAFETY: the size is written where the answer is zero, and read only then.
    let size = unsafe {
        (libc::ioctl(crate::standard_output::descriptor(), libc::TIOCGWINSZ, size.as_mut_ptr()) == 0)
            .then(|| size.assume_init())
    };
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

/// Elsewhere the window is not asked.
#[cfg(not(unix))]
pub fn window_width() -> Option<usize> {
    None
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const CYAN: &str = "\x1b[36m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

impl Style {
    pub fn new(color: Color) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match color {
            Color::Always => Self { out: true, err: true },
            Color::Never => Self { out: false, err: false },
            Color::Auto => {
                Self { out: !plain && std::io::stdout().is_terminal(), err: !plain && std::io::stderr().is_terminal() }
            }
        }
    }

    /// A message of the program itself, for standard error.
    pub fn error_line(self, message: &str) -> String {
        self.message(&format!("error: {message}"))
    }

    /// A rendered diagnostic, for standard error, with its parts coloured.
    pub fn message(self, text: &str) -> String {
        if !self.err {
            return text.to_owned();
        }
        let color = if text.starts_with("error") {
            RED
        } else if text.starts_with("warning") {
            YELLOW
        } else {
            CYAN
        };
        let lines = text.split('\n').enumerate().map(|(index, line)| match index {
            0 => first_line(line, color),
            _ => further_line(line, color),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn first_line(line: &str, color: &str) -> String {
    match line.split_once(": ") {
        Some((head, rest)) => format!("{color}{head}{PLAIN}{BOLD}: {rest}{PLAIN}"),
        None => line.to_owned(),
    }
}

fn further_line(line: &str, color: &str) -> String {
    let trimmed = line.trim_start();
    let indent = &line[..line.len() - trimmed.len()];
    for arrow in ["-->", ":::"] {
        if let Some(rest) = trimmed.strip_prefix(arrow) {
            return format!("{indent}{BLUE}{arrow}{PLAIN}{rest}");
        }
    }
    if let Some(rest) = trimmed.strip_prefix("= help:") {
        return format!("{indent}{BLUE}={PLAIN} {CYAN}help:{PLAIN}{rest}");
    }
    let Some((number, rest)) = line.split_once('|') else { return line.to_owned() };
    if !number.chars().all(|character| character == ' ' || character.is_ascii_digit()) {
        return line.to_owned();
    }
    let rest = if rest.trim_start().starts_with('^') { format!("{color}{rest}{PLAIN}") } else { rest.to_owned() };
    format!("{BLUE}{number}|{PLAIN}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_adds_nothing_but_colour() {
        let text = "error[unknown-name]: there is no `R`\n --> a.mo:1:2\n  |\n1 | R r;\n  | ^ here\n  = help: a | b\n";
        let coloured = Style { out: true, err: true }.message(text);
        let mut bare = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            bare.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        bare.push_str(rest);
        assert_eq!(bare, text);
        assert_ne!(coloured, text);
        assert_eq!(Style { out: false, err: false }.message(text), text);
    }
}
