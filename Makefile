# Short targets; the work is done by the scripts in tools/. Kept out of the built package.
#
#   make demo                       cluster real series that come with R
#   make demo DATA=my.csv K=4       the same with your own file (README.md says which files)
#   make test                       install what the tests need, run every test
#   make check                      R CMD check --as-cran
#   make bench                      compare with other packages, writes bench/RESULTS.md
#   make docs                       help pages and NAMESPACE from the comments in R/
#   make format                     lay out the C files, report on the style of the R files

.PHONY: help demo test check bench docs format

help:
	@sed -n 's/^#   //p' Makefile

# variables given on the command line reach the script through the environment
demo:
	@sh tools/demo.sh

test:
	@sh tools/test.sh

check:
	@sh tools/check.sh

bench:
	@sh bench/bench.sh

docs:
	@sh tools/docs.sh

format:
	@sh tools/format.sh
