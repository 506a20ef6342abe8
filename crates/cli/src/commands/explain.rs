//! `gyrator explain`: what the code of a message means. The text is the page of the manual.

use session::nearest;

use crate::arguments::Explain;
use crate::exit::Failure;
use crate::style::print;

/// One section `## code` for each code.
const PAGE: &str = include_str!("../../../../docs/errors.md");

pub fn run(arguments: &Explain) -> Result<(), Failure> {
    match &arguments.code {
        None => list(),
        Some(code) => explain(code),
    }
}

fn list() -> Result<(), Failure> {
    let longest = entries().map(|(code, _)| code.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (code, entry) in entries() {
        text.push_str(&format!("{code:longest$}  {}\n", headline(entry)));
    }
    print(&text)
}

fn explain(code: &str) -> Result<(), Failure> {
    // As in a message: `error[unknown-name]`.
    let bare = code.split_once('[').map_or(code, |(_, rest)| rest.trim_end_matches(']'));
    match entries().find(|(known, _)| *known == bare) {
        Some((known, entry)) => print(&format!("{known}\n\n{}\n", without_fences(entry))),
        None => {
            let hint = match nearest(bare, entries().map(|(known, _)| known)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`gyrator explain` lists them".to_owned(),
            };
            Err(Failure::call(format!("there is no code `{bare}`; {hint}")))
        }
    }
}

/// The codes with their texts, in the order of the page.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.split("\n## ").skip(1).map(|section| {
        let (code, text) = section.split_once('\n').unwrap_or((section, ""));
        (code.trim(), text.trim())
    })
}

/// The first sentence, on one line.
fn headline(entry: &str) -> String {
    let paragraph = entry.split("\n\n").next().unwrap_or("").replace('\n', " ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |end| end + 1);
    paragraph[..end].to_owned()
}

/// Models are indented instead of fenced.
fn without_fences(entry: &str) -> String {
    let mut is_model = false;
    let mut lines = Vec::new();
    for line in entry.lines() {
        if line.starts_with("```") {
            is_model = !is_model;
        } else if is_model {
            lines.push(format!("    {line}"));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_and_have_texts() {
        let codes: Vec<&str> = entries().map(|(code, _)| code).collect();
        assert!(codes.len() > 300);
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]));
        for (code, entry) in entries() {
            let headline = headline(entry);
            assert!(headline.ends_with(['.', '?']) && headline.len() < 160, "{code}: {headline}");
        }
    }
}
