PYTHON ?= .venv/bin/python

.PHONY: bench
bench:  ## measure against the floors; MEMDESK_BENCH_CORPUS names sessions to copy
	$(PYTHON) -m benchmarks
