# The emulated libcuda and libnvrtc: never instrumented (fibers change stacks under a sanitizer).
EMULATOR := $(B)/cuda_emulator
EMULATOR_CFLAGS = -std=gnu17 -D_GNU_SOURCE -I. $(WARN) -O2 -g -fPIC -fvisibility=hidden -pthread
EMULATOR_DRIVER := $(patsubst %,$(EMULATOR)/obj/%.o,driver execute memory module queue)
EMULATOR_NVRTC := $(patsubst %,$(EMULATOR)/obj/%.o,nvrtc scan cubin prelude)

.PHONY: emulator
emulator: $(EMULATOR)/libcuda.so.1 $(EMULATOR)/libnvrtc.so.13 $(EMULATOR)/libcupti.so.13 $(EMULATOR)/scan_cu ## the emulated CUDA driver and NVRTC
tests $(UNIT): | emulator

$(EMULATOR)/obj/%.o: tests/cuda_emulator/%.c
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) $(EMULATOR_CFLAGS) -MMD -MP -c $< -o $@
$(EMULATOR)/obj/prelude.o: $(wildcard $(addprefix tests/cuda_emulator/,emulate*.h *.[sS] headers.txt))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -c tests/cuda_emulator/prelude.S -o $@
$(EMULATOR)/libcuda.so.1: $(EMULATOR_DRIVER)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) -shared -pthread -Wl,-soname,libcuda.so.1 -Wl,-z,defs -o $@ $^ -ldl
$(EMULATOR)/libnvrtc.so.13: $(EMULATOR_NVRTC)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) -shared -pthread -Wl,-soname,libnvrtc.so.13 -Wl,-z,defs -o $@ $^
$(EMULATOR)/libcupti.so.13: $(EMULATOR)/obj/cupti.o
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) -shared -Wl,-soname,libcupti.so.13 -Wl,-z,defs -o $@ $^
$(EMULATOR)/scan_cu: $(patsubst %,$(EMULATOR)/obj/%.o,scan_main scan)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) -o $@ $^
