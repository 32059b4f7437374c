//! Diff of a file change in a few lines: removed lines in red, added ones in green, each with its
//! number.

use windlass::tools::DiffHunk;

use crate::terminal::{Color, ColorSupport, sanitize_text};

#[cfg(test)]
#[path = "diff_view_tests.rs"]
mod diff_view_tests;

/// Maximum number of lines of one change.
const MAX_LINES: usize = 16;

/// Maximum characters of one line.
const MAX_LINE_CHARS: usize = 110;

/// The lines of the change, with a last line about what is left out.
pub(crate) fn diff_lines(hunks: &[DiffHunk], colours: ColorSupport) -> Vec<String> {
    let all = hunks.iter().map(number_lines).collect::<Vec<_>>();
    let count: usize = all.iter().map(Vec::len).sum::<usize>() + all.len().saturating_sub(1);
    let apart = all.join(&DiffLine { number: None, sign: ' ', text: "⋮" });
    let mut shown: Vec<String> =
        apart.iter().take(MAX_LINES).map(|line| line.paint(colours)).collect();
    if count > MAX_LINES {
        let more = format!("        … {} more lines", count - MAX_LINES);
        shown.push(colours.paint(Color::Dim, &more));
    }
    shown
}

#[derive(Debug, Clone)]
struct DiffLine<'h> {
    number: Option<usize>,
    sign: char,
    text: &'h str,
}

impl DiffLine<'_> {
    fn paint(&self, colours: ColorSupport) -> String {
        let number = self.number.map(|number| number.to_string()).unwrap_or_default();
        let text = sanitize_text(self.text).replace('\t', "    ");
        let mut cut: String = text.chars().take(MAX_LINE_CHARS).collect();
        if cut.len() < text.len() {
            cut.push('…');
        }
        let style = match self.sign {
            '-' => Color::Red,
            '+' => Color::Green,
            _ => Color::Dim,
        };
        colours.paint(style, format!("    {number:>4} {}{cut}", self.sign).trim_end())
    }
}

/// Numbers the lines: removed lines by the old file, all others by the new one.
fn number_lines(hunk: &DiffHunk) -> Vec<DiffLine<'_>> {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut line = |text: &'_ str| -> (Option<usize>, char) {
        let sign = text.chars().next().unwrap_or(' ');
        let number = match sign {
            '-' => Some(old),
            '+' | ' ' => Some(new),
            _ => None,
        };
        old += usize::from(matches!(sign, '-' | ' '));
        new += usize::from(matches!(sign, '+' | ' '));
        (number, sign)
    };
    let lines = hunk.lines.iter().map(|text| {
        let (number, sign) = line(text);
        // A note about the line above has a sign of its own.
        let sign = if number.is_some() { sign } else { ' ' };
        DiffLine { number, sign, text: text.get(1..).unwrap_or_default() }
    });
    lines.collect()
}
