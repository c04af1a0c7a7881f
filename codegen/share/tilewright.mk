# Tilewright for GNU make. Name the sources, then include this file:
#
#   TILEWRIGHT_SOURCES := smooth.c solver/step.c
#   include $(shell tilewright --print-make)
#   app: main.o $(TILEWRIGHT_OBJECTS)
#           $(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@
#
# Compilers and debuggers speak of the lines of the sources (gen --line); TILEWRIGHT_FLAGS := --no-line has those of the results.
#
# It defines TILEWRIGHT_GENERATED (OUT/smooth.tw.c ...) and TILEWRIGHT_OBJECTS (OUT/smooth.tw.o ...), and rules for them.
# C++ sources (.cpp, .cc, .cxx) are compiled with CXX and CXXFLAGS.

TILEWRIGHT          ?= tilewright
TILEWRIGHT_OUT      ?= build
TILEWRIGHT_FLAGS    ?=
# What the generator has to know of the flags: those of the preprocessor, and what changes the meaning of C.
TILEWRIGHT_CPPFLAGS ?= $(filter -I% -D% -U%,$(CPPFLAGS)) \
  $(filter -std=% -f% -m% -Ofast,$(if $(filter .c,$(1)),$(CFLAGS),$(CXXFLAGS)))

TILEWRIGHT_GENERATED := $(foreach s,$(TILEWRIGHT_SOURCES),$(TILEWRIGHT_OUT)/$(basename $(s)).tw$(suffix $(s)))
TILEWRIGHT_OBJECTS   := $(addsuffix .o,$(basename $(TILEWRIGHT_GENERATED)))

# OpenMP pragmas where the compiler obeys them, unless TILEWRIGHT_FLAGS names a target.
tilewright_target = $(if $(findstring --target,$(TILEWRIGHT_FLAGS)),,--target \
  $(if $(filter -fopenmp -fopenmp=% -qopenmp,$(CC) $(CXX) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS)),openmp,c))

tilewright_generate = CC='$(CC)' CXX='$(CXX)' $(TILEWRIGHT) gen --line $(strip $(tilewright_target)) \
  $(TILEWRIGHT_CPPFLAGS) $(if $(filter .c,$(1)),$(TILEWRIGHT_FLAGS),$(filter-out --dispatch,$(TILEWRIGHT_FLAGS))) $*$(1) \
  -o $(TILEWRIGHT_OUT)/$*.tw$(1) -MD -MP -MF $(TILEWRIGHT_OUT)/$*.tw.d -MT $(TILEWRIGHT_OUT)/$*.tw.stamp

# The rules for sources with the ending $(1), of which $(2) are generated, compiled with $(3).
# A result that did not change keeps its time, so nothing after it is rebuilt; the stamp says when it was last made.
# Objects have a depfile of their own: a header may change the object and leave the generated text as it was.
define tilewright_rules
$(2:$(1)=.stamp): $(TILEWRIGHT_OUT)/%.tw.stamp: %$(1)
	@mkdir -p $$(@D)
	$$(call tilewright_generate,$(1))
	@touch $$@

$(2): $(TILEWRIGHT_OUT)/%.tw$(1): $(TILEWRIGHT_OUT)/%.tw.stamp
	@test -f $$@ || { echo '$$(TILEWRIGHT) gen $$*$(1)'; $$(call tilewright_generate,$(1)); }

$(2:$(1)=.o): $(TILEWRIGHT_OUT)/%.tw.o: $(TILEWRIGHT_OUT)/%.tw$(1)
	$(3) -iquote $$(dir $$*$(1)) $$(CPPFLAGS) $(4) -MMD -MP -MF $$@.d -c $$< -o $$@
endef
tilewright_ending = $(if $(2),$(eval $(call tilewright_rules,$(1),$(2),$(3),$(4))))
$(call tilewright_ending,.c,$(filter %.tw.c,$(TILEWRIGHT_GENERATED)),$$(CC),$$(CFLAGS))
$(foreach e,.cpp .cc .cxx,$(call tilewright_ending,$(e),$(filter %.tw$(e),$(TILEWRIGHT_GENERATED)),$$(CXX),$$(CXXFLAGS)))

.PHONY: tilewright-clean
tilewright-clean:
	rm -f $(TILEWRIGHT_GENERATED) $(foreach end,.d .stamp .o .o.d,$(addsuffix $(end),$(basename $(TILEWRIGHT_GENERATED))))

.DELETE_ON_ERROR:

-include $(addsuffix .d,$(basename $(TILEWRIGHT_GENERATED))) $(TILEWRIGHT_OBJECTS:=.d)
