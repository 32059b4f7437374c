//! Bypasses of the rules that once worked, or that work in similar programs. Every class is a
//! table; the failure names a row that is allowed by mistake.

mod everyday_commands;

use std::os::unix::fs::symlink;

use windlass_core::permission::PermissionMode;

use crate::permission_attacks::{AttackWorkspace, Verdict};
use Verdict::{Allow, Ask, Deny};

/// A workspace of a hostile repository: links to denied files, and links within it to other files.
fn hostile() -> AttackWorkspace {
    let workspace = AttackWorkspace::new();
    for file in [".env", "a.txt", "f", "deep/f", "deep/d2/x", "secrets/key", "src/f.txt", "s.sh"] {
        workspace.file(file);
    }
    workspace.file("a/x");
    workspace.file("vendor/.mcp.json");
    std::fs::create_dir_all(workspace.path(".git/hooks")).unwrap();
    let outside = workspace.zones.home().unwrap().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("cred"), "x").unwrap();
    symlink("../deep/d2", workspace.path("a/dl")).unwrap();
    symlink(outside.join("cred"), workspace.path("a/f")).unwrap();
    symlink(&outside, workspace.path("a/o")).unwrap();
    symlink(".env", workspace.path("e")).unwrap();
    symlink("secrets/key", workspace.path("k")).unwrap();
    symlink("../secrets", workspace.path("src/l")).unwrap();
    symlink("/proc/self/cwd", workspace.path("here")).unwrap();
    symlink(".git", workspace.path("g")).unwrap();
    symlink("/bin/cat", workspace.path("x")).unwrap();
    workspace
}

/// Checks that none of these runs without approval, whatever the rules are.
#[track_caller]
fn none_is_allowed(workspace: &AttackWorkspace, commands: &[&str]) {
    let allowed: Vec<&&str> =
        commands.iter().filter(|command| workspace.verdict(command) == Allow).collect();
    assert!(allowed.is_empty(), "allowed: {allowed:#?}");
}

#[track_caller]
fn all_are(workspace: &AttackWorkspace, expected: Verdict, commands: &[&str]) {
    let wrong: Vec<String> = commands
        .iter()
        .map(|command| (command, workspace.verdict(command)))
        .filter(|(_, verdict)| *verdict != expected)
        .map(|(command, verdict)| format!("{command}: {verdict:?} {:?}", workspace.ruling(command)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Braces within braces, and a tilde after `name=`: the shell expands them to other words.
// spec: PERMISSIONS-15
#[test]
fn a_word_that_the_shell_changes_is_not_plain() {
    let words = [
        "find . -maxdepth 0 -name {x,-o,-exec,touch,pwned,\\;,-o,-name,{b}c}",
        "cat {/etc/passwd,{b}c}",
        "cat {.env,{b}c}",
        "cat {,{}}-..",
        "cat {a,b{c}}",
        "cat x{{a,b}",
        "cat {a..{c}}",
        "cat a=~/f",
        "cat a+=~/x",
        "cat b=a=:~/x",
        "cat a=~+",
        "cat a=x:~/f",
        "touch {.mcp.json,{b}c}",
        "mkdir {.claude,{b}c}",
        "cp {a.txt,-t,.git/hooks,{b}c}",
        "dd if=a.txt of=~/.bashrc",
        "dd if=~/k",
    ];
    for mode in [
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::DontAsk,
        PermissionMode::Plan,
    ] {
        let workspace = hostile()
            .in_mode(mode)
            .with_allow_rules(&["Bash(dd:*)"])
            .with_deny_rules(&["Read(~/k)"]);
        none_is_allowed(&workspace, &words);
    }
    let workspace = AttackWorkspace::new().with_deny_rules(&[]);
    all_are(
        &workspace,
        Allow,
        &["echo {} x", "echo a{b}c", "echo HEAD@{1}", "echo a:~b", "ls x,y"],
    );
}

/// The shell resolves `..` by the name of a folder, the kernel by the folder itself.
// spec: PERMISSIONS-15
#[test]
fn a_change_of_folder_through_a_link_does_not_leave_the_workspace() {
    let workspace = hostile().with_allow_rules(&["Bash(cd:*)"]).with_deny_rules(&[]);
    none_is_allowed(
        &workspace,
        &[
            "cd a/dl/.. && cat f",
            "cd ./a/dl/../ && cat f",
            "cd 'a/dl/..' && cat f",
            "cd a/dl && cd .. && cat f",
            "cd -P a/dl && cd .. && cat ../a/f",
            "cd -- a && cat f",
            "cd -L a && cat f",
        ],
    );
    let workspace = hostile()
        .in_mode(PermissionMode::AcceptEdits)
        .with_allow_rules(&["Bash(cd:*)"])
        .with_deny_rules(&[]);
    none_is_allowed(
        &workspace,
        &["cd a/dl/.. && echo x > o/new", "cd a/dl/.. && touch o/new", "cd a/dl/.. && cp x o/new"],
    );
    all_are(
        &workspace,
        Allow,
        &["cd src && cat f.txt", "cd deep/.. && cat f", "cd -- deep && cat f"],
    );
}

/// Commands for a shell whose text is not visible.
// spec: PERMISSIONS-18
#[test]
fn a_shell_whose_text_is_not_plain_is_asked_about() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits] {
        let workspace =
            hostile().in_mode(mode).with_allow_rules(&["Bash"]).with_deny_rules(&["Bash(touch:*)"]);
        none_is_allowed(
            &workspace,
            &[
                "sh -c -- 'touch victim'",
                "sh -c -e 'touch victim'",
                "bash -c +x 'touch victim'",
                "bash -c -o pipefail 'touch victim'",
                "echo 'touch victim' | sh",
                "printf 'touch victim' | bash",
                "sh < script",
                "cat script | dash",
                "cat script | sh -s",
                "zsh -c '=touch victim'",
                "fish -c 'touch victim'",
                "xonsh -c 'x'",
                "nu -c 'x'",
                "sh",
                "bash -i",
                "git grep -Otouch alpha",
                "git grep -O'to''uch' alpha",
                "git rebase -x 'to\\uch f' main",
                "git bisect run x",
                "git submodule foreach x",
                "git difftool -x x",
                "git filter-branch --tree-filter x HEAD",
                "git some-alias",
                "sort --compress-program=x f",
                "rg --pre x y",
                "sed '1e x' f",
                "sed -f x f",
                "awk 'BEGIN{system(\"x\")}'",
                "tar cf x --to-command=x f",
                "echo 'system(\"touch f\")' | perl",
                "perl -e 'system(\"to\".\"uch f\")'",
                "python3 -c 'x'",
                "node -e x",
                "make --eval=x",
                "vim -es +x",
                "echo 'touch f' > s && chmod +x s && ./s",
                "echo 'touch f' > s; bash s",
                "echo x > t.py && python3 t.py",
                "cp f t.py && python3 t.py",
                "uv run python -c x",
                "./x victim -c sh",
                "echo '* * * * * x' | crontab -",
                "make SHELL=x",
                "touch* x",
            ],
        );
    }
    let bypass =
        hostile().in_mode(PermissionMode::BypassPermissions).with_deny_rules(&["Bash(touch:*)"]);
    all_are(
        &bypass,
        Deny,
        &["echo 'touch f' | sh", "sh -c -- 'touch f'", "printf 'touch f' | bash", "./a/../touch f"],
    );
}

/// Options that are not known to be harmless are covered only by rules that spell them.
// spec: PERMISSIONS-19
#[test]
fn a_rule_covers_only_options_that_are_known_to_be_harmless() {
    let rules = [
        "Bash(sed:*)",
        "Bash(awk:*)",
        "Bash(mawk:*)",
        "Bash(tar:*)",
        "Bash(git:*)",
        "Bash(sort:*)",
        "Bash(curl:*)",
        "Bash(less:*)",
        "Bash(date:*)",
    ];
    let workspace = AttackWorkspace::new().with_allow_rules(&rules).with_deny_rules(&[]);
    none_is_allowed(
        &workspace,
        &[
            "sed -e p -ne '1e touch pwned' a.txt",
            "sed -e p --exp '1e touch pwned' a.txt",
            "sed -e p --expression '1e touch pwned' a.txt",
            "sed -z -e p -Ee '1e touch pwned' a.txt",
            "sed -e p -ne 'w pwned' a.txt",
            "sed -n 1p --expression='1e touch pwned' a.txt",
            "sed -e1e\\ touch a.txt",
            "sed -n -- '1e touch pwned' -e p",
            "sed p -e '1e touch pwned'",
            "sed -s p f",
            "sed 's/[/]/g;s/w f/x/'",
            "sed '/[/]/g;/w f/p'",
            "sed --sandb p f",
            "awk -W exec p.awk",
            "awk -Wexec p.awk",
            "awk -f p.awk",
            "awk 'BEGIN{ARGV[1]=\".env\"}1' a",
            "mawk -We p.awk",
            "tar cf x -v --index-file=y f",
            "tar cf x -g y f",
            "tar cf x --listed-incremental=y f",
            "tar cgf y x f",
            "tar cf host:x f",
            "tar c --file=host:x f",
            "tar cf x --checkpoint-action=exec=x f",
            "tar cf x --checkpoint-ac exec=x f",
            "git filter-branch --tree-filter x HEAD",
            "git checkout-index -a --prefix=x",
            "git fast-export --export-marks=x",
            "git read-tree --index-output=x",
            "git bugreport -o x",
            "git diagnose -o x",
            "git config edit",
            "git config -e",
            "git clone ext::sh x",
            "git fetch foo::bar",
            "git log --outpu=x",
            "git diff --no-index a b",
            "git grep --open-files-in-page x",
            "git lfs x",
            "git difftool -y",
            "git commit -t x",
            "git add --pathspec-from-file=x",
            "git merge -s x main",
            "sort --files0-from=x",
            "sort -To x",
            "sort --out=x f",
            "curl -w '%output{x}' localhost",
            "curl -Kx localhost",
            "curl --netrc-file x localhost",
            "less +!id f",
            "date -f f",
            "date -s x",
        ],
    );
}

/// Ways to read `.env` and `secrets/key` without naming them.
const HIDDEN_READS: &[&str] = &[
    "cat ~+/.env",
    "head ~+/.env",
    "tail ~+/?",
    "cat ~-/.env",
    "cat ?",
    "cat [!x]",
    "cat [d-f]",
    "grep SECRET ?",
    "awk 1 ?",
    "sed '' ?",
    "sort ?",
    "cd src && cat ../?",
    "cat ./?",
    "cat src/*/key",
    "cat src/?/key",
    "tar cf x s*",
    "cp -r s* /tmp/x",
    "zip -r x.zip src",
    "cp -rL src /tmp/x",
    "tar chf x src",
    "grep -R x src",
    "rsync -aL src /tmp/x",
    "git log --binary",
    "git log --dd",
    "git log --remerge-diff",
    "git log -U3",
    "git log --patc",
    "echo q | git add -p",
    "echo q | git restore -p",
    "git commit -p",
    "git reset -p",
    "git add -e",
    "git add -i",
    "git add --interactive",
    "git stash -p",
    "git log --ext-diff",
    "git status -vv",
    "date -f e",
    "date -f .env",
    "echo cat .env | sh",
    "sh -c -- 'cat .env'",
    "python3 -c \"print(open('.env').read())\"",
    "python3 -c 'x'",
    "perl -ne print ?",
    "cat /proc/self/cwd/.env",
    "cat /proc/thread-self/cwd/.env",
    "cat /dev/fd/../cwd/.env",
    "cat here/.env",
    "cd /proc/self/cwd && cat .env",
    "cat /proc/1/root/x",
    "curl -d @.env localhost",
    "curl -F x=@.env localhost",
    "curl file:///x/.env",
    "unknown x:.env",
    "unknown \"a '.env' b\"",
    "unknown -abc.env",
    "ln -s a.txt q && cat q",
    "git checkout x && cat e2",
    "tar xf a.tar && cat e2",
    "mv src q && cat q/l/key",
    "find . | xargs cat -A",
    "find . -name .e* -exec cat {} +",
    "awk 'BEGIN{ARGV[1]=\".en\" \"v\"}1' a",
    "cat {.env,{b}c}",
    "cat a=~/.env",
    "dd if=~+/.env",
    "diff -r . /tmp/x",
    "cat e",
    "cat k",
    "cat src/l/key",
];

// spec: PERMISSIONS-17
#[test]
fn a_denied_file_is_not_reached_by_a_way_that_does_not_name_it() {
    let deny = ["Read(.env)", "Read(secrets/key)"];
    for rules in [&["Bash"][..], &["Bash(cat:*)", "Bash(head:*)", "Bash(awk:*)", "Bash(git:*)"]] {
        for mode in [
            PermissionMode::Default,
            PermissionMode::AcceptEdits,
            PermissionMode::Auto,
            PermissionMode::DontAsk,
        ] {
            let workspace = hostile().in_mode(mode).with_allow_rules(rules).with_deny_rules(&deny);
            none_is_allowed(&workspace, HIDDEN_READS);
        }
    }
    let workspace = hostile().with_allow_rules(&["Bash"]).with_deny_rules(&["Read(secrets/key)"]);
    none_is_allowed(
        &workspace,
        &["cat ?", "cat k", "cat src/*/key", "tar cf x s*", "zip -r x src", "cat src/l/k*"],
    );
    let outside = workspace.zones.home().unwrap().join("outside/cred");
    let rule = format!("Read(/{})", outside.display());
    let workspace = workspace.with_deny_rules(&[&rule]);
    let home = outside.parent().unwrap().display().to_string();
    none_is_allowed(&workspace, &["cat a/?", "cat a/o/*", "cat */f", "cat ~/outside/*", "cat a/f"]);
    none_is_allowed(&workspace, &[&format!("cat {home}/c*")]);
    let workspace = workspace.with_deny_rules(&["Read(~/outside/**)"]);
    none_is_allowed(&workspace, &["cat ~/outside/*", "cat ~/o*/cred", "dd if=~/outside/cred"]);
}

/// Protected paths, written to without being named plainly.
const HIDDEN_WRITES: &[&str] = &[
    "cd -- .git && echo x > config",
    "cd -P .git && echo x > config",
    "cd -L .git && tee config",
    "cd ~+/.git && echo x > config",
    "f=.git/config; : > \"$f\"",
    "for f in .git/config; do echo x > $f; done",
    "echo x > ~+/.git/config",
    "cp a.txt ~+/.git/config",
    "curl -so.git/config localhost",
    "awk 'BEGIN{print 1 > \".git/config\"}'",
    "python3 -c \"open('.git/config','w')\"",
    "sh -c -- 'echo x > .git/config'",
    "echo 'echo x > .git/config' | sh",
    "cat 1<> .git/config",
    "cp a.txt .gi?/config",
    "cp -t .gi?/hooks a.txt",
    "echo x > .gi?/config",
    "echo x > .git/confi?",
    "cd .gi? && echo x > config",
    "mv .gi? q",
    "tee .mcp.jso{n,x}",
    "X=.git; cp a.txt $X/config",
    "X=.git; tee $X/config",
    "X=.git; echo x > $X/config",
    "echo x > $HOME/.bashrc",
    "cp a.txt \"$HOME\"/.profile",
    "find . -name config -delete",
    "find -delete",
    "find . -name config | xargs tee",
    "cp -r vendor/. .",
    "cp -rT vendor .",
    "tar -C vendor -c . | tar x",
    "tar xf a.tar",
    "unzip a.zip",
    "patch -p0 -i p",
    "rm -rf .",
    "chmod -R 777 .",
    "tee g/config",
    "tee ?/config",
    "dd if=a.txt of=~/.bashrc",
    "sed -n 'w .git/config' a.txt",
    "perl -pi -e x .git/config",
    "cd $X && echo x > config",
    "touch {.mcp.json,{b}c}",
    "rsync -a vendor/ .",
];

// spec: PERMISSIONS-15
#[test]
fn a_protected_place_is_not_written_by_a_way_that_does_not_name_it() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Auto] {
        let workspace = hostile().in_mode(mode).with_allow_rules(&["Bash"]).with_deny_rules(&[]);
        none_is_allowed(&workspace, HIDDEN_WRITES);
    }
}

/// Ways to change `src/f.txt`.
const EDITS: &[&str] = &[
    "perl -i -pe x src/f.txt",
    "uniq a.txt src/f.txt",
    "sort a.txt -osrc/f.txt",
    "shuf -osrc/f.txt",
    "sed --in s/c/x/ src/f.txt",
    "sed --i s/c/x/ src/f.txt",
    "sed -n 'w src/f.txt' a.txt",
    "git restore src/f.txt",
    "git checkout -- src/f.txt",
    "git checkout x",
    "git rm src/f.txt",
    "git reset --hard",
    "git stash",
    "git clean -fd",
    "git diff --output=src/f.txt",
    "git archive -o src/f.txt HEAD",
    "patch src/f.txt p",
    "patch -p0 -i p",
    "find src -delete",
    "find . -fprint src/f.txt",
    "curl -so src/f.txt localhost",
    "curl -sosrc/f.txt localhost",
    "tar cf src/f.txt a.txt",
    "xxd a.txt src/f.txt",
    "gzip src/f.txt",
    "openssl enc -out src/f.txt",
    "split a.txt src/f.txt",
    "tee ~+/src/f.txt",
    "awk '{print > \"src/f.txt\"}' a.txt",
    "python3 -c \"open('src/f.txt','w')\"",
    "cd src && tool f.txt",
    "tool src",
    "tool s*/f.txt",
    "ls src | xargs rm",
];

// spec: PERMISSIONS-17
#[test]
fn a_file_that_may_not_be_edited_is_not_changed_by_any_command() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Auto] {
        let workspace =
            hostile().in_mode(mode).with_allow_rules(&["Bash"]).with_deny_rules(&["Edit(src/**)"]);
        none_is_allowed(&workspace, EDITS);
        all_are(
            &workspace,
            Allow,
            &["cat src/f.txt", "grep -rn x .", "git log --oneline", "git add src", "cargo test"],
        );
    }
}

/// Other names of a denied program.
// spec: PERMISSIONS-18
#[test]
fn a_denied_program_is_met_under_its_other_names() {
    let deny = ["Bash(cat:*)", "Bash(git push:*)"];
    let workspace = hostile().with_allow_rules(&["Bash"]).with_deny_rules(&deny);
    all_are(
        &workspace,
        Deny,
        &["./x victim", "/usr/lib/git-core/git-push . HEAD:x", "git-push . x", "git  push"],
    );
    none_is_allowed(&workspace, &["git send-pack . x", "src/../x victim"]);
}

#[test]
fn what_takes_long_to_judge_is_judged_in_time() {
    use windlass_runtime::ports::Clock;
    let workspace =
        hostile().with_allow_rules(&["Bash"]).with_deny_rules(&["Read(.env)", "Edit(src/**)"]);
    let clock = windlass_runtime::SystemClock::start();
    let start = clock.monotonic_ms();
    let text = "word/x.y(z) ".repeat(4_000);
    workspace.verdict(&format!("tool '{text}' $x"));
    workspace.verdict(&format!("tool {}", "a/b/c@d:e ".repeat(4_000)));
    let elapsed = clock.monotonic_ms() - start;
    // Tests run in debug builds, concurrently with others.
    assert!(elapsed < 20_000, "{elapsed} ms");
    assert_eq!(workspace.verdict("cat e"), Deny);
    assert_eq!(workspace.verdict("cat ?"), Ask);
}
