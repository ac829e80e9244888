# SPDX-License-Identifier: LGPL-3.0-or-later
"""Generated code is named by the program's perf map, or by what it registers for debuggers, and
contexts go through it: from main into generated code, and from there into C."""

import platform
import shutil
import subprocess
import tempfile

from support import check, finish, folded, record, report, scratch, skip, target

if platform.machine() != "x86_64":
    skip("the generated code is x86-64's")


def names(how, *words, shown=None):
    """`shown`: what the names of the program's are for people."""
    path = scratch(f"{how}.pb.gz")
    result = record([target("jit"), "4", *words], path, "--rate", "250")
    if result.status == 77:
        skip("code can't be generated here")
    check(result.status == 0, f"{how}: the program ended with status 0")
    truth = {}
    for line in result.out.decode().splitlines():
        weight, name = line.split(" ", 1)
        truth[(shown or {}).get(name, name)] = int(weight)
    loop, call = truth
    total = sum(truth.values())

    seen = {loop: 0, call: 0}
    for frames, weight in folded(path):
        for name, expected in ((loop, ["main", loop.replace(";", ":")]),
                               (call, ["main", call, "burn"])):
            if any(frames[i:i + len(expected)] == expected for i in range(len(frames))):
                seen[name] += weight
    for name, weight in truth.items():
        true_share, share = 100 * weight / total, 100 * seen[name] / total
        check(abs(share - true_share) <= 6,
              f"{how}: {name}: {share:.2f} % of the time, below main, {true_share:.2f} % is true")

    for form in ("json", "text"):
        text = report(path, form=form)
        text = str(text) if form == "json" else text
        check(loop in text and call in text, f"{how}: {form} has the names as they are")
    check("[jit]" in report(path, "--by", "module", form="text"), f"{how}: their module is [jit]")
    return loop


loop = names("listed")
names("registered", "registered")
MANGLED = {"_ZN3app4loopEm": "app::loop(unsigned long)", "_RNvNtCs1234_7mycrate3foo3bar": "mycrate::foo::bar"}
for how in (["registered", "mangled"], ["mangled"]):
    names(" and ".join(how), *how, shown=MANGLED)
    text = str(report(scratch(f"{' and '.join(how)}.pb.gz")))
    check(all(name in text for name in MANGLED), "the linker's names are kept beside them")

# In a container: its PID is another there, and /tmp is its own.
outside = tempfile.mkdtemp(prefix="hcct-test-", dir="/var/tmp")
contained = ["unshare", "--user", "--map-root-user", "--pid", "--mount", "--fork", "--mount-proc",
             "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh"]
there = subprocess.run(contained + ["test", "-x", target("jit")], capture_output=True, check=False)
if there.returncode == 0:
    path = scratch("contained.pb.gz")
    record(contained + [target("jit"), "1"], path, "--rate", "250", env={"XDG_RUNTIME_DIR": outside})
    named = sum(weight for frames, weight in folded(path) if loop.replace(";", ":") in frames)
    lost = sum(weight for frames, weight in folded(path) if "[generated code]" in frames)
    check(named > 0 == lost, f"in a container: {named / 1e6:.0f} ms by name, {lost / 1e6:.0f} ms without one")
else:
    print("no container can be made here, or it can't see the build")
shutil.rmtree(outside)
finish()
