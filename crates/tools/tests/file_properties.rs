//! Properties of files with arbitrary bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use windlass_core::call::outcome::ToolOutcome;

use crate::fixture::{TestWorkspace, success_text};

fn on_a_runtime<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Magic bytes, so that every kind of file occurs.
fn start() -> impl Strategy<Value = &'static [u8]> {
    let starts: Vec<&[u8]> = vec![
        b"",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff",
        b"%PDF-1.5\n",
        b"\x89PNG\r\n\x1a\n",
        b"{\"cells\": [",
    ];
    proptest::sample::select(starts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_read_or_refused(start in start(), rest in vec(any::<u8>(), 0..2_000)) {
        let workspace = TestWorkspace::new();
        for name in ["a", "a.ipynb"] {
            workspace.write(name, [start, &rest].concat());
            let input = serde_json::json!({ "file_path": name }).to_string();
            let outcome = on_a_runtime(workspace.read(&input));
            let is_told = match &outcome {
                ToolOutcome::Done(content) => content.text().starts_with(['"', '[']),
                ToolOutcome::Failed(error) => &*error.code != "tool_panicked",
                _ => false,
            };
            prop_assert!(is_told, "{:?}", outcome);
        }
    }

    /// Whatever a file contains, an edit changes what it names and no other byte.
    #[test]
    fn an_edit_leaves_every_other_byte(
        before in "[a-z\\PC]{0,40}",
        after in vec(prop_oneof!["[a-z ]{0,8}\r\n", "[a-z ]{0,8}\n", "\\PC{0,8}"], 0..8),
        new in "[A-Z\n]{1,10}",
    ) {
        let (mark, after) = ("§§mark§§", after.concat());
        prop_assume!(!before.starts_with('\u{feff}'));
        let text = format!("{before}{mark}{after}");
        let is_all_crlf = text.contains('\n')
            && text.matches('\n').count() == text.matches("\r\n").count();
        let expected = if is_all_crlf { new.replace('\n', "\r\n") } else { new.clone() };
        let workspace = TestWorkspace::new();
        workspace.write("a", &text);
        on_a_runtime(async {
            workspace.read_first("a").await;
            success_text(workspace.edit("a", mark, &new).await);
        });
        let now = String::from_utf8(workspace.bytes("a")).unwrap();
        prop_assert_eq!(now, format!("{before}{expected}{after}"));
    }
}
