//! Renders a timeline as text.

use windlass::core::log::ids::UnixMillis;

use super::{TimelineItem, TimelineItemKind};
use crate::inspect::history::ConversationHistory;
use crate::terminal::number_format::{count_irregular_noun, count_noun};
use crate::terminal::{Color, OutputStyle, sanitize_line, time_format, truncate};

/// Maximum characters of a tool result.
const MAX_RESULT_CHARS: usize = 600;

/// Maximum lines of a tool result.
const MAX_RESULT_LINES: usize = 8;

/// Maximum characters of any other text.
const MAX_TEXT_CHARS: usize = 20_000;

/// Renders the items of a conversation, oldest first.
pub(crate) fn render_timeline(
    history: &ConversationHistory,
    scenes: &[TimelineItem],
    style: OutputStyle,
) -> Vec<String> {
    let entries = count_irregular_noun(history.entries.len() as u64, "entry", "entries");
    let since = history.entries.first().map_or(String::new(), |first| {
        format!(", since {}", time_format::format_timestamp(first.at))
    });
    let mut lines = vec![style.paint(Color::Bold, &format!("{} ({entries}{since})", history.lane))];
    for scene in scenes {
        lines.push(render_item(style, scene));
    }
    lines.push(String::new());
    lines
}

fn render_item(style: OutputStyle, scene: &TimelineItem) -> String {
    let clock = time_format::format_clock(UnixMillis(scene.at_ms));
    let head = |ink, who: &str| {
        let location = style.paint(Color::Dim, &format!("{clock} [entry {}]", scene.entry));
        format!("\n{} {location}", style.paint(ink, who))
    };
    let tool = scene.tool.as_deref().map(sanitize_line).unwrap_or_default();
    let text = sanitize_line(&scene.text);
    match scene.kind {
        TimelineItemKind::Prompt => {
            format!("{}\n{}", head(Color::Bold, "you"), render_body(style, &text))
        }
        TimelineItemKind::Reply => {
            format!("{}\n{}", head(Color::Bold, "model"), render_body(style, &text))
        }
        TimelineItemKind::Call => {
            style.wrap(&format!("→ {tool} {}", truncate(&text, MAX_TEXT_CHARS)), 2)
        }
        TimelineItemKind::Result => render_result(style, &format!("← {tool}: {text}"), Color::Dim),
        TimelineItemKind::Error => render_result(style, &format!("← {tool} {text}"), Color::Red),
        TimelineItemKind::Note => {
            render_result(style, &format!("· note to the model: {text}"), Color::Dim)
        }
        TimelineItemKind::Question => {
            format!("{}\n{}", head(Color::Yellow, "question"), render_body(style, &text))
        }
        TimelineItemKind::Answer => {
            format!("{}\n{}", head(Color::Bold, "you"), render_body(style, &text))
        }
        TimelineItemKind::Event => style.wrap(&format!("· {text}"), 2),
        TimelineItemKind::End => {
            format!("{}\n{}", head(Color::Bold, "end"), render_body(style, &text))
        }
    }
}

fn render_body(style: OutputStyle, text: &str) -> String {
    style.wrap(&truncate(text.trim_end(), MAX_TEXT_CHARS), 2)
}

/// The beginning of a tool result, and how much more there is.
fn render_result(style: OutputStyle, text: &str, ink: Color) -> String {
    let shown = style.wrap(&truncate(text.trim_end(), MAX_RESULT_CHARS), 2);
    let lines: Vec<&str> = shown.lines().take(MAX_RESULT_LINES).collect();
    let more = match text.lines().count().saturating_sub(MAX_RESULT_LINES) {
        // A long line may wrap to more lines than are shown.
        0 if shown.lines().count() > MAX_RESULT_LINES => "\n    …".to_owned(),
        0 => String::new(),
        more => format!("\n    … {}", count_noun(more as u64, "more line")),
    };
    let painted: Vec<String> = lines.iter().map(|line| style.paint(ink, line)).collect();
    format!("{}{more}", painted.join("\n"))
}
