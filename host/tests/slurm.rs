//! A fleet measured by Slurm as `docs/fleet/fleet.sbatch` says, while nodes die: nothing that is lost goes unnamed.
//!
//! Four `slurmd`, each with a host name of its own, which needs root and Debian's `slurm-wlm`: `cargo xtask prove fleet`.

use crate::program::*;
use results::{Results, RowOutcome};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The patterns that are measured, which take some seconds.
const PATTERNS: &str = "coalescing stride aos_soa transpose reduction overlap";
const NODES: [&str; 4] = ["n1", "n2", "n3", "n4"];

/// A controller and its four nodes, which end with this value.
struct Slurm {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Slurm {
    fn start(folder: &Path) -> Slurm {
        for name in ["state", "spool", "gpus", "nodes"] {
            std::fs::create_dir(folder.join(name)).expect("a new folder");
        }
        (0..8).for_each(|gpu| write(&folder.join(format!("gpus/gpu{gpu}")), ""));
        let place = folder.display();
        let host = text(&mut Command::new("hostname"));
        let host = host.trim();
        write(
            &folder.join("slurm.conf"),
            &format!(
                "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nAuthType=auth/none\nCredType=cred/none\n\
                 MpiDefault=none\nProctrackType=proctrack/pgid\nTaskPlugin=task/none\nReturnToService=1\n\
                 SlurmctldPidFile={place}/slurmctld.pid\nSlurmdPidFile={place}/slurmd-%n.pid\n\
                 SlurmdSpoolDir={place}/spool/%n\nStateSaveLocation={place}/state\nSlurmUser=root\n\
                 SlurmctldPort=16817\nSlurmctldTimeout=30\nSlurmdTimeout=10\nKillWait=5\nSchedulerType=sched/backfill\n\
                 SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nGresTypes=gpu\n\
                 SlurmctldLogFile={place}/slurmctld.log\nSlurmdLogFile={place}/slurmd-%n.log\n\
                 NodeName=n[1-4] NodeHostname={host} NodeAddr=127.0.0.1 Port=[17001-17004] CPUs=2 Gres=gpu:8\n\
                 PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
            ),
        );
        let gpus = format!("NodeName=n[1-4] Name=gpu File={place}/gpus/gpu[0-7]\n");
        write(&folder.join("gres.conf"), &gpus);
        let mut slurm = Slurm { folder: folder.to_owned(), daemons: Vec::new() };
        let controller = slurm.command("slurmctld", &["-D"]);
        slurm.daemons.push(quiet(controller));
        for node in NODES {
            let shell = format!("hostname {node} && exec slurmd -D -N {node}");
            let daemon = slurm.command("unshare", &["--uts", "sh", "-c", &shell]);
            slurm.daemons.push(quiet(daemon));
        }
        slurm
    }

    fn command(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(name);
        command.args(arguments).env("SLURM_CONF", self.folder.join("slurm.conf"));
        command
    }

    fn ask(&self, name: &str, arguments: &[&str]) -> String {
        text(&mut self.command(name, arguments))
    }

    fn wait(&self, what: &str, is_true: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_true() {
            let queue = self.ask("squeue", &[]);
            assert!(begin.elapsed() < Duration::from_secs(400), "{what} never comes:\n{queue}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn result(&self, node: &str) -> PathBuf {
        self.folder.join(format!("nodes/{node}.json"))
    }
}

fn quiet(mut command: Command) -> Child {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("Debian's slurm-wlm is installed")
}

fn text(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a writable folder");
}

fn load(path: &Path) -> Results {
    Results::load(path, host::CATALOGUE.renamed).expect("a result file")
}

#[test]
#[ignore = "needs root and Slurm: cargo xtask prove fleet"]
#[expect(clippy::print_stdout, reason = "what happened to each node is the proof")]
fn a_fleet_whose_nodes_die_names_each_of_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let slurm = Slurm::start(&folder);
    slurm.wait("an idle node", || {
        slurm.ask("sinfo", &["-h", "-N", "-t", "idle"]).lines().count() == 4
    });

    // The job as it is, but for the place, the device and the patterns.
    let job = include_str!("../../docs/fleet/fleet.sbatch");
    let program = env!("CARGO_BIN_EXE_coalesce");
    let job = job.replace("/shared/coalesce", &folder.display().to_string());
    let job = job.replace("./coalesce bench", &format!("{program} bench {PATTERNS}"));
    let job = job.replace("--device gpu:all", "--device virtual:h200");
    write(&folder.join("fleet.sbatch"), &job);
    let output = format!("--output={}/job-%a.log", folder.display());
    let file = folder.join("fleet.sbatch").display().to_string();
    let said = slurm.ask("sbatch", &["--parsable", "--array=0-3", &output, &file]);
    let number = said.trim();
    println!("job {number} of four tasks on {}", NODES.join(", "));
    let has_rows = |node: &str| {
        let path = slurm.result(node);
        path.exists() && !load(&path).rows.is_empty()
    };
    slurm.wait("a row of each node", || NODES.iter().all(|node| has_rows(node)));

    // A node dies with all that runs on it; another task is requeued.
    let task = |node: &str| {
        let tasks = slurm.ask("squeue", &["-h", "-w", node, "-o", "%F_%K"]);
        tasks.lines().next().unwrap_or_default().to_owned()
    };
    let (of_n3, of_n1) = (task("n3"), task("n1"));
    let measures = text(Command::new("pgrep").args(["-f", "bench.*nodes/n3.json"]));
    let parent =
        |process: &str| text(Command::new("ps").args(["-o", "ppid=", "-p", process.trim()]));
    let script = parent(&measures);
    let daemon = slurm.daemons[3].id().to_string();
    // The daemon, the step, the job's script and what it runs, as when the machine loses power.
    let n3 =
        [&daemon, &parent(&script), &script, &measures].map(|process| process.trim().to_owned());
    text(Command::new("kill").arg("-9").args(n3));
    println!(
        "n3 was killed with task {of_n3}: {} rows were saved",
        load(&slurm.result("n3")).rows.len()
    );
    slurm.ask("scontrol", &["requeue", &of_n1]);
    println!("task {of_n1} of n1 was requeued");
    slurm.wait("the end of the tasks", || {
        slurm
            .ask("squeue", &["-h", "-t", "PENDING,RUNNING,COMPLETING,CONFIGURING"])
            .trim()
            .is_empty()
    });

    for task in 0..4 {
        let log = std::fs::read_to_string(folder.join(format!("job-{task}.log")));
        let log = log.unwrap_or_default();
        let ended = log.lines().filter(|line| line.contains("rows of") || line.contains("error"));
        ended.for_each(|line| println!("task {task}: {line}"));
    }
    // A requeued task may have come to a node that was measured: the page says what to do then.
    if load(&slurm.result("n1")).interrupted {
        println!("the requeued task came to another node: n1 is submitted by its name");
        slurm.ask("sbatch", &["--nodelist=n1", &output, &file]);
        slurm.wait("the end of the job on n1", || !load(&slurm.result("n1")).interrupted);
    }

    // What is measured on a virtual device passes for no measurement: here it is made one, and n2 a board that is wrong.
    for (index, node) in NODES.iter().enumerate().filter(|(_, node)| slurm.result(node).exists()) {
        let mut results = load(&slurm.result(node));
        results.environment.is_prediction = false;
        println!(
            "{node}: {} rows{}",
            results.rows.len(),
            if results.interrupted { ", unfinished" } else { "" }
        );
        if index == 1 {
            results.rows.iter_mut().take(3).for_each(|row| {
                row.outcome = RowOutcome::Wrong { reason: "element 7 is 3, not 4".to_owned() };
            });
        }
        results.save(&slurm.result(node)).expect("ours");
    }
    let expected = folder.join("nodes.txt");
    write(&expected, "n1\nn2\nn3\nn4\nn5\n");
    let mut compare = program_of_fleet(&expected);
    NODES.iter().map(|node| slurm.result(node)).filter(|path| path.exists()).for_each(|path| {
        compare.arg(path);
    });
    let output = compare.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}");
    assert_eq!(output.status.code(), Some(6), "{text}");
    for part in ["WRONG n2: 3 rows", "INTERRUPTED n3", "MISSING n5"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for sound in ["INTERRUPTED n1", "ABSENT n1", "INTERRUPTED n4", "ABSENT n4"] {
        assert!(!text.contains(sound), "{sound}: {text}");
    }
    println!("four nodes, n3 killed, n1 requeued, n2 wrong, n5 absent: all are named");
}

fn program_of_fleet(expected: &Path) -> Command {
    let mut compare = program(&["compare", "--fleet", "--expect"]);
    compare.arg(expected);
    compare
}
