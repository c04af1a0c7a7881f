#!/bin/sh
# Builds what lies here and measures it: threads alone, and ranks with threads that fill the cores; then ranks with one
# thread each. Each line has the seconds of the slowest rank, best of the rounds. Needs cc and mpicc, mpirun.
# CORES, ROUNDS and BIND (none, core) can be set.
cores=${CORES:-$(nproc)} rounds=${ROUNDS:-3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
flags="-O3 -march=native -std=gnu11 -DDRIVER -I. -fopenmp"
while read -r name sizes; do
  cc $flags "$name-openmp.c" -o "$name-openmp" -lm &
  mpicc $flags "$name-mpi.c" -o "$name-mpi" -lm &
done < cases.txt
wait

# The best time of a command: run N times, the slowest rank counts.
best() {
  n=$1 least=
  shift
  while [ "$n" -gt 0 ]; do
    n=$((n - 1))
    one=$("$@" 2>&1 > /dev/null < /dev/null | grep -E '^[0-9]+\.[0-9]+$' | sort -n | tail -1)
    least=$(printf '%s\n%s\n' "$least" "${one:-failed}" | grep . | sort -n | head -1)
  done
  echo "$least"
}

# So many ranks, each on cores of its own where those can be had.
ranks() {
  r=$1 t=$2 n=$3
  shift 3
  own="--map-by slot:PE=$t --bind-to core" bind="--bind-to none"
  if [ "${BIND:-core}" = core ] && [ "$r" -gt 1 ] && mpirun $own -n "$r" true > /dev/null 2>&1 < /dev/null; then
    bind=$own
  fi
  OMP_NUM_THREADS=$t best "$n" mpirun --oversubscribe $bind -x OMP_NUM_THREADS -n "$r" "$@"
}

lscpu | grep -E 'Model name|^Socket|NUMA node\(s\)|^Core|^Thread' | sed 's/  */ /g'
while read -r name sizes; do
  echo "$name $sizes, $cores cores"
  all=$(OMP_NUM_THREADS=$cores best "$rounds" "./$name-openmp" $sizes time)
  echo "  threads alone $all"
  r=1
  while [ "$r" -le "$cores" ]; do
    if [ $((cores % r)) -eq 0 ]; then
      s=$(ranks "$r" $((cores / r)) "$rounds" "./$name-mpi" $sizes time)
      [ "$r" -eq 1 ] && one=$s
      echo "  $r x $((cores / r)) $s" "$(echo "$one $s" | awk '{ printf "%.2f of one rank", $1 / $2 }')"
    fi
    r=$((r * ${FACTOR:-2}))
  done
  r=1
  while [ "$r" -lt "$cores" ]; do
    echo "  $r x 1 $(ranks "$r" 1 1 "./$name-mpi" $sizes time)"
    r=$((r * 2))
  done
done < cases.txt
