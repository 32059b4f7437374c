//! Scenes on paper.

use super::{Kind, Scene};
use crate::look::numbers::{counted, counted_of};
use crate::look::paper::{Ink, Paper, clean, cut};
use crate::look::story::Story;
use crate::look::time;
use windlass::core::ids::Millis;

/// Characters of what a tool brought.
const RESULT_CHARS: usize = 600;

/// Lines of what a tool brought.
const RESULT_LINES: usize = 8;

/// Characters of what anybody said.
const SAID_CHARS: usize = 20_000;

/// A conversation, top to bottom.
pub(crate) fn page(story: &Story, scenes: &[Scene], paper: Paper) -> Vec<String> {
    let entries = counted_of(story.entries.len() as u64, "entry", "entries");
    let since = story
        .entries
        .first()
        .map_or(String::new(), |first| format!(", since {}", time::stamp(first.at)));
    let mut lines = vec![paper.ink(Ink::Strong, &format!("{} ({entries}{since})", story.lane))];
    for scene in scenes {
        lines.push(on(paper, scene));
    }
    lines.push(String::new());
    lines
}

fn on(paper: Paper, scene: &Scene) -> String {
    let clock = time::clock(Millis(scene.at_ms));
    let head = |ink, who: &str| {
        let place = paper.ink(Ink::Faint, &format!("{clock} [entry {}]", scene.entry));
        format!("\n{} {place}", paper.ink(ink, who))
    };
    let tool = scene.tool.as_deref().map(clean).unwrap_or_default();
    let said = clean(&scene.text);
    match scene.kind {
        Kind::Prompt => format!("{}\n{}", head(Ink::Strong, "you"), body(paper, &said)),
        Kind::Reply => format!("{}\n{}", head(Ink::Strong, "model"), body(paper, &said)),
        Kind::Call => paper.wrap(&format!("→ {tool} {}", cut(&said, SAID_CHARS)), 2),
        Kind::Result => result(paper, &format!("← {tool}: {said}"), Ink::Faint),
        Kind::Error => result(paper, &format!("← {tool} {said}"), Ink::Bad),
        Kind::Note => result(paper, &format!("· told the model: {said}"), Ink::Faint),
        Kind::Question => format!("{}\n{}", head(Ink::Notable, "question"), body(paper, &said)),
        Kind::Answer => format!("{}\n{}", head(Ink::Strong, "you"), body(paper, &said)),
        Kind::Event => paper.wrap(&format!("· {said}"), 2),
        Kind::End => format!("{}\n{}", head(Ink::Strong, "end"), body(paper, &said)),
    }
}

fn body(paper: Paper, text: &str) -> String {
    paper.wrap(&cut(text.trim_end(), SAID_CHARS), 2)
}

/// The beginning of what a tool brought, and how much more there is.
fn result(paper: Paper, text: &str, ink: Ink) -> String {
    let shown = paper.wrap(&cut(text.trim_end(), RESULT_CHARS), 2);
    let lines: Vec<&str> = shown.lines().take(RESULT_LINES).collect();
    let more = match text.lines().count().saturating_sub(RESULT_LINES) {
        // A long line may take more room than there is.
        0 if shown.lines().count() > RESULT_LINES => "\n    …".to_owned(),
        0 => String::new(),
        more => format!("\n    … {}", counted(more as u64, "more line")),
    };
    let painted: Vec<String> = lines.iter().map(|line| paper.ink(ink, line)).collect();
    format!("{}{more}", painted.join("\n"))
}
