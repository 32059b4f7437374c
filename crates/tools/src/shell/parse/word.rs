//! A word of a command, and what the shell would still do to it.

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// What the program gets, or the source if that is only known when it runs.
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// What the shell does to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing more.
    Plain,
    /// It puts the home folder in front.
    Home,
    /// It looks for files whose names fit.
    Pattern,
    /// Anything.
    Unknown,
}

/// Folders whose programs are the system's own.
const SYSTEM: &[&str] =
    &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];

impl Word {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Plain }
    }

    pub(super) fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Unknown }
    }

    pub(super) fn is_option(&self) -> bool {
        self.text.starts_with('-') && self.text.len() > 1
    }

    /// The word as the name of a program, without the folder if that is one of the system's.
    pub(super) fn program(&self) -> &str {
        let name = SYSTEM.iter().find_map(|folder| self.text.strip_prefix(folder));
        name.filter(|name| !name.contains('/') && !name.is_empty()).unwrap_or(&self.text)
    }

    /// The name without any folder.
    pub(super) fn name(&self) -> &str {
        name_of(&self.text)
    }
}

/// The name of a program without its folder.
pub(super) fn name_of(program: &str) -> &str {
    program.rsplit_once('/').map_or(program, |(_, name)| name)
}

/// A word while it is put together: its text, and whether what stood outside quotes means more
/// than itself.
#[derive(Default)]
pub(super) struct Draft {
    text: String,
    kind: Option<Kind>,
    /// There was something before, be it an empty pair of quotes.
    begun: bool,
    /// How far a `{…,…}` has come.
    brace: Brace,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Brace {
    #[default]
    None,
    Open,
    Parted,
}

impl Draft {
    /// Quotes, or what stands in them, or behind a backslash.
    pub(super) fn quoted(&mut self, text: &str) {
        self.begun = true;
        self.text.push_str(text);
    }

    /// A character that stands bare.
    pub(super) fn bare(&mut self, c: char) {
        match c {
            '*' | '?' | '[' => self.is(Kind::Pattern),
            '~' if !self.begun => self.is(Kind::Home),
            // `name=~/x` and `name=a:~/x` are read like assignments.
            '~' if self.text.ends_with(['=', ':']) && self.text.contains('=') => {
                self.is(Kind::Unknown);
            }
            // A brace within one that has parts already does not end it.
            '{' if self.brace == Brace::None => self.brace = Brace::Open,
            ',' | '.' if self.brace == Brace::Open => self.brace = Brace::Parted,
            '}' if self.brace == Brace::Parted => self.is(Kind::Unknown),
            _ => {}
        }
        self.begun = true;
        self.text.push(c);
    }

    /// Bare text in which backslashes quote. A backslash before a line's end joins two lines.
    pub(super) fn bare_text(&mut self, text: &str) {
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match (c, c == '\\') {
                (_, true) => self.escaped(rest.next()),
                (c, false) => self.bare(c),
            }
        }
    }

    pub(super) fn escaped(&mut self, c: Option<char>) {
        match c {
            Some('\n') => {}
            Some(c) => self.quoted(c.encode_utf8(&mut [0; 4])),
            None => self.is(Kind::Unknown),
        }
    }

    /// The worst counts: a pattern after a tilde is a pattern.
    pub(super) fn is(&mut self, kind: Kind) {
        self.kind = match (self.kind, kind) {
            (Some(Kind::Unknown), _) | (_, Kind::Unknown) => Some(Kind::Unknown),
            (Some(Kind::Pattern), _) | (_, Kind::Pattern) => Some(Kind::Pattern),
            (_, kind) => Some(kind),
        };
    }

    pub(super) fn finish(self) -> Word {
        Word { text: self.text, kind: self.kind.unwrap_or(Kind::Plain) }
    }
}

/// What stands between double quotes: `None` if the shell would put something else in its place.
pub(super) fn in_double_quotes(inside: &str) -> Option<String> {
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
