use clap::Parser;
use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::{RunStream, Windlass};

use super::*;
use crate::args::CliArgs;

const SCRIPT: &str =
    "when results 0\n  call Look {\"a\": 1}\n  call Look {\"b\": 2}\nwhen any\n  say \"Done.\"\n";

async fn driven(lane: &str) -> (Windlass, RunStream) {
    let windlass = Windlass::builder()
        .scripted_model(Script::parse(SCRIPT).unwrap())
        .store(MemoryStore::default())
        .start()
        .await
        .unwrap();
    let session = windlass.session(lane);
    let run = session.send("go").await.unwrap();
    (windlass, run)
}

/// The log may be written faster than it is shown.
#[tokio::test]
async fn entries_written_before_the_view_exists_are_shown_all_the_same() {
    let (windlass, mut run) = driven("late").await;
    let session = windlass.session("late");
    while session.load_conversation().await.unwrap().last_run_end.is_none() {
        tokio::task::yield_now().await;
    }
    let args = CliArgs::try_parse_from(["windlass", "-p", "go", "--json"]).unwrap();
    let before = run.conversation_before().await.unwrap();
    assert_eq!(before.head, 0, "the stream begins before its prompt");
    let settings = Settings::new(windlass::ModelSettings::with_defaults("scripted"));
    let mut frames = JsonOutput::new(&session, before, &settings, &args.print.agent.output);
    while let Some(item) = run.next().await.unwrap() {
        frames.on_item(&item).await.unwrap();
    }
    let shown = frames.reader.conversation();
    assert_eq!(shown.head, session.load_conversation().await.unwrap().head);
    assert_eq!(shown.model_call_count, 2);
    let end = run.wait_for_end().await.unwrap();
    let result = frames.result(&end, &ParkedRun::default()).unwrap();
    assert_eq!((result.num_turns, result.result.as_deref()), (3, Some("Done.")), "{result:?}");
}
