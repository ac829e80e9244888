# SPDX-License-Identifier: LGPL-3.0-or-later
import asyncio
import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time


def f(k, n=200000):
    s = 0
    for i in range(n):
        s = (s * 31 + i + k) % 1000003
    return s


async def child(k):
    process = await asyncio.create_subprocess_exec("sh", "-c", f"exit {k}")
    return await process.wait()


async def many():
    print(await asyncio.gather(*(child(k) for k in range(8))))
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.2)
    except asyncio.TimeoutError:
        print("time out")


def timers():
    signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    time.sleep(0.5)
    got = []
    signal.signal(signal.SIGPROF, lambda *_: got.append(1))
    signal.setitimer(signal.ITIMER_PROF, 0.02, 0.02)
    while len(got) < 3:
        f(1, 10000)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    os.kill(os.getpid(), signal.SIGUSR1)
    print(signal.sigwait({signal.SIGUSR1}).name, signal.getsignal(signal.SIGVTALRM).name)


if __name__ == "__main__":
    threads = [threading.Thread(target=f, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(pool.map(f, range(4)))
    with concurrent.futures.ThreadPoolExecutor() as threads:
        print(list(threads.map(f, range(4))))
    asyncio.run(many())
    timers()
    print(subprocess.run(["sh", "-c", "exit 3"], check=False).returncode,
          subprocess.run("echo $PPID | wc -w", shell=True, close_fds=True, preexec_fn=os.setsid,
                         capture_output=True, check=True).stdout)
    print(sorted(os.listdir("/proc/self/fd")))
    sys.exit("the end")
