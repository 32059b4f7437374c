//! The tools against real files and real processes.

#[cfg(test)]
mod ask_user_question;
#[cfg(test)]
mod attachments;
#[cfg(test)]
mod background_commands;
#[cfg(test)]
mod bash;
#[cfg(test)]
mod command_permissions;
#[cfg(test)]
mod edits_and_writes;
#[cfg(test)]
mod file_kinds;
#[cfg(test)]
mod file_properties;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod long_results;
#[cfg(test)]
mod path_permissions;
#[cfg(test)]
mod path_recheck;
#[cfg(test)]
mod permission_attacks;
#[cfg(test)]
mod permission_holes;
#[cfg(test)]
mod process_endings;
#[cfg(test)]
mod read;
#[cfg(test)]
mod resource_faults;
#[cfg(test)]
mod search;
#[cfg(test)]
mod shell_properties;
#[cfg(test)]
mod standard;
#[cfg(test)]
mod todo;
