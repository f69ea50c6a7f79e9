#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_kernel_objects.sh ARCHIVE: of the archive's objects only the one for x86-64-v4 may use AVX-512 registers, only
# that and the one for v3 AVX's, and each has one global name, so that the linker cannot mix them.
archive=$(realpath "$1")
for tool in objdump nm ar; do
    command -v $tool >/dev/null || { echo "skipped: no $tool (package binutils)"; exit 77; }
done
objects=$(ar t "$archive" | grep '_kernels_v[234]\.o$')
if [ -z "$objects" ]; then
    echo "skipped: the kernels are built for one level only"
    exit 77
fi
objdump -d --no-show-raw-insn "$archive" | awk '
    /file format/ { object = $1; sub(":$", "", object) }
    /%zmm/ { zmm[object]++ }
    /%ymm/ { ymm[object]++ }
    END {
        for (object in zmm)
            if (object !~ /_kernels_v4\.o$/) { print "FAILED: " object " uses zmm registers"; bad = 1 }
            else wide = zmm[object]
        for (object in ymm)
            if (object !~ /_kernels_v[34]\.o$/) { print "FAILED: " object " uses ymm registers"; bad = 1 }
        if (!wide) { print "FAILED: the object for v4 uses no zmm register"; bad = 1 }
        print "zmm registers in " wide " instructions, all of them in the object for v4"
        exit bad
    }' || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for object in $objects; do
    level=${object##*_kernels_v}
    level=${level%.o}
    (cd "$work" && ar x "$archive" "$object")
    names=$(nm -g --defined-only "$work/$object" | awk '{ print $3 }')
    if [ "$names" != "_ZN8ropewalk12cpuKernelsV${level}Ev" ]; then
        echo "FAILED: $object has the global names:" $names
        exit 1
    fi
done
