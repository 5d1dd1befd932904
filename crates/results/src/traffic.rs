use counters::Counters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests of a kernel to memory, per warp-level request; `None`: it makes no such requests.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// 32-byte sectors per global load request.
    pub load_sectors: Option<f64>,
    /// 32-byte sectors per global store request.
    pub store_sectors: Option<f64>,
    /// Wavefronts per shared load request.
    pub shared_load_wavefronts: Option<f64>,
    /// Wavefronts per shared store request.
    pub shared_store_wavefronts: Option<f64>,
    /// Wavefronts per constant request.
    #[serde(rename = "constant_passes")]
    pub constant_wavefronts: Option<f64>,
    /// Distinct bytes asked for over bytes of the sectors moved, percent.
    pub efficiency_percent: Option<f64>,
    /// The same of global loads alone; older files do not have it.
    #[serde(default)]
    pub load_efficiency_percent: Option<f64>,
    /// The same of global stores alone; older files do not have it.
    #[serde(default)]
    pub store_efficiency_percent: Option<f64>,
}

impl From<&Counters> for Traffic {
    fn from(counters: &Counters) -> Traffic {
        Traffic {
            load_sectors: counters.load_sectors(),
            store_sectors: counters.store_sectors(),
            shared_load_wavefronts: counters.shared_load_wavefronts(),
            shared_store_wavefronts: counters.shared_store_wavefronts(),
            constant_wavefronts: counters.constant_wavefronts(),
            efficiency_percent: counters.efficiency_percent(),
            load_efficiency_percent: counters.load_efficiency_percent(),
            store_efficiency_percent: counters.store_efficiency_percent(),
        }
    }
}
