"""The functions that move messages: blocks, sizes, ranks that die, and arrays in blocks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.mpi.target import support
from tests.corpus import KERNELS
from tests.mpi.programs import compiled, for_ranks, needs_mpi, on_ranks

EXAMPLE = KERNELS.parent / "heat-mpi"
Cases = tuple[tuple[tuple[str, ...], tuple[int, ...]], ...]
PARTS = """
int main(void)
{
  tw_world.size = 4;
  if (tw_pays(100, 1, 0) || !tw_pays(1e9, 1, 0) || tw_pays(1e9, 1e9, 0) || tw_pays(1e9, 1, 1e12))
    return 4;
  if (tw_next_step(1, 4) != 4 || tw_next_step(4, 4) != 8 || tw_next_step(-3, 4) != 0 || tw_next_step(-4, 4) != 0)
    return 8;
  /* thick blocks: tiles of 8 steps; thin ones: step by step; and no more steps than there are, up to a whole tile */
  const tw_index many[] = { 4000 }, few[] = { 16 };
  if (tw_wide_steps(3e9, 100, 2, 8, 1, 1, many) % 8 || tw_wide_steps(3e9, 100, 2, 8, 1, 1, many) < 8
      || tw_wide_steps(1e9, 100, 2, 8, 1, 1, few) != 1 || tw_wide_steps(1e8, 3, 2, 8, 1, 1, many) > 8
      || tw_wide_steps(3e9, 100, 2, 1, 0, 1, many) != 1)
    return 9;
  for (tw_world.size = 1; tw_world.size < 12; tw_world.size++)
    for (tw_index first = -3; first < 4; first++)
      for (tw_index past = first - 2; past < first + 30; past++) {
        const tw_index end = past > first ? past : first;
        if (tw_part(first, past, 0) != first || tw_part(first, past, tw_world.size) != end)
          return 1;
        for (int r = 0; r < tw_world.size; r++) {
          const tw_index n = tw_part(first, past, r + 1) - tw_part(first, past, r);
          const tw_index each = (end - first) / tw_world.size;
          if (n != each && n != each + 1)
            return 2;
        }
        if (tw_dealt(first, past, 0) != first || tw_dealt(first, past, tw_blocks()) != end)
          return 6;
        for (tw_index b = 0; b < tw_blocks(); b++)
          if (tw_dealt(first, past, b) > tw_dealt(first, past, b + 1))
            return 7;
        for (int low = 0; low < 5; low++)
          for (int high = 0; high < 5; high++) {
            const tw_index middle = tw_piece_from(0, first, end, low, high);
            const tw_index last = tw_piece_to(0, first, end, low, high);
            if (middle > last || tw_piece_from(1, first, end, low, high) != first
                || tw_piece_to(1, first, end, low, high) != middle || tw_piece_from(2, first, end, low, high) != last
                || tw_piece_to(2, first, end, low, high) != end
                || (middle < last && (middle < first + low || last > end - high)))
              return 5;
          }
        for (tw_world.rank = 0; tw_world.rank < tw_world.size; tw_world.rank++)
          for (tw_index w = 1; w < 5; w++) {
            const tw_index rows[] = { past - first };
            int near[24] = { 0 }, count = 0;
            for (tw_index k = tw_first_near(1, &w, rows); k < tw_messages(); k = tw_next_near())
              near[k]++, count++;
            for (tw_index k = 0; k < tw_messages(); k++) {
              const tw_index g = tw_giver(k), t = tw_taker(k);
              const tw_index gap = g > t ? tw_part(first, past, g) - tw_part(first, past, t + 1)
                                     : tw_part(first, past, t) - tw_part(first, past, g + 1);
              if (near[k] > 1 || (gap < w && !near[k]))
                return 10;
            }
            if (count > 4 && (end - first) / tw_world.size >= w)
              return 11;
          }
        for (tw_world.rank = 0; tw_world.rank < tw_world.size; tw_world.rank++)
          for (tw_index k = 0; k < tw_messages(); k++)
            if (tw_giver(k) == tw_taker(k) || (k < tw_world.size - 1 ? tw_giver(k) : tw_taker(k)) != tw_world.rank
                || tw_giver(k) < 0 || tw_giver(k) >= tw_world.size || tw_taker(k) < 0 || tw_taker(k) >= tw_world.size)
              return 3;
      }
  return 0;
}
"""
# All ranks send their number to the others, in two parts.
SEND = """
int main(void)
{
  int got[99] = { 0 };
  const int ranks = tw_ranks();
  for (int round = 1; round < 4; round++) {
    got[2 * tw_rank()] = got[2 * tw_rank() + 50] = tw_rank() + round;
    for (tw_index k = 0; k < tw_messages(); k++) {
      tw_run(k, &got[2 * tw_giver(k)], 1, sizeof(int));
      tw_run(k, &got[2 * tw_giver(k) + 50], 1, sizeof(int));
    }
    FAULT
    tw_exchange();
    for (int r = 0; r < ranks; r++)
      if (got[2 * r] != r + round || got[2 * r + 50] != r + round)
        return 1;
  }
  return 0;
}
"""
# Ranks send rows of their number to those behind them, first to all others: in some rounds longer ones, side by side
# and in two parts.
ROWS = """
int main(void)
{
  static tw_index got[16][400];
  const int ranks = tw_ranks();
  for (tw_index round = 1; round < 24; round++) {
    const tw_index n = 3 + (round * 7) % 40 * (round / 4);
    for (tw_index j = 0; j < 400; j++)
      got[tw_rank()][j] = 1000 * round + tw_rank();
    const tw_index far = 99, rows = 99, odd = round % 2; /* now and then in another order */
    for (tw_index k = odd ? tw_first_near(1, &far, &rows) : 0; k < tw_messages(); k = odd ? tw_next_near() : k + 1) {
      if (round > 5 && tw_giver(k) > tw_taker(k))
        continue;
      tw_run(k, &got[tw_giver(k)][0], n, sizeof(tw_index));
      if (tw_taker(k) % 2)
        tw_run(k, &got[tw_giver(k)][300], n / 3, sizeof(tw_index));
    }
    FAULT
    tw_send();
    tw_wait();
    for (int r = 0; r < (round > 5 ? tw_rank() : ranks); r++)
      for (tw_index j = 0; j < n; j++)
        if (got[r][j] != 1000 * round + r || (tw_rank() % 2 && j < n / 3 && got[r][300 + j] != got[r][0]))
          return 1;
  }
  return 0;
}
"""


@needs_mpi
def test_messages_that_ranks_of_a_node_see(tmp_path: Path) -> None:
    """Rooms that grow and do not suffice, takers that are late, memory that is not shared, or of which there is little;
    a room that is filled too early and a message of another size are noticed."""
    text, copies = support(), "  tw_copy(m, (char *)from, 1);"
    waits = "  for (double to = MPI_Wtime() + 0.01 * tw_world.rank; MPI_Wtime() < to;)\n    (void)0;\n"
    late, no_wait = (copies, waits + copies), ("  tw_all_taken(tw_node.turn);", "")
    alone = ("&r->window) == MPI_SUCCESS;", "&r->window) != MPI_SUCCESS;")
    short = ("FAULT", "if (tw_rank() == 0 && round == 20) tw_world.messages[0].bytes -= 8;")
    little = ("(tw_index)(found.f_bavail / 2)", "(tw_index)(found.f_bavail * 0)")
    fine, wrong = (((), 3), ((late,), 2), ((alone,), 5), ((little,), 2)), (((late, no_wait), 2), ((short,), 2))
    cases = (*((*case, True) for case in fine), *((*case, False) for case in wrong))
    for k, (changes, ranks, right) in enumerate(cases):
        made = text + ROWS
        for old, new in changes:
            assert made.count(old) == 1, old
            made = made.replace(old, new)
        program = compiled("mpicc", made.replace("FAULT", ""), tmp_path / f"rows{k}", ("-DTW_TELL=25",))
        done = on_ranks(program, ranks)
        assert (done.returncode == 0) == right, (changes, done.stderr)
        assert "shorter than it should be" in done.stderr or changes != (short,)


@needs_mpi
def test_notices_are_told_from_messages(tmp_path: Path) -> None:
    """What says where a message lies has 24 bytes: who would tell of as few is stopped when it is compiled."""
    source = tmp_path / "few.c"
    source.write_text(support() + PARTS)
    for least, stopped in (("24", True), ("25", False)):
        words = ["mpicc", "-fsyntax-only", f"-DTW_TELL={least}", str(source)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert (done.returncode != 0) == stopped == ("TW_TELL has to be 25 or more" in done.stderr)


@needs_mpi
def test_parts_and_peers(tmp_path: Path) -> None:
    program = compiled("mpicc", support() + PARTS, tmp_path / "parts")
    assert subprocess.run([str(program)], timeout=60).returncode == 0


@needs_mpi
def test_messages_arrive(tmp_path: Path) -> None:
    program = compiled("mpicc", support() + SEND.replace("FAULT", ""), tmp_path / "send")
    for ranks in (1, 2, 5):
        done = on_ranks(program, ranks)
        assert done.returncode == 0, done.stderr


@needs_mpi
def test_a_message_of_another_size_ends_the_job(tmp_path: Path) -> None:
    """One element less where it is sent than where it is received."""
    fault = "if (tw_rank() == 1) tw_world.messages[0].count = 1, tw_world.messages[0].bytes = sizeof(int);"
    done = on_ranks(compiled("mpicc", support() + SEND.replace("FAULT", fault), tmp_path / "short"), 2)
    assert done.returncode != 0 and "shorter than it should be" in done.stderr


@needs_mpi
def test_a_rank_that_dies_ends_the_job(tmp_path: Path) -> None:
    fault = "if (tw_rank() == 1) abort();"
    done = on_ranks(compiled("mpicc", support() + SEND.replace("FAULT", fault), tmp_path / "dead"), 3)
    said = done.stderr + done.stdout  # Open MPI, MPICH
    assert done.returncode != 0 and ("mpirun noticed" in said or "BAD TERMINATION" in said)


@needs_mpi
def test_a_rank_that_ends_early_ends_the_job(tmp_path: Path) -> None:
    """Others wait for its messages, and would wait in vain: MPI would wait for them in turn."""
    fault = "if (tw_rank() == 1) { printf(\"so far\"); exit(3); }"
    done = on_ranks(compiled("mpicc", support() + SEND.replace("FAULT", fault), tmp_path / "early"), 3, limit=20)
    assert done.returncode != 0 and "rank 1: the program ends with an error" in done.stderr and "so far" in done.stdout


@needs_mpi
def test_waits_receivers_and_tags_matter(tmp_path: Path) -> None:
    """Faults in the functions themselves: no wait, a message to a wrong rank, a tag mixed up."""
    text = support()
    faults = {
        "wait": text.replace("MPI_Waitall((int)tw_world.pending, tw_world.requests, tw_world.states);", "(void)0;"),
        "rank": text.replace("MPI_BYTE, tw_taker(k), 0,", "MPI_BYTE, (tw_taker(k) + 1) % tw_world.size, 0,"),
        "tag": text.replace("MPI_BYTE, tw_taker(k), 0,", "MPI_BYTE, tw_taker(k), 7,"),
    }
    for name, faulty in faults.items():
        assert faulty != text
        program = compiled("mpicc", faulty + SEND.replace("FAULT", ""), tmp_path / name)
        try:
            done = on_ranks(program, 3, limit=4)
        except subprocess.TimeoutExpired:
            continue
        assert done.returncode != 0, name


@needs_mpi
@pytest.mark.parametrize(
    ("name", "distribute", "cases"),
    [
        ("heat", "u: block, *; v: block, *", ((("40", "20"), (1, 3)), (("5", "8"), (7,)), (("2", "4"), (3,)))),
        ("wave", "p: block, *, *; q: block, *, *", ((("12", "6"), (4,)), (("4", "8"), (7,)))),
    ],
)
def test_the_examples(name: str, distribute: str, cases: Cases, tmp_path: Path) -> None:
    """Blocks of rows and of planes: the same picture on any number of ranks."""
    source, picture = (EXAMPLE / f"{name}.c").read_text(), tmp_path / f"{name}.pgm"
    one = compiled("cc", source, tmp_path / "serial", ("-Wno-unknown-pragmas",))
    many = compiled("mpicc", for_ranks(f"{name}.c", source, distribute=distribute), tmp_path / name, ("-fopenmp",))
    for sizes, counts in cases:
        said = subprocess.run([str(one), *sizes], cwd=tmp_path, capture_output=True, text=True, timeout=60).stdout
        want = picture.read_bytes()
        for ranks in counts:
            picture.unlink()
            done = on_ranks(many, ranks, sizes, at=tmp_path)
            assert (done.returncode, done.stdout) == (0, said), done.stderr
            assert picture.read_bytes() == want


@needs_mpi
def test_blocks_take_their_part_of_the_memory(tmp_path: Path) -> None:
    program = """#include <sys/resource.h>
int main(void)
{
  const tw_index n = 4096;
  struct rusage before, after;
  double (*const a)[n] = tw_block(sizeof(double[n][n]));
  tw_ranks();
  getrusage(RUSAGE_SELF, &before);
  for (tw_index i = tw_first(n); i < tw_past(n); i++)
    for (tw_index j = 0; j < n; j++)
      a[i][j] = 1;
  getrusage(RUSAGE_SELF, &after);
  const tw_index share = (tw_index)sizeof(double[n][n]) / 1024 / tw_ranks(), used = after.ru_maxrss - before.ru_maxrss;
  return used > share + share / 4;
}
"""
    done = on_ranks(compiled("mpicc", support() + program, tmp_path / "blocks"), 4)
    assert done.returncode == 0, done.stderr
