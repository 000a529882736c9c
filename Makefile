# Two commands matter: `make demo` and `make test`. Everything else is CMake's.
BUILD ?= build
TYPE ?= Release

.PHONY: build demo test test-long clean
build:
	@scripts/setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(TYPE) -DKAPITSA_TESTS=OFF >/dev/null
	@cmake --build $(BUILD)

demo: build
	@scripts/demo $(BUILD)/kapitsa

test:
	@scripts/setup --tests
	@scripts/test

test-long:
	@scripts/setup --long
	@scripts/test --long

clean:
	rm -rf $(BUILD) build-*
