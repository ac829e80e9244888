# SPDX-License-Identifier: LGPL-3.0-or-later
R --vanilla --slave -e '
set.seed(1); m <- matrix(rnorm(160000), 400); cat(round(sum(solve(m) %*% m)), "\n")
f <- function(n) if (n < 2) n else f(n - 1) + f(n - 2); cat(f(20), "\n")
x <- sapply(1:50000, function(i) sum(i %% 1:7)); cat(sum(x), "\n")
cat(system("echo child", intern = TRUE), "\n"); Sys.sleep(0.2)
library(parallel); cat(unlist(mclapply(1:4, function(i) sum(sqrt(1:2e5) * i), mc.cores = 2)), "\n")
p <- parallel::mcparallel(7); cat(parallel::mccollect(p)[[1]], "\n")
r <- tryCatch({ setTimeLimit(elapsed = 0.3, transient = TRUE); Sys.sleep(5); "slept" }, error = function(e) "limit"); cat(r, "\n")
quit(status = 8)'
