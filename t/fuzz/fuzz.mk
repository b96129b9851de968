# SPDX-License-Identifier: Apache-2.0
# fuzz.mk: the fuzz targets. The same files twice: with a small main, by the build's own compiler, for `make test`
# (build/t/fuzz_NAME), and with libFuzzer and sanitizers, by clang, for `make fuzz` (build/fuzz/NAME).
#   make fuzz [SECONDS=60] [TARGET=name] [MERGE=1]      MERGE: what is new and worth it is added to the corpus
SECONDS ?= 60
FUZZ_NAMES := $(patsubst t/fuzz/%.c,%,$(filter-out t/fuzz/replay.c,$(wildcard t/fuzz/*.c)))
FUZZ_BIN := $(FUZZ_NAMES:%=$(O)/t/fuzz_%)
units: $(FUZZ_BIN)
# all of sigreq-pdfd but its main
FUZZED_PDFD := $(filter-out src/helper/main/main.c,$(PDFD_SRC)) $(PDFD_CXX)
$(call obj,$(wildcard t/fuzz/*.c)): private OWN_CPPFLAGS += $(PDFD_CPPFLAGS)

$(O)/libpdfd.a: $(call obj,$(FUZZED_PDFD))
	$(call say,AR)rm -f $@; $(AR) rcs $@ $^
$(O)/t/fuzz_%: $(O)/obj/t/fuzz/%.o $(O)/obj/t/fuzz/replay.o $(UNIT_HTTP) $(O)/libpdfd.a $(O)/libsigreq.a $(O)/flags
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $(objects) $(PDFD_LIBS) -lstdc++ $(SERVICE_LIBS) $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)

CLANG ?= clang
FUZZ_FLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_SRC := $(call c_files,base report model metrics jobs cms helper helper/client helper/check verify signer) src/http/multipart.c src/http/part.c
fuzz_obj = $(patsubst %.cc,$(O)/fuzz/obj/%.o,$(patsubst %.c,$(O)/fuzz/obj/%.o,$(1)))

$(O)/fuzz/obj/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CLANG)$(CLANG) -std=gnu11 $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP $(OWN_CPPFLAGS) $(PDFD_CPPFLAGS) \
	    $(BASE_CPPFLAGS) $(CPPFLAGS) -c -o $@ $<
$(O)/fuzz/obj/%.o: %.cc $(O)/flags
	@mkdir -p $(@D)
	$(call say,CLANG)$(CLANG)++ -std=gnu++17 $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP $(OWN_CPPFLAGS) $(CPPFLAGS) -c -o $@ $<
$(call fuzz_obj,src/model/language.c): $(O)/embed/page_texts.h
$(call fuzz_obj,src/jobs/letter.c): $(foreach k,code invitation reminder,$(O)/embed/$(k).txt.h $(O)/embed/$(k).html.h)
$(O)/fuzz/libfuzzed.a: $(call fuzz_obj,$(FUZZ_SRC) $(FUZZED_PDFD))
	$(call say,AR)rm -f $@; $(AR) rcs $@ $^
$(O)/fuzz/%: $(O)/fuzz/obj/t/fuzz/%.o $(O)/fuzz/libfuzzed.a $(O)/flags
	$(call say,LD)$(CLANG)++ $(FUZZ_FLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $(objects) $(PDFD_LIBS) $(SERVICE_LIBS) $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)

# these stand for functions of src/
$(O)/t/fuzz_lies $(O)/fuzz/lies: private override LDFLAGS += -Wl,--wrap=sr_pdf_put

#: make fuzz [SECONDS=] [TARGET=]      feed the parsers with hostile input (clang)
.PHONY: fuzz
fuzz:
	@tools/deps fuzz
	@$(MAKE) -s --no-print-directory $(patsubst %,$(O)/fuzz/%,$(or $(TARGET),$(FUZZ_NAMES)))
	@exec tools/fuzz $(if $(MERGE),--merge) '$(SECONDS)' $(or $(TARGET),$(FUZZ_NAMES))

-include $(patsubst %.o,%.d,$(call obj,$(wildcard t/fuzz/*.c)) \
           $(call fuzz_obj,$(FUZZ_SRC) $(FUZZED_PDFD) $(wildcard t/fuzz/*.c)))
