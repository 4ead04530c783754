//! The input of a run, as text.

use super::fitted::Fitted;
use crate::gc::given::GivenPolicies;

/// The input of a run, as text.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The name of the configuration, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// A scheme that replaces `gc.scheme`: a preset's name, or a file's name and its text.
    pub scheme: Option<(String, Option<String>)>,
    /// A device preset that replaces the whole `[device]` table.
    pub device: Option<String>,
    /// Assignments `key.path=value`.
    pub sets: Vec<String>,
    /// Keys that are removed from all layers below the assignments.
    pub unsets: Vec<String>,
    /// Whether a trace was given in addition to the configuration.
    pub has_trace: bool,
    /// The jobs of the job file that `workload.fio` names, as TOML: the file's name and the text.
    pub jobs: Option<(String, String)>,
    /// The size of the drive, where it was found by [`super::fit`].
    pub fitted: Option<Fitted>,
    /// Policies that the program gives in addition to the text.
    pub policies: GivenPolicies,
}
