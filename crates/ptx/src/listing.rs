//! PTX as a person reads it.

use crate::tree::Function;

/// A line of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedLine<'a> {
    /// Its number in the whole text, from 1.
    pub number: u32,
    /// The line, without comment.
    pub text: &'a str,
}

impl<'a> Function<'a> {
    /// The lines of the function, without comments and line tables.
    pub fn listing(&self) -> Vec<ListedLine<'a>> {
        let lines = self.text.lines().zip(self.first_line..).map(|(line, number)| ListedLine {
            number,
            text: line.split("//").next().unwrap_or_default().trim_end(),
        });
        let is_for_debuggers = |text: &str| {
            let text = text.trim_start();
            text.starts_with(".loc") || text.starts_with("$L__tmp") || text.starts_with("$L__func")
        };
        lines.filter(|line| !line.text.is_empty() && !is_for_debuggers(line.text)).collect()
    }
}

#[cfg(test)]
mod tests {

    #[test]
    fn a_listing_is_one_kernel_without_line_tables() {
        let ptx = "\
.visible .entry other(
)
{
\tret;
}
\t// .globl two
.visible .entry two(
\t.param .u64 two_param_0
)                                       // @two
{
$L__func_begin1:
\t.loc\t1 3 0                          // a.rs:3:0
\tld.param.b64 \t%rd1, [two_param_0];
$L__tmp5:
// %bb.0:
$L__BB1_2:
\tret;
}
\t.file\t1 \"a.rs\"
";
        let tree = crate::parse(ptx).unwrap();
        let listed = tree.entry("two").unwrap().listing();
        let shown: Vec<_> = listed.iter().map(|line| (line.number, line.text)).collect();
        assert_eq!(
            shown,
            [
                (7, ".visible .entry two("),
                (8, "\t.param .u64 two_param_0"),
                (9, ")"),
                (10, "{"),
                (13, "\tld.param.b64 \t%rd1, [two_param_0];"),
                (16, "$L__BB1_2:"),
                (17, "\tret;"),
                (18, "}"),
            ]
        );
        assert!(tree.entry("tw").is_none());
    }
}
