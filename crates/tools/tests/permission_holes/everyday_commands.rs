//! Commands that people run all day: closing a hole must not make them ask.

use super::all_are;
use crate::permission_attacks::{AttackWorkspace, Verdict};
use Verdict::Allow;

/// Commands that people run all day.
const EVERYDAY: &[&str] = &[
    "ls",
    "ls -la src",
    "cat a.txt f",
    "sed -n 1,5p f",
    "grep -rn x src",
    "rg x",
    "find . -name x",
    "head -5 f",
    "pwd",
    "wc -l f",
    "date +%s",
    "diff -u f deep/f",
];

/// Everyday commands for which a rule is needed.
const EVERYDAY_RULED: &[&str] = &[
    "git status",
    "git status --short -b",
    "git diff",
    "git diff --stat HEAD~1",
    "git log --oneline -5",
    "git log -3 --format=%s --graph",
    "git show HEAD",
    "git add -A",
    "git commit -m 'fix the .gitignore'",
    "git commit -am 'one two'",
    "git push -u origin main",
    "git push --force-with-lease",
    "git pull --rebase",
    "git checkout -b topic",
    "git switch main",
    "git stash pop",
    "git branch -a",
    "git rebase main",
    "git remote -v",
    "cargo test",
    "cargo test -p core --lib",
    "cargo clippy --all-targets -- -D warnings",
    "cargo build 2>&1 | tail -20",
    "npm test",
    "npm run build",
    "npm install && npm test",
    "make test",
    "make -j4",
    "python3 tool.py --flag x",
    "python3 -m pytest -x tests",
    "node tool.js",
    "go test ./...",
    "tar czf x.tgz src",
    "tar tf x.tgz",
    "sort -u f",
    "awk '{print $1}' f",
    "sed 's/a/b/' f",
    "sed -n '/foo/,/bar/p' f",
    "curl -s http://localhost",
    "mkdir -p n && touch n/x",
    "cp f g2",
    "mv f g2",
    "rm -rf target",
    "rm *.o",
    "chmod +x s.sh",
    "find src -name '*.rs'",
    "./gradlew test",
    "timeout 60 cargo test",
    "cd src && ls",
    "cd src && cargo test",
];

// spec: PERMISSIONS-07
#[test]
fn everyday_commands_are_not_asked_about() {
    let workspace = AttackWorkspace::new().with_allow_rules(&["Bash(sed:*)"]).with_deny_rules(&[]);
    all_are(&workspace, Allow, EVERYDAY);
    let workspace = AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&[]);
    all_are(&workspace, Allow, EVERYDAY);
    all_are(&workspace, Allow, EVERYDAY_RULED);
    let narrow = [
        "Bash(git:*)",
        "Bash(cargo:*)",
        "Bash(npm:*)",
        "Bash(make:*)",
        "Bash(python3:*)",
        "Bash(tar:*)",
        "Bash(sed:*)",
        "Bash(awk:*)",
        "Bash(curl:*)",
    ];
    let workspace = AttackWorkspace::new().with_allow_rules(&narrow).with_deny_rules(&[]);
    let covered = |command: &&&str| {
        let name = command.split(' ').next().unwrap();
        narrow.contains(&format!("Bash({name}:*)").as_str())
    };
    let commands: Vec<&str> = EVERYDAY_RULED.iter().filter(covered).copied().collect();
    assert!(commands.len() > 30);
    all_are(&workspace, Allow, &commands);
}

/// Where a program is denied, the rest stays usable.
// spec: PERMISSIONS-18
#[test]
fn everyday_commands_are_not_asked_about_because_a_program_is_denied() {
    let workspace =
        AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&["Bash(shutdown:*)"]);
    all_are(&workspace, Allow, EVERYDAY);
    all_are(&workspace, Allow, EVERYDAY_RULED);
}
