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

TILEWRIGHT          ?= tilewright
TILEWRIGHT_OUT      ?= build
TILEWRIGHT_FLAGS    ?=
# What the generator has to know of the preprocessor's flags.
TILEWRIGHT_CPPFLAGS ?= $(filter -I% -D% -U%,$(CPPFLAGS)) $(filter -std=%,$(CFLAGS))

TILEWRIGHT_GENERATED := $(patsubst %.c,$(TILEWRIGHT_OUT)/%.tw.c,$(TILEWRIGHT_SOURCES))
TILEWRIGHT_OBJECTS   := $(TILEWRIGHT_GENERATED:.c=.o)

tilewright_generate = CC='$(CC)' $(TILEWRIGHT) gen --line $(TILEWRIGHT_CPPFLAGS) $(TILEWRIGHT_FLAGS) $*.c \
  -o $(TILEWRIGHT_OUT)/$*.tw.c -MD -MP -MF $(TILEWRIGHT_OUT)/$*.tw.d -MT $(TILEWRIGHT_OUT)/$*.tw.stamp

# A result that did not change keeps its time, so nothing after it is rebuilt; the stamp says when it was last made.
$(TILEWRIGHT_GENERATED:.c=.stamp): $(TILEWRIGHT_OUT)/%.tw.stamp: %.c
	@mkdir -p $(@D)
	$(tilewright_generate)
	@touch $@

$(TILEWRIGHT_GENERATED): $(TILEWRIGHT_OUT)/%.tw.c: $(TILEWRIGHT_OUT)/%.tw.stamp
	@test -f $@ || { echo '$(TILEWRIGHT) gen $*.c'; $(tilewright_generate); }

# With a depfile of its own: a header may change the object and leave the generated text as it was.
$(TILEWRIGHT_OBJECTS): $(TILEWRIGHT_OUT)/%.tw.o: $(TILEWRIGHT_OUT)/%.tw.c
	$(CC) -iquote $(dir $*.c) $(CPPFLAGS) $(CFLAGS) -MMD -MP -MF $@.d -c $< -o $@

.PHONY: tilewright-clean
tilewright-clean:
	rm -f $(foreach end,.c .d .stamp .o .o.d,$(TILEWRIGHT_GENERATED:.c=$(end)))

.DELETE_ON_ERROR:

-include $(TILEWRIGHT_GENERATED:.c=.d) $(TILEWRIGHT_OBJECTS:=.d)
