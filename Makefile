# Needs only python3 (3.10 or newer) with venv, a C compiler, and make; everything else lands in $(VENV).
PYTHON ?= python3
VENV   ?= .venv
PY     := $(VENV)/bin/python
OUT    ?= build/quickstart
# Modules, templates, tables and patterns, as bytecode: what is up to date is not compiled again, and where Python is told not to write any,
# thousands of runs of the command would do it each for itself.
COMPILE = $(PY) -m compileall -q codegen && $(PY) -m codegen.print.templates
# pytest keeps what it has made of the test files, which takes ten seconds for each of its processes.
TEST = PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n 2 --dist worksteal -q
.DELETE_ON_ERROR:
.PHONY: dist gpu-registers check-gpu bench-gpu-polybench same-under-load picture all quickstart examples venv dev test test-all test-fast lint corpus fuzz fuzz-files bench bench-gpu bench-mpi mpi-corpus bench-sunway sunway-corpus sunway-headers bench-tensor bench-kernels bench-polybench bench-readme bench-estimate bench-real-style bench-x86 bench-sparse bench-tune bench-tune-searches golden proven same-text clean distclean

all: quickstart

# The stamps say "installed with this setup.cfg"; while it does not change, nothing is asked of pip.
venv: $(VENV)/.installed
dev: $(VENV)/.installed-dev

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "Python 3.10 or newer is needed; name one with make PYTHON=..."; exit 1; }
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "python3 -m venv failed; on Debian and Ubuntu: apt install python3-venv"; exit 1; }

$(VENV)/.installed: setup.cfg pyproject.toml | $(PY)
	@echo "installing tilewright into $(VENV)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable .
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-dev: setup.cfg pyproject.toml | $(PY)
	@echo "installing tilewright and its test tools into $(VENV)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(COMPILE)
	@touch $@ $(VENV)/.installed

# Names of folders as an example sees them; not absolute ones, which may have blanks in them.
up = $(if $(filter /%,$(1)),$(1),../../$(1))

quickstart: venv
	@$(MAKE) --no-print-directory -C examples/quickstart demo TILEWRIGHT='$(call up,$(VENV))/bin/tilewright' \
	  OUT='$(call up,$(OUT))' SHOWN='$(OUT)' COMMAND='$(VENV)/bin/tilewright'

# Every example with a Makefile: built, run and checked; one line for each, and the end of its output where it failed.
# Some of them: make examples E='core-group notebook'
E ?= $(patsubst examples/%/Makefile,%,$(wildcard examples/*/Makefile))
examples: dev
	@failed=; for name in $(E); do \
	  out='$(abspath build)'/examples/$$name; log=$$out/log.txt; mkdir -p $$out; start=$$(date +%s); \
	  if $(MAKE) --no-print-directory -C examples/$$name all check TILEWRIGHT='$(abspath $(VENV))/bin/tilewright' OUT=$$out > $$log 2>&1; \
	  then word=ok; else word=FAIL; failed="$$failed $$name"; fi; \
	  said=$$({ tail -n 1 $$log; grep -o '.*vectors agree' $$log; grep ': ok$$' $$log; } | tail -n 1 | sed 's/  */ /g'); \
	  printf '%-4s %-20s %3d s  %s\n' $$word $$name $$(($$(date +%s) - start)) "$$said"; \
	  if [ $$word = FAIL ]; then tail -n 20 $$log | sed 's/^/     | /'; fi; \
	done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi; \
	echo "$(words $(E)) examples built, run and checked: all ok"

# Of slow tests with many cases a part, another one after each commit, and not the longest; all of them where files are
# chosen. Arguments for pytest: make test T='tests/cli -k gen'
test: dev
	@$(COMPILE)
	$(TEST) $(T)

# All cases of what takes long as well.
test-all: dev
	@$(COMPILE)
	$(TEST) --all $(T)

# Under two minutes: units, refusals, goldens, and a little of everything else.
test-fast: dev
	@$(COMPILE)
	$(TEST) --fast $(T)

lint: dev
	$(PY) -m ruff check .
	$(PY) -m mypy

# Every kernel with every element type, every compiler's opinion, threads under ThreadSanitizer, every pair of sparse
# formats with every policy, every processor with every product: `make test` takes some of each (tests/corpus.py).
corpus: dev
	@$(COMPILE)
	TILEWRIGHT_ALL_TYPES=1 $(TEST) \
	  $$(grep -rlE '^from tests.corpus import .*(ALL|some|kernels)' --include='test_*.py' tests)

# Random programs, most options, every compiler that is there; what is done stays done when it is stopped and started
# again. Other seeds: make fuzz F='5000000 20000 -j 16'
F ?= 1000000 3000 -j 2
fuzz: dev
	@$(COMPILE)
	$(PY) -m tests.property.fuzz $(F)

# Random regions beside other techniques in one file, on every target that runs here: make fuzz-files F='1000000 100'
fuzz-files: dev
	@$(COMPILE)
	$(PY) -m tests.property.combined $(firstword $(F)) $(word 2,$(F))

# As an installed package would be: with its bytecode. Sizes that are numbers: make bench B=--numbers
bench: dev
	$(COMPILE)
	$(PY) -m benchmarks.generation $(B)

# Twenty busy processes for each processor must not change a byte. A part of the files: make same-under-load B='--part 1/8'
same-under-load: venv
	@$(COMPILE)
	$(PY) benchmarks/same_under_load.py $(B)

# Generated tensor kernels against OpenBLAS. Arguments: make bench-tensor B='--only gemm,mv --threads 1 --quick'
bench-tensor: venv $(VENV)/.installed-bench
	$(PY) -m benchmarks.tensor $(B)

# The corpus against gcc, clang with Polly and OpenMP by hand: make bench-kernels B='--only lu,adi --threads 1 --quick'
bench-kernels: venv $(VENV)/.installed-bench
	$(PY) -m benchmarks.kernels $(B)

# What the cost model expects of the corpus, beside what gcc's code takes: make bench-estimate B='--only lu,adi --size large'
bench-estimate: venv
	$(PY) -m benchmarks.estimate $(B)

# The nests of examples/real-style, as written and generated, at one thread: make bench-real-style B='--only blur5 --compilers gcc'
bench-real-style: venv
	$(PY) -m benchmarks.real_style $(B)

# Core groups on the timing model: make bench-sunway B='--only gemm,atax --large'
bench-sunway: venv $(VENV)/.installed-bench
	$(PY) -m benchmarks.sunway $(B)

# Ranks against threads on this machine, beside the prediction: make bench-mpi mpi-corpus B='--cores 4 --quick --only gemm'
bench-mpi: venv
	$(PY) -m benchmarks.mpi $(B)

# The corpus on 1, 2, 3, 4 and 7 ranks, beside one process: make mpi-corpus B='--only lu --jobs 4'
mpi-corpus: venv
	$(PY) -m benchmarks.mpi_corpus $(B)

# Products against NumPy's BLAS and PyTorch's, and kernels on many cores; generated here, measured on any x86-64 machine
# with a compiler and NumPy: make bench-x86 B='--prepare FOLDER'
bench-x86: venv
	$(PY) -m benchmarks.elsewhere $(B)

# Generated kernels on this machine's GPU, against cuBLAS and the memory; says so where there is none.
bench-gpu: venv
	$(PY) -m benchmarks.device $(B)

# What the CUDA compiler says of the corpus' kernels; no GPU is needed.
gpu-registers: venv
	$(PY) -m benchmarks.gpu_registers $(B)

# PolyBench on this machine's GPU, against one thread for each element.
bench-gpu-polybench: venv
	$(PY) -m benchmarks.gpu_polybench $(B)

# The corpus on this machine's GPU, compared with the originals bit by bit; B='--sanitize 30' for compute-sanitizer.
check-gpu: venv
	$(PY) -m benchmarks.gpu_corpus $(B)

# The corpus on the emulator, on six grids of cores at four sets of sizes: make sunway-corpus B='--only lu --grids 64'
sunway-corpus: venv
	$(PY) -m benchmarks.sunway_corpus $(B)

# Every generated file of the corpus against headers of the vendor's shape: make sunway-headers B='--only gemm --grids 16,8x8'
sunway-headers: venv
	$(PY) -m benchmarks.sunway_headers $(B)

# Sparse conversions and kernels against SciPy, and TACO where it is installed; whole run about ten minutes, --quick one:
# make bench-sparse B='--nnz 1e6,2e7 --only COO->CSR,spmv --busy'
bench-sparse: venv $(VENV)/.installed-bench
	$(PY) -m benchmarks.sparse $(B)

# docs/measured.svg, docs/polybench.svg and the README's figures, from whole runs of the two benches (not --quick, not --busy).
picture: venv
	$(PY) -m benchmarks.picture $(wildcard build/bench/tensor.json build/bench/kernels.json)

# PolyBench against gcc and clang with Polly, and from it the README's picture and table: all in one, on a machine with nothing else to do.
bench-polybench: venv
	$(PY) -m benchmarks.kernels --set polybench --peers $(B)
	$(PY) -m benchmarks.picture build/bench/kernels.json

# The example at the top of the README, on this machine; H='one core of a ...' says what that is.
bench-readme: venv
	mkdir -p build && cd examples/quickstart && '$(abspath $(VENV))'/bin/tilewright bench gemm.c --machine native --sizes n=500 -q \
	  > '$(abspath build)'/readme.txt
	$(PY) -m benchmarks.readme $(if $(H),'$(H)') < build/readme.txt

# The tuner on held-out matrix products, against its searches and NumPy: make bench-tune B='--cases 3 --busy'
bench-tune: venv $(VENV)/.installed-bench
	$(PY) -m benchmarks.tune $(B)

# The same with all searches on every product, however long that takes: bench-tune uses the figures from then on.
bench-tune-searches: venv $(VENV)/.installed-bench
	$(PY) -m benchmarks.tune --minutes 1440 $(B)

$(VENV)/.installed-bench: setup.cfg pyproject.toml | $(VENV)/.installed
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[bench]' && touch $@ || \
	  echo "matplotlib could not be installed; there will be no plot"

# After a change of what proves printed products: the list of those that are proven already. After a change of what
# prints them, what is not listed yet is enough: make proven B=--more
proven: venv
	$(PY) -m benchmarks.proven $(B)

# What is printed of the corpus, for all targets and instruction sets, against the digests that were kept before:
# make same-text B=--write, then the change, then make same-text
same-text: venv
	@$(PY) -m benchmarks.same_text $(B)

golden: dev
	$(PY) -m pytest -q tests --all --refresh-golden -k golden
	$(PY) -m codegen.cli.shell.docs > docs/options.md

# Wheel and source package, for a package index; its page has links if the repository is named: make dist URL=https://...
dist: dev
	$(PY) -m pip install --quiet --disable-pip-version-check build
	TILEWRIGHT_URL='$(URL)' $(PY) -m build

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
