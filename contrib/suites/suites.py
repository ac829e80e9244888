# SPDX-License-Identifier: LGPL-3.0-or-later
"""suites.py - which test suites there are: how they are built, run and read.

Commands run in the tree that the distribution's source was unpacked and built in; {out} is a
directory of this run alone. What is chosen of a large suite is what an agent in the process could
break: threads, signals, children, time-outs, files, locks, memory; and enough of the rest to make
programs do what they usually do.
"""

import parsers


class Step:
    """One command of a suite. The parser gets its output and {out}."""

    def __init__(self, name, command, parser, seconds=3600):
        self.name, self.command, self.parser, self.seconds = name, command, parser, seconds


class Suite:
    """package: of the source, None: what is tested is installed. prepare, build: once."""

    def __init__(self, name, steps, package=None, build=(), prepare=(), needs=()):
        self.name, self.steps, self.package = name, steps, package
        self.build, self.prepare, self.needs = build, prepare, needs


PYTHON_TESTS = """test_threading test_thread test_threadsignals test_threading_local test_signal
test_subprocess test_fork1 test_posix test_popen test_socket test_select test_selectors test_poll
test_epoll test_asyncio test_faulthandler test_multiprocessing_fork test_concurrent_futures
test_exceptions test_generators test_coroutines test_gc test_mmap test_time test_sched test_queue
test_ctypes test_resource test_fcntl test_pty test_eintr test_zlib test_json
test_socketserver test_httpservers test_os test_sys test_deque test_sort test_re test_pickle"""

# Patterns of files, and which of them take longer than the rest together, or are about faults of
# memory and files that are simulated, over and over. Not crash: how many tests it has is by chance.
SQLITE_TESTS = """select? where* trigger? join* index* insert* update* delete* collate* func* date*
expr* in orderby? vacuum* vtab* window* with? upsert? fts3expr* json1* rtree pager? savepoint
journal? wal wal? walro* walhook walthread walcrash* crash2 lock? lock thread* busy* notify?
shared* oserror ioerr malloc malloc3 corrupt? backup? sort? multiplex quota stat attach? auth* mutex?
exclusive* incrblob* incrvacuum* hook limit? autovac* alter? temp* trans* tkt* e_* capi*"""
SQLITE_LEFT_OUT = """savepoint6 walslow sort3 corruptC incrblob_err incrvacuum_ioerr
backup_ioerr delete_db trans2 trans3 thread2 e_fkey index5 indexfault shared_err tempfault vtab_err
walcrash3 wherefault windowfault vacuum3 select9 walrofault"""
# Exit status 1 also says that files were left open, by a count that threads add to unlocked.
SQLITE_ONE = """d=$(mktemp -d) && cd $d && exec >{out}/%.log 2>&1
"$0/testfixture" "$0/test/%.test"; [ $? -le 1 ] && grep -q "errors out of" {out}/%.log && word=Ok
echo "%... ${{word:-Failed}}"; cd / && rm -rf $d"""

REDIS_UNITS = """unit/type/string unit/type/incr unit/type/list unit/type/set unit/type/zset
unit/type/hash unit/type/stream unit/scan unit/expire unit/multi unit/scripting unit/functions
unit/pubsub unit/networking unit/limits unit/obuf-limits unit/querybuf unit/latency-monitor
unit/other unit/shutdown unit/aofrw unit/lazyfree unit/tracking unit/wait unit/info integration/aof
integration/rdb integration/logging integration/shutdown
integration/redis-cli integration/redis-benchmark integration/dismiss-mem integration/block-repl"""

SUITES = [
    # sockets between virtual machines: where there is such a device, but no host that listens, the
    # tests wait for ever
    Suite("python3", needs=["/usr/bin/python3.11"], steps=[
        Step("test", "cd {out} && for t in " + " ".join(PYTHON_TESTS.split()) + "; do"
             " /usr/bin/python3.11 -B -m test --junit-xml {out}/$t.xml --timeout 900 -i '*VSOCK*'"
             " $t; done", parsers.junit, seconds=5400)]),
    Suite("redis", package="redis", needs=["tclsh"],
          build=["make -s -j2 MALLOC=jemalloc USE_SYSTEM_JEMALLOC=yes"], steps=[
        Step("runtest", "./runtest --clients 2 --baseport 31000 "
             + " ".join("--single " + unit for unit in REDIS_UNITS.split()), parsers.redis)]),
    Suite("sqlite3", package="sqlite3", needs=["tclsh"],
          build=["./configure -q --with-tcl=/usr/lib/tcl8.6", "make -s testfixture"], steps=[
              Step("testfixture",
                   "(cd test && ls " + " ".join(t + ".test" for t in SQLITE_TESTS.split())
                   + ") | sed 's/\\.test$//' | grep -vxE '" + "|".join(SQLITE_LEFT_OUT.split())
                   + "' | sort -u | xargs -P 2 -I% sh -c '" + SQLITE_ONE + "' \"$PWD\";"
                   " cat {out}/*.log", parsers.sqlite)]),
    Suite("zstd", package="libzstd",
          build=["make -s -C programs zstd", "make -s -C tests datagen fuzzer zstreamtest poolTests"],
          steps=[
              Step("playTests", "cd tests && ZSTD_BIN=../programs/zstd DATAGEN_BIN=./datagen"
                   " ./playTests.sh", parsers.sections),
              Step("fuzzer", "tests/fuzzer -v -s5346 -i60", parsers.zstd_numbered),
              Step("zstreamtest", "tests/zstreamtest -v -s5346 -i40", parsers.zstd_numbered),
              Step("newapi", "tests/zstreamtest -v -s5346 -i80 --newapi", parsers.zstd_numbered),
              Step("poolTests", "tests/poolTests", parsers.zstd_pool)]),
    Suite("libuv", package="libuv1",
          build=["sh autogen.sh", "./configure -q", "make -s -j2 check TESTS="], steps=[
              Step("run-tests", "UV_RUN_AS_ROOT=1 test/run-tests", parsers.tap)]),
    Suite("tcl", package="tcl8.6", build=["cd unix && ./configure -q && make -s -j2 tcltest"],
          steps=[
              Step("tcltest", "cd unix && make -s test TESTFLAGS='-verbose pe'", parsers.tcl)]),
]
