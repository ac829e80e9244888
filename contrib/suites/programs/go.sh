./gomain
