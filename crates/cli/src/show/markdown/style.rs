//! How a character looks on a terminal.

/// Codes of the terminal.
pub(super) const PLAIN: &str = "\u{1b}[0m";

/// A character and how it looks.
pub(super) type Styled = (char, TextStyle);

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "styles are independent of each other")]
pub(super) struct TextStyle {
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) italic: bool,
    pub(super) underlined: bool,
    pub(super) strike: bool,
    pub(super) code: bool,
}

impl TextStyle {
    pub(super) fn strong(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(super) fn dimmed(self) -> Self {
        Self { dim: true, ..self }
    }

    pub(super) fn emphasised(self) -> Self {
        Self { italic: true, ..self }
    }

    pub(super) fn struck(self) -> Self {
        Self { strike: true, ..self }
    }

    pub(super) fn coded(self) -> Self {
        Self { code: true, ..self }
    }

    pub(super) fn linked(self) -> Self {
        Self { underlined: true, ..self }
    }

    /// Turns the style on.
    fn code_on(self) -> String {
        let codes = [
            (self.bold, "1"),
            (self.dim, "2"),
            (self.italic, "3"),
            (self.underlined, "4"),
            (self.strike, "9"),
            (self.code, "36"),
        ];
        let codes: Vec<&str> = codes.iter().filter(|(on, _)| *on).map(|(_, code)| *code).collect();
        format!("\u{1b}[{}m", codes.join(";"))
    }
}

/// Text with its styles, none of which lasts beyond it.
pub(super) fn painted(text: &[Styled]) -> String {
    let mut out = String::new();
    for run in text.chunk_by(|(_, a), (_, b)| a == b) {
        let style = run.first().map(|(_, style)| *style).unwrap_or_default();
        let chars = run.iter().map(|(c, _)| *c);
        if style == TextStyle::default() {
            out.extend(chars);
        } else {
            out.push_str(&style.code_on());
            out.extend(chars);
            out.push_str(PLAIN);
        }
    }
    out
}
