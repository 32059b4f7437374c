//! The style of a character on a terminal.

/// The ANSI code that resets all styles.
pub(super) const ANSI_RESET: &str = "\u{1b}[0m";

/// A character and its style.
pub(super) type StyledChar = (char, TextStyle);

/// The style of text.
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
    pub(super) fn with_bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(super) fn with_dim(self) -> Self {
        Self { dim: true, ..self }
    }

    pub(super) fn with_italic(self) -> Self {
        Self { italic: true, ..self }
    }

    pub(super) fn with_strike(self) -> Self {
        Self { strike: true, ..self }
    }

    pub(super) fn with_code(self) -> Self {
        Self { code: true, ..self }
    }

    pub(super) fn with_underline(self) -> Self {
        Self { underlined: true, ..self }
    }

    /// The ANSI codes that switch the style on.
    fn ansi_start(self) -> String {
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

/// Text with ANSI codes for its styles, none of which lasts beyond it.
pub(super) fn paint(text: &[StyledChar]) -> String {
    let mut out = String::new();
    for run in text.chunk_by(|(_, a), (_, b)| a == b) {
        let style = run.first().map(|(_, style)| *style).unwrap_or_default();
        let chars = run.iter().map(|(c, _)| *c);
        if style == TextStyle::default() {
            out.extend(chars);
        } else {
            out.push_str(&style.ansi_start());
            out.extend(chars);
            out.push_str(ANSI_RESET);
        }
    }
    out
}
