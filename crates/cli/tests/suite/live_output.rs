//! What is printed during a run and at its end: every word once, and on a pipe the answer alone, at
//! any speed of the model and of the reader.

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::scripted::ScriptedServer;
use crate::test_home::TestHome;

/// The wire formats, as models of the scripted server.
const MODELS: [&str; 3] = ["claude-sonnet-4-5", "lab:gpt-5", "openai:gpt-5"];

fn number_words(of: &str, count: usize) -> String {
    (0..count).map(|n| format!("{of}{n} ")).collect::<String>().trim_end().to_owned()
}

fn burst_script() -> (String, String, String) {
    let (first, last) = (number_words("a", 60), number_words("w", 400));
    let script = format!(
        "when results 0\n  think \"Hm, let me see what there is.\"\n  say \"{first}\"\n  \
         call Read {{\"file_path\": \"a.txt\"}}\nwhen any\n  say \"{last}\"\n"
    );
    (script, first, last)
}

/// The value at a path, or null.
fn json_at<'v>(value: &'v Value, path: &str) -> &'v Value {
    value.pointer(path).unwrap_or(&Value::Null)
}

/// The texts of all streamed messages, put together from their events.
fn streamed_text(frames: &[Value]) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for frame in frames {
        let event = json_at(frame, "/event");
        match json_at(event, "/type").as_str() {
            Some("message_start") => messages.push(String::new()),
            Some("content_block_delta") if json_at(event, "/delta/type") == "text_delta" => {
                messages
                    .last_mut()
                    .unwrap()
                    .push_str(json_at(event, "/delta/text").as_str().unwrap());
            }
            _ => {}
        }
    }
    messages
}

fn whole_texts(frames: &[Value]) -> Vec<String> {
    let blocks = frames.iter().filter(|frame| json_at(frame, "/type") == "assistant");
    let blocks = blocks.map(|frame| json_at(frame, "/message/content/0"));
    blocks.filter_map(|block| block["text"].as_str().map(str::to_owned)).collect()
}

fn parse_frames(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const PARTIAL: [&str; 4] =
    ["--output-format", "stream-json", "--verbose", "--include-partial-messages"];

fn check_partial(out: &str, first: &str, last: &str, about: &str) {
    let frames = parse_frames(out);
    let expected = [first.to_owned(), last.to_owned()];
    assert_eq!(streamed_text(&frames), expected, "{about}: pieces");
    assert_eq!(whole_texts(&frames), expected, "{about}: whole blocks");
    let starts =
        frames.iter().filter(|frame| json_at(frame, "/event/type") == "content_block_start");
    let texts =
        starts.filter(|frame| json_at(frame, "/event/content_block/type") == "text").count();
    assert_eq!(texts, 2, "{about}: each text is one block");
    assert_eq!(json_at(frames.last().unwrap(), "/result"), last, "{about}");
}

#[test]
fn a_burst_of_words_is_printed_once() {
    let (script, first, last) = burst_script();
    let home = TestHome::new(&script);
    home.write("a.txt", "x\n");
    for _ in 0..5 {
        let ran = home.run_prompt_unattended("go", &[]);
        assert_eq!((ran.code, ran.out.trim_end()), (0, last.as_str()), "{}", ran.err);
        assert_eq!(ran.err.matches(&first).count(), 1, "progress, whole and once: {}", ran.err);
        check_partial(&home.run_prompt_unattended("go", &PARTIAL).out, &first, &last, "in process");
    }
}

// spec: FEED-05
#[test]
fn every_wire_format_brings_every_word_once() {
    let (script, first, last) = burst_script();
    let home = TestHome::new(&script);
    home.write("a.txt", "x\n");
    let server = ScriptedServer::start(&home, &[]);
    let (anthropic, openai) =
        (format!("http://{}", server.address), format!("http://{}/v1", server.address));
    let lab = format!("[providers.lab]\nformat = \"openai_chat\"\nbase_url = \"{openai}\"\n");
    std::fs::create_dir_all(home.path("home")).unwrap();
    home.write("home/config.toml", &lab);
    let environment = [
        ("ANTHROPIC_BASE_URL", anthropic.as_str()),
        ("OPENAI_BASE_URL", &openai),
        ("ANTHROPIC_API_KEY", "none"),
        ("OPENAI_API_KEY", "none"),
    ];
    for model in MODELS {
        let args = ["-p", "go", "--model", model, "--store", "w.db"];
        let ran = home.run_with_env(&args, &environment);
        assert_eq!((ran.code, ran.out.trim_end()), (0, last.as_str()), "{model}: {}", ran.err);
        assert_eq!(ran.err.matches(&first).count(), 1, "{model}: {}", ran.err);
        let ran = home.run_with_env(&[&args[..], &PARTIAL].concat(), &environment);
        check_partial(&ran.out, &first, &last, model);
    }
}

/// A pipe holds 64 KiB: the binary has to wait for this reader again and again.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test reads a real process slowly")]
fn a_reader_that_sleeps_gets_everything() {
    let (_, first, last) = burst_script();
    let rounds: String = (1..12)
        .map(|n| {
            format!(
                "when ask {n}\n  say \"{first}\"\n  call Read {{\"file_path\": \"a{n}.txt\"}}\n"
            )
        })
        .collect();
    let home = TestHome::new(&format!("{rounds}when any\n  say \"{last}\"\n"));
    (1..12).for_each(|n| home.write(&format!("a{n}.txt"), &format!("{n}\n")));
    let args = ["-p", "go", "--script", "a.script", "--store", "w.db"];
    let mut child = home
        .command(&[&args[..], &PARTIAL].concat())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = Vec::new();
    let mut pipe = child.stdout.take().unwrap();
    let mut buffer = [0; 16_384];
    loop {
        std::thread::sleep(Duration::from_millis(3));
        match pipe.read(&mut buffer).unwrap() {
            0 => break,
            read => out.extend_from_slice(&buffer[..read]),
        }
    }
    let out = String::from_utf8(out).unwrap();
    assert!(child.wait().unwrap().success(), "{}", out.lines().last().unwrap());
    let frames = parse_frames(&out);
    let mut expected = vec![first; 11];
    expected.push(last);
    assert_eq!(streamed_text(&frames), expected);
    assert_eq!(whole_texts(&frames), expected);
}

const CUT: &str = "when user is \"cut\"\n  once\n  say \"Half of it\"\n  cut\n\
    when user is \"drift\" and results 0\n  once\n  say \"I am done.\"\n  stop stop_sequence \"\\nUser:\"\n\
    when user is \"long\"\n  once\n  say \"This goes on and\"\n  stop max_tokens\n\
    when user is \"refused\"\n  say \"I can\"\n  stop refusal\n\
    when user is \"endless\"\n  say \"on and \"\n  stop max_tokens\n\
    when user contains \"continue from where\"\n  say \"on and \"\n  stop max_tokens\n\
    when any\n  say \"The answer.\"\n";

// spec: FEED-05
#[test]
fn on_a_pipe_standard_output_has_the_answer_and_nothing_else() {
    let home = TestHome::new(CUT);
    for prompt in ["cut", "drift", "long", "plain"] {
        let ran = home.run_prompt_unattended(prompt, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "The answer.\n"), "{prompt}: {}", ran.err);
        assert!(!ran.err.contains("Half of it"), "{}", ran.err);
    }
    let ran = home.run_prompt_unattended("refused", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "I can't help with that request.\n"));
    assert!(ran.err.contains("the model refused"), "{}", ran.err);
    let ran = home.run_prompt_unattended("endless", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("truncation_exhausted"), "{}", ran.err);
}

/// The frames of calls and their denials are complete, however late the reader of the run is.
#[test]
fn no_frame_is_lost_under_load() {
    const AT_ONCE: usize = 8;
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"touch made\"}\n  \
         call Read {\"file_path\": \"a.txt\"}\nwhen any\n  say \"Done.\"\n",
    );
    home.write("a.txt", "x\n");
    let run = |n: usize| {
        let store = format!("w{n}.db");
        let format = ["--output-format", "stream-json", "--verbose"];
        let args = ["-p", "go", "--script", "a.script", "--store", &store];
        home.run_bare(&[&args[..], &format].concat())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE)
            .map(|worker| {
                scope.spawn(move || (0..6).map(|n| run(worker * 10 + n).out).collect::<Vec<_>>())
            })
            .collect();
        for out in workers.into_iter().flat_map(|worker| worker.join().unwrap()) {
            let frames = parse_frames(&out);
            let of = |kind: &str| frames.iter().filter(|frame| frame["type"] == kind).count();
            assert_eq!((of("assistant"), of("user"), of("result")), (3, 2, 1), "{out}");
            let denied = frames.iter().filter(|frame| frame["subtype"] == "permission_denied");
            assert_eq!(denied.count(), 1, "{out}");
            let denials = frames.last().unwrap()["permission_denials"].as_array().unwrap().len();
            assert_eq!(denials, 1, "{out}");
        }
    });
}
