//! Read-only commands: they only read, as long as they use no option that is missing from these
//! lists. A missing option costs a question; one too many could cost a machine.
//!
//! Not here: git. Almost every git command can run a program that the repository chooses (a file
//! system monitor, an external diff, a text conversion, a signature check), so none of them is
//! known to be read-only.

use super::subject::SimpleCommand;

/// A command and the options with which it stays read-only.
struct ReadOnlyCommand {
    name: &'static str,
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options whose value is the rest of the word, or the next word.
    valued: &'static [&'static str],
    operands: OperandKind,
}

/// The meaning of words that are neither options nor their values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandKind {
    /// Files and folders.
    Files,
    /// Files only: the contents of a folder would be read through the links in it.
    PlainFiles,
    /// At most one file: a second one would be written to.
    OneFile,
    /// A pattern, unless an option gives it, followed by files.
    PatternThenFiles,
    /// Words that do not name files.
    Words,
    /// No operands: one would be created, or set.
    None,
    /// A format that starts with `+`.
    Format,
}

/// What a read-only command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOnlyUse {
    /// Indices of the command's words that name files and folders.
    pub files: Vec<usize>,
    /// How far the command reads.
    pub depth: ReadDepth,
}

/// How far a command reads into a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadDepth {
    /// The named files, and the names of files in folders.
    Named,
    /// The named files; a folder in place of a file cannot be decided about.
    PlainFiles,
    /// Every file beneath a folder; the start folder if the command names none.
    Everything,
}

const fn read_only_command(
    name: &'static str,
    flags: &'static [&'static str],
    valued: &'static [&'static str],
    operands: OperandKind,
) -> ReadOnlyCommand {
    ReadOnlyCommand { name, flags, valued, operands }
}

const READ_ONLY: &[ReadOnlyCommand] = &[
    read_only_command("true", &[], &[], OperandKind::Words),
    read_only_command("false", &[], &[], OperandKind::Words),
    read_only_command("pwd", &["-L", "-P"], &[], OperandKind::None),
    read_only_command("whoami", &[], &[], OperandKind::None),
    read_only_command("date", &["-u", "-I", "-R"], &[], OperandKind::Format),
    read_only_command("uname", &["-a", "-s", "-r", "-m", "-n"], &[], OperandKind::None),
    read_only_command("echo", &["-n", "-e", "-E"], &[], OperandKind::Words),
    read_only_command(
        "cat",
        &["-n", "-A", "-b", "-s", "-e", "-t", "-v", "-E", "-T"],
        &[],
        OperandKind::Files,
    ),
    read_only_command("head", &["-q", "-v"], &["-n", "-c"], OperandKind::Files),
    read_only_command("tail", &["-q", "-v"], &["-n", "-c"], OperandKind::Files),
    read_only_command("wc", &["-l", "-w", "-c", "-m", "-L"], &[], OperandKind::Files),
    read_only_command(
        "ls",
        &["-l", "-a", "-A", "-h", "-R", "-t", "-r", "-S", "-1", "-d", "-F", "-i", "-s"],
        &[],
        OperandKind::Files,
    ),
    read_only_command("stat", &["-L", "-t"], &["-c"], OperandKind::Files),
    read_only_command("file", &["-b", "-i", "-L"], &[], OperandKind::Files),
    read_only_command("du", &["-s", "-h", "-a", "-c"], &["-d"], OperandKind::Files),
    read_only_command("df", &["-h", "-i", "-T"], &[], OperandKind::Files),
    read_only_command("basename", &[], &[], OperandKind::Words),
    read_only_command("dirname", &[], &[], OperandKind::Words),
    read_only_command("realpath", &[], &[], OperandKind::Files),
    read_only_command("which", &["-a"], &[], OperandKind::Words),
    read_only_command("uniq", &["-c", "-d", "-u", "-i"], &[], OperandKind::OneFile),
    read_only_command("cut", &[], &["-d", "-f", "-c"], OperandKind::Files),
    read_only_command("tr", &["-d", "-s", "-c"], &[], OperandKind::Words),
    read_only_command(
        "sort",
        &["-n", "-r", "-u", "-h", "-V", "-f", "-b", "-s"],
        &["-k", "-t"],
        OperandKind::Files,
    ),
    read_only_command("diff", &["-u", "-q", "-w", "-b"], &[], OperandKind::PlainFiles),
    read_only_command("cmp", &["-s", "-l"], &[], OperandKind::Files),
    read_only_command(
        "find",
        &["-print", "-empty", "-not"],
        &[
            "-name",
            "-iname",
            "-path",
            "-type",
            "-maxdepth",
            "-mindepth",
            "-size",
            "-mtime",
            "-newer",
        ],
        OperandKind::Files,
    ),
    read_only_command(
        "grep",
        &[
            "-n", "-i", "-r", "-l", "-L", "-c", "-v", "-w", "-x", "-E", "-F", "-o", "-q", "-s",
            "-H", "-h",
        ],
        &["-A", "-B", "-C", "-e", "-m", "--include", "--exclude", "--exclude-dir"],
        OperandKind::PatternThenFiles,
    ),
    read_only_command(
        "rg",
        &[
            "-n",
            "-i",
            "-l",
            "-c",
            "-v",
            "-w",
            "-x",
            "-F",
            "-o",
            "-q",
            "-s",
            "-S",
            "--files",
            "--count",
            "--no-heading",
        ],
        &["-A", "-B", "-C", "-g", "-t", "-e", "-m", "--glob", "--type"],
        OperandKind::PatternThenFiles,
    ),
];

/// Commands that run another one, as they remain once that was taken out and listed by itself.
const WRAPPERS: &[&[&str]] = &[
    &["timeout"],
    &["nice"],
    &["nohup"],
    &["stdbuf"],
    &["time"],
    &["command"],
    &["builtin"],
    &["env"],
    &["sh", "-c"],
    &["bash", "-c"],
    &["dash", "-c"],
];

/// Returns whether only the name of a wrapper is left, which does nothing by itself.
#[must_use]
pub fn is_bare_wrapper(command: &SimpleCommand) -> bool {
    let is = |wrapper: &[&str]| command.words.iter().map(AsRef::as_ref).eq(wrapper.iter().copied());
    WRAPPERS.iter().any(|wrapper| is(wrapper))
}

/// Returns whether the command cannot change anything.
#[must_use]
pub fn is_read_only(command: &SimpleCommand) -> bool {
    read_only_use(command).is_some()
}

/// Returns what the command reads; `None` if it is not known to be read-only.
#[must_use]
pub fn read_only_use(command: &SimpleCommand) -> Option<ReadOnlyUse> {
    READ_ONLY.iter().find(|known| known.name == command.name())?.read_use(command)
}

/// The classified words of a command.
#[derive(Default)]
struct SortedWords<'w> {
    /// The option letters and names that are used.
    options: Vec<String>,
    /// The operands and their indices.
    operands: Vec<(usize, &'w str)>,
    /// Indices of option values that name a file.
    files: Vec<usize>,
}

impl ReadOnlyCommand {
    fn read_use(&self, command: &SimpleCommand) -> Option<ReadOnlyUse> {
        let sorted = self.sort_words(command)?;
        let has = |option: &str| sorted.options.iter().any(|used| used == option);
        let all = || sorted.operands.iter().map(|(at, _)| *at);
        let named: Vec<usize> = match self.operands {
            OperandKind::Files | OperandKind::PlainFiles => all().collect(),
            OperandKind::OneFile => (sorted.operands.len() <= 1).then(|| all().collect())?,
            OperandKind::PatternThenFiles if has("-e") || has("--files") => all().collect(),
            OperandKind::PatternThenFiles => all().skip(1).collect(),
            OperandKind::Words => Vec::new(),
            OperandKind::None => sorted.operands.is_empty().then(Vec::new)?,
            OperandKind::Format => {
                sorted.operands.iter().all(|(_, word)| word.starts_with('+')).then(Vec::new)?
            }
        };
        let depth = match self.operands {
            OperandKind::PlainFiles => ReadDepth::PlainFiles,
            OperandKind::PatternThenFiles if self.name == "rg" || has("-r") => {
                ReadDepth::Everything
            }
            OperandKind::Files
            | OperandKind::OneFile
            | OperandKind::PatternThenFiles
            | OperandKind::Words
            | OperandKind::None
            | OperandKind::Format => ReadDepth::Named,
        };
        Some(ReadOnlyUse { files: named.into_iter().chain(sorted.files).collect(), depth })
    }

    /// Separates options, their values and operands; `None` if an option is not on the list.
    fn sort_words<'w>(&self, command: &'w SimpleCommand) -> Option<SortedWords<'w>> {
        let mut sorted = SortedWords::default();
        let mut words = command.words.iter().map(AsRef::as_ref).enumerate().skip(1);
        while let Some((at, word)) = words.next() {
            if !is_option(word) {
                sorted.operands.push((at, word));
                continue;
            }
            match self.parse_option(word)? {
                ParsedOption::Complete(options) => sorted.options.extend(options),
                ParsedOption::NeedsValue(options) => {
                    let (value_at, _) = words.next()?;
                    // The only one of these options whose value is a file.
                    if options.iter().any(|option| option == "-newer") {
                        sorted.files.push(value_at);
                    }
                    sorted.options.extend(options);
                }
            }
        }
        Some(sorted)
    }

    fn parse_option(&self, word: &str) -> Option<ParsedOption> {
        let (name, value) = match word.split_once('=').filter(|_| word.starts_with("--")) {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let is_flag = self.flags.contains(&name);
        let is_valued = self.valued.contains(&name);
        match (is_flag, is_valued, value) {
            (true, _, None) | (_, true, Some(_)) => {
                Some(ParsedOption::Complete(vec![name.to_owned()]))
            }
            (_, true, None) => Some(ParsedOption::NeedsValue(vec![name.to_owned()])),
            (true, false, Some(_)) => None,
            (false, false, _) => self.parse_count(word).or_else(|| self.parse_bundle(word)),
        }
    }

    /// Parses `-20` as a count where the command takes one.
    fn parse_count(&self, word: &str) -> Option<ParsedOption> {
        let digits = word.strip_prefix('-').filter(|rest| !rest.is_empty())?;
        let counts = self.valued.contains(&"-n") && digits.chars().all(|c| c.is_ascii_digit());
        counts.then(|| ParsedOption::Complete(vec!["-n".to_owned()]))
    }

    /// Parses a bundle: `-la` is `-l -a`, and `-n20` is `-n 20`; long options are never bundles.
    fn parse_bundle(&self, word: &str) -> Option<ParsedOption> {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let mut options = Vec::new();
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let option = format!("-{letter}");
            let takes_value = self.valued.contains(&option.as_str());
            if !takes_value && !self.flags.contains(&option.as_str()) {
                return None;
            }
            options.push(option);
            match (takes_value, rest.as_str().is_empty()) {
                (true, true) => return Some(ParsedOption::NeedsValue(options)),
                (true, false) => return Some(ParsedOption::Complete(options)),
                (false, _) => {}
            }
        }
        (!options.is_empty()).then_some(ParsedOption::Complete(options))
    }
}

/// A parsed option word.
enum ParsedOption {
    /// These options, complete with their values.
    Complete(Vec<String>),
    /// These options; the value of the last one is the next word.
    NeedsValue(Vec<String>),
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && word != "-"
}
