"""Contexts with known shares of CPU time, two threads and recursion included: at 250 walks a second
over 10 s of CPU time each share is within 3 points of the truth."""

from support import check, finish, folded, record, scratch, target

path = scratch("shares.pb.gz")
result = record([target("known_shares"), "5"], path, "--rate", "250")
check(result.status == 0, "the program ended with status 0")

truth = {}
for line in result.out.decode().splitlines():
    weight, frames = line.split(" ", 1)
    truth[frames] = int(weight)
total = sum(truth.values())

seen = dict.fromkeys(truth, 0)
for frames, weight in folded(path):
    # the part from rounds to burn; clock_gettime below burn belongs to burn
    names = frames[frames.index("rounds"):] if "rounds" in frames else []
    if "burn" in names:
        seen_path = ";".join(names[:names.index("burn") + 1])
        if seen_path in seen:
            seen[seen_path] += weight

for frames, weight in truth.items():
    true_share, share = 100 * weight / total, 100 * seen[frames] / total
    check(abs(share - true_share) <= 3,
          f"{frames}: {share:.2f} % of the time, {true_share:.2f} % is true")
check(abs(sum(seen.values()) - total) <= 0.03 * total,
      f"{sum(seen.values()) / 1e9:.3f} s credited, {total / 1e9:.3f} s spent")
finish()
