//! The files that a git command uses, named or not.

use windlass_core::permission::{Access, has_harmless_options};

use super::found::Found;
use super::paths::{mentioned, mentioned_to_read, named};
use super::pieces;
use super::word::Word;

/// A command that prints no contents of files, and the options with which that stays so.
struct Quiet {
    command: &'static str,
    /// Letters, alone or with a value behind them.
    letters: &'static str,
    /// Long options, divided by blanks.
    names: &'static str,
}

const fn quiet(command: &'static str, letters: &'static str, names: &'static str) -> Quiet {
    Quiet { command, letters, names }
}

/// An option that is missing here costs a question where files are denied.
const QUIET: &[Quiet] = &[
    quiet("add", "nvfAuN", "--dry-run --verbose --force --all --update --intent-to-add --refresh"),
    quiet(
        "branch",
        "advrfmMcCDilqtu",
        "--all --delete --verbose --remotes --force --move --copy --ignore-case --list --quiet \
         --track --no-track --set-upstream-to --unset-upstream --show-current --contains \
         --no-contains --merged --no-merged --sort --points-at --format --column --color --no-color",
    ),
    quiet("clean", "dfnqxX", "--force --dry-run --quiet"),
    quiet(
        "commit",
        "aqsnm",
        "--all --message --amend --no-edit --signoff --no-verify --quiet --allow-empty \
         --allow-empty-message --author --date --reset-author --fixup --squash --no-gpg-sign",
    ),
    quiet(
        "config",
        "lz",
        "--global --system --local --get --get-all --get-regexp --list --type --all",
    ),
    quiet(
        "fetch",
        "aftpnqv",
        "--all --append --depth --deepen --dry-run --force --prune --no-tags --tags --unshallow \
         --quiet --verbose --progress",
    ),
    quiet("init", "qb", "--quiet --bare --initial-branch"),
    quiet(
        "log",
        "nqrzsiEFP0123456789",
        "--oneline --max-count --skip --since --after --until --before --author --committer --grep \
         --all-match --invert-grep --merges --no-merges --first-parent --all --branches --tags \
         --remotes --reverse --graph --decorate --no-decorate --stat --shortstat --numstat \
         --dirstat --summary --name-only --name-status --no-patch --pretty --format --abbrev-commit \
         --no-abbrev-commit --abbrev --date --date-order --topo-order --author-date-order \
         --relative-date --left-right --cherry-mark --boundary --full-history --follow \
         --no-color --color --source --diff-filter --no-renames --find-renames --ancestry-path \
         --simplify-by-decoration",
    ),
    quiet(
        "ls-files",
        "zcdmoisu",
        "--cached --deleted --modified --others --ignored --stage --exclude-standard --directory \
         --unmerged --full-name --error-unmatch",
    ),
    quiet(
        "push",
        "fndquv",
        "--all --tags --follow-tags --atomic --dry-run --force --force-with-lease --delete --prune \
         --quiet --verbose --progress --set-upstream --no-verify --porcelain",
    ),
    quiet("remote", "v", "--verbose"),
    quiet("reset", "qN", "--soft --mixed --hard --merge --keep --quiet"),
    quiet("restore", "WSqs", "--source --worktree --staged --quiet"),
    quiet(
        "rev-parse",
        "q",
        "--verify --quiet --short --abbrev-ref --symbolic --symbolic-full-name --all --branches \
         --tags --remotes --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir \
         --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository \
         --git-path",
    ),
    quiet("rm", "fnrq", "--force --dry-run --cached --ignore-unmatch --quiet"),
    quiet("shortlog", "nsec", "--numbered --summary --email --since --until --all"),
    quiet(
        "status",
        "sbzu",
        "--short --branch --show-stash --porcelain --long --untracked-files --ignored --column \
         --ahead-behind --no-ahead-behind --renames --no-renames",
    ),
    quiet("switch", "dfqtcC", "--create --force-create --detach --force --quiet --track --orphan"),
    quiet(
        "tag",
        "afdlinm",
        "--annotate --force --delete --list --message --sort --contains --no-contains --merged \
         --no-merged --points-at --format --column",
    ),
];

/// Commands that change no file of the work tree.
const KEEPING: &[&str] = &[
    "add",
    "commit",
    "config",
    "fetch",
    "push",
    "remote",
    "tag",
    "shortlog",
    "rev-list",
    "cat-file",
    "ls-tree",
    "ls-remote",
    "for-each-ref",
    "show-ref",
    "merge-base",
    "name-rev",
    "reflog",
    "gc",
    "fsck",
    "count-objects",
    "version",
    "help",
    "var",
    "init",
    "notes",
];

/// Commands that leave the files of the work tree as they are.
const LOOKING: &[&str] = &[
    "blame",
    "branch",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

pub(super) fn files(rest: &[Word], found: &mut Found<'_>) {
    let command = rest.first().map_or("", |word| word.text.as_str());
    let words: Vec<Word> = [Word::plain("git")].into_iter().chain(rest.iter().cloned()).collect();
    let keeps_files = (LOOKING.contains(&command) || KEEPING.contains(&command))
        && has_harmless_options(&found.simple(&words));
    for word in rest.iter().skip(1) {
        match keeps_files {
            true => mentioned_to_read(word, found),
            false => mentioned(word, found),
        }
        if word.is_option() {
            pieces::mention(word, found);
        }
        // `HEAD:file` names a file of a revision, and `:file` one of the index.
        if let Some((_, path)) = word.text.rsplit_once(':').filter(|(_, path)| !path.is_empty()) {
            named(&Word { text: path.to_owned(), kind: word.kind }, found);
        }
    }
    if command == "config" && sets(rest) {
        found.reaches(".git/config");
    }
    if !is_quiet(command, rest) {
        // Which files of which revision it prints cannot be told from its words.
        found.scan("/", Access::Read);
    }
    if !LOOKING.contains(&command) {
        found.bring_files();
    }
    if !LOOKING.contains(&command) && !KEEPING.contains(&command) {
        found.scan("/", Access::Write);
    }
}

fn is_quiet(command: &str, rest: &[Word]) -> bool {
    let Some(known) = QUIET.iter().find(|known| known.command == command) else { return false };
    let is_quiet = |word: &Word| {
        let name = word.text.split_once('=').map_or(word.text.as_str(), |(name, _)| name);
        let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        !word.is_option()
            || word.text == "--"
            || known.names.split_ascii_whitespace().any(|known| known == name)
            || letters.is_some_and(|letters| known.has_letters(letters))
    };
    rest.iter().skip(1).all(is_quiet)
}

impl Quiet {
    /// The rest of a bundle behind the letter of a message is its text.
    fn has_letters(&self, letters: &str) -> bool {
        let bundle = match self.letters.contains('m') {
            true => letters.split_once('m').map_or(letters, |(before, _)| before),
            false => letters,
        };
        bundle.chars().all(|letter| self.letters.contains(letter))
    }
}

/// Whether `git config` may change something: it does unless it plainly asks for something.
fn sets(rest: &[Word]) -> bool {
    let asks = |word: &Word| {
        let text = word.text.as_str();
        text.starts_with("--get") || matches!(text, "--list" | "-l" | "get" | "list")
    };
    let operands = rest.iter().skip(1).filter(|word| !word.is_option()).count();
    let changes = |word: &Word| {
        let text = word.text.as_str();
        ["--add", "--unset", "--rep", "--rem", "--ren", "--edit", "-e"]
            .iter()
            .any(|known| text.starts_with(known))
    };
    let edits = rest.iter().any(|word| word.text == "edit");
    edits || rest.iter().any(changes) || (operands != 1 && !rest.get(1).is_some_and(asks))
}
