//! Answers that must fit a schema, through the builder alone.

use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::{RunOutcome, Windlass};

const SCHEMA: &str =
    r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;

const SCRIPT: &str = r#"
when results 0
  call StructuredOutput {"n": "three"}
when error of StructuredOutput
  call StructuredOutput {"n": 3}
when any
  say "done"
"#;

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again() {
    let windlass = Windlass::builder()
        .scripted_model(Script::parse(SCRIPT).unwrap())
        .store(MemoryStore::new())
        .output_schema(SCHEMA)
        .start()
        .await
        .unwrap();
    let run = windlass.session("c").send("how many?").await.unwrap();
    let RunOutcome::Finished(ended) = run.wait_for_end().await.unwrap() else {
        panic!("it did not finish")
    };
    let answer: serde_json::Value = ended.structured_output.unwrap().read().unwrap();
    assert_eq!(answer, serde_json::json!({ "n": 3 }));
    assert_eq!(ended.counters.output_retries, 1);
}

#[tokio::test]
async fn a_schema_that_is_none_is_told_at_the_start() {
    for schema in ["", "{", "[1]", r#"{"type": "nonsense"}"#] {
        let builder = Windlass::builder()
            .scripted_model(Script::parse(SCRIPT).unwrap())
            .store(MemoryStore::new())
            .output_schema(schema);
        assert!(builder.start().await.is_err(), "{schema:?} was taken for a schema");
    }
}
