//! The input of a run, as text.

use super::fitted::Fitted;
use super::workload;
use flashgc_model::gc::given::GivenPolicies;

/// The input of a run, as text.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The name of the configuration, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// A scheme that replaces `gc.scheme`: a preset's name, or a file's name and its text.
    pub scheme: Option<(String, Option<String>)>,
    /// A device that replaces the whole `[device]` table: a preset's name, or a file's name and its
    /// text.
    pub device: Option<(String, Option<String>)>,
    /// Assignments `key.path=value`.
    pub sets: Vec<String>,
    /// Keys that are removed from all layers below the assignments.
    pub unsets: Vec<String>,
    /// Whether a trace was given in addition to the configuration.
    pub has_trace: bool,
    /// Whether requests come from outside, as those of a component; they are a trace's.
    pub is_live: bool,
    /// The jobs of the job file that `workload.fio` names, as TOML: the file's name and the text.
    pub jobs: Option<(String, String)>,
    /// The size of the drive, where it was found by [`super::fit`].
    pub fitted: Option<Fitted>,
    /// Policies that the program gives in addition to the text.
    pub policies: GivenPolicies,
}

impl Inputs {
    /// The source of requests that is given in addition to the text.
    pub(super) fn given(&self) -> workload::Given {
        workload::Given { has_trace: self.has_trace, is_live: self.is_live }
    }

    /// The name of the file of the device, without its folder and its ending.
    pub(super) fn device_file(&self) -> Option<String> {
        let (name, text) = self.device.as_ref()?;
        text.as_ref()?;
        let own = name.rsplit('/').next().unwrap_or(name);
        Some(own.strip_suffix(".toml").unwrap_or(own).to_string())
    }
}
