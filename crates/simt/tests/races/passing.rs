//! Message passing: one thread writes data and a flag, another waits for the flag and reads the data. A matrix of
//! memory space x participants x form of synchronization, each with the fault of a missing or too narrow part.

use super::kernels::{BLOCKS, CLUSTER, Grid, WARPS};
use super::{Case, Expected};
use simt::Hazard;

/// State space of the data and of the flag, and the instructions that reach them.
struct Space {
    name: &'static str,
    /// Work of the writer before the store of the data, and that store.
    write: (&'static str, &'static str),
    /// Work of the reader before the load of the data, and that load.
    read: (&'static str, &'static str),
    /// The space and the address of the flag.
    flag: (&'static str, &'static str),
    hazard: Hazard,
}

const SPACES: &[Space] = &[
    Space {
        name: "global",
        write: ("", "st.global.u32 [%rd1], %r9;"),
        read: ("", "ld.global.u32 %r8, [%rd1];"),
        flag: (".global", "[%rd2]"),
        hazard: Hazard::GlobalRace,
    },
    Space {
        name: "mapped host memory",
        write: ("", "st.global.u32 [%rd3], %r9;"),
        read: ("", "ld.global.u32 %r8, [%rd3];"),
        flag: (".global", "[%rd3+128]"),
        hazard: Hazard::GlobalRace,
    },
    Space {
        name: "shared",
        write: ("", "st.shared.u32 [tile], %r9;"),
        read: ("", "ld.shared.u32 %r8, [tile];"),
        flag: (".shared", "[word]"),
        hazard: Hazard::SharedRace,
    },
    Space {
        name: "generic to shared",
        write: ("", "st.u32 [%rd5], %r9;"),
        read: ("", "ld.u32 %r8, [%rd5];"),
        flag: (".shared", "[word]"),
        hazard: Hazard::SharedRace,
    },
    Space {
        name: "distributed shared",
        write: ("", "st.shared.u32 [tile], %r9;"),
        read: (
            "mov.u32 %r10, tile; mapa.shared::cluster.u32 %r11, %r10, 0;",
            "ld.shared::cluster.u32 %r8, [%r11];",
        ),
        flag: (".global", "[%rd2]"),
        hazard: Hazard::SharedRace,
    },
];

/// A form of handing on: what the writer does to the flag and what the reader does, with `S` for
/// the scope, `M` for the space and `A` for the address, and each without its half of the order.
struct Form {
    name: &'static str,
    release: &'static str,
    no_release: &'static str,
    acquire: &'static str,
    no_acquire: &'static str,
    /// It has scopes that can be too narrow.
    scoped: bool,
}

const RELAXED_LOAD: &str = "ld.relaxed.S M .u32 %r8, A;";
const FORMS: &[Form] = &[
    Form {
        name: "st.release and ld.acquire",
        release: "st.release.S M .u32 A, 1;",
        no_release: "st.relaxed.S M .u32 A, 1;",
        acquire: "ld.acquire.S M .u32 %r8, A;",
        no_acquire: RELAXED_LOAD,
        scoped: true,
    },
    Form {
        name: "fence.acq_rel and relaxed accesses",
        release: "fence.acq_rel.S; st.relaxed.S M .u32 A, 1;",
        no_release: "st.relaxed.S M .u32 A, 1;",
        acquire: "ld.relaxed.S M .u32 %r8, A; fence.acq_rel.S;",
        no_acquire: RELAXED_LOAD,
        scoped: true,
    },
    Form {
        name: "fence.sc and relaxed accesses",
        release: "fence.sc.S; st.relaxed.S M .u32 A, 1;",
        no_release: "st.relaxed.S M .u32 A, 1; fence.sc.S;",
        acquire: "ld.relaxed.S M .u32 %r8, A; fence.sc.S;",
        no_acquire: "fence.sc.S; ld.relaxed.S M .u32 %r8, A;",
        scoped: true,
    },
    Form {
        name: "membar.gl and volatile accesses",
        release: "membar.gl; st.volatile M .u32 A, 1;",
        no_release: "st.volatile M .u32 A, 1; membar.gl;",
        acquire: "ld.volatile M .u32 %r8, A; membar.gl;",
        no_acquire: "membar.gl; ld.volatile M .u32 %r8, A;",
        scoped: false,
    },
    Form {
        name: "atom.release and atom.acquire",
        release: "atom.exch.release.S M .b32 %r12, A, 1;",
        no_release: "atom.exch.relaxed.S M .b32 %r12, A, 1;",
        acquire: "atom.or.acquire.S M .b32 %r8, A, 0;",
        no_acquire: "atom.or.relaxed.S M .b32 %r8, A, 0;",
        scoped: true,
    },
    Form {
        name: "atom.acq_rel on both sides",
        release: "atom.add.acq_rel.S M .u32 %r12, A, 1;",
        no_release: "atom.add.acquire.S M .u32 %r12, A, 1;",
        acquire: "atom.add.acq_rel.S M .u32 %r8, A, 0;",
        no_acquire: "atom.add.release.S M .u32 %r8, A, 0;",
        scoped: true,
    },
    Form {
        name: "red.release and ld.acquire",
        release: "red.release.S M .add.u32 A, 1;",
        no_release: "red.relaxed.S M .add.u32 A, 1;",
        acquire: "ld.acquire.S M .u32 %r8, A;",
        no_acquire: RELAXED_LOAD,
        scoped: true,
    },
    Form {
        name: "a fence before red, an atom before a fence",
        release: "fence.acq_rel.S; red.relaxed.S M .add.u32 A, 1;",
        no_release: "red.relaxed.S M .add.u32 A, 1; fence.acq_rel.S;",
        acquire: "atom.add.relaxed.S M .u32 %r8, A, 0; fence.acq_rel.S;",
        no_acquire: "atom.add.relaxed.S M .u32 %r8, A, 0;",
        scoped: true,
    },
    Form {
        name: "st.release and a fence after ld.relaxed",
        release: "st.release.S M .u32 A, 1;",
        no_release: "st.relaxed.S M .u32 A, 1;",
        acquire: "ld.relaxed.S M .u32 %r8, A; fence.acquire.S;",
        no_acquire: "ld.relaxed.S M .u32 %r8, A; fence.release.S;",
        scoped: true,
    },
    Form {
        name: "a fence before st.relaxed and ld.acquire",
        release: "fence.release.S; st.relaxed.S M .u32 A, 1;",
        no_release: "fence.acquire.S; st.relaxed.S M .u32 A, 1;",
        acquire: "ld.acquire.S M .u32 %r8, A;",
        no_acquire: RELAXED_LOAD,
        scoped: true,
    },
];

/// Participants, the predicate of the writer, and the scope that it takes; a narrower one if there is.
const PARTIES: &[(&str, Grid, &str, &str, &[&str])] = &[
    ("blocks", BLOCKS, "%r2", "gpu", &["cta", "cluster"]),
    ("blocks at system scope", BLOCKS, "%r2", "sys", &["cta"]),
    ("warps", WARPS, "%r4", "cta", &[]),
    ("blocks of a cluster", CLUSTER, "%r2", "cluster", &["cta"]),
];

/// The body of a kernel that passes a message.
fn body(space: &Space, who: &str, writer: &str, reader: &str) -> String {
    let (flag_space, flag) = space.flag;
    let fill = |text: &str| {
        let text = text.replace(" M ", flag_space);
        text.replace("A,", &format!("{flag},")).replace("A;", &format!("{flag};"))
    };
    let wait = if space.name.starts_with("distributed") {
        "barrier.cluster.arrive; barrier.cluster.wait;"
    } else {
        ""
    };
    // A fence after the load comes after the loop.
    let is_fence = |part: &str| part.contains("fence") || part.contains("membar");
    let load = reader.find(if reader.contains("atom") { "atom" } else { "ld" }).unwrap_or(0);
    let (spin, after) = match reader[load..].split_once(';') {
        Some((spin, after)) if is_fence(after) => (format!("{}{spin};", &reader[..load]), after),
        _ => (reader.to_owned(), ""),
    };
    let (spin, writer) = (fill(&spin), fill(writer));
    let (before_write, write) = space.write;
    let (before_read, read) = space.read;
    format!(
        "st.shared.u32 [word], 0; bar.sync 0;\n\
         setp.ne.u32 %p1, %r3, 0; @%p1 bra DONE; setp.ne.u32 %p2, {who}, 0; @%p2 bra READER;\n\
         {before_write}\n{write}\n{writer}\nbra DONE;\n\
         READER: {before_read}\n\
         SPIN: {spin}\nsetp.eq.u32 %p3, %r8, 0; @%p3 bra SPIN;\n{after} {read}\n\
         DONE: {wait}"
    )
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let opcode = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
    for space in SPACES {
        for (party, grid, who, scope, narrow) in PARTIES {
            let distributed = space.name.starts_with("distributed");
            let fits = match *party {
                "warps" => !distributed && space.name != "mapped host memory",
                "blocks of a cluster" => distributed || space.name == "global",
                "blocks at system scope" => space.name == "mapped host memory",
                _ => space.name == "global",
            };
            if !fits {
                continue;
            }
            for form in FORMS {
                let with = |text: &str, scope: &str| text.replace(".S", &format!(".{scope}"));
                let make = |writer: &str, reader: &str| body(space, who, writer, reader);
                let (release, acquire) = (with(form.release, scope), with(form.acquire, scope));
                let repaired = make(&release, &acquire);
                let mut add = |what: &str, broken: String| {
                    cases.push(Case {
                        name: format!("{}, {party}, {}: {what}", space.name, form.name),
                        grid: *grid,
                        broken,
                        expected: Expected {
                            hazard: space.hazard,
                            instructions: [opcode(space.write.1), opcode(space.read.1)],
                        },
                        repaired: repaired.clone(),
                    });
                };
                add("no release", make(&with(form.no_release, scope), &acquire));
                add("no acquire", make(&release, &with(form.no_acquire, scope)));
                for narrow in narrow.iter().filter(|_| form.scoped) {
                    let what = format!("the release has scope {narrow}");
                    add(&what, make(&with(form.release, narrow), &acquire));
                    let what = format!("the acquire has scope {narrow}");
                    add(&what, make(&release, &with(form.acquire, narrow)));
                }
            }
        }
    }
    cases
}
