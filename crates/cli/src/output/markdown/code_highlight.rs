//! Colors for code as it streams: comments, strings, numbers and keywords, by what the languages of
//! a family have in common. A guess is good enough: nothing depends on it.

use super::text_style::ANSI_RESET;

const KEYWORD: &str = "\u{1b}[35m";
const TEXT: &str = "\u{1b}[32m";
const NUMBER: &str = "\u{1b}[33m";
const COMMENT: &str = "\u{1b}[2m";
const REMOVED: &str = "\u{1b}[31m";

/// Words that are keywords in most languages of a family.
const SLASH_KEYWORDS: &str = " abstract as async auto await bool boolean break case catch char class const continue \
     crate default defer delete do double else enum export extends extern false final float fn for from func \
     function go goto if impl implements import in int interface let long loop match mod module move mut namespace \
     new nil null nullptr override package private protected pub public ref return self short sizeof static str \
     string struct super switch template this throw throws trait true try type typedef typeof undefined union \
     unsafe unsigned use using val var virtual void where while yield ";
const HASH_KEYWORDS: &str = " and as assert async await begin break case class continue def del do done elif else elsif \
     end ensure esac except export false fi finally for from function global if import in is lambda local module \
     nil None nonlocal not null or pass raise rescue return self set then True False true try unless until while \
     with yield ";
const DASH_KEYWORDS: &str = " add alter and as asc begin between by case commit constraint create delete desc distinct \
     do drop else elseif end exists false for foreign from function group having if in index inner insert into is \
     join key left like limit local nil not null offset on or order outer primary references repeat return right \
     select set table then true union unique until update values view where while with ";

/// What languages have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LanguageFamily {
    /// Comments begin with `//` or are between `/*` and `*/`.
    Slash,
    /// The same, and `'` is not a quote.
    Rust,
    /// Comments begin with `#`.
    Hash,
    /// Comments begin with `--`; keywords have any case.
    Dash,
    /// Lines begin with `+` or `-`.
    Diff,
}

impl LanguageFamily {
    fn of(language: &str) -> Option<Self> {
        Some(match language.to_ascii_lowercase().as_str() {
            "rust" | "rs" => Self::Rust,
            "c" | "cpp" | "c++" | "cc" | "h" | "hpp" | "cs" | "csharp" | "css" | "dart" | "go"
            | "java" | "javascript" | "js" | "json" | "json5" | "jsonc" | "jsx" | "kotlin"
            | "kt" | "php" | "proto" | "scala" | "scss" | "swift" | "ts" | "tsx" | "typescript"
            | "zig" => Self::Slash,
            "bash" | "conf" | "dockerfile" | "elixir" | "fish" | "ini" | "make" | "makefile"
            | "perl" | "py" | "python" | "r" | "rb" | "ruby" | "sh" | "shell" | "toml" | "yaml"
            | "yml" | "zsh" => Self::Hash,
            "haskell" | "hs" | "lua" | "sql" => Self::Dash,
            "diff" | "patch" => Self::Diff,
            _ => return None,
        })
    }

    fn is_keyword(self, word: &str) -> bool {
        let padded = format!(" {word} ");
        match self {
            Self::Slash | Self::Rust => SLASH_KEYWORDS.contains(&padded),
            Self::Hash => HASH_KEYWORDS.contains(&padded),
            Self::Dash => DASH_KEYWORDS.contains(&padded.to_ascii_lowercase()),
            Self::Diff => false,
        }
    }
}

/// Where the next character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeState {
    Plain,
    /// In a text, after its quote; whether the last character was a backslash.
    Text(char, bool),
    LineComment,
    BlockComment,
}

/// Colors the lines of a block of code. What is held back is at most a word.
#[derive(Debug)]
pub(super) struct CodeHighlighter {
    family: LanguageFamily,
    state: CodeState,
    held: String,
    /// The character before the held ones.
    before: char,
    /// The color of a line of a diff.
    line_color: Option<&'static str>,
}

impl CodeHighlighter {
    /// Colors the language of this name; `None` if it is not known.
    pub(super) fn new(language: &str) -> Option<Self> {
        let family = LanguageFamily::of(language)?;
        let (state, before) = (CodeState::Plain, '\n');
        Some(Self { family, state, held: String::new(), before, line_color: None })
    }

    pub(super) fn push(&mut self, c: char, out: &mut String) {
        match self.state {
            CodeState::Plain => self.push_plain(c, out),
            CodeState::Text(quote, is_escaped) => {
                self.held.push(c);
                let ends = c == quote && !is_escaped;
                self.state = CodeState::Text(quote, c == '\\' && !is_escaped);
                if ends || c == ' ' {
                    self.flush(TEXT, out);
                }
                if ends {
                    self.state = CodeState::Plain;
                }
            }
            CodeState::LineComment => {
                self.held.push(c);
                if c == ' ' {
                    self.flush(COMMENT, out);
                }
            }
            CodeState::BlockComment => {
                self.held.push(c);
                let ends = self.held.ends_with("*/");
                if ends || c == ' ' {
                    self.flush(COMMENT, out);
                }
                if ends {
                    self.state = CodeState::Plain;
                }
            }
        }
    }

    fn push_plain(&mut self, c: char, out: &mut String) {
        if self.family == LanguageFamily::Diff {
            return self.push_diff(c, out);
        }
        let next = match (self.family, self.held.as_str(), c) {
            (LanguageFamily::Slash | LanguageFamily::Rust, "/", '/')
            | (LanguageFamily::Dash, "-", '-') => Some(CodeState::LineComment),
            (LanguageFamily::Slash | LanguageFamily::Rust, "/", '*') => {
                Some(CodeState::BlockComment)
            }
            _ => None,
        };
        if let Some(next) = next {
            self.held.push(c);
            self.state = next;
            return;
        }
        if self.held == "/" || self.held == "-" {
            self.flush("", out);
        }
        if c.is_alphanumeric() || c == '_' {
            self.held.push(c);
            return;
        }
        self.flush_word(out);
        let is_quote = matches!(c, '"' | '`') || (c == '\'' && self.family != LanguageFamily::Rust);
        match (self.family, c) {
            (LanguageFamily::Hash, '#') if self.before.is_whitespace() => {
                self.held.push(c);
                self.state = CodeState::LineComment;
            }
            (LanguageFamily::Slash | LanguageFamily::Rust, '/') | (LanguageFamily::Dash, '-') => {
                self.held.push(c);
            }
            _ if is_quote => {
                self.held.push(c);
                self.state = CodeState::Text(c, false);
            }
            _ => {
                out.push(c);
                self.before = c;
            }
        }
    }

    fn push_diff(&mut self, c: char, out: &mut String) {
        if self.before == '\n' && self.held.is_empty() {
            self.line_color = match c {
                '+' => Some(TEXT),
                '-' => Some(REMOVED),
                '@' => Some(COMMENT),
                _ => None,
            };
        }
        self.held.push(c);
        if c == ' ' {
            self.flush(self.line_color.unwrap_or_default(), out);
        }
    }

    /// Ends the line. Texts end with it, except those that may be longer.
    pub(super) fn end_line(&mut self, out: &mut String) {
        match self.state {
            CodeState::Plain if self.family == LanguageFamily::Diff => {
                let color = self.line_color.take().unwrap_or_default();
                self.flush(color, out);
            }
            CodeState::Plain => self.flush_word(out),
            CodeState::Text(..) => self.flush(TEXT, out),
            CodeState::LineComment | CodeState::BlockComment => self.flush(COMMENT, out),
        }
        self.state = match self.state {
            CodeState::Text('`', _) => CodeState::Text('`', false),
            CodeState::BlockComment => CodeState::BlockComment,
            _ => CodeState::Plain,
        };
        self.before = '\n';
    }

    fn flush_word(&mut self, out: &mut String) {
        let is_number = self.held.starts_with(|c: char| c.is_ascii_digit());
        let color = match is_number {
            true => NUMBER,
            false if self.family.is_keyword(&self.held) => KEYWORD,
            false => "",
        };
        self.flush(color, out);
    }

    /// Writes what was held, in a color.
    fn flush(&mut self, color: &str, out: &mut String) {
        let Some(last) = self.held.chars().next_back() else { return };
        self.before = last;
        match color {
            "" => out.push_str(&self.held),
            color => {
                out.push_str(color);
                out.push_str(&self.held);
                out.push_str(ANSI_RESET);
            }
        }
        self.held.clear();
    }
}

#[cfg(test)]
#[path = "code_highlight_tests.rs"]
mod code_highlight_tests;
