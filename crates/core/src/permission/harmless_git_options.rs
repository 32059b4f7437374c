//! Allow list of harmless options for git subcommands. An unlisted git command may be an alias or a
//! third-party program.

use super::known_options::KnownOptions;

const NOTHING: KnownOptions = KnownOptions {
    command: "",
    letters: "",
    valued_letters: "",
    names: "",
    writing: "",
    first_operands: "",
};

/// Options with which git's comparing commands select and format what they print.
macro_rules! diff_names {
    ($more:literal) => {
        concat!(
            "--patch --no-patch --raw --patch-with-raw --patch-with-stat --indent-heuristic \
             --no-indent-heuristic --minimal --patience --histogram --anchored --diff-algorithm \
             --stat --compact-summary --numstat --shortstat --dirstat --cumulative --summary \
             --name-only --name-status --submodule --color --no-color --color-moved \
             --no-color-moved --color-words --word-diff --word-diff-regex --no-renames \
             --rename-empty --check --ws-error-highlight --full-index --binary --abbrev \
             --break-rewrites --find-renames --find-copies --find-copies-harder \
             --irreversible-delete --diff-filter --pickaxe-all --pickaxe-regex --find-object \
             --relative --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol \
             --ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context \
             --function-context --exit-code --quiet --no-ext-diff --no-textconv \
             --ignore-submodules --src-prefix --dst-prefix --no-prefix --default-prefix \
             --line-prefix --unified --cc --cached --staged --merge-base --base --ours --theirs \
             --null --root --diff-merges --no-diff-merges --remerge-diff --dd --combined-all-paths ",
            $more
        )
    };
}

/// Options with which git's listing commands select and format commits.
macro_rules! log_names {
    () => {
        diff_names!(
            "--oneline --follow --decorate --no-decorate --decorate-refs --decorate-refs-exclude \
             --source --use-mailmap --log-size --max-count --skip --since --after --until --before \
             --author --committer --grep --all-match --invert-grep --regexp-ignore-case \
             --basic-regexp --extended-regexp --fixed-strings --perl-regexp --merges --no-merges \
             --first-parent --not --all --branches --tags --remotes --glob --exclude --reflog \
             --walk-reflogs --cherry-mark --cherry-pick --cherry --left-only --right-only \
             --left-right --boundary --simplify-by-decoration --full-history --dense --sparse \
             --simplify-merges --ancestry-path --date-order --author-date-order --topo-order \
             --reverse --no-walk --do-walk --pretty --format --abbrev-commit --no-abbrev-commit \
             --encoding --expand-tabs --no-expand-tabs --notes --no-notes --show-notes \
             --relative-date --date --parents --children --graph --show-linear-break --count \
             --objects --timestamp --header --numbered --email --group --max-parents \
             --min-parents --show-pulls --bisect --stdin --mailmap --no-mailmap \
             --clear-decorations --since-as-filter"
        )
    };
}

const DIFF_LETTERS: &str = "puszRarbwWtcmvig0123456789";
const DIFF_VALUED: &str = "USGLMCBDlnXO";

const LOG: KnownOptions = KnownOptions {
    letters: "puszRarbwWtcmvigEFPeq0123456789",
    valued_letters: DIFF_VALUED,
    names: log_names!(),
    writing: "--output",
    ..NOTHING
};

const DIFF: KnownOptions = KnownOptions {
    letters: DIFF_LETTERS,
    valued_letters: DIFF_VALUED,
    names: diff_names!(""),
    writing: "--output",
    ..NOTHING
};

const PICK: KnownOptions = KnownOptions {
    letters: "nxs",
    valued_letters: "mXS",
    names: "--abort --continue --skip --quit --no-commit --no-edit --signoff --mainline \
            --strategy-option --allow-empty --allow-empty-message --keep-redundant-commits --ff \
            --empty",
    ..NOTHING
};

const FETCH: KnownOptions = KnownOptions {
    letters: "afktpnuqvm46",
    valued_letters: "jo",
    names: "--all --append --atomic --depth --deepen --shallow-since --unshallow --dry-run \
            --force --keep --multiple --prune --prune-tags --no-tags --tags --refmap \
            --recurse-submodules --no-recurse-submodules --jobs --set-upstream --quiet --verbose \
            --progress --no-progress --ipv4 --ipv6 --filter --negotiation-tip",
    ..NOTHING
};

/// The git subcommands.
pub(super) const GIT: &[KnownOptions] = &[
    KnownOptions { command: "git log", ..LOG },
    KnownOptions { command: "git show", ..LOG },
    KnownOptions { command: "git shortlog", ..LOG },
    KnownOptions { command: "git whatchanged", ..LOG },
    KnownOptions { command: "git rev-list", ..LOG },
    KnownOptions { command: "git reflog", ..LOG },
    KnownOptions { command: "git diff", ..DIFF },
    KnownOptions { command: "git diff-tree", ..LOG },
    KnownOptions { command: "git diff-index", ..DIFF },
    KnownOptions { command: "git diff-files", ..DIFF },
    KnownOptions { command: "git range-diff", ..DIFF },
    KnownOptions {
        command: "git status",
        letters: "sbvzu",
        names: "--short --branch --show-stash --porcelain --long --verbose --untracked-files \
                --ignore-submodules --ignored --column --no-column --ahead-behind \
                --no-ahead-behind --renames --no-renames --find-renames",
        ..NOTHING
    },
    KnownOptions {
        command: "git add",
        letters: "nvfAuNp",
        names: "--dry-run --verbose --force --all --no-all --update --intent-to-add --refresh \
                --ignore-errors --ignore-missing --renormalize --chmod --patch --sparse \
                --no-ignore-removal --ignore-removal",
        ..NOTHING
    },
    KnownOptions {
        command: "git commit",
        letters: "aqsnvuzop",
        valued_letters: "mCcF",
        names: "--all --message --amend --no-edit --signoff --no-signoff --no-verify --quiet \
                --verbose --allow-empty --allow-empty-message --author --date --reset-author \
                --fixup --squash --reuse-message --reedit-message --file --cleanup --dry-run \
                --short --branch --porcelain --long --null --only --include --untracked-files \
                --no-status --status --no-gpg-sign --no-post-rewrite --trailer --patch",
        ..NOTHING
    },
    KnownOptions {
        command: "git push",
        letters: "fndquv46",
        valued_letters: "o",
        names: "--all --branches --mirror --tags --follow-tags --no-follow-tags --atomic \
                --dry-run --force --force-with-lease --no-force-with-lease --force-if-includes \
                --delete --prune --quiet --verbose --progress --set-upstream --no-verify --verify \
                --porcelain --thin --no-thin --signed --no-signed --push-option \
                --recurse-submodules --no-recurse-submodules --ipv4 --ipv6",
        ..NOTHING
    },
    KnownOptions { command: "git fetch", ..FETCH },
    KnownOptions {
        command: "git pull",
        names: "--all --append --depth --deepen --unshallow --dry-run --force --keep --prune \
                --no-tags --tags --recurse-submodules --no-recurse-submodules --jobs \
                --set-upstream --quiet --verbose --progress --ipv4 --ipv6 --rebase --no-rebase \
                --ff --no-ff --ff-only --commit --no-commit --squash --no-squash --stat --no-stat \
                --autostash --no-autostash --no-edit --signoff --allow-unrelated-histories \
                --no-verify --verify --strategy-option",
        letters: "afkpqrvn46",
        valued_letters: "jX",
        ..NOTHING
    },
    KnownOptions {
        command: "git clone",
        letters: "lsnqv46",
        valued_letters: "bjo",
        names: "--local --no-hardlinks --shared --quiet --verbose --progress --no-checkout --bare \
                --mirror --origin --branch --revision --depth --shallow-since --shallow-exclude \
                --single-branch --no-single-branch --no-tags --filter --sparse --jobs \
                --shallow-submodules --no-shallow-submodules --reject-shallow --dissociate \
                --ipv4 --ipv6",
        ..NOTHING
    },
    KnownOptions {
        command: "git branch",
        letters: "advrfmMcCDilqt",
        valued_letters: "u",
        names: "--all --delete --verbose --remotes --force --move --copy --ignore-case --list \
                --quiet --track --no-track --set-upstream-to --unset-upstream --show-current \
                --contains --no-contains --merged --no-merged --sort --points-at --format \
                --column --no-column --abbrev --no-abbrev --color --no-color --omit-empty \
                --recurse-submodules --create-reflog",
        ..NOTHING
    },
    KnownOptions {
        command: "git switch",
        letters: "dfqtm",
        valued_letters: "cC",
        names: "--create --force-create --detach --guess --no-guess --force --discard-changes \
                --merge --conflict --quiet --progress --no-progress --track --no-track --orphan \
                --ignore-other-worktrees --recurse-submodules --no-recurse-submodules",
        ..NOTHING
    },
    KnownOptions {
        command: "git checkout",
        letters: "dfqtmlp",
        valued_letters: "bB",
        names: "--quiet --progress --no-progress --force --ours --theirs --track --no-track \
                --guess --no-guess --detach --orphan --ignore-skip-worktree-bits --merge \
                --conflict --patch --ignore-other-worktrees --overwrite-ignore \
                --recurse-submodules --no-recurse-submodules",
        ..NOTHING
    },
    KnownOptions {
        command: "git restore",
        letters: "WSqmp",
        valued_letters: "s",
        names: "--source --worktree --staged --quiet --progress --ours --theirs --merge \
                --conflict --ignore-unmerged --ignore-skip-worktree-bits --patch \
                --recurse-submodules --overlay --no-overlay",
        ..NOTHING
    },
    KnownOptions {
        command: "git reset",
        letters: "qNp",
        names: "--soft --mixed --hard --merge --keep --quiet --no-quiet --intent-to-add --patch \
                --refresh --no-refresh --recurse-submodules --no-recurse-submodules",
        ..NOTHING
    },
    KnownOptions {
        command: "git rm",
        letters: "fnrq",
        names: "--force --dry-run --cached --ignore-unmatch --sparse --quiet",
        ..NOTHING
    },
    KnownOptions {
        command: "git mv",
        letters: "fknv",
        names: "--force --dry-run --verbose --sparse",
        ..NOTHING
    },
    KnownOptions {
        command: "git clean",
        letters: "dfnqxX",
        valued_letters: "e",
        names: "--force --dry-run --quiet --exclude",
        ..NOTHING
    },
    KnownOptions {
        command: "git merge",
        letters: "nqv",
        valued_letters: "mXF",
        names: "--abort --continue --quit --commit --no-commit --ff --no-ff --ff-only --squash \
                --no-squash --no-edit --stat --no-stat --log --no-log --signoff --no-signoff \
                --message --file --quiet --verbose --progress --no-verify --verify-signatures \
                --allow-unrelated-histories --autostash --no-autostash --strategy-option --into-name",
        ..NOTHING
    },
    KnownOptions {
        command: "git rebase",
        letters: "qvfnmr",
        valued_letters: "XC",
        names: "--abort --continue --skip --quit --show-current-patch --onto --root --merge \
                --keep-base --keep-empty --no-keep-empty --quiet --verbose --stat --no-stat \
                --no-verify --verify --no-ff --force-rebase --fork-point --no-fork-point \
                --ignore-whitespace --committer-date-is-author-date --ignore-date \
                --reset-author-date --signoff --rebase-merges --autosquash --no-autosquash \
                --autostash --no-autostash --update-refs --no-update-refs --strategy-option \
                --empty --apply",
        ..NOTHING
    },
    KnownOptions { command: "git cherry-pick", ..PICK },
    KnownOptions { command: "git revert", ..PICK },
    KnownOptions { command: "git cherry", letters: "v", names: "--abbrev", ..NOTHING },
    KnownOptions {
        command: "git stash",
        letters: "qukapSv0123456789",
        valued_letters: "m",
        names: "--quiet --include-untracked --only-untracked --all --keep-index \
                --no-keep-index --staged --patch --message --index --stat --name-only \
                --name-status",
        first_operands: "push pop apply list show drop clear save branch create store",
        ..NOTHING
    },
    KnownOptions {
        command: "git tag",
        letters: "afdlin",
        valued_letters: "mF",
        names: "--annotate --force --delete --list --ignore-case --message --file --sort \
                --contains --no-contains --merged --no-merged --points-at --format --column \
                --no-column --color --no-sign --cleanup --omit-empty --create-reflog",
        ..NOTHING
    },
    KnownOptions {
        command: "git remote",
        letters: "vftmnp",
        names: "--verbose --push --all --add --delete --prune --auto",
        first_operands: "add rename remove rm set-head set-branches get-url set-url show prune update",
        ..NOTHING
    },
    KnownOptions {
        command: "git blame",
        letters: "bltpfnscwekM0123456789",
        valued_letters: "LSC",
        names: "--root --show-stats --reverse --first-parent --porcelain --line-porcelain \
                --incremental --encoding --date --show-name --show-number --show-email \
                --abbrev --ignore-rev --ignore-revs-file --color-lines --color-by-age --score-debug",
        ..NOTHING
    },
    KnownOptions {
        command: "git grep",
        letters: "iwvhHEGFPnlLzcopqraI0123456789",
        valued_letters: "ABCefm",
        names: "--cached --untracked --exclude-standard --no-exclude-standard \
                --recurse-submodules --text --no-textconv --ignore-case --max-depth --recursive \
                --no-recursive --word-regexp --invert-match --full-name --extended-regexp \
                --basic-regexp --perl-regexp --fixed-strings --line-number --column \
                --files-with-matches --name-only --files-without-match --null --only-matching \
                --count --max-count --color --no-color --break --heading --show-function --context \
                --after-context --before-context --function-context --threads --and --or --not \
                --all-match --quiet",
        ..NOTHING
    },
    KnownOptions {
        command: "git ls-files",
        letters: "zcdmoistvufkr",
        valued_letters: "xX",
        names: "--cached --deleted --modified --others --ignored --stage --directory \
                --no-empty-directory --unmerged --killed --resolve-undo --exclude --exclude-from \
                --exclude-per-directory --exclude-standard --error-unmatch --with-tree \
                --full-name --recurse-submodules --abbrev --debug --eol --deduplicate --format \
                --sparse",
        ..NOTHING
    },
    KnownOptions {
        command: "git ls-tree",
        letters: "drtlz",
        names: "--long --name-only --name-status --object-only --full-name --full-tree --abbrev \
                --format",
        ..NOTHING
    },
    KnownOptions {
        command: "git ls-remote",
        letters: "htqb",
        valued_letters: "o",
        names: "--heads --branches --tags --refs --quiet --exit-code --get-url --sort --symref",
        ..NOTHING
    },
    KnownOptions {
        command: "git rev-parse",
        letters: "q",
        names: "--verify --quiet --short --abbrev-ref --symbolic --symbolic-full-name --all \
                --branches --tags --remotes --glob --exclude --show-toplevel --show-prefix \
                --show-cdup --show-superproject-working-tree --git-common-dir --absolute-git-dir \
                --is-inside-work-tree --is-inside-git-dir --is-bare-repository \
                --is-shallow-repository --git-path --default --revs-only --no-revs --flags \
                --no-flags --since --until --disambiguate --show-object-format --sq --not --git-dir",
        ..NOTHING
    },
    KnownOptions {
        command: "git describe",
        names: "--dirty --broken --all --tags --contains --abbrev --candidates --exact-match \
                --debug --long --match --exclude --always --first-parent",
        ..NOTHING
    },
    KnownOptions {
        command: "git for-each-ref",
        letters: "s",
        names: "--count --sort --format --color --shell --points-at --merged --no-merged \
                --contains --no-contains --ignore-case --omit-empty --exclude",
        ..NOTHING
    },
    KnownOptions {
        command: "git show-ref",
        letters: "dsqh",
        names: "--head --heads --branches --tags --dereference --hash --verify --exists --abbrev \
                --quiet",
        ..NOTHING
    },
    KnownOptions {
        command: "git merge-base",
        letters: "a",
        names: "--all --octopus --independent --is-ancestor --fork-point",
        ..NOTHING
    },
    KnownOptions {
        command: "git name-rev",
        names: "--tags --refs --exclude --all --name-only --no-undefined --always",
        ..NOTHING
    },
    KnownOptions {
        command: "git cat-file",
        letters: "tsep",
        names: "--batch --batch-check --batch-all-objects --unordered --buffer --path",
        ..NOTHING
    },
    KnownOptions {
        command: "git check-ignore",
        letters: "qvzn",
        names: "--quiet --verbose --stdin --non-matching --no-index",
        ..NOTHING
    },
    KnownOptions {
        command: "git config",
        letters: "lz",
        names: "--global --system --local --worktree --get --get-all --get-regexp --list --type \
                --bool --int --path --null --name-only --show-origin --show-scope --default --all",
        writing: "--add --unset --unset-all --replace-all --rename-section --remove-section",
        ..NOTHING
    },
    KnownOptions {
        command: "git init",
        letters: "q",
        valued_letters: "b",
        names: "--quiet --bare --initial-branch --object-format",
        ..NOTHING
    },
    KnownOptions {
        command: "git archive",
        letters: "lv0123456789",
        names: "--format --list --verbose --prefix --worktree-attributes --add-virtual-file",
        writing: "-o --output",
        ..NOTHING
    },
    KnownOptions {
        command: "git format-patch",
        letters: "nNkspqv0123456789",
        names: "--numbered --no-numbered --start-number --signoff --stdout --cover-letter \
                --subject-prefix --keep-subject --reroll-count --no-stat --stat --base --thread \
                --zero-commit --quiet --root --attach --inline --to --cc --in-reply-to --rfc",
        writing: "-o --output-directory --output",
        ..NOTHING
    },
    KnownOptions {
        command: "git apply",
        letters: "3pvRzqN0123456789",
        valued_letters: "C",
        names: "--stat --numstat --summary --check --index --cached --3way --reverse --reject \
                --whitespace --ignore-whitespace --ignore-space-change --recount --verbose \
                --quiet --apply --exclude --include --inaccurate-eof --intent-to-add",
        writing: "--directory --unsafe-paths",
        ..NOTHING
    },
    KnownOptions {
        command: "git submodule",
        letters: "q",
        names: "--quiet --cached --recursive --files --summary-limit",
        first_operands: "status summary init sync absorbgitdirs",
        ..NOTHING
    },
    KnownOptions {
        command: "git worktree",
        letters: "fvnz",
        names: "--force --verbose --porcelain --dry-run --expire --reason",
        first_operands: "list prune lock unlock remove repair",
        ..NOTHING
    },
    KnownOptions {
        command: "git bisect",
        names: "--term-good --term-bad --no-checkout --first-parent",
        first_operands: "start bad good new old skip next reset log terms",
        ..NOTHING
    },
    KnownOptions { command: "git bundle", first_operands: "verify list-heads", ..NOTHING },
    KnownOptions {
        command: "git notes",
        letters: "f",
        valued_letters: "mF",
        names: "--ref --message --file --force",
        first_operands: "list show add append copy remove prune get-ref",
        ..NOTHING
    },
    KnownOptions {
        command: "git gc",
        letters: "q",
        names: "--aggressive --auto --prune --no-prune --quiet --force --keep-largest-pack",
        ..NOTHING
    },
    KnownOptions {
        command: "git fsck",
        names: "--unreachable --dangling --no-dangling --root --tags --cache --no-reflogs --full \
                --strict --verbose --progress --no-progress --connectivity-only --name-objects",
        ..NOTHING
    },
    KnownOptions {
        command: "git count-objects",
        letters: "vH",
        names: "--verbose --human-readable",
        ..NOTHING
    },
    KnownOptions {
        command: "git symbolic-ref",
        letters: "qd",
        names: "--short --quiet",
        ..NOTHING
    },
    KnownOptions { command: "git version", names: "--build-options", ..NOTHING },
    KnownOptions { command: "git var", ..NOTHING },
    KnownOptions { command: "git help", letters: "agcv", names: "--all --guides", ..NOTHING },
];
