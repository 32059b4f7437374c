//! Programs that run a text as a program: one that a word holds, or that comes through standard
//! input. Such a text can do anything, and no rule that holds something back sees it.
//!
//! Not here: programs that lie in files. What `npm test` or `python3 tool.py` does was put there
//! before; rules see the names.

use super::hazard;
use super::options::{has, is_option, name_of};
use super::readonly::is_read_only;
use super::subject::SimpleCommand;

/// A program that reads programs.
struct Interpreter {
    /// Its names, divided by blanks, without the number of a version.
    names: &'static str,
    /// Options before the script that bring no text, divided by blanks.
    options: &'static str,
    /// The same with a value in the next word.
    valued: &'static str,
    /// Options that only tell something about it, divided by blanks.
    telling: &'static str,
    /// Its own commands that bring no text, divided by blanks; a file is none of them.
    own: &'static str,
    script: Script,
}

/// What the first operand is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// A file that holds the program.
    File,
    /// Nothing that is known.
    Unknown,
}

const fn of_files(names: &'static str, options: &'static str) -> Interpreter {
    let telling = "--version -V -v -version --help";
    Interpreter { names, options, valued: "", telling, own: "", script: Script::File }
}

/// Modules of Python that run no text.
const MODULES: &str = "pytest unittest pip venv build mypy ruff black flake8 pylint isort \
    json.tool compileall coverage tox nox http.server pip_audit pyright pre_commit twine";

/// Programs that take commands in their words, in files or from standard input, and can run others.
const UNKNOWN: &str = "vi vim nvim view ex ed red emacs emacsclient nano dc m4 gnuplot sqlite sqlite3 \
    psql mysql mariadb ftp lftp telnet crontab irb pry ghci iex jshell groovysh osascript tclsh wish \
    expect bpython ipython octave maxima gp erl swipl guile scheme racket sbcl clisp ecl mit-scheme \
    gst ocaml utop rebol factor";

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        valued: "-W -X",
        telling: "--version -V --help",
        ..of_files("python pypy python3w", "-u -B -O -OO -s -S -E -I -b -bb -q -W -X -v")
    },
    of_files("perl", "-w -W -T -t"),
    of_files("ruby jruby", "-w -W -W0 -W1 -W2"),
    Interpreter {
        own: "inspect",
        ..of_files(
            "node nodejs",
            "--test --check -c --watch --trace-warnings --no-warnings --experimental-strip-types",
        )
    },
    Interpreter {
        own: "run test lint fmt check task cache compile install info doc bench",
        script: Script::Unknown,
        ..of_files("deno", "")
    },
    Interpreter { own: "run test install add remove build update pm", ..of_files("bun", "") },
    of_files("php", "-l -n"),
    of_files("lua luajit", ""),
    Interpreter { valued: "-cp -classpath", ..of_files("java", "-jar -ea -cp -classpath") },
    of_files("Rscript", "--vanilla --no-save"),
    Interpreter { script: Script::Unknown, ..of_files("R", "") },
    of_files("julia", "--project"),
    of_files("elixir escript runghc runhaskell groovy scala kotlin swift nim raku", ""),
    of_files("tsx ts-node", ""),
];

/// Names of shells: what they are given cannot be seen behind another program.
const SHELLS: &str = "sh bash dash zsh ksh ksh93 mksh ash fish rbash yash csh tcsh osh ysh nu elvish \
    xonsh pwsh busybox toybox";

/// Programs whose words are never run.
const RUN_NO_WORDS: &str = "cat cd chmod chown cp diff echo grep head kill killall ln ls \
    mkdir mv pkill printf rm rmdir sleep tail tee test touch wc";

/// Whether the words of the command show what it runs, as far as words can.
#[must_use]
pub fn shows_what_it_runs(command: &SimpleCommand) -> bool {
    !hazard::may_run_more(command) && !runs_text(command)
}

/// Whether a program of this name is a shell or reads programs in another way.
#[must_use]
pub fn reads_programs(name: &str) -> bool {
    let bare = bare(name);
    interpreter(name).is_some() || has(SHELLS, bare) || has(UNKNOWN, bare) || bare == "make"
}

/// Whether the command runs no program that its words name.
#[must_use]
pub fn runs_no_words(command: &SimpleCommand) -> bool {
    has(RUN_NO_WORDS, command.name()) || is_read_only(command) || hazard::is_known(command)
}

/// Whether the command runs a text as a program, or lets another one do so.
fn runs_text(command: &SimpleCommand) -> bool {
    let words: Vec<&str> = command.words.iter().map(AsRef::as_ref).collect();
    if is_text_run(&words) {
        return true;
    }
    // `tool run python -c …`.
    let is_run_behind = |at: usize| {
        let behind = words.get(at..).unwrap_or_default();
        let name = behind.first().map_or("", |name| bare(name));
        has(SHELLS, name) || is_text_run(behind)
    };
    !runs_no_words(command) && !is_interpreter(&words) && (1..words.len()).any(is_run_behind)
}

fn is_interpreter(words: &[&str]) -> bool {
    words.first().is_some_and(|name| interpreter(name).is_some())
}

fn interpreter(name: &str) -> Option<&'static Interpreter> {
    INTERPRETERS.iter().find(|known| has(known.names, bare(name)))
}

/// The name of a program without its folder and the number of its version.
fn bare(name: &str) -> &str {
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let name = name.split('.').next().unwrap_or_default();
    match name {
        "ksh93" | "sqlite3" | "m4" => name,
        _ => name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-'),
    }
}

fn is_text_run(words: &[&str]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    match interpreter(name) {
        _ if has("make gmake bmake", bare(name)) => is_make_text(rest),
        _ if has("npm pnpm yarn", bare(name)) => rest.iter().any(|word| is_call(word)),
        Some(known) => known.runs_text(rest),
        None => has(UNKNOWN, bare(name)) && !tells(rest),
    }
}

/// Whether nothing is asked of the program but what it is.
fn tells(rest: &[&str]) -> bool {
    matches!(rest, ["--version" | "--help" | "-version" | "-V"]) || matches!(rest, ["-l"])
}

impl Interpreter {
    fn runs_text(&self, rest: &[&str]) -> bool {
        if matches!(rest, [only] if has(self.telling, only)) {
            return false;
        }
        let mut words = rest.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "-m" if has(self.names, "python") => {
                    return !words.next().is_some_and(|module| has(MODULES, module));
                }
                _ if has(self.valued, word) => drop(words.next()),
                _ if has(self.options, name_of(word)) => {}
                _ if is_option(word) => return true,
                _ if has(self.own, word) => return words.any(is_text_option),
                _ => return self.script == Script::Unknown || !is_file(word),
            }
        }
        // Without a script it reads one from standard input.
        !rest.contains(&"--test")
    }
}

/// Options with which nearly every interpreter takes a text.
fn is_text_option(word: &str) -> bool {
    matches!(word, "-e" | "-c" | "-p" | "--eval" | "--print" | "-") || word.starts_with("data:")
}

/// Whether a word names a file, and not one through which a text could come.
fn is_file(word: &str) -> bool {
    let is_stream = word.starts_with("/dev/") || word.starts_with("/proc/");
    !(word == "-" || word == "--" || is_stream || word.starts_with("data:"))
}

/// `npm exec -c TEXT`.
fn is_call(word: &str) -> bool {
    has("-c --call --shell-mode", name_of(word))
}

/// `make` runs texts that variables and options bring; targets and plain options bring none.
fn is_make_text(rest: &[&str]) -> bool {
    let is_plain = |word: &str| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let is_letters = letters.is_some_and(|letters| {
            !letters.is_empty() && letters.chars().all(|c| "jksnBwCfqi0123456789".contains(c))
        });
        is_letters || has("--jobs --keep-going --silent --dry-run --version --help", name_of(word))
    };
    rest.iter().any(|word| match is_option(word) {
        true => !is_plain(word),
        false => word.contains('=') || !is_file(word),
    })
}

#[cfg(test)]
#[path = "program_text_tests.rs"]
mod tests;
