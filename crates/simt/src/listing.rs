//! PTX as a person reads it.

/// A line of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedLine<'a> {
    /// Its number in the whole text, from 1.
    pub number: u32,
    /// The line, without comment.
    pub text: &'a str,
}

/// The lines of one kernel, without comments and line tables; empty if the text has no such kernel.
pub fn listing<'a>(ptx: &'a str, kernel: &str) -> Vec<ListedLine<'a>> {
    let Some(start) = ptx.find(&format!(".entry {kernel}(")) else { return Vec::new() };
    let first = ptx[..start].matches('\n').count();
    let start = ptx[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let length = ptx[start..].find("\n}").map_or(ptx.len() - start, |end| end + 2);
    let lines = ptx[start..start + length].lines().enumerate().map(|(index, line)| ListedLine {
        number: (first + index + 1) as u32,
        text: line.split("//").next().unwrap_or_default().trim_end(),
    });
    let is_for_debuggers = |text: &str| {
        let text = text.trim_start();
        text.starts_with(".loc") || text.starts_with("$L__tmp") || text.starts_with("$L__func")
    };
    lines.filter(|line| !line.text.is_empty() && !is_for_debuggers(line.text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let listed = listing(ptx, "two");
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
        assert_eq!(listing(ptx, "tw"), []);
    }
}
