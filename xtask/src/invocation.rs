//! A command line as data: built in one place, shown before it runs, run somewhere else.

use std::ffi::OsString;
use std::fmt;

/// A program, its arguments and the environment it needs on top of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    program: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Invocation {
    pub(crate) fn new(program: &str, arguments: &[&str]) -> Self {
        Self { program: program.to_owned(), arguments: owned(arguments), variables: Vec::new() }
    }

    /// The same with more arguments at the end.
    pub(crate) fn with(mut self, arguments: &[String]) -> Self {
        self.arguments.extend_from_slice(arguments);
        self
    }

    /// The same with one more environment variable.
    pub(crate) fn setting(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What to execute. `cargo` becomes the cargo that started us: with several toolchains
    /// installed, the one on `PATH` may be another.
    pub(crate) fn executable(&self) -> OsString {
        let ours = (self.program == "cargo").then(|| std::env::var_os("CARGO")).flatten();
        ours.unwrap_or_else(|| OsString::from(&self.program))
    }

    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }
}

/// As it would be typed into a shell.
impl fmt::Display for Invocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(formatter, "{name}={} ", quoted(value))?;
        }
        write!(formatter, "{}", quoted(&self.program))?;
        for argument in &self.arguments {
            write!(formatter, " {}", quoted(argument))?;
        }
        Ok(())
    }
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
