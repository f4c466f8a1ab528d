# One command each; `make` alone lists them. CMake and Ninja do the work, this file knows the order.
PRESET ?= dev
PREFIX ?= /usr/local
BUILD := build/$(PRESET)
ENVIRONMENT := build/python-env
PYTHON_TESTS = $(wildcard tests/python/test_*.py)
PYTEST = PYTHONPATH=$(CURDIR)/$(BUILD)/python $(ENVIRONMENT)/bin/python -m pytest --quiet

.DEFAULT_GOAL := help
.PHONY: help quickstart build test interop check check-sanitizers check-pip format bench docs python install goldens clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

quickstart: $(BUILD)/build.ninja ## Install what is needed, build the library, and train a network on handwritten digits
	@cmake --build $(BUILD) --target examples_cpp_mnist
	@$(BUILD)/examples/cpp/mnist
	@printf '\nThat was examples/cpp/mnist.cc; docs/keras.md is the guide, and examples has more programs.\n'

build: $(BUILD)/build.ninja
	@cmake --build $(BUILD)

test: build ## Build, then run the C++, consumer, Python and tool tests
	@ctest --test-dir $(BUILD) --output-on-failure --parallel $$(nproc)
	@$(PYTEST) $(if $(PYTHON_TESTS),tests/python) tests/tools

interop: build ## Compare with the real TensorFlow 2.15.1 (installed outside the repository, once)
	@tools/run_interop $(BUILD)

check: build build/check/build.ninja build/stamps/check-dependencies ## Check format, layering, names and clang-tidy's advice
	@tools/check_format
	@tools/check_layering
	@tools/check_private_names $(BUILD)
	@cmake build/check --log-level=WARNING > build/check/configured.log
	@tools/check_tidy --build build/check

# The interpreter itself is not instrumented, so the sanitizer's library and that of exceptions, which it wraps, come first;
# CPython's own leaks do not count.
check-sanitizers: ## Run every test under the address, leak and undefined behaviour sanitizers
	@$(MAKE) --no-print-directory build PRESET=asan
	@ctest --test-dir build/asan --output-on-failure --parallel $$(nproc)
	@$(if $(PYTHON_TESTS),LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
	  PYTHONPATH=$(CURDIR)/build/asan/python $(ENVIRONMENT)/bin/python -m pytest --quiet tests/python)

check-pip: build/stamps/python-env ## Install the package into a fresh virtual environment with pip
	@rm -rf build/pip-env && $(ENVIRONMENT)/bin/python -m venv build/pip-env
	@build/pip-env/bin/python -m pip install --quiet --disable-pip-version-check .
	@cd build && pip-env/bin/python -c 'import thalweg; print("thalweg", thalweg.__version__, thalweg.keras.datasets.mnist.load_data()[0][0].shape)'

format: build/stamps/check-dependencies ## Format every C++ file
	@tools/check_format --fix

bench: build ## Measure, beside bare kernels, TensorFlow, JAX and PyTorch
	@cmake --build $(BUILD) --target benchmarks
	@$(if $(wildcard bench/run.py),$(ENVIRONMENT)/bin/python bench/run.py $(BUILD),\
	  $(if $(wildcard bench/*_bench.cc),$(BUILD)/bench/thalweg_bench,echo "There is nothing in bench to measure."))

docs: build ## Write the reference to build/docs
	@PYTHONPATH=$(CURDIR)/$(BUILD)/python $(ENVIRONMENT)/bin/python tools/make_docs

python: build ## Build the Python package
	@echo "export PYTHONPATH=$(CURDIR)/$(BUILD)/python"

install: build/release/build.ninja ## Install headers, libraries and CMake package under PREFIX
	@cmake -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)) build/release > build/release/prefix.log
	@cmake --build build/release
	@cmake --install build/release

goldens: ## Write the expected values of tests/op_cases and tests/keras_cases anew, with the real TensorFlow
	@python=$$(tools/make_tensorflow_env) && $$python tools/make_goldens && $$python tools/make_goldens --gradients && $$python tools/make_goldens --signatures
	@python=$$(tools/make_tensorflow_env) && $$python tools/make_keras_goldens

clean: ## Remove everything built
	@rm -rf build

# Installing is skipped until the list of what is needed changes.
build/stamps/dependencies: tools/install_dependencies
	@mkdir -p $(@D)
	@tools/install_dependencies
	@touch $@

build/stamps/check-dependencies: tools/install_dependencies
	@mkdir -p $(@D)
	@tools/install_dependencies check
	@touch $@

build/stamps/python-env: tools/make_python_env tools/python_requirements.txt | build/stamps/dependencies
	@mkdir -p $(@D)
	@tools/make_python_env
	@touch $@

build/dev/build.ninja build/check/build.ninja build/asan/build.ninja: | build/stamps/python-env

# Only the first time: afterwards Ninja itself notices new files and changed rules.
build/%/build.ninja: | build/stamps/dependencies
	@cmake --preset $* --log-level=WARNING
