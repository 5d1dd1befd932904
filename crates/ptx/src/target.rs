/// The target of PTX, such as `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The compute capability without its dot, such as 90.
    pub capability: u32,
    kind: Kind,
}

/// Devices that a target allows beside those of its own capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// All later ones.
    Base,
    /// The later ones of its family: the name ends with `f`.
    Family,
    /// None: the name ends with `a`.
    Specific,
}

impl Target {
    /// The target of a name such as `sm_90a`; none of a name that is no target's.
    pub fn of_name(name: &str) -> Option<Target> {
        let name = name.strip_prefix("sm_")?;
        let kind = match name
            .strip_prefix(|c: char| c.is_ascii_digit())?
            .trim_start_matches(|c: char| c.is_ascii_digit())
        {
            "" => Kind::Base,
            "f" => Kind::Family,
            "a" => Kind::Specific,
            _ => return None,
        };
        let capability = name.trim_end_matches(['a', 'f']).parse().ok()?;
        Some(Target { capability, kind })
    }

    /// The target of a text of PTX, from its first `.target`.
    pub fn of_ptx(text: &str) -> Option<Target> {
        crate::targets(text).into_iter().find_map(Target::of_name)
    }

    /// True when it runs on devices of its own capability alone.
    pub fn is_specific(self) -> bool {
        self.kind == Kind::Specific
    }

    /// True when a device of this capability, such as 90, runs it (PTX ISA, ".target").
    pub fn runs_on(self, capability: u32) -> bool {
        match self.kind {
            Kind::Base => self.capability <= capability,
            Kind::Family => {
                self.capability <= capability && family(self.capability) == family(capability)
            }
            Kind::Specific => self.capability == capability,
        }
    }
}

/// Returns the family of a compute capability, by its oldest number (PTX ISA, ".target").
pub fn family(capability: u32) -> u32 {
    match capability {
        // Thor's older number, of no family with 10.0.
        101 => 110,
        other => other / 10 * 10,
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let suffix = match self.kind {
            Kind::Base => "",
            Kind::Family => "f",
            Kind::Specific => "a",
        };
        write!(formatter, "sm_{}{suffix}", self.capability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(name: &str, device: u32) -> bool {
        let target = Target::of_name(name).expect("it is a target");
        assert_eq!(target.to_string(), name);
        target.runs_on(device)
    }

    #[test]
    fn a_target_runs_on_what_its_name_says() {
        assert!(runs("sm_80", 80) && runs("sm_80", 121) && !runs("sm_80", 75));
        assert!(runs("sm_90a", 90) && !runs("sm_90a", 100));
        assert!(runs("sm_100f", 100) && runs("sm_100f", 103));
        assert!(!runs("sm_100f", 101) && !runs("sm_100f", 110) && !runs("sm_100f", 120));
        assert!(runs("sm_101f", 110) && !runs("sm_101f", 103) && !runs("sm_103f", 100));
    }

    #[test]
    fn a_name_that_is_no_target_is_none() {
        for name in ["", "sm_", "sm_a", "sm_90b", "sm_9a0", "compute_90", "sm_99999999999"] {
            assert_eq!(Target::of_name(name), None, "{name}");
        }
        assert_eq!(
            Target::of_ptx(".version 8.0\n.target sm_90a, debug\n"),
            Target::of_name("sm_90a")
        );
        assert_eq!(Target::of_ptx(".target debug\n"), None);
    }
}
