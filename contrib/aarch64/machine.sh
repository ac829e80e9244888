#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# machine.sh DIRECTORY [TEST...]: boots Debian's kernel on what root.sh and build.sh have made, runs
# the tests there (those of "make check" by default), and leaves what they have said in
# DIRECTORY/results. An emulator takes one processor, so there are as many machines as processors
# (HCCT_AARCH64_MACHINES), and each has a part of the tests.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
here=$root/contrib/aarch64
directory=$1
shift
tree=$directory/root
limit=${HCCT_AARCH64_LIMIT:-1200} # seconds for each test
machines=${HCCT_AARCH64_MACHINES:-$(nproc)}

# Files keep their owner: where root does this, all are root's.
file_system() { # FILE MEGABYTES FROM
    rm -f "$1"
    PATH=$PATH:/usr/sbin:/sbin mke2fs -q -t ext4 -O ^has_journal -E root_owner=0:0 -d "$3" "$1" "$2m" >/dev/null
}

# What mounts the three disks. Debian's kernel has the drivers as modules.
initial_ram_disk() {
    work=$directory/initrd.d
    rm -rf "$work"
    mkdir -p "$work/bin" "$work/modules" "$work/system" "$work/proc" "$work/dev"
    cp "$tree/bin/busybox" "$work/bin/"
    modules=$(echo "$tree"/lib/modules/*)
    names=''
    add_module() {
        for file in $(grep "/$1\.ko:" "$modules/modules.dep" | sed 's/^[^:]*: *//' | tr ' ' '\n' | tac) \
            "$(grep -o "^[^:]*/$1\.ko:" "$modules/modules.dep" | tr -d :)"; do
            [ -n "$file" ] || continue
            cp "$modules/$file" "$work/modules/"
            case " $names " in *" ${file##*/} "*) ;; *) names="$names ${file##*/}" ;; esac
        done
    }
    for name in virtio_mmio virtio_pci virtio_blk crc32c_generic ext4; do
        add_module $name
    done
    {
        echo '#!/bin/busybox sh'
        echo '/bin/busybox mount -t proc proc /proc'
        echo '/bin/busybox mount -t devtmpfs dev /dev'
        for name in $names; do echo "/bin/busybox insmod /modules/$name"; done
        echo '/bin/busybox mount -t ext4 /dev/vda /system'
        echo '/bin/busybox mount -t ext4 /dev/vdb /system/hcct'
        echo '/bin/busybox mount -t ext4 /dev/vdc /system/hcct/task'
        echo '/bin/busybox mount --move /dev /system/dev'
        echo '/bin/busybox umount /proc'
        echo 'exec /bin/busybox switch_root /system /hcct/init'
    } >"$work/init"
    chmod +x "$work/init"
    (cd "$work" && find . | cpio --quiet -o -H newc -R 0:0 | gzip) >"$directory/initrd"
}

system_image() {
    if [ -f "$directory/system.img" ] && [ "$directory/system.img" -nt "$directory/root.packages" ]; then
        return 0
    fi
    mkdir -p "$tree/hcct"
    PATH=$PATH:/usr/sbin:/sbin depmod -b "$tree" "$(basename "$tree"/lib/modules/*)"
    file_system "$directory/system.img" 3000 "$tree"
}

# The sources, and what was built of them. All machines read this one.
work_image() {
    work=$directory/work.d
    rm -rf "$work"
    mkdir -p "$work/task"
    cp "$here/init" "$work/init"
    (cd "$root" && find . \( -name .git -o -path './build*' -o -name autom4te.cache \) -prune -o -print |
        cpio --quiet -pdm "$work/src")
    (cd "$directory/build" &&
        find . \( -name '*.o' ! -name 'libhcctattach_so-*' -o -name '*.lo' -o -name '*.a' -o -name .deps \) -prune -o -print |
        cpio --quiet -pdm "$work/build")
    file_system "$directory/work.img" 1500 "$work"
    rm -rf "$work"
}

# What one of the machines is to do, and where it leaves what came of it: every test whose place in the
# list is NUMBER, modulo the number of machines.
task_image() { # NUMBER TEST...
    task=$directory/task.d number=$1
    shift
    rm -rf "$task"
    mkdir -p "$task/results"
    printf "LIMIT='%s'\nSOURCES='%s'\n" "$limit" "$root" >"$task/settings"
    printf '%s\n' "$@" | awk -v n="$number" -v all="$machines" 'NR % all == n % all' >"$task/tests"
    file_system "$directory/task$number.img" 200 "$task"
    rm -rf "$task"
}

# The processor signs return addresses by a simple function: the architecture's own takes the emulator
# half of its time. Its clock goes by what it executes, 4 ns an instruction, and skips what it would sleep:
# so a signal takes there what it takes a slow processor, and not a hundred times as long as this machine's
# other processes leave to the emulator. Two processors take turns of up to 4 ms, and each counts the
# other's as its own time: of 6 s of CPU time 42 % went into the handler at 1,000 samples a second, with
# one processor 7.5 %.
boot() { # NUMBER
    qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -icount shift=2,sleep=off -smp "${HCCT_AARCH64_PROCESSORS:-1}" -m 3072 \
        -nographic -no-reboot -nic none \
        -kernel "$(echo "$tree"/boot/vmlinuz-*)" -initrd "$directory/initrd" \
        -append "console=ttyAMA0 quiet panic=-1 norandmaps" \
        -drive "if=virtio,format=raw,file=$directory/system.img,snapshot=on,cache=unsafe" \
        -drive "if=virtio,format=raw,file=$directory/work.img,snapshot=on,cache=unsafe" \
        -drive "if=virtio,format=raw,file=$directory/task$1.img,cache=unsafe" </dev/null
}

# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(make -s --no-print-directory -C "$directory/build" print-tests)
[ "$machines" -le $# ] || machines=$#
system_image
initial_ram_disk
work_image
rm -rf "$directory/results" "$directory"/task*.img
for number in $(seq "$machines"); do
    task_image "$number" "$@"
done
for number in $(seq "$machines"); do
    boot "$number" &
done
wait
mkdir -p "$directory/results"
for number in $(seq "$machines"); do
    rm -rf "$directory/task.d"
    mkdir "$directory/task.d"
    PATH=$PATH:/usr/sbin:/sbin debugfs -R "rdump results $directory/task.d" "$directory/task$number.img" 2>/dev/null
    cat "$directory/task.d/results/summary" >>"$directory/results/summary"
    rm -f "$directory/task.d/results/summary"
    find "$directory/task.d/results" -type f -exec mv {} "$directory/results/" \;
done
rm -rf "$directory/task.d"
