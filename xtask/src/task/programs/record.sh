#!/bin/bash
# Records on a machine with a GPU what packed programs print by NVIDIA's runtime, twice, and by ours, and what the device's
# memory holds at the end. Arguments: the folder for the records, the folder of NVIDIA's libcudart, the seconds for a program.
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && out=$(cd "$1" && pwd)
runtime=$2 limit=${3-20}
nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 >"$out/device"
one() {
    local name=$1 line=$3
    cd "$here/$2" || return
    print() {
        eval "timeout $limit $line" >"$out/$name.text" 2>/dev/null </dev/null
        local code=$?
        [ $code = 124 ] || { echo $code; head -c 1000000 "$out/$name.text"; } >"$out/$name.$1"
        rm -f "$out/$name.text"
    }
    export LD_LIBRARY_PATH=$runtime
    print gpu
    [ -e "$out/$name.gpu" ] || return
    print gpu-again
    export LD_LIBRARY_PATH=$here/runtime
    print ours
    for kind in record record-again; do
        export COALESCE_RECORD=$out/$name.$kind
        print recording
        rm -f "$out/$name.recording"
    done
}
while IFS=$'\t' read -r name folder line; do
    one "$name" "$folder" "$line" &
    while [ "$(jobs -rp | wc -l)" -ge 12 ]; do wait -n; done
done <"$here/list"
wait
