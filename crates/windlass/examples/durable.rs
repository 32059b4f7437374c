//! A conversation on disk: another program, or this one after a crash, continues it.
//!
//! `cargo run --example durable`

use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;

const SCRIPT: &str = r#"
when any
  say "You said ${user}"
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("windlass-durable-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("conversations.db");

    let client = windlass::client()
        .script(Script::parse(SCRIPT)?) // or .model("sonnet")
        .store(SqliteStore::open(&file)?)
        .open()
        .await?;
    println!("{}", client.ask("before the crash").await?);
    let id = client.session_id().to_owned();
    client.windlass().hand_over();
    drop(client);

    let client = windlass::client()
        .script(Script::parse(SCRIPT)?)
        .store(SqliteStore::open(&file)?)
        .session_id(&id)
        .open()
        .await?;
    println!("{}", client.ask("after it").await?);
    let prompts = client.session().load_conversation().await?.model_call_count;
    println!("{prompts} prompts in one conversation");
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
