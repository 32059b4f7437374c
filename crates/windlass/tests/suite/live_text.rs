//! Live text: every word once and in order, whatever the speed of model and reader.

use windlass::core::log::input::Input;
use windlass::memory::MemoryStore;
use windlass::{RunOutcome, StreamItem};

use crate::kit::{ProbeTool, pause, start_windlass};

/// This many words at once.
fn words(of: &str, count: usize) -> String {
    (0..count).map(|n| format!("{of}{n} ")).collect::<String>().trim_end().to_owned()
}

/// The text that a reader joined from pieces, and the text in the entries of the replies.
#[derive(Default)]
struct Read {
    live: Vec<String>,
    whole: Vec<String>,
    open: Option<u32>,
}

impl Read {
    fn item(&mut self, item: &StreamItem) {
        match item {
            StreamItem::TextDelta { model_call, text } => {
                if self.open != Some(*model_call) {
                    self.open = Some(*model_call);
                    self.live.push(String::new());
                }
                self.live.last_mut().unwrap().push_str(text);
            }
            StreamItem::Entry(entry) => {
                if let Input::ModelReplied { model_call, reply, .. } = &entry.input {
                    assert!(
                        self.open.is_none_or(|open| open == *model_call),
                        "text after its reply"
                    );
                    self.open = None;
                    self.whole.push(reply.text().to_string());
                }
            }
            _ => {}
        }
    }
}

// spec: FEED-02
#[tokio::test]
async fn the_owner_reads_every_word_once_however_slowly_it_reads() {
    let (first, second) = (words("a", 400), words("b", 400));
    let script = format!(
        "when results 0\n  say \"{first}\"\n  call Look {{}}\nwhen any\n  say \"{second}\"\n"
    );
    for sleep_ms in [0, 1] {
        let w = start_windlass(&script, MemoryStore::default(), &[ProbeTool::read("Look")]).await;
        let mut run = w.session("lane").send("go").await.unwrap();
        let mut read = Read::default();
        while let Some(item) = run.next().await.unwrap() {
            read.item(&item);
            if sleep_ms > 0 {
                pause(sleep_ms).await;
            }
        }
        assert_eq!(read.live, [first.clone(), second.clone()]);
        assert_eq!(read.whole, read.live);
        let RunOutcome::Finished(ended) = run.wait_for_end().await.unwrap() else {
            panic!("not finished")
        };
        assert_eq!(*ended.text, *second);
    }
}

#[tokio::test]
async fn a_subscriber_that_lags_sees_no_gap_and_nothing_twice() {
    let text = words("w", 2_000);
    let script =
        format!("when ask 5+\n  say \"{text}\"\nwhen any\n  say \"{text}\"\n  call Look {{}}\n");
    let w = start_windlass(&script, MemoryStore::default(), &[ProbeTool::read("Look")]).await;
    let session = w.session("lane");
    let mut slow = session.subscribe(0);
    session.send("go").await.unwrap().wait_for_end().await.unwrap();
    let mut read = Read::default();
    while read.whole.len() < 5 {
        read.item(&slow.next().await.unwrap());
    }
    assert!(read.whole.iter().all(|whole| *whole == text));
    assert!(read.live.len() < 5, "it is slow enough to lose text");
    for live in &read.live {
        assert!(text.starts_with(live.as_str()), "a beginning without gaps: {live}");
    }
}

#[tokio::test]
async fn a_subscriber_that_keeps_up_reads_every_word() {
    let text = words("w", 400);
    let script = format!("when any\n  pace 1ms\n  say \"{text}\"\n");
    let w = start_windlass(&script, MemoryStore::default(), &[]).await;
    let session = w.session("lane");
    let mut reader = session.subscribe(0);
    let run = session.send("go").await.unwrap();
    let watched = tokio::spawn(run.wait_for_end());
    let mut read = Read::default();
    while read.whole.is_empty() {
        read.item(&reader.next().await.unwrap());
    }
    assert_eq!(read.live, [text]);
    watched.await.unwrap().unwrap();
}
