# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make          build/xdp-dedup
# make check    every test: make check TESTS="tests/cli build/tests/unit/test_units" for some of them
# make lint     formatting and static analysis
# make reproduce   the papers' tables and figures: make reproduce SCALE=1 RUNS=5 ONLY=4,figures
# make deb      build/xdp-dedup_VERSION.deb, which needs no compiler where it is installed
# make setup    install what is missing to build and test (Debian 12, root)
#
# A file that is put in its place is built: no list below needs to know it.
#   bpf/NAME.bpf.c, tests/*/NAME.bpf.c    build/skel/NAME.skel.h, a skeleton that C files may include
#   user/**/*.c                           build/xdp-dedup; all but main.c also in build/libuser.a
#   tests/{unit/test_*,bpf/*,equivalence/*}.c   a cmocka program linked with build/libuser.a
#   tests/tools/NAME.c                    build/tests/tools/NAME, a program of its own
# A build with sanitizers beside it:
#   make BUILD=build/asan CFLAGS="-O1 -fsanitize=address,undefined -fno-sanitize-recover"

VERSION := 0.1
COMMIT := $(shell git describe --always --dirty --match 'v[0-9]*' 2>/dev/null || echo unknown)

BUILD ?= build
PREFIX ?= /usr/local
CLANG ?= clang
BPFTOOL ?= $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool || echo bpftool)
CFLAGS ?= -O2
WARNINGS := -Wall -Wextra -Werror
INCLUDES := -Iinclude -Imaps -I. -Iuser -I$(BUILD)/skel
# -fno-strict-aliasing as the kernel does: the core reads its structures as words to hash them.
# To follow variables through functions as large as the inlined core takes half of gcc's time.
USER_CFLAGS := -std=gnu11 -g -fno-var-tracking -fno-strict-aliasing $(WARNINGS) -D_GNU_SOURCE \
	$(INCLUDES)
LIBS := -Wl,--as-needed -lbpf -lelf -ljansson -lz -lpcap -lmicrohttpd -lnats -lsystemd -lncurses -ltinfo -lpthread -lm
TEST_LIBS := -lcmocka -lxxhash
# Kernel 6.1 takes the end of a loop's body for the way into an endless one where the compiler
# puts it before the loop's start: blocks stay in the order of the source.
BPF_CFLAGS := -O2 -mllvm -disable-block-placement -g -target bpf -mcpu=v3 -std=gnu11 $(WARNINGS) \
	-Iinclude -Imaps -I. \
	-I/usr/include/$(shell gcc -print-multiarch 2>/dev/null)

# unknownMacro: X-macro lists; compareBoolExpressionWithInt: `i <= flag` is meant
CPPCHECK_FLAGS := --quiet --error-exitcode=1 --std=c11 --inline-suppr -Iinclude \
	--enable=warning,performance,portability \
	$(addprefix --suppress=,missingInclude missingIncludeSystem unknownMacro varFuncNullUB \
	compareBoolExpressionWithInt)

BPF_SOURCES := $(wildcard bpf/*.bpf.c tests/*/*.bpf.c)
SKELETONS := $(patsubst %.bpf.c,$(BUILD)/skel/%.skel.h,$(notdir $(BPF_SOURCES)))
USER_SOURCES := $(wildcard user/*.c user/*/*.c)
USER_OBJECTS := $(USER_SOURCES:%.c=$(BUILD)/%.o)
TEST_SOURCES := $(wildcard tests/unit/test_*.c) \
	$(filter-out %.bpf.c,$(wildcard tests/bpf/*.c tests/equivalence/*.c tests/bench/*.c))
TEST_PROGRAMS := $(TEST_SOURCES:%.c=$(BUILD)/%)
TOOL_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/tools/*.c))
C_FILES := $(wildcard include/xdd/*.h maps/*.h bpf/*.[ch] user/*.[ch] user/*/*.[ch] \
	tests/*/*.[ch])
SCRIPTS = $(shell grep -lsE '^\#!/bin/(ba)?sh|shellcheck shell' scripts/* tests/*.sh tests/*/*.sh .ci/run)

# make V=1 shows the commands
ifeq ($(V),1)
say = @:
else
Q := @
say = @printf '  %-5s %s\n' $(1) $@
endif

program := $(BUILD)/xdp-dedup
library := $(BUILD)/libuser.a

.PHONY: all always build tests check headers fuzz demo bench reproduce lint format install uninstall deb setup clean
.DELETE_ON_ERROR:
.SECONDARY:

all: build
build: $(program)
tests: $(program) $(TEST_PROGRAMS) $(TOOL_PROGRAMS)

$(program): $(USER_OBJECTS)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(library): $(filter-out $(BUILD)/user/main.o,$(USER_OBJECTS))
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^

$(BUILD)/%.o: %.c Makefile | $(SKELETONS)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(USER_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Loops over a key's k bits are to be unrolled, for any k too; the compiler then takes the unused
# rest of arrays for used.
$(BUILD)/user/batch.o: CFLAGS += -O3 -Wno-maybe-uninitialized

# Compiled again when the commit changes, and nothing else is.
$(BUILD)/user/version.o: USER_CFLAGS += -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"'
$(BUILD)/user/version.o: $(BUILD)/commit
$(BUILD)/commit: always
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@

$(BUILD)/tests/tools/%: $(BUILD)/tests/tools/%.o $(library)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(TEST_PROGRAMS): $(BUILD)/%: $(BUILD)/%.o $(library)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) $(TEST_LIBS)

# $(1): the directory of BPF sources
define bpf_rules
$(BUILD)/$(1)/%.bpf.o: $(1)/%.bpf.c Makefile
	@mkdir -p $$(@D)
	$$(call say,BPF)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $$@ $$<

$(BUILD)/skel/%.skel.h: $(BUILD)/$(1)/%.bpf.o
	@mkdir -p $$(@D)
	$$(call say,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $$< name $$* > $$@
endef
$(foreach dir,$(sort $(patsubst %/,%,$(dir $(BPF_SOURCES)))),$(eval $(call bpf_rules,$(dir))))

check: tests
	BUILD=$(BUILD) tests/run $(TESTS)

headers:
	tests/headers.sh

fuzz:
	BUILD=$(BUILD) FUZZ_SECONDS=$(or $(FUZZ_SECONDS),600) tests/run tests/fuzz

demo:
	BUILD=$(BUILD) scripts/demo

bench: tests
	$(program) bench
	@set -e; for bench in tests/bench/*.sh; do BUILD=$(BUILD) $$bench; done

reproduce: build
	BUILD=$(BUILD) scripts/reproduce $(if $(SCALE),--scale $(SCALE)) $(if $(RUNS),--runs $(RUNS)) \
		$(if $(ONLY),--only $(ONLY))

lint:
	clang-format --dry-run -Werror $(C_FILES)
	@mkdir -p $(BUILD)/cppcheck
	cppcheck $(CPPCHECK_FLAGS) --cppcheck-build-dir=$(BUILD)/cppcheck $(wildcard user bpf tests)
	@if command -v shellcheck >/dev/null; then \
		shellcheck -x -P SCRIPTDIR $(SCRIPTS); \
	else \
		echo "no shellcheck (make setup): the shell scripts were not checked"; \
	fi

format:
	clang-format -i $(C_FILES)

manual := $(BUILD)/xdp-dedup.8 $(BUILD)/xdp-dedup.bash
share := $(DESTDIR)$(PREFIX)/share
units := $(DESTDIR)$(PREFIX)/lib/systemd/system

$(BUILD)/xdp-dedup.8: $(program)
	$(Q)$(program) help man > $@
$(BUILD)/xdp-dedup.bash: $(program)
	$(Q)$(program) help completion > $@

install: build $(manual)
	install -D -m 755 $(program) $(DESTDIR)$(PREFIX)/sbin/xdp-dedup
	install -D -m 644 $(BUILD)/xdp-dedup.8 $(share)/man/man8/xdp-dedup.8
	install -D -m 644 $(BUILD)/xdp-dedup.bash $(share)/bash-completion/completions/xdp-dedup
	install -D -m 644 -t $(share)/doc/xdp-dedup scripts/service/example.conf README.md \
		scripts/monitoring/xdp-dedup.rules.yml scripts/monitoring/grafana.json
	install -d $(units)
	@for unit in xdp-dedup.service xdp-dedup@.service; do \
		sed 's|/usr/sbin/|$(PREFIX)/sbin/|' scripts/service/$$unit >$(units)/$$unit; done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/sbin/xdp-dedup $(share)/man/man8/xdp-dedup.8 \
		$(share)/bash-completion/completions/xdp-dedup $(units)/xdp-dedup.service \
		$(units)/xdp-dedup@.service
	rm -rf $(share)/doc/xdp-dedup

deb: build
	BUILD=$(BUILD) scripts/deb $(VERSION) $(BUILD)/xdp-dedup_$(VERSION).deb

setup:
	scripts/setup

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
