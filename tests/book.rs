//! The book: what its texts may not do, what its directives refuse, and what the executor answers a page.

use crate::kernels_source::root;
use book::chapter::{CHAPTERS, Chapter};
use book::{Places, Sources, answers::Answers, check};
use report::publish::Page;
use results::Results;

fn sources() -> Sources {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("it is committed");
    Sources {
        counts: crate::executor::counts(),
        results: Results::load(&root().join("results/nvidia-h200/reference.json"), &[])
            .expect("it is committed"),
        model: read("crates/gpu_model/MODEL.md"),
        accuracy: read("results/nvidia-h200/accuracy.csv"),
        answers: Answers::default(),
    }
}

#[test]
fn the_chapters_have_every_task_once_and_no_typed_figure() {
    let mut faults = check::tasks(CHAPTERS);
    faults.extend(CHAPTERS.iter().flat_map(check::chapter));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_typed_figure_a_missing_part_and_a_lost_task_are_found() {
    for typed in
        ["It takes 1.213 ms.", "63 % of the peak", "after 5 sectors", "is (0.606", "32 sectors"]
    {
        assert_eq!(check::typed(typed).len(), 1, "{typed}");
    }
    for plain in [
        "32 lanes, of 4 bytes.",
        "`x32y` and `1.2 ms`",
        "{{measured a/b}} ms",
        "```\n17 ms\n```",
        "1. first",
    ] {
        assert_eq!(check::typed(plain), Vec::<String>::new(), "{plain}");
    }
    let text = "# T\n\n## S\n\n**Your bet.** **The rule.** **In ncu.**\n\n{{task guard}}\n";
    let chapter = Chapter { number: "1", stem: "s", text };
    assert_eq!(
        check::chapter(&chapter),
        ["book/text/s.md: `S` has no `**Where it is not true.**`"]
    );
    let others = course::tasks::TASKS.len() - 1;
    assert_eq!(check::tasks(&[chapter]).len(), others);
    let twice = check::tasks(&[chapter, chapter]);
    assert!(
        twice.iter().any(|fault| fault.starts_with("the task `guard` is 2 times")),
        "{twice:?}"
    );
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let page = |file: &str, text: &str| Page { file: file.to_owned(), text: text.to_owned() };
    let pages = [
        page("a.html", "<p id=\"x\"><a href=\"b.html#y\"><a href=\"#x\"><a href=\"b.html\">"),
        page("b.html", "<p id=\"y\"><a href=\"a.html#z\"><a href=\"https://example.org\">"),
    ];
    assert_eq!(check::links(&pages).len(), 2);
}

#[test]
fn an_unknown_name_is_refused_in_one_sentence() {
    let sources = sources();
    let places = Places::of(CHAPTERS, false);
    let render =
        |text: &str| book::render(&sources, &places, text).map(|markup| markup.into_string());
    for (text, why) in [
        ("{{doc coalesing}}", "there is no pattern `coalesing`"),
        ("{{kernel coalescing/fast}}", "`coalescing` has no variant `fast`"),
        (
            "{{count coalescing/scalar sectors}}",
            "there is no count `sectors`: choose one of load_sectors",
        ),
        ("{{count coalescing/scalar barriers}}", "`coalescing/scalar` has no barriers"),
        ("{{measured coalescing/fast}}", "`coalescing/fast` was not measured"),
        ("{{picture coalescing}}", "`coalescing` is no pattern/variant"),
        ("{{task fly}}", "there is no task `fly`"),
        ("{{myth The earth is flat}}", "docs/myths.md has no myth `The earth is flat`"),
        ("{{bug fly}}", "nobody has executed a file with a mistake of `fly`"),
        ("{{bet fly 0}}", "there is no task `fly`"),
        ("{{bet guard 7}}", "`guard` has no question 7"),
        ("{{widget wheel}}", "there is no widget `wheel`"),
        ("{{ncu beauty}}", "there is no counter `beauty`"),
        ("{{link task fly}}", "nothing in the book is called `task fly`"),
        ("{{sing}}", "there is no directive `sing`"),
        ("A [sektor].", "`[sektor]` is no term of docs/glossary.md"),
    ] {
        let error = render(text).expect_err(text).to_string();
        assert!(error.starts_with(why), "{text}: {error}");
    }
    let page = render("A [sector]: {{count coalescing/strided load_sectors}}.\n\n{{ladder coalescing strided scalar}}").expect("known names");
    assert!(
        page.contains("glossary.html#sector\" title=\"32 bytes of")
            && page.contains("\">sector</a>: 32."),
        "{page}"
    );
    assert!(page.contains("<td class=\"figure\" data-value=\"32\">32</td>"), "{page}");
    let bet = render("{{bet guard 0}}").expect("a question");
    assert!(bet.contains("data-id=\"guard-0\"") && bet.contains("bugs.html#task-guard"), "{bet}");
    let kernel = render("{{kernel transpose/tiled}}").expect("a kernel");
    assert!(kernel.contains("fn through_tile") && kernel.contains("sync_threads"), "{kernel}");
    for name in ["lanes", "banks", "tile", "reduction", "pieces", "occupancy"] {
        let html =
            render(&format!("{{{{widget {name}}}}}")).expect("the executor says what is drawn");
        assert!(html.contains("aria-live") && html.len() < 60_000, "{name}: {}", html.len());
    }
    let pieces = render("{{widget pieces}}").expect("the model says what runs when");
    let data = |name: &str| {
        let (_, after) = pieces.split_once(&format!("data-{name}=\"")).expect(name);
        after.split_once('"').expect("the end of an attribute").0
    };
    let lengths: Vec<f64> =
        data("lengths").split(',').map(|length| length.parse().expect("microseconds")).collect();
    // Six numbers of two letters for each piece, and 1 to 12 pieces.
    assert_eq!(data("times").len(), lengths.len() / 12 * 78 * 12);
    // The largest job, whose kernels take as long as its copies to the device.
    let length = |streams: usize, pieces: usize| lengths[(2 * 3 + streams - 1) * 12 + pieces - 1];
    assert!(length(1, 12) >= length(1, 1), "one stream overlaps nothing");
    assert!(length(2, 12) < 0.7 * length(1, 12), "two streams: {}", length(2, 12));
    assert!(length(3, 12) < 0.5 * length(1, 12), "three streams: {}", length(3, 12));
}

#[test]
fn the_executor_answers_a_page() {
    let address =
        |index: &str| simt_page::answer(&format!("address\nbytes 4\nactive 1\nindex {index}"));
    for (index, sectors, wavefronts) in [
        ("lane", 4, 1),
        ("33*(lane%8) + lane/8", 11, 4),
        ("32 * lane", 32, 32),
        ("lane ^ 0x15", 4, 1),
        ("(lane & 1) << 5 | lane >> 1", 4, 2),
        ("-(lane - 31)", 4, 1),
        ("(lane < 16) * lane", 2, 1),
    ] {
        let answer = address(index);
        assert_eq!(
            answer.matches(&format!("\"sectors\":{sectors},")).count(),
            1,
            "{index}: {answer}"
        );
        assert!(answer.contains(&format!("\"wavefronts\":{wavefronts},")), "{index}: {answer}");
    }
    for (index, why) in [
        ("lane +", "expected a number, a name or `(`, found the end"),
        ("lan", "there is no `lan`: the names are lane, warp, thread"),
        ("(lane", "expected `)`, found the end"),
        ("lane lane", "expected an operator, found `lane`"),
        ("lane / 0", "a division by 0 has no value"),
        ("99999999999", "is no number of 32 bits"),
        ("lane - 1", "read from memory that is not allocated"),
    ] {
        assert!(address(index).contains(why), "{index}: {}", address(index));
    }
    assert!(address(&"(".repeat(300)).contains("write fewer"));
    assert!(simt_page::answer("sing").contains("is no request"));
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry twice(.param .u64 a)\n{\n.reg .u64 %d<4>;\n\
        .reg .u32 %r<4>;\nld.param.u64 %d0, [a];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d2, %d0, %d1;\n\
        ld.global.u32 %r1, [%d2];\nshl.b32 %r1, %r1, 1;\nst.global.u32 [%d2], %r1;\nret;\n}\n";
    let launch = |head: &str| simt_page::answer(&format!("ptx\n{head}\ntext\n{ptx}"));
    let answer = launch("block 64\nbuffer 256 count");
    assert!(answer.contains("\"kernel\":\"twice\"") && answer.contains("[[0,2,4,6,"), "{answer}");
    assert!(launch("block 64\nbuffer 128 count").contains("\"error\""));
    assert!(
        launch("buffer 128 unwritten").contains("\"findings\":[\""),
        "nobody wrote what it reads"
    );
    assert!(launch("buffer 99999999999 count").contains("\"error\""));
}
