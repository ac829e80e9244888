# SPDX-License-Identifier: LGPL-3.0-or-later
export HOME=$PWD GIT_AUTHOR_DATE="@0 +0000" GIT_COMMITTER_DATE="@0 +0000"
git config --global user.email a@b; git config --global user.name a
git config --global init.defaultBranch main; git config --global pack.threads 2
git init -q r && cd r
for i in $(seq 30); do seq $((i * 1000)) >f$((i % 7)); git add . && git commit -q -m "$i"; done
git log --oneline | md5sum
git checkout -q -b other HEAD~10 && seq 5 >g && git add g && git commit -qm g && git merge -q -m m main
git gc -q --aggressive && git fsck --full 2>&1 | grep -v notice || true
git clone -q . ../c && cd ../c && git log -p | md5sum && git blame f3 | tail -1
git rebase -q HEAD~3 2>&1 || echo $?
