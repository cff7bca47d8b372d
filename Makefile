# hone: see `make help`. Build tree elsewhere with B=dir; V=1 shows commands; DEVELOPER=1 makes warnings errors.
B ?= build
V ?= 0
ifeq ($(origin CC),default)
CC := gcc
endif
DEVELOPER ?= 0
SANITIZE ?=
Q := $(if $(filter 1,$(V)),,@)

.DEFAULT_GOAL := all
PKG := libwebsockets libuv libgit2 libcjson libcurl libseccomp libmd isl zlib check
VERSION := $(or $(shell git describe --tags --always --dirty 2>/dev/null),unreleased)

# Places of `make install`.
prefix ?= /usr/local
bindir ?= $(prefix)/bin
datadir ?= $(prefix)/share
bashcompdir ?= $(datadir)/bash-completion/completions
zshcompdir ?= $(datadir)/zsh/site-functions
mandir ?= $(datadir)/man
DESTDIR ?=

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wformat=2 -Wvla -Wundef -Wswitch-enum \
        -Wwrite-strings -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -fno-common
ifeq ($(DEVELOPER),1)
WARN += -Werror
endif
OPT ?= -O2 -g
CFLAGS_ALL = -std=gnu17 -D_GNU_SOURCE -I. $(WARN) $(OPT) -fPIC -pthread $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer) $(CFLAGS)
LDFLAGS_ALL = -pthread $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS)

# One static library per layer; a layer links only what lies below it.
SRC_base      := $(wildcard workspace/base/*.c)
SRC_task      := $(wildcard workspace/task/*.c)
SRC_workspace := $(wildcard workspace/*.c)
SRC_format    := $(wildcard tools/format/*.c)
SRC_launch    := $(wildcard tools/launch/*.c)
SRC_tools     := $(wildcard tools/*.c tools/task/*.c tools/import/*.c tools/export/*.c)
SRC_runner    := $(wildcard tools/runner/*.c tools/runner/*/*.c tools/runner/*/*/*.c)
SRC_agents    := $(wildcard agents/*/*.c agents/*/*/*.c)
SRC_server    := $(wildcard server/*.c server/*/*.c)
LAYERS := base task workspace format launch tools runner agents server

# What each layer may link: itself, then everything below.
USES_base      := base
USES_task      := task base
USES_workspace := workspace task base
USES_format    := format task base
USES_launch    := launch format task base
USES_tools     := tools launch format workspace task base
USES_runner    := runner launch format task base
USES_agents    := agents tools launch format workspace task base
USES_server    := server agents tools launch format workspace task base

LIBS_base      := -lcjson -lmd -lm
LIBS_task      := -lcjson -lmd -lm
LIBS_workspace := -lgit2 -lcjson -lmd -lm
LIBS_format    := -lcjson -lmd -lm
LIBS_launch    := -lcjson -lmd -lm
LIBS_tools     := -lgit2 -lcjson -lmd -lm
LIBS_runner    := -lseccomp -lcjson -lmd -lm -ldl
LIBS_agents    := -lcurl -lgit2 -lcjson -lmd -lm -ldl -lisl
LIBS_server    := -lwebsockets -luv -lcurl -lgit2 -lcjson -lmd -lm -ldl -lisl -lz

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
lib = $(B)/lib$(1).a
libs_of = $(foreach l,$(USES_$(1)),$(call lib,$(l)))

MAIN_OBJ := $(call obj,server/main.c tools/runner/main.c)

.PHONY: all
all: $(B)/hone $(B)/hone-runner data ## hone and hone-runner with the data they need

define layer_rule
$(call lib,$(1)): $(filter-out $(MAIN_OBJ),$(call obj,$(SRC_$(1))))
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

$(B)/obj/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# The machine's ceilings are measured by this file: instrumented code would measure the sanitizer.
$(B)/obj/tools/runner/machine/ceilings.o: override SANITIZE :=
$(B)/obj/tools/runner/machine/ceilings.o: override OPT := -O2 -g

# The page's bundle, one for all build trees: node and npm make it where they are.
PAGE := build/page
$(PAGE)/page.js: .ci/page $(wildcard server/page/web/*)
	$(if $(Q),@echo "  PAGE $@")
	$(Q).ci/page $(PAGE)
.PHONY: page
page: ## the page anew, where it was built without node and npm
	$(Q)rm -f $(PAGE)/page.js && $(MAKE) --no-print-directory all

# Texts that travel inside of the program (.incbin knows no dependencies).
$(B)/obj/server/page/page.o: $(PAGE)/page.js
$(B)/obj/server/page/page.o: override CFLAGS_ALL += -Wa,-I,$(PAGE)
$(B)/obj/server/page/documents.o: docs/tasks.md docs/glossary.md $(wildcard docs/guides/*.md docs/reference/*.md)
$(B)/obj/tools/runner/torch/python.o: $(wildcard tools/runner/torch/*.py)
$(B)/obj/tools/export/torch.o: tools/export/torch_op.py tools/export/torch_module.py tools/export/torch_model.py tools/export/torch_test.py
$(B)/obj/tools/runner/cuda/judge/gpu_kernels.o: tools/runner/values/gen_shape.h tools/runner/values/gen_roles.h tools/runner/cuda/judge/gpu_kernels.cu tools/runner/cuda/judge/gpu_content.cu tools/runner/cuda/judge/gpu_kernels_abi.h
$(B)/obj/tools/runner/cuda/split/host_prelude.o: tools/runner/cuda/split/host_prelude.hpp tools/runner/cuda/split/host_structs.hpp tools/runner/cuda/split/host_standin.hpp

$(B)/hone: $(call obj,server/main.c) $(call libs_of,server)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_server)

$(B)/hone-runner: $(call obj,tools/runner/main.c) $(call libs_of,runner)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $^ $(LIBS_runner)

# Shipped data lies beside the binaries as it will when installed. Renamed into place: others may be reading.
.PHONY: data
data:
	$(Q)mkdir -p $(B)/share/hone
	$(Q)rm -rf $(B)/share/hone/packs && cp -r workspace/packs $(B)/share/hone/packs
	$(Q)rm -rf $(B)/share/hone/prompts && cp -r agents/coder/prompts $(B)/share/hone/prompts

# ---- tests ----

CHECK_LIBS := -lcheck -lsubunit -lrt -lm

# Unit tests: tests/unit/<layer>/*_test.c, one program each, linked with that layer and what lies below it.
# The runner's tests take its roles in the jail: what they load finds the recorder's functions in them.
UNIT_LDFLAGS_runner := -rdynamic
define unit_rule
UNIT_$(1) := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/$(1)/*_test.c))
$$(UNIT_$(1)): $(B)/tests/unit/$(1)/%: tests/unit/$(1)/%.c tests/unit/unit.h $(call libs_of,$(1))
	$$(Q)mkdir -p $$(@D)
	$$(if $$(Q),@echo "  TEST $$<")
	$$(Q)$$(CC) $$(CFLAGS_ALL) -MMD -MP $$(LDFLAGS_ALL) $(UNIT_LDFLAGS_$(1)) -o $$@ $$< $(call libs_of,$(1)) $(LIBS_$(1)) $(CHECK_LIBS)
endef
$(foreach l,$(LAYERS),$(eval $(call unit_rule,$(l))))
UNIT := $(foreach l,$(LAYERS),$(UNIT_$(l)))
include tests/cuda_emulator/rules.mk
.PHONY: unit unit-%
unit: $(UNIT) ## builds the unit tests; unit-LAYER builds and runs those of one layer
$(foreach l,$(LAYERS),$(eval unit-$(l): $(UNIT_$(l)) ; $$(Q)for t in $(UNIT_$(l)); do $$$$t || exit 1; done))

# End-to-end tests: programs tests/e2e/*_test.c (with the other .c files there as support) and scripts *_test.sh.
E2E_SUPPORT := $(call obj,$(filter-out %_test.c,$(wildcard tests/e2e/*.c)))
E2E := $(patsubst %.c,$(B)/%,$(wildcard tests/e2e/*_test.c))
E2E_SCRIPTS := $(wildcard tests/e2e/*_test.sh)
$(E2E): $(B)/tests/e2e/%: tests/e2e/%.c $(wildcard tests/e2e/*.h) $(E2E_SUPPORT) $(call libs_of,server)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  TEST $<")
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP $(LDFLAGS_ALL) -o $@ $< $(E2E_SUPPORT) $(call libs_of,server) $(LIBS_server) $(CHECK_LIBS)

# Fuzzing: tests/fuzz/NAME_fuzz.c; the same source replays its corpus (tests/fuzz/corpus/NAME) in `make check`.
FUZZERS := $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))
REPLAY := $(patsubst %,$(B)/tests/fuzz/%_replay,$(FUZZERS))
$(REPLAY): $(B)/tests/fuzz/%_replay: tests/fuzz/%_fuzz.c tests/fuzz/replay_main.c $(wildcard tests/fuzz/*.h) $(call libs_of,runner) $(call libs_of,server)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  TEST $<")
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -DCORPUS='"tests/fuzz/corpus/$*"' -c tests/fuzz/$*_fuzz.c -o $@.fuzz.o
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -DCORPUS='"tests/fuzz/corpus/$*"' -c tests/fuzz/replay_main.c -o $@.main.o
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $@.fuzz.o $@.main.o $(call libs_of,runner) $(call libs_of,server) $(LIBS_server) $(LIBS_runner)

CHECKS := $(filter-out tests/checks/lib.sh,$(wildcard tests/checks/*.sh))
RUN := HONE_BUILD=$(abspath $(B)) tests/run
# A test that cannot run under a sanitizer says so in a comment: "sanitizers: no" and why; "tsan: no" for that one.
can_sanitize = $(foreach t,$(1),$(if $(shell grep -lE 'sanitizers: no$(if $(filter thread,$(SANITIZE)),|tsan: no)' $(t) 2>/dev/null),,$(t)))
UNIT_SANE := $(patsubst %.c,$(B)/%,$(call can_sanitize,$(patsubst $(B)/%,%.c,$(UNIT))))
E2E_SANE := $(patsubst %.c,$(B)/%,$(call can_sanitize,$(wildcard tests/e2e/*_test.c)))

# The mutator: small mistakes made in good kernels.
MUTATE := $(B)/tests/mutation/mutate

.PHONY: tests check check-programs check-judge judge-naive check-sanitized check-asan check-tsan check-valgrind
tests: $(UNIT) $(E2E) $(REPLAY) $(MUTATE) $(B)/tests/relatives/relatives ## builds every test program
check: ## installs what is missing, builds, runs all tests; no GPU, no network needed once installed
	$(Q).ci/deps || echo "deps: some packages are missing and could not be installed; going on without them"
	$(Q)$(MAKE) --no-print-directory all tests
	$(Q)$(RUN) $(CHECKS) $(UNIT) $(REPLAY) $(E2E) $(E2E_SCRIPTS)
check-sanitized: all $(UNIT_SANE) $(E2E_SANE) $(REPLAY) $(MUTATE)
	$(Q)$(RUN) $(UNIT_SANE) $(REPLAY) $(E2E_SANE) $(call can_sanitize,$(E2E_SCRIPTS))
# intercept_tls_get_addr=0: where a library with thread-local storage was loaded later, gcc 12's leak check takes what stands before
# it for a header, and ends by signal 11.
check-asan: ## the tests under ASan and UBSan, in a build tree of their own
	$(Q)UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=1:intercept_tls_get_addr=0 \
		$(MAKE) --no-print-directory B=$(B)-asan SANITIZE=address,undefined OPT="-O1 -g" check-sanitized
check-tsan: ## the tests under TSan
	$(Q)TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1 $(MAKE) --no-print-directory B=$(B)-tsan SANITIZE=thread OPT="-O1 -g" check-sanitized
check-valgrind: $(UNIT_SANE) $(REPLAY) ## unit tests under memcheck
	$(Q)$(RUN) -w "valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --trace-children=no" \
		$(UNIT_SANE) $(REPLAY)
check-judge: all emulator ## the judge against every cheat and honest kernel; TARGET=cpu|cuda|all ONLY='glob' QUICK=1
	$(Q)HONE_BUILD=$(abspath $(B)) tests/judge/selftest.sh
# For comparison: an evaluator of the usual kind (tests/judge/naive_check.c).
NAIVE := $(B)/tests/judge/naive_check
$(NAIVE): tests/judge/naive_check.c $(call libs_of,runner)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  TEST $<")
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP $(LDFLAGS_ALL) -o $@ $< $(call libs_of,runner) $(LIBS_runner)
judge-naive: all $(NAIVE) ## how many of the CPU cheats an evaluator without a jail, secrets and fresh inputs accepts
	$(Q)HONE_BUILD=$(abspath $(B)) tests/judge/naive.sh

# What docs/security.md promises: the table of attacks by circumstance and rung, and children that lie.
SANDBOX := $(addprefix $(B)/tests/unit/runner/,jail_test build_test gpu_jail_test) $(B)/tests/unit/tools/exec_local_test
.PHONY: check-sandbox
check-sandbox: all $(B)/tests/unit/runner/sandbox_test $(SANDBOX) ## every attack on every rung, as root, user, in a chroot and in containers; hostile children
	$(Q)$(B)/tests/unit/runner/sandbox_test
	$(Q)$(RUN) $(SANDBOX) tests/e2e/hostile_runner_test.sh tests/e2e/hostile_arena_test.sh

.PHONY: check-systems
SUITES ?= bookworm trixie
check-systems: ## installs, builds and tests in bare roots of Debian: SUITES= HONE_SYSTEMS_RUN= (root, debootstrap, network; long)
	$(Q)tests/systems/run.sh $(SUITES)

.PHONY: fuzz
FUZZ ?= json
TIME ?= 60
fuzz: ## libFuzzer on FUZZ=name for TIME=seconds (needs clang); new inputs go to the build tree
	$(Q)$(MAKE) --no-print-directory B=$(B)-fuzz CC=clang SANITIZE=address,undefined OPT="-O1 -g" \
		CFLAGS="-fsanitize=fuzzer-no-link" $(B)-fuzz/tests/fuzz/$(FUZZ)
	$(Q)mkdir -p $(B)-fuzz/corpus/$(FUZZ)
	$(B)-fuzz/tests/fuzz/$(FUZZ) -max_total_time=$(TIME) -rss_limit_mb=4096 -timeout=20 \
		-artifact_prefix=$(B)-fuzz/ $(B)-fuzz/corpus/$(FUZZ) tests/fuzz/corpus/$(FUZZ)
$(patsubst %,$(B)/tests/fuzz/%,$(FUZZERS)): $(B)/tests/fuzz/%: tests/fuzz/%_fuzz.c $(wildcard tests/fuzz/*.h) $(call libs_of,runner) $(call libs_of,server)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $< $(call libs_of,runner) $(call libs_of,server) $(LIBS_server) $(LIBS_runner)

.PHONY: bench demo
BENCH := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/*.c))
$(BENCH): $(B)/tests/bench/%: tests/bench/%.c $(call libs_of,server)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  BENCH $<")
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP $(LDFLAGS_ALL) -o $@ $< $(call libs_of,server) $(LIBS_server)
$(B)/tests/interop/fixture_server: tests/interop/fixture_server.c $(call libs_of,server)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP $(LDFLAGS_ALL) -o $@ $< $(call libs_of,server) $(LIBS_server)
.PHONY: check-conformance
check-conformance: all $(B)/tests/interop/fixture_server ## MCP's own conformance suite (node, npm, network)
	$(Q)HONE_BUILD=$(abspath $(B)) tests/interop/conformance.sh
$(MUTATE): $(call obj,$(wildcard tests/mutation/*.c)) $(call lib,base)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_base)
# The generator of relatives, and every rule against them.
RELATIVES := $(B)/tests/relatives/relatives
RELATIVES_RUNTIME := $(call obj,tests/relatives/runtime.c)
$(RELATIVES): $(call obj,$(filter-out %/runtime.c,$(wildcard tests/relatives/*.c))) $(RELATIVES_RUNTIME) $(call libs_of,agents)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter-out $(RELATIVES_RUNTIME),$(filter %.o,$^)) $(call libs_of,agents) $(LIBS_agents)
.PHONY: check-relatives
check-relatives: $(RELATIVES) ## every rule against N=1000 relatives of C kernels (SEED)
	$(Q)HONE_BUILD=$(abspath $(B)) tests/relatives/run.sh -n $(or $(N),1000) $(if $(SEED),-s $(SEED)) -H
.PHONY: check-mutation
check-mutation: all emulator $(MUTATE) ## the judge against small mistakes in good kernels of every pack (COUNT a kernel, SEED)
	$(Q)HONE_BUILD=$(abspath $(B)) tests/mutation/run.sh $(if $(COUNT),-n $(COUNT)) $(if $(SEED),-s $(SEED))

.PHONY: metrology
metrology: all ## how well the judge measures on this machine (about fifteen minutes, wants a quiet one)
	$(Q)HONE_BUILD=$(abspath $(B)) tests/metrology/run.sh

.PHONY: night
night: all ## a compressed night: a search of EVALUATIONS=3000 on a tiny task, memory, speed, disk and records watched (minutes; docs/testing.md)
	$(Q)HONE_BUILD=$(abspath $(B)) tests/night/run.sh

.PHONY: lattices
LATTICES ?= agents/offline/lattices
LATTICE_TARGET ?= cpu
LATTICE_TEMPLATES ?= $(wildcard tests/lattices/*.$(if $(filter cuda,$(LATTICE_TARGET)),cu,c))
ROUNDS ?= 5
WORKLOADS ?= 1
TOP ?= 64
lattices: all ## records the lattices of planner eval anew or goes on: ROUNDS= TOP= LATTICES= LATTICE_TEMPLATES= NOTE= (hours; wants a quiet machine)
	$(Q)[ -d $(B)/lattices-ws ] || $(B)/hone init $(B)/lattices-ws
	$(Q)$(B)/hone planner record --workspace $(B)/lattices-ws --lattices $(LATTICES) --rounds $(ROUNDS) --workloads $(WORKLOADS) --top $(TOP) \
		$(if $(NOTE),--note "$(NOTE)") $(if $(FRESH),--fresh) $(patsubst %,--template %,$(LATTICE_TEMPLATES))

bench: all $(BENCH) ## builds and runs tests/bench: programs, then scripts
	$(Q)for t in $(BENCH) $(wildcard tests/bench/*.sh); do echo "== $$t"; HONE_BUILD=$(abspath $(B)) $$t || exit 1; done
demo: ## builds everything, then searches a shipped task
	$(Q).ci/deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)HONE_BUILD=$(abspath $(B)) sh tests/demo.sh $(B)

# ---- upkeep ----

C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h' | grep -vE '^(workspace/packs/|tests/adversaries/|tests/mutation/kernels/|tests/lattices/|tests/data/)')
ALL_SRC = $(foreach l,$(LAYERS),$(SRC_$(l)))

.PHONY: deps format tidy analyze cov hooks clean tags
deps: ## installs the packages that build and tests need (Debian, Ubuntu); does nothing when all is there
	$(Q).ci/deps
.PHONY: deps-torch
deps-torch: ## installs Debian's python3-torch (632 MB), which imported PyTorch modules need and nothing else does
	$(Q)[ "$$(id -u)" = 0 ] || sudo=sudo; /usr/bin/python3 -c 'import torch' 2>/dev/null || $$sudo apt-get install -y --no-install-recommends python3-torch
.PHONY: deps-page
deps-page: ## installs Debian's chromium-driver, which the page's browser test uses and nothing else does
	$(Q)[ "$$(id -u)" = 0 ] || sudo=sudo; command -v chromedriver >/dev/null || $$sudo apt-get install -y --no-install-recommends chromium-driver
.PHONY: picture
picture: all ## draws docs/pictures/search.svg, README's picture, from the recorded search of tests/page
	$(Q)HONE_BUILD=$(abspath $(B)) tests/page/picture.sh docs/pictures/search.svg
format: ## clang-format (version 14) in place
	$(Q).ci/clang-format -i $(C_FILES)
tidy: compile_commands.json ## clang-tidy
	$(Q)clang-tidy --quiet -p . --checks='-*,bugprone-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-valist.Uninitialized' $(ALL_SRC)
analyze: ## gcc's analyzer, in a build tree of its own
	$(Q)$(MAKE) --no-print-directory B=$(B)-analyze CFLAGS="-fanalyzer" $(patsubst $(B)/%,$(B)-analyze/%,$(call obj,$(ALL_SRC)))
cov: ## line coverage of the unit tests by folder (gcov)
	$(Q)$(MAKE) --no-print-directory B=$(B)-cov OPT="-O0 -g" CFLAGS="--coverage" LDFLAGS="--coverage" unit
	$(Q)find $(B)-cov -name '*.gcda' -delete
	$(Q)HONE_BUILD=$(abspath $(B))-cov tests/run $(patsubst $(B)/%,$(B)-cov/%,$(UNIT))
	$(Q)find $(abspath $(B))-cov/obj -name '*.gcda' | xargs gcov -n 2>/dev/null | awk -F"'" \
		'/^File/ { file = $$2 } /^Lines executed/ && file ~ /^(server|agents|tools|workspace)\/.*\.c$$/ { \
		split($$0, part, /[:% ]+/); n = part[length(part)]; hit = part[3] * n / 100; dir = file; sub(/\/[^\/]*$$/, "", dir); \
		if (!(file in seen)) { seen[file] = 1; lines[dir] += n; hits[dir] += hit } } \
		END { for (d in lines) printf "%-24s %6.1f %% of %d lines\n", d, 100 * hits[d] / lines[d], lines[d] }' | sort
hooks: ## points git at .githooks
	$(Q)git config core.hooksPath .githooks && echo "git hooks: .githooks"
tags: ## for editors
	$(Q)ctags -R server agents tools workspace tests
clean: ## removes the build tree
	$(Q)rm -rf $(B)

# One entry per source, for clangd and clang-tidy.
.PHONY: compile_commands.json
compile_commands.json: ## for editors
	$(Q){ echo '['; for f in $(ALL_SRC); do \
		printf '{"directory":"%s","file":"%s","arguments":["gcc","-std=gnu17","-D_GNU_SOURCE","-I.","-pthread","-Wall","-Wextra","-c","%s"]},\n' \
		"$(CURDIR)" "$$f" "$$f"; done | sed '$$ s/,$$//'; echo ']'; } >$@.tmp && mv $@.tmp $@

# ---- install ----

MAN := $(wildcard docs/man/*.[1-8])

.PHONY: install uninstall dist bundle
install: all ## to DESTDIR and prefix
	$(Q)install -d $(DESTDIR)$(bindir) $(DESTDIR)$(datadir)/hone $(DESTDIR)$(mandir)
	$(Q)install -m 755 $(B)/hone $(B)/hone-runner $(DESTDIR)$(bindir)
	$(Q)rm -rf $(DESTDIR)$(datadir)/hone/packs $(DESTDIR)$(datadir)/hone/prompts && cp -r $(B)/share/hone/. $(DESTDIR)$(datadir)/hone
	$(Q)for m in $(MAN); do install -D -m 644 $$m $(DESTDIR)$(mandir)/man$${m##*.}/$$(basename $$m) || exit 1; done
	$(Q)install -d $(DESTDIR)$(bashcompdir) $(DESTDIR)$(zshcompdir)
	$(Q)$(B)/hone completion bash >$(DESTDIR)$(bashcompdir)/hone
	$(Q)$(B)/hone completion zsh >$(DESTDIR)$(zshcompdir)/_hone
uninstall: ## takes away what install put there
	$(Q)rm -f $(DESTDIR)$(bindir)/hone $(DESTDIR)$(bindir)/hone-runner $(DESTDIR)$(bashcompdir)/hone $(DESTDIR)$(zshcompdir)/_hone
	$(Q)rm -rf $(DESTDIR)$(datadir)/hone
	$(Q)for m in $(MAN); do rm -f $(DESTDIR)$(mandir)/man$${m##*.}/$$(basename $$m); done
dist: ## a source archive of the last commit
	$(Q)mkdir -p $(B)
	$(Q)git archive --prefix=hone-$(VERSION)/ -o $(B)/hone-$(VERSION).tar.gz HEAD && echo $(B)/hone-$(VERSION).tar.gz

# A folder that runs from anywhere: bin/, share/ and lib/ with every shared library except libc's own.
bundle: ## a relocatable folder and its archive
	$(Q)$(MAKE) --no-print-directory B=$(B)-bundle \
		LDFLAGS='-Wl,--disable-new-dtags -Wl,-rpath,\$$$$ORIGIN/../lib' all
	$(Q)rm -rf $(B)-bundle/hone-bundle && mkdir -p $(B)-bundle/hone-bundle/lib
	$(Q)$(MAKE) --no-print-directory B=$(B)-bundle DESTDIR= prefix=$(abspath $(B)-bundle)/hone-bundle \
		LDFLAGS='-Wl,--disable-new-dtags -Wl,-rpath,\$$$$ORIGIN/../lib' install
	$(Q)ldd $(B)-bundle/hone $(B)-bundle/hone-runner | awk '$$3 ~ /^\// { print $$3 }' | sort -u | \
		grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} $(B)-bundle/hone-bundle/lib
	$(Q)tar -C $(B)-bundle -czf $(B)-bundle/hone-bundle.tar.gz hone-bundle && echo $(B)-bundle/hone-bundle.tar.gz

# ---- GPU: tests and figures on a machine that has one; what they need travels in one folder, B-gpu ----

GPU_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/gpu/*_test.c))
$(GPU_TESTS): $(B)/tests/gpu/%: tests/gpu/%.c tests/unit/unit.h $(call libs_of,runner)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  TEST $<")
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP $(LDFLAGS_ALL) -rdynamic -o $@ $< $(call libs_of,runner) $(LIBS_runner) $(CHECK_LIBS)
GPU_SCRIPTS = $(wildcard tests/gpu/*_test.sh)
GPU_RPATH = -Wl,--disable-new-dtags -Wl,-rpath,\$$$$ORIGIN/../lib:\$$$$ORIGIN/../../lib
GPU := $(abspath $(B))-gpu

.PHONY: gpu-tests gpu-bundle check-gpu gpu-report
gpu-tests: $(GPU_TESTS)
gpu-bundle: ## hone and its GPU tests as a folder that runs on a machine with none of our packages
	$(Q)$(MAKE) --no-print-directory B=$(B)-gpumake LDFLAGS='$(GPU_RPATH)' all gpu-tests
	$(Q)rm -rf $(GPU) && mkdir -p $(GPU)/lib $(GPU)/tests/gpu
	$(Q)$(MAKE) --no-print-directory B=$(B)-gpumake DESTDIR= prefix=$(GPU) LDFLAGS='$(GPU_RPATH)' install
	$(Q)for t in $(patsubst tests/gpu/%.c,%,$(wildcard tests/gpu/*_test.c)); do cp $(B)-gpumake/tests/gpu/$$t $(GPU)/tests/gpu/ || exit 1; done
	$(Q)ldd $(GPU)/bin/* $(GPU)/tests/gpu/* 2>/dev/null | awk '$$3 ~ /^\// { print $$3 }' | sort -u | \
		grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} $(GPU)/lib
	$(Q)strip --strip-debug $(GPU)/bin/* $(GPU)/lib/* $(GPU)/tests/gpu/* 2>/dev/null; du -sh $(GPU)
check-gpu: ## the tests that need a GPU (each is skipped without one); brings no package, makes the folder if it is not there
	$(Q)[ -x $(GPU)/bin/hone ] || $(MAKE) --no-print-directory gpu-bundle
	$(Q)RUN_TIMEOUT=900 RUN_JOBS=1 HONE_BUILD=$(GPU)/bin tests/run $(addprefix $(GPU)/tests/gpu/,$(patsubst tests/gpu/%.c,%,$(wildcard tests/gpu/*_test.c))) $(GPU_SCRIPTS)
gpu-report: ## measures on a GPU, in parts of under nine minutes: PART=name, all when empty; results go to OUT
	$(Q)[ -x $(GPU)/bin/hone ] || $(MAKE) --no-print-directory gpu-bundle
	$(Q)HONE_BUILD=$(GPU)/bin tests/gpu/report.sh $(or $(OUT),$(GPU)/report) $(PART)

.PHONY: help
help: ## this list
	$(Q)awk -F':.*## ' '/^[a-z_.-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' Makefile
	@echo "  variables: B=dir V=1 DEVELOPER=1 SANITIZE=address,undefined CC=clang DESTDIR= prefix=/usr/local FUZZ= TIME="

-include $(shell find $(B) -name '*.d' 2>/dev/null)

.PHONY: docs
docs: all ## writes docs/man and docs/reference/{tools,strategies}.md from the program's tables
	$(Q)docs/generate.sh $(B) docs
