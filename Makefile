# Runtime Cloud operator. `make help` lists the targets.
#
#   make            the three programs into build/bin
#   make demo       the main job on a one-node Kubernetes that it sets up itself
#   make test       every test layer; last line "N passed, N failed"
#
# SAN=1 builds everything with ASan and UBSan into build-asan; CC=clang builds with clang.

SHELL := /bin/bash
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
VERSION ?= 0.1.0
REVISION ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

ifdef FUZZ
CC := clang
B := build-fuzz
OPT := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
LDOPT := -fsanitize=address,undefined
else ifdef SAN
B := build-asan
OPT := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LDOPT := -fsanitize=address,undefined
else
B := build
OPT := -O2 -g -D_FORTIFY_SOURCE=2
LDOPT :=
endif
ifndef FUZZ
ifneq ($(CC),gcc)
B := $(B)-$(notdir $(CC))
endif
endif

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-unused-parameter
HARDEN := -fstack-protector-strong -fPIE -fno-strict-aliasing -ffunction-sections -fdata-sections
CFLAGS = -std=gnu17 $(OPT) $(WARN) $(HARDEN) $(EXTRA_CFLAGS)
CPPFLAGS = -D_GNU_SOURCE -Ipkg -MMD -MP -DRCO_VERSION='"$(VERSION)"' -DRCO_REVISION='"$(REVISION)"'
LDFLAGS = -pie $(LDOPT) -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--gc-sections -Wl,--as-needed

LIBS_CRYPTO := -lcrypto
LIBS_PURE := -ljson-c -lyaml $(LIBS_CRYPTO)
LIBS_ALL := -luv -lcurl -lwebsockets -lhttp_parser -lssl -lm $(LIBS_PURE)
LIBS_CLI := -lcurl -lssl $(LIBS_PURE)

# --- sources ---------------------------------------------------------------------------------
PKG_SRC := $(wildcard pkg/*/*.c)
IMPURE_BASE := pkg/base/clock.c pkg/base/file.c pkg/base/log.c
PURE_SRC := $(filter-out $(IMPURE_BASE),$(wildcard pkg/base/*.c pkg/json/*.c pkg/api/*.c pkg/plan/*.c pkg/pulumi/*.c pkg/decide/*.c))
CONTROLLER_SRC := $(wildcard controller/*.c)
RUNNER_SRC := $(wildcard runner/*.c)
CLI_SRC := $(wildcard cli/*.c)
GEN_SRC := $(wildcard hack/gen/*.c)
UNIT_SRC := $(wildcard test/unit/*/*_test.c)
BENCH_SRC := $(wildcard test/bench/*.c)
FUZZ_SRC := $(wildcard test/fuzz/*_fuzz.c)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
PURE_LIB := $(B)/librco_pure.a
ALL_LIB := $(B)/librco.a
UNIT_BIN := $(patsubst test/unit/%_test.c,$(B)/test/%_test,$(UNIT_SRC))
BENCH_BIN := $(patsubst test/bench/%.c,$(B)/bench/%,$(BENCH_SRC))
FUZZ_BIN := $(patsubst test/fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))

PROGRAMS := $(B)/bin/runtime-cloud-controller $(B)/bin/runtime-cloud-runner $(B)/bin/kubectl-runtimecloud

.PHONY: all help programs clean
all: programs
programs: $(PROGRAMS)

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  \1\t/' | expand -t 24

clean: ## removes everything built (not the caches of cluster tools)
	rm -rf build build-*

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC      $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(PURE_LIB): $(call obj,$(PURE_SRC))
	@rm -f $@ && ar rcs $@ $^
$(ALL_LIB): $(call obj,$(PKG_SRC))
	@rm -f $@ && ar rcs $@ $^

$(B)/bin/runtime-cloud-controller: $(call obj,$(CONTROLLER_SRC)) $(ALL_LIB)
	@mkdir -p $(@D) && echo "  LINK    $@"
	@$(CC) $(LDFLAGS) $^ -o $@ $(LIBS_ALL)
$(B)/bin/runtime-cloud-runner: $(call obj,$(RUNNER_SRC)) $(ALL_LIB)
	@mkdir -p $(@D) && echo "  LINK    $@"
	@$(CC) $(LDFLAGS) $^ -o $@ $(LIBS_CLI)
$(B)/bin/kubectl-runtimecloud: $(call obj,$(CLI_SRC)) $(ALL_LIB)
	@mkdir -p $(@D) && echo "  LINK    $@"
	@$(CC) $(LDFLAGS) $^ -o $@ $(LIBS_CLI)

# --- generated code --------------------------------------------------------------------------
$(B)/bin/rco-gen: $(call obj,$(GEN_SRC)) $(call obj,pkg/base/buf.c pkg/base/error.c pkg/base/arena.c pkg/base/str.c pkg/base/map.c)
	@mkdir -p $(@D) && echo "  LINK    $@"
	@$(CC) $(LDFLAGS) $^ -o $@ -lyaml
# The transition tables of the product for the models (test/models).
$(B)/models/export: $(call obj,test/models/export.c) $(ALL_LIB)
	@mkdir -p $(@D) && echo "  LINK    $@"
	@$(CC) $(LDFLAGS) $^ -o $@ $(LIBS_ALL)
.PHONY: generate
generate: $(B)/bin/rco-gen $(B)/models/export ## writes zz_generated_* from crds/, hack/gen and tables of pkg/
	@hack/generate $(B)/bin/rco-gen $(B)/models/export

# --- tests -----------------------------------------------------------------------------------
$(B)/test/%_test: $(B)/obj/test/unit/%_test.o $(ALL_LIB)
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS) $< $(wildcard $(dir $<)support/*.o) $(ALL_LIB) -o $@ -lcmocka $(LIBS_ALL)
# The runner's and the controller's own modules are linked into their unit tests, without main.c.
$(B)/test/runner/%_test: $(B)/obj/test/unit/runner/%_test.o $(call obj,$(filter-out runner/main.c,$(RUNNER_SRC))) $(ALL_LIB)
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS) $^ -o $@ -lcmocka $(LIBS_ALL)
$(B)/test/controller/%_test: $(B)/obj/test/unit/controller/%_test.o $(call obj,$(filter-out controller/main.c,$(CONTROLLER_SRC))) $(ALL_LIB)
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS) $^ -o $@ -lcmocka $(LIBS_ALL)
# Tests of the gateway bring exchanges of their own (test/unit/controller/exchanges.h).
$(B)/test/controller/mailbox_test $(B)/test/controller/gateway_test: LDFLAGS += -Wl,--wrap=rco_exchange_reply,--wrap=rco_exchange_set_data,--wrap=rco_exchange_data,--wrap=rco_exchange_close_after,--wrap=rco_exchange_vouch
$(B)/test/cli/%_test: $(B)/obj/test/unit/cli/%_test.o $(call obj,$(filter-out cli/main.c,$(CLI_SRC))) $(ALL_LIB)
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS) $^ -o $@ -lcmocka $(LIBS_ALL)
$(B)/obj/test/unit/controller/%.o: CPPFLAGS += -Icontroller
$(B)/obj/test/unit/runner/%.o: CPPFLAGS += -Irunner
$(B)/obj/test/unit/cli/%.o: CPPFLAGS += -Icli

$(B)/bench/%: $(B)/obj/test/bench/%.o $(ALL_LIB)
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS) $^ -o $@ $(LIBS_ALL)
$(B)/fuzz/%: $(B)/obj/test/fuzz/%.o $(ALL_LIB)
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS) -fsanitize=fuzzer $^ -o $@ $(LIBS_ALL)
.PHONY: fuzz-binaries
fuzz-binaries: $(FUZZ_BIN)

.PHONY: unit-binaries
unit-binaries: $(UNIT_BIN)

.PHONY: test-unit
test-unit: unit-binaries ## unit tests and decision cases (cmocka)
	@test/run-unit $(B)/test $(if $(SAN),asan,unit)

WIRE_CLIENT_SRC := $(wildcard test/wire/client/*.c)
$(B)/wire/client_test: $(call obj,$(WIRE_CLIENT_SRC)) $(ALL_LIB)
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS) $^ -o $@ -lcmocka $(LIBS_ALL)
.PHONY: test-wire-client
test-wire-client: $(B)/wire/client_test ## client and runtime against a real kube-apiserver and etcd
	@test/wire/client.sh $(B)/wire wire-client$(if $(SAN),-asan)

# --- simulation: the controller's own objects on a simulated cluster in virtual time ------------
SIM_SRC := $(filter-out test/sim/breaks_on.c test/sim/breaks_off.c,$(wildcard test/sim/*.c))
SIM_CONTROLLER := $(filter-out controller/main.c controller/program.c controller/options.c \
	controller/serving.c controller/health.c controller/startup.c controller/config_file.c,$(CONTROLLER_SRC))
$(B)/obj/test/sim/%.o: CPPFLAGS += -Icontroller
$(B)/sim/sim: $(call obj,$(SIM_SRC) test/sim/breaks_off.c $(SIM_CONTROLLER)) $(ALL_LIB)
	@mkdir -p $(@D) && echo "  LINK    $@"
	@$(CC) $(LDFLAGS) $^ -o $@ $(LIBS_ALL)
SIM_WRAPPED := rco_executor_run rco_run_decide rco_depspec_decide rco_run_is_start_busy rco_run_is_start_claimed \
	rco_run_engine_ended rco_job_write rco_adopt_same rco_gate_check rco_elector_new rco_elector_may_write \
	rco_kube_start rco_status_map_event rco_store_set_rv rco_conditions_stalled rco_codec_merge_patch \
	rco_recorder_event rco_workqueue_add_backoff rco_workqueue_add_rate_limited rco_kube_watch
$(B)/sim/sim_broken: $(call obj,$(SIM_SRC) test/sim/breaks_on.c $(SIM_CONTROLLER)) $(ALL_LIB)
	@mkdir -p $(@D) && echo "  LINK    $@"
	@$(CC) $(LDFLAGS) $(SIM_WRAPPED:%=-Wl,--wrap=%) $^ -o $@ $(LIBS_ALL)
.PHONY: sim test-sim soak
sim: $(B)/sim/sim $(if $(BREAK),$(B)/sim/sim_broken) ## replays one simulation: SEED=N, or PLAN="words" as a violation prints them
	@$(B)/sim/sim$(if $(BREAK),_broken --break $(BREAK)) $(if $(PLAN),replay $(PLAN),seed $(or $(SEED),1))
test-sim: $(B)/sim/sim $(B)/sim/sim_broken ## faults on the simulated cluster
	@SIM_DIR=$(B)/sim test/sim/run.sh
.PHONY: test-sim-asan
test-sim-asan: ## the same with ASan and UBSan, a small budget
	@$(MAKE) --no-print-directory SAN=1 build-asan/sim/sim
	@SAN=1 SIM_DIR=build-asan/sim SIM_PLANS=3 SIM_SEEDS=300 SIM_HUNT=0 test/sim/run.sh
soak: $(B)/sim/sim ## fresh seeds for HOURS (default 1)
	@$(B)/sim/sim soak $(or $(HOURS),1) $(or $(SEED),$(shell date +%s))

# --- contract: the same questions asked of the simulator and of a real kube-apiserver -------------
CONTRACT_SRC := $(wildcard test/contract/*.c)
$(B)/obj/test/contract/%.o: CPPFLAGS += -Itest/sim -Icontroller
$(B)/contract/contract: $(call obj,$(CONTRACT_SRC) $(filter-out test/sim/main.c,$(SIM_SRC)) test/sim/breaks_off.c $(SIM_CONTROLLER)) $(ALL_LIB)
	@mkdir -p $(@D) && echo "  LINK    $@"
	@$(CC) $(LDFLAGS) $^ -o $@ $(LIBS_ALL)
.PHONY: test-contract
test-contract: $(B)/contract/contract ## the simulator and a real kube-apiserver must answer alike
	@CONTRACT_DIR=$(B)/contract test/contract/run.sh

# The fault proxy: between the operator and a real API server (test/wire/proxy/proxy.h).
$(B)/wire/faultproxy: $(call obj,$(wildcard test/wire/proxy/*.c)) $(ALL_LIB)
	@mkdir -p $(@D) && echo "  LINK    $@"
	@$(CC) $(LDFLAGS) $^ -o $@ $(LIBS_ALL) -lpthread
.PHONY: test-wire-plans
test-wire-plans: $(B)/bin/runtime-cloud-controller $(B)/wire/faultproxy ## planned faults between the controller and a real kube-apiserver
	@SAN=$(SAN) test/wire/plans.sh

.PHONY: test-wire test-wire-asan test-wire-client-asan
test-wire: $(B)/bin/runtime-cloud-controller ## the controller against a real kube-apiserver and etcd
	@SAN=$(SAN) test/wire/run.sh
test-wire-asan: ## the same with ASan and UBSan
	@$(MAKE) --no-print-directory SAN=1 test-wire
test-wire-client-asan: ## test-wire-client with ASan and UBSan
	@$(MAKE) --no-print-directory SAN=1 test-wire-client

.PHONY: test-chart-template test-chart-schema test-chart-policies test-chart
test-chart-template: ## the chart without a cluster: lint, golden files
	@test/chart/template.sh
test-chart-schema: ## CRD schemas and CEL rules on a real kube-apiserver
	@test/chart/schema.sh
test-chart-policies: $(B)/bin/runtime-cloud-controller ## admission policies and roles on a real kube-apiserver
	@test/chart/policies.sh
test-chart: test-chart-template test-chart-schema test-chart-policies ## all of the three

.PHONY: models
models: $(call obj,test/models/run_world.c) $(ALL_LIB) ## the protocols of queue, reflector, elector and run in Spin
	@MODELS_DIR=$(B)/models MODELS_WORLD="$(abspath $(call obj,test/models/run_world.c) $(ALL_LIB))" \
		MODELS_LIBS="-lcmocka $(LIBS_ALL)" test/models/run.sh

.PHONY: test-cli
test-cli: $(B)/bin/kubectl-runtimecloud ## kubectl-runtimecloud on a real kube-apiserver
	@test/cli/run.sh

.PHONY: test-runner
test-runner: $(B)/bin/runtime-cloud-runner ## the runner's verbs with the real Pulumi CLI
	@test/runner/run.sh

.PHONY: test-e2e
test-e2e: programs ## a user's day on a one-node Kubernetes: Helm, Git, PostgreSQL, real Pulumi (root)
	@test/e2e/run.sh

.PHONY: test-asan
test-asan: ## unit tests with ASan and UBSan
	@$(MAKE) --no-print-directory SAN=1 test-unit

.PHONY: test-clang
test-clang: ## the programs by the other compiler, without a warning
	@$(MAKE) --no-print-directory CC=clang programs

.PHONY: test-fresh
test-fresh: ## make demo and make test as on a machine with nothing installed (root; hours)
	@hack/cluster/fresh-machine.sh sh -c 'apt-get update && apt-get install -y --no-install-recommends make git && \
		make demo && make demo-down && make test'

.PHONY: test
test: ## every layer; last line "N passed, N failed"
	@hack/deps/install.sh build test
	@test/all

.PHONY: check
check: $(PURE_LIB) $(ALL_LIB) $(B)/bin/rco-gen $(B)/models/export ## layers, symbols, generated files, rules and their tests
	@hack/check-layers
	@hack/check-rules
	@hack/check-metrics
	@hack/check-symbols $(PURE_LIB) $(ALL_LIB)
	@hack/check-generated $(B)/bin/rco-gen $(B)/models/export

.PHONY: bench
bench: $(BENCH_BIN) $(PROGRAMS) ## prints the numbers
	@hack/deps/install.sh bench
	@test/bench/run $(B)

# --- a real cluster --------------------------------------------------------------------------
.PHONY: demo demo-down
demo: ## the main job on a one-node Kubernetes that it sets up itself (root, Debian 12)
	@hack/demo/up.sh
demo-down: ## takes the demo's cluster away
	@hack/demo/down.sh

# --- fuzzing (clang) -------------------------------------------------------------------------
.PHONY: fuzz
fuzz: ## every fuzz target for FUZZ_SECONDS (default 20)
	@$(MAKE) --no-print-directory FUZZ=1 fuzz-binaries
	@test/run-fuzz build-fuzz/fuzz $(or $(FUZZ_SECONDS),20)

.SECONDARY:
-include $(shell find build build-* -name '*.d' 2>/dev/null)
