//! Protected and denied paths that are links.

use std::os::unix::fs::symlink;

use crate::sandboxed::World;
use windlass_sandbox::Layers;

#[tokio::test]
async fn a_protected_link_stays_and_what_it_leads_to_is_protected() {
    let world = World::new(Layers::ALL);
    let workspace = world.workspace();
    std::fs::create_dir_all(workspace.join("shared/claude")).unwrap();
    std::fs::write(workspace.join("shared/claude/settings.json"), "{}").unwrap();
    symlink("shared/claude", workspace.join("hop")).unwrap();
    symlink("hop", workspace.join(".claude")).unwrap();
    symlink("nowhere", workspace.join(".mcp.json")).unwrap();
    assert_eq!(world.succeeds("cat .claude/settings.json").await, "{}");
    for script in [
        "rm .claude",
        "mv .claude gone",
        "ln -sfn src .claude",
        "rm hop && ln -s src hop",
        "echo x > .claude/settings.json",
        "echo x > shared/claude/settings.json",
        "mv shared gone",
        "mv shared/claude gone",
        "echo {} > .mcp.json",
        "echo {} > nowhere",
    ] {
        world.fails(script).await;
    }
    world.succeeds("echo x > src/new && echo x > shared/other").await;
    assert!(!workspace.join("nowhere").exists());
}

#[tokio::test]
async fn a_denied_link_hides_what_it_leads_to() {
    let mut world = World::new(Layers::ALL);
    let home = world.home();
    std::fs::create_dir(home.join("vault")).unwrap();
    std::fs::write(home.join("vault/id"), "the-linked-key\n").unwrap();
    symlink("vault", home.join("ssh")).unwrap();
    world.policy.deny_read.push(home.join("ssh"));
    for script in ["cat $H/ssh/id", "cat $H/vault/id", "grep -r linked $H/"] {
        let output = world.run(script).await.output;
        assert!(!output.contains("the-linked-key"), "{script}: {output}");
    }
}
