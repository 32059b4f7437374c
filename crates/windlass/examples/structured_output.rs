//! Gets the answer as a value of a Rust type instead of text.
//!
//! `cargo run --example structured_output`

use serde::Deserialize;
use windlass::scripted::Script;
use windlass::tools::schemars::{self, JsonSchema};

/// What the model must answer with; it sees the schema of the type.
#[derive(Debug, Deserialize, JsonSchema)]
struct Review {
    /// From 1 to 5
    stars: u8,
    summary: String,
}

const SCRIPT: &str = r#"
when any
  call StructuredOutput {"stars": 4, "summary": "Does what it says."}
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let review: Review = windlass::query("Review the crate in this folder")
        .script(Script::parse(SCRIPT)?) // or .model("sonnet")
        .extract()
        .await?;
    println!("{} stars: {}", review.stars, review.summary);
    Ok(())
}
