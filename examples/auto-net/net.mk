# The build of a program, written by people who never heard of tilewright.
CC     ?= cc
CFLAGS ?= -O3
OUT    ?= .
OBJECTS := $(patsubst %,$(OUT)/%.o,main rng text layers attention loss optimizer model report study)

$(OUT)/net: $(OBJECTS)
	$(CC) $(CFLAGS) $^ -lm -o $@

$(OUT)/%.o: %.c
	@mkdir -p $(OUT)
	$(CC) $(CFLAGS) -MD -MP -c $< -o $@

-include $(wildcard $(OUT)/*.d)
