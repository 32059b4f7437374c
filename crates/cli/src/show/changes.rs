//! A change of a file in a few lines: what goes in red, what comes in green, each with its number.

use windlass::tools::Hunk;

use super::terminal::{Colours, Style, harmless};

#[cfg(test)]
#[path = "changes_tests.rs"]
mod changes_tests;

/// Lines shown of one change.
const MOST_LINES: usize = 16;

/// Characters shown of one line.
const MOST_CHARS: usize = 110;

/// The change as it is shown, with a last line about what is not.
pub(super) fn lines(hunks: &[Hunk], colours: Colours) -> Vec<String> {
    let all = hunks.iter().map(numbered).collect::<Vec<_>>();
    let count: usize = all.iter().map(Vec::len).sum::<usize>() + all.len().saturating_sub(1);
    let apart = all.join(&Line { number: None, sign: ' ', text: "⋮" });
    let mut shown: Vec<String> =
        apart.iter().take(MOST_LINES).map(|line| line.painted(colours)).collect();
    if count > MOST_LINES {
        let more = format!("        … {} more lines", count - MOST_LINES);
        shown.push(colours.paint(Style::Dim, &more));
    }
    shown
}

#[derive(Debug, Clone)]
struct Line<'h> {
    number: Option<usize>,
    sign: char,
    text: &'h str,
}

impl Line<'_> {
    fn painted(&self, colours: Colours) -> String {
        let number = self.number.map(|number| number.to_string()).unwrap_or_default();
        let text = harmless(self.text).replace('\t', "    ");
        let mut cut: String = text.chars().take(MOST_CHARS).collect();
        if cut.len() < text.len() {
            cut.push('…');
        }
        let style = match self.sign {
            '-' => Style::Red,
            '+' => Style::Green,
            _ => Style::Dim,
        };
        colours.paint(style, format!("    {number:>4} {}{cut}", self.sign).trim_end())
    }
}

/// Lines that go have the number they had, the others the one they have.
fn numbered(hunk: &Hunk) -> Vec<Line<'_>> {
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
        // A note about the line above begins with a sign of its own.
        let sign = if number.is_some() { sign } else { ' ' };
        Line { number, sign, text: text.get(1..).unwrap_or_default() }
    });
    lines.collect()
}
