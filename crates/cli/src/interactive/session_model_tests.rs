use super::{SessionAction, SessionModel};
use crate::interactive::key_decoder::Key;

fn model() -> SessionModel {
    SessionModel::new((80, 24), Vec::new())
}

fn type_in(model: &mut SessionModel, text: &str) -> Vec<SessionAction> {
    for c in text.chars() {
        let key = if c == '\n' { Key::Enter } else { Key::Char(c) };
        model.on_key(&key);
    }
    model.take_actions()
}

#[test]
fn enter_sends_when_idle_and_steers_while_it_works() {
    let mut model = model();
    assert_eq!(type_in(&mut model, "go\n"), [SessionAction::Send("go".to_owned())]);
    assert_eq!(type_in(&mut model, "faster\n"), [SessionAction::Steer("faster".to_owned())]);
    model.end_work();
    assert_eq!(type_in(&mut model, "next\n"), [SessionAction::Send("next".to_owned())]);
}

#[test]
fn queued_prompts_follow_the_run_and_can_be_taken_back() {
    let mut model = model();
    type_in(&mut model, "go\n");
    for text in ["second", "third"] {
        type_in(&mut model, text);
        model.on_key(&Key::AltEnter);
    }
    assert_eq!(model.queue, ["second", "third"]);
    model.on_key(&Key::Up);
    assert_eq!((model.queue.len(), model.composer.buffer.text()), (1, "third"));
    model.end_work();
    assert_eq!(model.take_actions(), [SessionAction::Send("second".to_owned())]);
}

#[test]
fn an_interrupt_gives_queued_prompts_back() {
    let mut model = model();
    type_in(&mut model, "go\n");
    type_in(&mut model, "later");
    model.on_key(&Key::AltEnter);
    model.on_key(&Key::Escape);
    assert_eq!(model.take_actions(), [SessionAction::Abort]);
    model.end_work();
    assert_eq!(model.composer.buffer.text(), "later");
    assert!(model.queue.is_empty() && model.take_actions().is_empty());
}

#[test]
fn ctrl_c_clears_then_interrupts_then_leaves() {
    let mut model = model();
    type_in(&mut model, "text");
    model.on_key(&Key::Ctrl('c'));
    assert!(model.composer.is_empty() && model.take_actions().is_empty());
    model.on_key(&Key::Ctrl('c'));
    assert!(model.hint.is_some() && model.take_actions().is_empty());
    model.now_ms = 3_000;
    model.on_key(&Key::Ctrl('c'));
    assert!(model.take_actions().is_empty());
    model.on_key(&Key::Ctrl('c'));
    assert_eq!(model.take_actions(), [SessionAction::Leave]);
}

#[test]
fn random_keys_never_stop_the_session() {
    let mut model = model();
    let mut state = 11_u64;
    let mut decoder = crate::interactive::key_decoder::KeyDecoder::default();
    for turn in 0..20_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(turn);
        let byte = (state >> 33) as u8;
        for key in decoder.push(&[if byte.is_multiple_of(7) { 0x1b } else { byte }]) {
            model.on_key(&key);
        }
        model.now_ms += 7;
        if turn.is_multiple_of(50) {
            let columns = 20 + (byte as usize);
            model.resize(columns, 5 + (byte as usize) / 8);
            model.take_actions();
            model.live_area();
        }
        if turn.is_multiple_of(500) {
            model.end_work();
        }
    }
}
