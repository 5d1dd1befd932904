//! One module per subcommand.

pub mod bench;
pub mod bless;
pub mod book;
pub mod build;
pub mod dist;
pub mod doctor;
pub mod executor_speed;
pub mod learn;
pub mod loop_times;
pub mod new;
pub mod new_project;
pub mod playground;
pub mod prove;
pub mod ptx;
pub mod release_check;
pub mod report;
pub mod samples;
pub mod setup;
pub mod test;
pub mod upstream;
pub mod verify;
pub mod watch;
