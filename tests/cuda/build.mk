# The programs about CUDA that need no R, built from the sources of the package. For the scripts
# run.sh here and in bench/gpu; from the top folder:
#
#   make -f tests/cuda/build.mk -j2 OUT=folder CUDA_COMPILE=... LINK=... folder/program...
#
# OUT: where objects and programs go; objects of other settings must not lie there.
# CUDA_COMPILE, LINK: commands that compile a .cu and that link.
# EMULATOR: the file that stands for the device, where there is none; EMULATOR_FLAGS: flags for it.

C_COMPILE = $(CC) -std=gnu11 $(CFLAGS) -Isrc

# Whatever there is: a list would go stale, and nobody would see it until there is a GPU again.
SOURCES := $(wildcard src/core/*.c) $(filter-out src/cuda/cuda-stub.c,$(wildcard src/cuda/*.c)) \
  $(wildcard src/cuda/*.cu) $(EMULATOR)
# core/recurrence.c and cuda/recurrence.cu differ in their folders only
OBJECTS := $(SOURCES:%=$(OUT)/objects/%.o)
$(if $(EMULATOR),$(OUT)/objects/$(EMULATOR).o): CUDA_FLAGS = $(EMULATOR_FLAGS)

$(OUT)/check: $(OUT)/objects/tests/cuda/check.c.o $(OBJECTS)
$(OUT)/bench: $(OUT)/objects/bench/gpu/bench.c.o $(OBJECTS)
$(OUT)/broken: $(OUT)/objects/tests/cuda/broken.cu.o $(OUT)/objects/$(EMULATOR).o
$(OUT)/check $(OUT)/bench $(OUT)/broken:
	$(LINK) $^ -o $@ -lm -lpthread

$(OUT)/objects/%.c.o: %.c
	@mkdir -p $(@D)
	$(C_COMPILE) -c $< -o $@

$(OUT)/objects/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(CUDA_COMPILE) $(CUDA_FLAGS) -Isrc -c $< -o $@
