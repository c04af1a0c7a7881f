# The build of a program, written by people who never heard of tilewright.
CC     ?= cc
CFLAGS ?= -O3
OUT    ?= .

$(OUT)/pond: $(OUT)/pond.o $(OUT)/ripple.o
	$(CC) $(CFLAGS) $^ -lm -o $@

$(OUT)/%.o: %.c
	@mkdir -p $(OUT)
	$(CC) $(CFLAGS) -MD -MP -c $< -o $@

-include $(wildcard $(OUT)/*.d)
