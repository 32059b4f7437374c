//! Commands that change how the session works: model, effort, mode, rules, vi keys.

use anyhow::bail;
use windlass::core::permission::{PermissionMode, PermissionRule};
use windlass::core::settings::conversation_settings::Effort;
use windlass::core::settings::model_change::ModelChange;
use windlass::core::settings::run_settings::RunSettings;

use super::picker::{Picker, PickerChoice, PickerItem};
use super::session_files;
use super::session_loop::SessionLoop;
use super::vi_keys::ViState;
use crate::config::claude::permission_settings;
use crate::config::permission_mode::apply_mode;
use crate::messages;
use crate::prompt::session_events;
use crate::setup::session_changes::{self, MODEL_CHOICES, check_mode};

/// The modes in the order of Shift-Tab, each with what it means.
const MODES: [(PermissionMode, &str); 3] = [
    (PermissionMode::Default, "Asks before anything but reads in the folder."),
    (PermissionMode::AcceptEdits, "Edits in the folder need no approval; commands do."),
    (PermissionMode::Plan, "Only reads, and ends with a plan for your approval."),
];

/// The efforts, with what to expect of them.
const EFFORTS: [(Option<Effort>, &str, &str); 6] = [
    (None, "default", "what the provider chooses"),
    (Some(Effort::Low), "low", "short answers, few tokens"),
    (Some(Effort::Medium), "medium", "for everyday work"),
    (Some(Effort::High), "high", "for hard work"),
    (Some(Effort::Xhigh), "xhigh", "for long work on its own"),
    (Some(Effort::Max), "max", "without regard to cost"),
];

impl SessionLoop {
    /// Switches the model, or lists the models to choose from.
    pub(super) async fn choose_model(&mut self, name: &str) -> anyhow::Result<()> {
        if !name.is_empty() {
            return self.switch_model(name).await;
        }
        let current = self.setup.settings.model.name.to_string();
        let item = |(id, name, about): &(&str, &str, &str)| PickerItem {
            label: (*name).to_owned(),
            about: (*about).to_owned(),
            choice: PickerChoice::Model((*id).to_owned()),
        };
        let items = MODEL_CHOICES.iter().map(item).collect();
        let title = format!(
            "The model is {current}. Choose another; /model NAME takes any of `windlass models`."
        );
        let is_current = |item: &PickerItem| item.label.eq_ignore_ascii_case(&current);
        self.model.picker = Some(Picker::new(&title, items).select(is_current));
        Ok(())
    }

    pub(super) async fn switch_model(&mut self, name: &str) -> anyhow::Result<()> {
        let (initial, args) = (&self.initial_settings, &self.print.agent);
        session_events::switch_model(
            &self.session,
            &mut self.setup.settings,
            Some(name),
            |settings| session_changes::set_model(settings, initial, (Some(name), args)),
        )
        .await?;
        self.change_active_model().await?;
        let name = self.setup.settings.model.name.to_string();
        self.add_note(&format!("The model is {name} from here on."));
        self.model.status.model = name;
        Ok(())
    }

    /// Changes the model and the thinking of the run in progress.
    async fn change_active_model(&self) -> anyhow::Result<()> {
        if self.active.is_some() {
            let RunSettings { models, thinking, .. } =
                RunSettings::from_settings(&self.setup.settings);
            self.session.set_model(ModelChange { models, thinking }).await?;
        }
        Ok(())
    }

    /// Sets the effort, or lists the efforts to choose from.
    pub(super) async fn choose_effort(&mut self, name: &str) -> anyhow::Result<()> {
        if name.is_empty() {
            let current = self.setup.settings.thinking.effort;
            let item = |(effort, name, about): &(Option<Effort>, &str, &str)| PickerItem {
                label: (*name).to_owned(),
                about: (*about).to_owned(),
                choice: PickerChoice::Effort(*effort),
            };
            let items = EFFORTS.iter().map(item).collect();
            let is_current = |item: &PickerItem| item.choice == PickerChoice::Effort(current);
            let picker = Picker::new("How much effort should the model make?", items);
            self.model.picker = Some(picker.select(is_current));
            return Ok(());
        }
        match EFFORTS.iter().find(|(_, known, _)| *known == name) {
            Some((effort, _, _)) => self.set_effort(*effort).await,
            None => {
                let names: Vec<&str> = EFFORTS.iter().map(|(_, name, _)| *name).collect();
                bail!("unknown effort {name:?}; use {}", names.join(", "))
            }
        }
    }

    pub(super) async fn set_effort(&mut self, effort: Option<Effort>) -> anyhow::Result<()> {
        self.setup.settings.thinking.effort = effort;
        self.change_active_model().await?;
        let name = EFFORTS.iter().find(|(known, _, _)| *known == effort).map(|(_, name, _)| *name);
        self.add_note(&format!("The effort is {} from here on.", name.unwrap_or("default")));
        Ok(())
    }

    pub(super) async fn choose_mode(&mut self, name: &str) -> anyhow::Result<()> {
        if name.is_empty() {
            for (mode, about) in MODES {
                self.add_note(&format!("  {:<12} {about}", messages::stored_name(&mode)));
            }
            return Ok(());
        }
        let mode = permission_settings::parse_mode(name)?;
        self.set_mode(mode).await
    }

    /// Switches to the next mode of Shift-Tab.
    pub(super) async fn next_mode(&mut self) -> anyhow::Result<()> {
        let current = self.setup.settings.rules.mode;
        let at = MODES.iter().position(|(mode, _)| *mode == current);
        let next = at.map_or(0, |at| (at + 1) % MODES.len());
        match MODES.get(next) {
            Some((mode, _)) => self.set_mode(*mode).await,
            None => Ok(()),
        }
    }

    async fn set_mode(&mut self, mode: PermissionMode) -> anyhow::Result<()> {
        check_mode(mode, &self.print.agent, &self.initial_settings).map_err(anyhow::Error::msg)?;
        apply_mode(&mut self.setup.settings, mode);
        if self.active.is_some() {
            self.session.set_permission_mode(mode).await?;
        }
        self.model.status.mode = messages::stored_name(&mode).to_string();
        let about = MODES.iter().find(|(known, _)| *known == mode).map(|(_, about)| *about);
        self.model.hint = about.map(str::to_owned);
        Ok(())
    }

    /// Takes over a mode that the log has changed, for example by the approval of a plan.
    pub(super) fn sync_mode(&mut self) {
        let shown = &self.model.status.mode;
        if *messages::stored_name(&self.setup.settings.rules.mode) != **shown
            && let Ok(mode) = permission_settings::parse_mode(shown)
        {
            apply_mode(&mut self.setup.settings, mode);
        }
    }

    /// Lists the rules, or changes one of them for this session.
    pub(super) fn run_permissions(&mut self, rest: &str) -> anyhow::Result<()> {
        if rest.is_empty() {
            self.show_permissions();
            return Ok(());
        }
        let (verb, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let rule = permission_settings::parse_rule(text.trim());
        let rules = &mut self.setup.settings.rules;
        let list = match verb {
            "allow" => &mut rules.allow,
            "ask" => &mut rules.ask,
            "deny" => &mut rules.deny,
            "remove" => {
                let rule = rule?;
                let before = rules.allow.len() + rules.ask.len() + rules.deny.len();
                for list in [&mut rules.allow, &mut rules.ask, &mut rules.deny] {
                    list.retain(|known| *known != rule);
                }
                if before == rules.allow.len() + rules.ask.len() + rules.deny.len() {
                    bail!("there is no rule {rule}; /permissions lists the rules");
                }
                self.add_note(&format!("{rule} is removed from the next prompt on."));
                return Ok(());
            }
            other => bail!(
                "unknown word {other:?}; use /permissions, or /permissions allow, ask, deny or \
                 remove with a rule such as Bash(npm test:*)"
            ),
        };
        let rule = rule?;
        if !list.contains(&rule) {
            list.push(rule.clone());
        }
        self.add_note(&format!("{verb} {rule}: from the next prompt on, in this session."));
        Ok(())
    }

    fn show_permissions(&mut self) {
        let rules = &self.setup.settings.rules;
        let mode = format!("Mode: {}", messages::stored_name(&rules.mode));
        let list = |rules: &[PermissionRule]| {
            let texts: Vec<String> = rules.iter().map(ToString::to_string).collect();
            if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
        };
        let lines = [
            mode,
            format!("Allowed: {}", list(&rules.allow)),
            format!("Denied: {}", list(&[&rules.disallowed[..], &rules.deny].concat())),
            format!("Asked about: {}", list(&rules.ask)),
        ];
        lines.iter().for_each(|line| self.add_note(line));
    }

    /// Switches vi keys, for later sessions too.
    pub(super) fn toggle_vi_keys(&mut self) {
        let composer = &mut self.model.composer;
        composer.vi = match composer.vi.take() {
            Some(_) => None,
            None => Some(ViState::default()),
        };
        let is_on = composer.vi.is_some();
        session_files::write_vi_keys(is_on);
        self.add_note(if is_on {
            "vi keys are on: Esc for commands, i for text. /vim switches them off."
        } else {
            "vi keys are off."
        });
    }
}
