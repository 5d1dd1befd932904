//! The devices of a virtual machine and the links between them, as data.
//!
//! A machine is named by a profile and a number of devices, such as `h100x2`, or described by a file:
//!
//! ```json
//! {
//!   "devices": ["h100", "h100", "a100"],
//!   "links": [{"from": 0, "to": 2, "link": null}]
//! }
//! ```
//!
//! Two devices of one profile are connected by the profile's link, other pairs are not, and `links` says otherwise for
//! single directions: `null` takes peer access away. Without peer access copies go through the host.
//!
//! `"lost": [{"device": 1, "after_kernels": 10}]` takes a device away when its eleventh kernel begins, for tests of what a
//! program does when a GPU falls off the bus.

use crate::link::Link;
use crate::profile::{Profile, ProfileError};
use serde::Deserialize;
use std::path::Path;

/// Devices of a machine at most.
const MAX_DEVICES: usize = 16;

/// The devices of a virtual machine, and the links between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    devices: Vec<Profile>,
    /// Row by row: from the device that accesses to the one whose memory it is. A device and itself have none.
    links: Vec<Option<Link>>,
    /// After how many of its kernels each device disappears.
    lost: Vec<Option<u64>>,
}

impl From<Profile> for Topology {
    fn from(profile: Profile) -> Topology {
        Topology::new(vec![profile])
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    devices: Vec<String>,
    #[serde(default)]
    links: Vec<DescribedLink>,
    #[serde(default)]
    lost: Vec<DescribedLoss>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribedLink {
    from: usize,
    to: usize,
    link: Option<Link>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribedLoss {
    device: usize,
    after_kernels: u64,
}

impl Topology {
    /// Devices, each two of which are connected as their profile says.
    fn new(devices: Vec<Profile>) -> Topology {
        let link = |from: &Profile, to: &Profile| match &from.link {
            Some(link) if from.name == to.name => link.clone(),
            _ => through_host(from, to),
        };
        let mut links = Vec::new();
        for (one, from) in devices.iter().enumerate() {
            for (other, to) in devices.iter().enumerate() {
                links.push((one != other).then(|| link(from, to)));
            }
        }
        let lost = vec![None; devices.len()];
        Topology { devices, links, lost }
    }

    /// The machine of a name: a profile that comes with this crate, and how many devices, such as `h100x2`.
    ///
    /// # Errors
    /// [`ProfileError`].
    pub fn named(name: &str) -> Result<Topology, ProfileError> {
        let unknown = match Profile::named(name) {
            Ok(profile) => return Ok(profile.into()),
            Err(unknown) => unknown,
        };
        let Some((profile, count)) = name.rsplit_once(['x', 'X']) else { return Err(unknown) };
        let (Ok(profile), Ok(count)) = (Profile::named(profile), count.parse::<usize>()) else {
            return Err(unknown);
        };
        check_count(count)?;
        Ok(Topology::new(vec![profile; count]))
    }

    /// The machine of a file: a profile, or a topology as this module describes it.
    ///
    /// # Errors
    /// [`ProfileError`], when the file cannot be read or says what cannot be.
    pub fn load(path: &Path) -> Result<Topology, ProfileError> {
        Topology::from_json(&Profile::text_of(path)?)
    }

    /// The machine that a text describes.
    ///
    /// # Errors
    /// [`ProfileError`], when it says what cannot be.
    pub fn from_json(text: &str) -> Result<Topology, ProfileError> {
        let names_devices = serde_json::from_str::<serde_json::Value>(text)
            .is_ok_and(|value| value.get("devices").is_some());
        if !names_devices {
            return Profile::from_json(text).map(Topology::from);
        }
        let wrong = |message: String| ProfileError::Topology(message);
        let described: Described =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let count = described.devices.len();
        check_count(count)?;
        let devices = described.devices.iter().map(|name| Profile::named(name));
        let mut topology = Topology::new(devices.collect::<Result<_, _>>()?);
        for DescribedLink { from, to, link } in described.links {
            if from >= count || to >= count || from == to {
                return Err(wrong(format!(
                    "there is no link from {from} to {to}: the devices are 0 to {}",
                    count - 1
                )));
            }
            if let Some(message) = link.as_ref().and_then(Link::wrong) {
                return Err(wrong(format!("{message} (from {from} to {to})")));
            }
            let place = &mut topology.links[from * count + to];
            *place = match (link, place.take()) {
                (None, before) => before.map(Link::without_access),
                (own, _) => own,
            };
        }
        for DescribedLoss { device, after_kernels } in described.lost {
            let last = count - 1;
            let place = topology.lost.get_mut(device).ok_or_else(|| {
                wrong(format!("no device {device} can be lost: the devices are 0 to {last}"))
            })?;
            *place = Some(after_kernels);
        }
        Ok(topology)
    }

    /// The devices.
    pub fn devices(&self) -> &[Profile] {
        &self.devices
    }

    /// Returns how device `from` reaches the memory of device `to`; nothing for one and the same.
    pub fn link(&self, from: usize, to: usize) -> Option<&Link> {
        self.links[from * self.devices.len() + to].as_ref()
    }

    /// After how many of its kernels a device disappears, if it does.
    pub fn kernels_until_lost(&self, device: usize) -> Option<u64> {
        self.lost[device]
    }

    /// Returns what the machine is called: its devices.
    pub fn name(&self) -> String {
        let first = &self.devices[0].name;
        if self.devices.len() == 1 {
            return first.clone();
        }
        if self.devices.iter().all(|device| device.name == *first) {
            return format!("{} x {first}", self.devices.len());
        }
        let names: Vec<&str> = self.devices.iter().map(|device| device.name.as_str()).collect();
        names.join(" + ")
    }
}

/// No peer access: copies go through the host, at a part of the slower direction's rate, as between two H100.
fn through_host(from: &Profile, to: &Profile) -> Link {
    let slower = from.device_to_host_bytes_per_second.min(to.host_to_device_bytes_per_second);
    Link {
        access: false,
        native_atomics: false,
        copy_bytes_per_second: slower,
        copy_latency_ns: from.copy_latency_ns,
        read_bytes_per_second: slower,
        write_bytes_per_second: slower,
        load_latency_cycles: from.global_latency_cycles,
        atomics_per_second: from.atomics_per_second_of_one_address,
        staged_bytes_per_second: 0.67 * slower,
        staged_latency_ns: 21_000.0,
    }
}

fn check_count(count: usize) -> Result<(), ProfileError> {
    if (1..=MAX_DEVICES).contains(&count) {
        return Ok(());
    }
    let message = format!("a machine has 1 to {MAX_DEVICES} devices, not {count}");
    Err(ProfileError::Topology(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_profile_and_how_many() {
        let topology = Topology::named("h100x4").unwrap();
        assert_eq!(topology.devices().len(), 4);
        assert_eq!(topology.name(), "4 x NVIDIA H100 80GB HBM3");
        assert!(topology.link(0, 3).unwrap().access && topology.link(2, 2).is_none());
        assert_eq!(Topology::named("h100").unwrap().name(), "NVIDIA H100 80GB HBM3");
        assert_eq!(
            Topology::named("rtx4090x2").unwrap().link(0, 1).map(|it| it.access),
            Some(false)
        );
        for wrong in ["h100x0", "h100x17", "h100x", "x4", "h100xx2", "z9x2"] {
            assert!(Topology::named(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_takes_links_away_and_gives_others() {
        let text = r#"{"devices": ["h100", "H100", "a100"], "links": [{"from": 0, "to": 1, "link": null}]}"#;
        let topology = Topology::from_json(text).unwrap();
        let access = |from, to| topology.link(from, to).unwrap().access;
        assert!(!access(0, 1) && access(1, 0), "a link is one way");
        assert!(!access(0, 2), "different devices are not connected");
        assert_eq!(topology.link(0, 1).unwrap().staged_bytes_per_second, 37.4e9);
        assert_eq!(
            topology.name(),
            "NVIDIA H100 80GB HBM3 + NVIDIA H100 80GB HBM3 + NVIDIA A100-SXM4-40GB"
        );
        let link = serde_json::to_string(&Profile::named("h100").unwrap().link).unwrap();
        let text = format!(
            r#"{{"devices": ["h100", "a100"], "links": [{{"from": 0, "to": 1, "link": {link}}}]}}"#
        );
        assert!(Topology::from_json(&text).unwrap().link(0, 1).unwrap().access);
        let profile = serde_json::to_string(&Profile::named("t4").unwrap()).unwrap();
        assert_eq!(
            Topology::from_json(&profile).unwrap().devices().len(),
            1,
            "a profile is a machine"
        );
    }

    #[test]
    fn a_wrong_file_is_one_sentence() {
        let link = serde_json::to_string(&Profile::named("h100").unwrap().link).unwrap();
        let slow = link.replace("373000000000.0", "-1.0");
        let with = |links: &str| format!(r#"{{"devices": ["h100", "h100"], "links": [{links}]}}"#);
        for (text, says) in [
            (r#"{"devices": []}"#.to_owned(), "1 to 16 devices, not 0"),
            (r#"{"devices": ["h300"]}"#.to_owned(), "no virtual device \"h300\""),
            (r#"{"devices": 2}"#.to_owned(), "invalid type"),
            (r#"{"devices": ["h100"], "link": 1}"#.to_owned(), "unknown field `link`"),
            (
                with(r#"{"from": 0, "to": 2, "link": null}"#),
                "no link from 0 to 2: the devices are 0 to 1",
            ),
            (with(r#"{"from": 1, "to": 1, "link": null}"#), "no link from 1 to 1"),
            (
                r#"{"devices": ["h100"], "lost": [{"device": 1, "after_kernels": 0}]}"#.to_owned(),
                "no device 1 can be lost: the devices are 0 to 0",
            ),
            (
                with(&format!(r#"{{"from": 0, "to": 1, "link": {slow}}}"#)),
                "read_bytes_per_second of a link cannot be -1",
            ),
            (with(r#"{"from": 0, "to": 1, "link": {"access": true}}"#), "missing field"),
        ] {
            let error = Topology::from_json(&text).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
