//! A plan as a script of the scripted model.

use std::path::Path;

use crate::plan::conversation_plan::{
    ConversationPlan, EffectTool, PlanStep, PlannedCall, PlannedEffect,
};
use crate::plan::script::{FailureKind, TransientFailure, render};

#[test]
fn a_plan_becomes_a_script() {
    let effect =
        |tool| PlannedEffect { line: "c 1.1".to_owned(), before_ms: 20, after_ms: 5, tool };
    let steps = vec![
        PlanStep::Calls(vec![
            PlannedCall::Read { file: 2 },
            PlannedCall::Effect(effect(EffectTool::Bash)),
            PlannedCall::Effect(effect(EffectTool::Mcp)),
        ]),
        PlanStep::CutText,
        PlanStep::CutCall,
    ];
    let plan = ConversationPlan { conversation: "c".to_owned(), steps };
    let stumble = TransientFailure { step: 2, how: FailureKind::Overloaded };
    let expected = r#"when ask 2
  once
  fail 529
when ask 1
  delay 2ms
  call Read {"file_path":"note-2.txt"}
  call Bash {"command":"sleep 0.020; printf '%s\\n' 'c 1.1' >> '/l/ledger'; sleep 0.005"}
  call mcp__ledger__append {"line":"c 1.1","before":"0.020","after":"0.005"}
when ask 2
  delay 2ms
  say "This text goes on"
  stop max_tokens
when ask 3
  delay 2ms
  say "Now a call."
  truncate call Bash {"command": "ls
when any
  say "done c"
"#;
    assert_eq!(render(&plan, Path::new("/l/ledger"), Some(stumble)), expected);
}
