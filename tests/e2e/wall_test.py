"""Elapsed time: a program that sleeps 70 % of its time shows it, in the contexts where it sleeps, and
its calls return as they should (it aborts otherwise)."""

from support import check, finish, folded, record, report, scratch, target

path = scratch("wall.pb.gz")
result = record([target("sleepy"), "6"], path, "--clock", "wall", "--rate", "1000")
check(result.status == 0, "the program ended with status 0")

spent = {}
for line in result.out.decode().splitlines():
    ns, name = line.split()
    spent[name] = int(ns)
total = sum(spent.values())
seen = dict.fromkeys(spent, 0)
for frames, weight in folded(path):
    for name in spent:
        if name in frames:
            seen[name] += weight
for name, ns in spent.items():
    check(abs(seen[name] - ns) <= 0.05 * total,
          f"{name}: {100 * seen[name] / total:.1f} % of the time, {100 * ns / total:.1f} % is true")
asleep = sum(ns for name, ns in seen.items() if name != "compute") / total
check(asleep >= 0.6, f"{100 * asleep:.1f} % of the time is sleep")
check(report(path)["unit"] == "nanoseconds", "the unit is nanoseconds")
finish()
