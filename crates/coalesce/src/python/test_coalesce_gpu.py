"""Tests of the module by the program that COALESCE_PROGRAM names: python3 test_coalesce_gpu.py"""

import array
import copy
import os
import pathlib
import pickle
import sys
import tempfile
import unittest

import coalesce_gpu

try:
    import numpy
except ImportError:
    numpy = None

SCALE = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 by, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %a<3>;
    ld.param.u64 %a1, [data];
    ld.param.f32 %f1, [by];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra end;
    mad.wide.u32 %a1, %r2, 4, %a1;
    ld.global.f32 %f2, [%a1];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%a1], %f2;
end:
    ret;
}
"""


class Tests(unittest.TestCase):
    def test_results_counts_and_pictures(self):
        data = array.array("f", range(100))
        report = coalesce_gpu.check(SCALE, "scale", 4, 32, {"data": data, "by": 2.0, "n": 100})
        self.assertEqual(list(report.arrays["data"]), [2.0 * one for one in range(100)])
        self.assertEqual(list(data), list(range(100)), "the caller's array stays as it was")
        [kernel] = report.kernels
        self.assertEqual((kernel.name, kernel.grid, kernel.block), ("scale", (4, 1, 1), (32, 1, 1)))
        self.assertEqual((kernel.global_load.requests, kernel.global_load.sectors), (4, 13))
        self.assertTrue(report.checked and not report.findings)
        page = report._repr_html_()
        self.assertIn("Checked for hazards: none.", page)
        self.assertIn("<svg", page)
        self.assertIn("scale", str(report))
        self.assertNotIn("Saved: ", str(report), "the files are gone")

    def test_findings_are_an_exception(self):
        with self.assertRaises(coalesce_gpu.FindingsError) as caught:
            coalesce_gpu.check(SCALE, None, 4, 32, [array.array("f", range(100)), 2.0, 128])
        [finding] = caught.exception.findings
        self.assertEqual((finding.kind, finding.kernel), ("Fault", "scale"))
        self.assertRegex(str(caught.exception), "^Fault: illegal address .* past the end")
        self.assertIn("<li>", caught.exception.report._repr_html_())
        self.assertTrue(coalesce_gpu.explain(SCALE, None, 4, 32, ["f32*100=unset", 2.0, 100], check="all").findings)
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((again.findings, str(again)), (caught.exception.findings, str(caught.exception)))
        self.assertNotEqual(again.report, copy.copy(again.report), "reports are compared by what they are")

    def test_wrong_input_is_a_sentence(self):
        for ptx, args, part in [
            ("scale.ptx", [], "is no text of PTX"),
            (pathlib.Path("none.ptx"), [], "none.ptx"),
            (SCALE, [1.0], "argument"),
            (SCALE, [object(), 1.0, 1], "is a object"),
            (SCALE, {"a b": 1}, "is no name"),
            (SCALE, {0: 1}, "is no name"),
            (SCALE, ["f32*4\0"], "leave out NUL"),
            (SCALE, ["f32*x"], "is no argument"),
            (SCALE, "abc", "`args` is no list"),
            (SCALE, None, "`args` is no list"),
            (SCALE.encode(), [], "`ptx` is a bytes"),
        ]:
            self.refused(part, coalesce_gpu.check, ptx, "scale", 1, 32, args)
        for shape in [0, -1, 1.5, (2, 1.5), "32", None, (), (1, 1, 1, 1), 1 << 40]:
            self.refused("`grid` is", coalesce_gpu.check, SCALE, "scale", shape, 32)
        for options in [{"check": True}, {"schedules": -1}, {"limit": 0.5}, {"shared_bytes": "1"}, {"timeout": 0}]:
            self.refused(f"`{[*options][0]}` is", coalesce_gpu.explain, SCALE, "scale", 1, 32, [], **options)
        for command in ["true", [], None, [1]]:
            self.refused("`command` is no list", coalesce_gpu.run, command)

    def refused(self, part, of, *args, **options):
        with self.assertRaises(coalesce_gpu.CoalesceError) as caught:
            of(*args, **options)
        self.assertIn(part, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception), "one sentence")

    def test_files_and_names_of_any_form(self):
        args = {"data": array.array("f", range(100)), "by": 2.0, "n": 100}
        here = os.getcwd()
        with tempfile.TemporaryDirectory(prefix="ünï 日本,=@") as folder:
            os.chdir(folder)
            try:
                for name in ["-k.ptx", "kérnel:ядро.ptx"]:
                    pathlib.Path(name).write_text(SCALE)
                    self.assertTrue(coalesce_gpu.check(pathlib.Path(name), "scale", 4, 32, args).kernels)
            finally:
                os.chdir(here)
        long = [("n" * 300, args["data"]), ("by", 2.0), ("n", 100)]
        self.assertEqual(coalesce_gpu.check(SCALE, "scale", 4, 32, dict(long)).arrays["n" * 300][1], 2.0)

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_arrays_of_numpy(self):
        data = numpy.arange(200, dtype="f4").reshape(2, 100)[:, ::2]
        report = coalesce_gpu.check(SCALE, "scale", 4, 32, [data, numpy.float32(0.5), numpy.uint32(100)])
        result = report.arrays["arg0"]
        self.assertEqual((result.shape, result.dtype), (data.shape, data.dtype))
        self.assertTrue((result == data / 2).all())
        table = report.table()
        self.assertEqual(table[table["kind"] == "global_store"]["sectors"].sum(), 13)
        long = "k" * 300
        report = coalesce_gpu.check(SCALE.replace("scale", long), None, 4, 32, [data, 2.0, 100])
        self.assertEqual(set(report.table()["kernel"]), {long}, "no name is cut")
        self.assertEqual(len(coalesce_gpu.check(SCALE, None, 4, 32, [data, 2.0, 0]).table()), 0)
        with self.assertRaises(coalesce_gpu.CoalesceError):
            coalesce_gpu.check(SCALE, "scale", 4, 32, [data.astype("c8"), 2.0, 100])
        with self.assertRaises(coalesce_gpu.CoalesceError):
            coalesce_gpu.check(SCALE, "scale", 4, 32, [data, numpy.datetime64("2020-01-01"), 100])

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_arrays_keep_their_type_and_shape(self):
        for data, count in [
            (numpy.ones((10, 20), "f2"), 100), (numpy.ones((0, 3), "f4"), 0), (numpy.ones(400, "?"), 100),
            (numpy.ones((4, 25), "f4").T, 100),
        ]:
            data.flags.writeable = False
            report = coalesce_gpu.check(SCALE, "scale", numpy.int64(4), numpy.array([32]), [data, numpy.array(1, "f4"), count])
            result = report.arrays["arg0"]
            self.assertEqual((result.shape, result.dtype), (data.shape, data.dtype))
            self.assertTrue((result == data).all())

    @unittest.skipUnless(sys.platform == "linux", "`run` is of Linux alone")
    def test_run_of_a_program_without_kernels(self):
        with self.assertRaises(coalesce_gpu.CoalesceError) as caught:
            coalesce_gpu.run(["true"])
        self.assertIn("never loaded libcuda.so.1", str(caught.exception))

    @unittest.skipUnless(sys.platform == "linux", "`run` is of Linux alone")
    def test_a_program_is_ended_with_its_time(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "process"
            script = f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
            self.refused("was ended after", coalesce_gpu.run, [sys.executable, "-c", script], timeout=2)
            with self.assertRaises(ProcessLookupError):
                os.kill(int(file.read_text()), 0)

    @unittest.skipUnless(sys.platform == "linux", "`run` is of Linux alone")
    def test_run_finds_the_libraries(self):
        script = "import ctypes; cuda = ctypes.CDLL('libcuda.so.1'); assert cuda.cuInit(0) == 0"
        report = coalesce_gpu.run([sys.executable, "-c", script])
        self.assertEqual((report.kernels, report.findings, report.returncode), ((), (), 0))


if __name__ == "__main__":
    unittest.main()
