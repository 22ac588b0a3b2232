# `make` alone lists the targets.

PYTHON ?= python3
ARGS ?=
export PYTHON

# An environment that happens to be active must not be what gets changed.
unexport VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME UV_SYSTEM_PYTHON
export UV_PYTHON_DOWNLOADS := never
# pytest keeps the test modules that it has rewritten; without that each worker does it anew, 15 seconds long.
unexport PYTHONDONTWRITEBYTECODE
# As pip does, trust what the system trusts; uv's own list knows no company's certificate authority.
ifneq ($(wildcard /etc/ssl/certs/*.crt /etc/ssl/certs/*.pem /etc/ssl/cert.pem /etc/pki/tls/certs/*.crt),)
export UV_SYSTEM_CERTS := true
export UV_NATIVE_TLS := true
endif
# An account without a home that it can write to gets its cache inside .venv.
ifndef UV_CACHE_DIR
ifeq ($(shell c="$${XDG_CACHE_HOME:-$${HOME:+$$HOME/.cache}}"; mkdir -p "$${c:?}/uv" && test -w "$$c/uv" && echo ok),)
export UV_CACHE_DIR := $(CURDIR)/.venv/.uv-cache
endif
endif

# Many tests wait for processes and services, so there are more workers than cores.
WORKERS = $(shell $(PYTHON) -c 'import os; print(min(8, (os.cpu_count() or 1) * 3 // 2))')

NATIVE := $(wildcard plugins/*/*/src/*/native/*.[ch])
MEMBERS := pyproject.toml core/pyproject.toml $(wildcard libraries/*/pyproject.toml plugins/*/*/pyproject.toml)
# A clone that was moved or copied needs a new environment: the programs in .venv/bin hold its absolute path.
MOVED := $(shell [ ! -e .venv/.ready ] || [ "`cat .venv/.ready`" = "`pwd`" ] || echo always)
BIN := .venv/bin

.PHONY: help install demo test slow test-as-user slow-as-user check lint style types imports size dist wheelhouse docs wheels version release sbom format lock engines vibe collector peers browser sandbox containers postgres clean always

help:
	@echo "make install   set up .venv, with .venv/bin/skillgauge in it"
	@echo "make demo      does a skill help? recorded sessions of an agent, graded now; a failing case; the page"
	@echo "make test      run the tests, the slow ones apart (ARGS='-k name' passes options to pytest)"
	@echo "make slow      run the slow ones: whole journeys, agent programs, kills, and all examples of property tests"
	@echo "make test-as-user   as root: run the tests once more, as an ordinary user with an empty home"
	@echo "make slow-as-user   as root: so do the slow ones on what stops attacks, where rights make a difference"
	@echo "make check     all that CI runs, in the same order"
	@echo "make lint      the fast part of it: style, types, imports, size"
	@echo "make format    rewrite the code in the project's style"
	@echo "make lock      bring requirements.lock up to date (UPGRADE=1: the newest of all; UPGRADE='a b': of these)"
	@echo "make wheels    make dist, and try each wheel alone in a clean environment"
	@echo "make dist      build what users install: dist/wheels, and dist/index for pip"
	@echo "make wheelhouse   gather all that pip needs to install skillgauge without an index, in dist/wheelhouse"
	@echo "make docs      make the site in dist/site"
	@echo "make engines   install the agent programs that engine tests drive (2.3 GB, needs node and npm)"
	@echo "make vibe      install Mistral Vibe beside them (0.4 GB, needs Linux on x86-64, and Python 3.12 or Debian's packages)"
	@echo "make collector install the receiver that tests of the extension otel send to (75 MB, needs node and npm)"
	@echo "make peers     measure skillgauge beside other programs (1.2 GB, needs node and npm; ARGS='--rows validate-500')"
	@echo "make browser   install Chromium, where Debian's packages and the rights for it are there"
	@echo "make sandbox   install bubblewrap and a C compiler, and compile the launcher, where Debian's packages and the rights for it are there"
	@echo "make containers   install Docker's daemon, where Debian's packages and the rights for it are there"
	@echo "make postgres   install PostgreSQL's server, where Debian's packages and the rights for it are there"
	@echo "make sbom      write dist/sbom.cdx.json, the bill of materials of what requirements.lock pins"
	@echo "make version   give all distributions a new version (NEW=1.2.3; ONLY='a b': these alone)"
	@echo "make release   build and check what a release uploads, in the order of uploading, and publish nothing (TAG=v1.2.3)"
	@echo "make clean     remove .venv, caches and build results"

install: .venv/.ready

.venv/.ready: requirements.lock $(MEMBERS) $(NATIVE) .ci/bootstrap .ci/launcher $(MOVED)
	@sh .ci/bootstrap

demo: .venv/.ready
	@bash examples/demo.sh

test: .venv/.ready
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile fast -m "not slow" $(ARGS)

slow: .venv/.ready
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "slow or hypothesis" $(ARGS)

test-as-user:
	@bash .ci/as_user test

slow-as-user:
	@bash .ci/as_user slow ARGS="tests/e2e/test_spoiled_grading.py tests/e2e/test_bombs.py tests/e2e/test_bounds.py"

check:
	@bash .ci/run

lint: style types imports size

style: .venv/.ready
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/clang-format --dry-run -Werror $(NATIVE)
	@$(BIN)/python .ci/words.py

types: .venv/.ready
	@$(BIN)/mypy --strict core/src $(wildcard libraries/*/src plugins/*/*/src)

imports: .venv/.ready
	@$(BIN)/python .ci/imports.py

size: .venv/.ready
	@$(BIN)/python .ci/size.py
	@$(BIN)/python .ci/decisions.py
	@$(BIN)/python .ci/cycles.py

dist: .venv/.ready
	@$(BIN)/python .ci/dist.py

# All that pip needs where there is no index; EXTRAS='[mcp]' adds what an extra needs.
wheelhouse: dist
	@$(BIN)/python -m pip download --quiet --find-links dist/wheels --dest dist/wheelhouse "skillgauge$(EXTRAS)"

docs: .venv/.ready
	@$(BIN)/python .ci/pages.py

wheels: .venv/.ready
	@$(BIN)/python .ci/wheels.py

release: .venv/.ready
	@$(BIN)/python .ci/release.py $(TAG) $(if $(BUILT),--built)

version: .venv/.ready
	@$(BIN)/python .ci/version.py $(NEW) $(ONLY)

sbom: .venv/.ready
	@$(BIN)/python .ci/sbom.py

format: .venv/.ready
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format
	@$(BIN)/clang-format -i $(NATIVE)

# Not after .venv/.ready: a lock that lacks something new must not stand in the way of writing it.
lock:
	@test -x $(BIN)/uv || sh .ci/bootstrap
	@$(BIN)/python .ci/lock.py $(if $(UPGRADE),--upgrade $(filter-out 1,$(UPGRADE)))

browser:
	@if command -v chromium >/dev/null 2>&1; then chromium --version; \
	elif command -v apt-get >/dev/null 2>&1 && [ "`id -u`" = 0 ]; then \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
	else echo "browser: no Chromium, so the tests that look at pages are skipped"; fi

# With a C compiler for its launcher, which works without being compiled, too.
sandbox:
	@if command -v bwrap >/dev/null 2>&1; then bwrap --version; \
	elif command -v apt-get >/dev/null 2>&1 && [ "`id -u`" = 0 ]; then \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends bubblewrap >/dev/null; \
	else echo "sandbox: no bubblewrap, so the tests that need it are skipped"; fi
	@if command -v musl-gcc >/dev/null 2>&1; then :; \
	elif command -v apt-get >/dev/null 2>&1 && [ "`id -u`" = 0 ]; then \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends musl-tools gcc libc6-dev >/dev/null; } || \
		echo "sandbox: no C compiler could be installed"; \
	fi
	@sh .ci/launcher

# The tests start a daemon of their own; one that the package starts is not used.
containers:
	@if [ "`id -u`" = 0 ] && PATH="$$PATH:/usr/sbin" && command -v dockerd >/dev/null 2>&1 && command -v busybox >/dev/null 2>&1; then dockerd --version; \
	elif command -v apt-get >/dev/null 2>&1 && [ "`id -u`" = 0 ]; then \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends docker.io busybox-static >/dev/null && dockerd --version; \
	else echo "containers: no Docker daemon, so the tests that need one are skipped"; fi

# The tests start a server of their own, as an ordinary user; the cluster that the package would make is not wanted.
postgres:
	@if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then ls -d /usr/lib/postgresql/*/bin; \
	elif command -v apt-get >/dev/null 2>&1 && [ "`id -u`" = 0 ]; then \
		mkdir -p /etc/postgresql-common && { [ -e /etc/postgresql-common/createcluster.conf ] || echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf; } && \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends postgresql >/dev/null; \
	else echo "postgres: no PostgreSQL server, so the tests that need one are skipped"; fi

engines:
	@sh .ci/engines/install

vibe: .venv/.ready
	@sh .ci/vibe/install

collector:
	@sh .ci/collector/install

# benchmarks/peers.toml pins the programs; they are kept in .peers.
peers: .venv/.ready
	@$(BIN)/python -m benchmarks.peers $(ARGS)

clean:
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* htmlcov
	rm -f plugins/sandboxes/bubblewrap/src/skillgauge_sandbox_bubblewrap/native/launcher
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
