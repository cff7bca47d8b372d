# hone: see `make help`. Build tree elsewhere with B=dir; V=1 shows commands; DEVELOPER=1 makes warnings errors.
B ?= build
V ?= 0
CC ?= gcc
DEVELOPER ?= 0
SANITIZE ?=
Q := $(if $(filter 1,$(V)),,@)

.DEFAULT_GOAL := all
PKG := libwebsockets libgit2 libcjson libseccomp libmd check

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
SRC_tools     := $(wildcard tools/*.c)
SRC_runner    := $(wildcard tools/runner/*.c tools/runner/*/*.c)
SRC_agents    := $(wildcard agents/*.c agents/*/*.c)
SRC_server    := $(wildcard server/*.c server/*/*.c)
LAYERS := base task workspace format tools runner agents server

# What each layer may link: itself, then everything below.
USES_base      := base
USES_task      := task base
USES_workspace := workspace task base
USES_format    := format base
USES_tools     := tools format workspace task base
USES_runner    := runner format task base
USES_agents    := agents tools format workspace task base
USES_server    := server agents tools format workspace task base

LIBS_base      := -lcjson -lmd -lm
LIBS_task      := -lcjson -lmd -lm
LIBS_workspace := -lgit2 -lcjson -lmd -lm
LIBS_format    := -lcjson -lmd -lm
LIBS_tools     := -lgit2 -lcjson -lmd -lm
LIBS_runner    := -lseccomp -lcjson -lmd -lm -ldl
LIBS_agents    := -lgit2 -lcjson -lmd -lm -ldl
LIBS_server    := -lwebsockets -lgit2 -lcjson -lmd -lm -ldl

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
lib = $(B)/lib$(1).a
libs_of = $(foreach l,$(USES_$(1)),$(call lib,$(l)))

MAIN_OBJ := $(call obj,server/main.c tools/runner/main.c)

.PHONY: all
all: $(B)/hone $(B)/hone-runner data

define layer_rule
$(call lib,$(1)): $(filter-out $(MAIN_OBJ),$(call obj,$(SRC_$(1))))
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

$(B)/obj/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(B)/hone: $(call obj,server/main.c) $(call libs_of,server)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_server)

$(B)/hone-runner: $(call obj,tools/runner/main.c) $(call libs_of,runner)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $^ $(LIBS_runner)

# Shipped data lies beside the binaries as it will when installed.
.PHONY: data
data:
	$(Q)mkdir -p $(B)/share/hone
	$(Q)rm -rf $(B)/share/hone/packs && cp -r workspace/packs $(B)/share/hone/packs

# Unit tests: tests/unit/<layer>/*_test.c, one program each, linked with that layer and what lies below it.
define unit_rule
UNIT_$(1) := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/$(1)/*_test.c))
$$(UNIT_$(1)): $(B)/tests/unit/$(1)/%: tests/unit/$(1)/%.c $(call libs_of,$(1))
	$$(Q)mkdir -p $$(@D)
	$$(if $$(Q),@echo "  TEST $$<")
	$$(Q)$$(CC) $$(CFLAGS_ALL) -MMD -MP $$(LDFLAGS_ALL) -o $$@ $$< $(call libs_of,$(1)) $(LIBS_$(1)) -lcheck -lsubunit -lrt
endef
$(foreach l,$(LAYERS),$(eval $(call unit_rule,$(l))))
UNIT := $(foreach l,$(LAYERS),$(UNIT_$(l)))
.PHONY: unit unit-%
unit: $(UNIT)
$(foreach l,$(LAYERS),$(eval unit-$(l): $(UNIT_$(l)) ; $$(Q)for t in $(UNIT_$(l)); do $$$$t || exit 1; done))

-include $(shell find $(B) -name '*.d' 2>/dev/null)
