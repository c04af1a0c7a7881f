# The build of a program, written by people who never heard of tilewright.
CC     ?= cc
CFLAGS ?= -O3
OUT    ?= .
OBJECTS := $(patsubst %,$(OUT)/%.o,main memory scene color filter shape morph tone compare files)

$(OUT)/photo: $(OBJECTS)
	$(CC) $(CFLAGS) $^ -lm -o $@

$(OUT)/%.o: %.c
	@mkdir -p $(OUT)
	$(CC) $(CFLAGS) -MD -MP -c $< -o $@

-include $(wildcard $(OUT)/*.d)
