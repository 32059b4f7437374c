//! A shell word and the expansions that the shell still applies to it.

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellWord {
    /// The text that the program gets, or the source if that is only known at run time.
    pub(crate) text: String,
    pub(crate) kind: WordKind,
}

/// The expansion that the shell applies to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// No expansion.
    Plain,
    /// Tilde expansion: the home folder is put in front.
    Home,
    /// Pathname expansion: the shell finds matching files.
    Pattern,
    /// Any other expansion.
    Unknown,
}

/// Folders of system programs.
const SYSTEM_FOLDERS: &[&str] =
    &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];

impl ShellWord {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: WordKind::Plain }
    }

    pub(crate) fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: WordKind::Unknown }
    }

    pub(crate) fn is_option(&self) -> bool {
        self.text.starts_with('-') && self.text.len() > 1
    }

    /// Returns the word as a program name, without its folder if that is a system folder.
    pub(crate) fn program_name(&self) -> &str {
        let name = SYSTEM_FOLDERS.iter().find_map(|folder| self.text.strip_prefix(folder));
        name.filter(|name| !name.contains('/') && !name.is_empty()).unwrap_or(&self.text)
    }

    /// Returns the program name without any folder.
    pub(crate) fn base_name(&self) -> &str {
        base_name_of(&self.text)
    }
}

/// Returns the name of a program without its folder.
pub(crate) fn base_name_of(program: &str) -> &str {
    program.rsplit_once('/').map_or(program, |(_, name)| name)
}

/// Builds a word: its text, and whether its unquoted parts are expanded.
#[derive(Default)]
pub(crate) struct WordBuilder {
    text: String,
    kind: Option<WordKind>,
    /// Whether the word has begun, even if only with an empty pair of quotes.
    has_started: bool,
    /// The progress of a brace expansion `{…,…}`.
    brace: BraceState,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum BraceState {
    #[default]
    None,
    Open,
    HasComma,
}

impl WordBuilder {
    /// Adds quoted text: quotes, or text after a backslash.
    pub(crate) fn push_quoted(&mut self, text: &str) {
        self.has_started = true;
        self.text.push_str(text);
    }

    /// Adds an unquoted character.
    pub(crate) fn push_bare(&mut self, c: char) {
        match c {
            '*' | '?' | '[' => self.raise_kind(WordKind::Pattern),
            '~' if !self.has_started => self.raise_kind(WordKind::Home),
            // `name=~/x` and `name=a:~/x` are expanded like assignments.
            '~' if self.text.ends_with(['=', ':']) && self.text.contains('=') => {
                self.raise_kind(WordKind::Unknown);
            }
            // A brace within one that already has parts does not end it.
            '{' if self.brace == BraceState::None => self.brace = BraceState::Open,
            ',' | '.' if self.brace == BraceState::Open => self.brace = BraceState::HasComma,
            '}' if self.brace == BraceState::HasComma => self.raise_kind(WordKind::Unknown),
            _ => {}
        }
        self.has_started = true;
        self.text.push(c);
    }

    /// Adds unquoted text in which backslashes quote. A backslash before a newline joins two lines.
    pub(crate) fn push_bare_text(&mut self, text: &str) {
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match (c, c == '\\') {
                (_, true) => self.push_escaped(rest.next()),
                (c, false) => self.push_bare(c),
            }
        }
    }

    pub(crate) fn push_escaped(&mut self, c: Option<char>) {
        match c {
            Some('\n') => {}
            Some(c) => self.push_quoted(c.encode_utf8(&mut [0; 4])),
            None => self.raise_kind(WordKind::Unknown),
        }
    }

    /// Raises the kind of expansion; the least predictable counts: a pattern after a tilde is a
    /// pattern.
    pub(crate) fn raise_kind(&mut self, kind: WordKind) {
        self.kind = match (self.kind, kind) {
            (Some(WordKind::Unknown), _) | (_, WordKind::Unknown) => Some(WordKind::Unknown),
            (Some(WordKind::Pattern), _) | (_, WordKind::Pattern) => Some(WordKind::Pattern),
            (_, kind) => Some(kind),
        };
    }

    pub(crate) fn finish(self) -> ShellWord {
        ShellWord { text: self.text, kind: self.kind.unwrap_or(WordKind::Plain) }
    }
}

/// Decodes the text between double quotes; `None` if the shell would expand something in it.
pub(crate) fn decode_double_quotes(inside: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = inside.chars();
    while let Some(c) = rest.next() {
        match c {
            '$' | '`' | '"' => return None,
            '\\' => match rest.next()? {
                '\n' => {}
                c @ ('$' | '`' | '"' | '\\') => text.push(c),
                c => text.extend(['\\', c]),
            },
            c => text.push(c),
        }
    }
    Some(text)
}
