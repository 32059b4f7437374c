//! The tools against real files and real processes.

#[cfg(test)]
mod attach;
#[cfg(test)]
mod attacks;
#[cfg(test)]
mod bash;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod file_properties;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod holes;
#[cfg(test)]
mod human;
#[cfg(test)]
mod judging;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod paging;
#[cfg(test)]
mod paths;
#[cfg(test)]
mod read;
#[cfg(test)]
mod rejudging;
#[cfg(test)]
mod search;
#[cfg(test)]
mod shell_properties;
#[cfg(test)]
mod shells;
#[cfg(test)]
mod standard;
#[cfg(test)]
mod todo;
