use std::error::Error as _;
use std::fmt::{self, Display, Write};
use std::io::ErrorKind;
use std::num::ParseFloatError;
use std::path::PathBuf;

/// The result of everything here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A file of this crate that cannot be read or written, or files that do not fit together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file holds something else.
    #[error("{} is not {kind}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The kind that was asked for.
        kind: FileKind,
        /// The place and kind of the difference.
        source: serde_json::Error,
    },
    /// A file was written by another version.
    #[error("{} has {}", path.display(), kind.of_version(*schema, *read))]
    Version {
        /// The file.
        path: PathBuf,
        /// The kind of the file.
        kind: FileKind,
        /// Its version.
        schema: u32,
        /// The oldest and the newest version that are read.
        read: [u32; 2],
    },
    /// A file has figures that cannot be.
    #[error("{} is damaged: {figures} cannot be", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The figures.
        figures: String,
    },
    /// A folder stands where a file is to be written.
    #[error("cannot write {}: it is a folder; name a file in it", .0.display())]
    Folder(PathBuf),
    /// The folder of a file takes no files.
    #[error(
        "cannot write {}: {}; choose a file in a folder that takes files",
        path.display(),
        no_room(*cause)
    )]
    NoFile {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: ErrorKind,
    },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A text could not be written where it should, and is elsewhere.
    #[error("the text for it is in {} instead", place.display())]
    Elsewhere {
        /// Path of the text.
        place: PathBuf,
        /// Why it is there.
        source: Box<Error>,
    },
    /// A value that JSON does not have.
    #[error("a value that is to be written is not plain data")]
    NotPlain(#[from] serde_json::Error),
    /// A table of accuracies without its header.
    #[error("`{found}` is no header of a table of accuracies: write `{expected}DEVICE`")]
    NoHeader {
        /// Its first line.
        found: String,
        /// The begin of the header.
        expected: &'static str,
    },
    /// A line of a table of accuracies that has no name and ratio.
    #[error("a line is no name and ratio: `{line}`")]
    NoRatio {
        /// The line.
        line: String,
        /// Why its ratio is none, if it has one.
        source: Option<ParseFloatError>,
    },
    /// Predictions that were measured.
    #[error("the second file was measured: predictions are made by `bench --device virtual`")]
    Measured,
    /// A measurement that was predicted.
    #[error("the first file is a prediction itself: name a file that was measured on a GPU")]
    Predicted,
    /// A measurement and predictions of different devices.
    #[error("the measurement is of {measured}, the prediction of {predicted}")]
    Devices {
        /// The device of the measurement.
        measured: String,
        /// That of the predictions.
        predicted: String,
    },
}

impl Error {
    /// Gives the whole sentence, with its causes.
    pub fn sentence(&self) -> String {
        let mut sentence = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let _ = write!(sentence, ": {error}");
            cause = error.source();
        }
        sentence
    }
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// Of a run: [`Results`](crate::Results).
    Results,
    /// [`Counts`](crate::Counts).
    Counts,
    /// [`ProgramProfile`](crate::ProgramProfile).
    Profile,
}

impl Display for FileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            FileKind::Results => "a result file of `coalesce bench --json`",
            FileKind::Counts => "a file of `coalesce count`",
            FileKind::Profile => "a profile of a program",
        })
    }
}

impl FileKind {
    /// Returns what is said of a version that is not read.
    fn of_version(self, found: u32, [oldest, newest]: [u32; 2]) -> String {
        match self {
            FileKind::Results => format!(
                "result schema {found}, this program reads {oldest} to {newest}: use the program that wrote it"
            ),
            FileKind::Counts => {
                format!("schema {found} of counts, this program reads {newest}: count again")
            }
            FileKind::Profile => {
                format!("schema {found} of profiles, this program reads {newest}: profile again")
            }
        }
    }
}

/// Says a reason without the name of a temporary file, which means nothing to the reader.
fn no_room(cause: ErrorKind) -> String {
    match cause {
        ErrorKind::NotFound => "there is no folder to hold it".to_owned(),
        cause => cause.to_string(),
    }
}
