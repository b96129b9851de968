# mod_sigreq: `make help` lists what can be made. Where things are: src/README.md.
# CC, CXX, CPPFLAGS, CFLAGS, CXXFLAGS and LDFLAGS are the caller's.
include apxs.mk

ifeq ($(origin CC),default)
CC := gcc
endif
PORT   ?= 8080
STATE  ?= run
DB     ?= sqlite3
RECEIVER ?= 8081
CORPUS ?= ../shared/corpus
PREFIX ?= /usr
# where packages of the npm registry go; another folder that has them already will do
NPM    ?= build/npm

CFLAGS   ?= -O2 -g
CXXFLAGS ?= $(CFLAGS)
WARNINGS := $(if $(WERROR),-Werror) -Wall -Wextra
C_WARNINGS := -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
            -Wpointer-arith -Wwrite-strings -Wvla -Wundef
# a distribution has its own level
HARDEN   := $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,-D_FORTIFY_SOURCE=2) -fstack-protector-strong
OWN_CPPFLAGS := -DSR_DEFAULT_HELPER='"$(PREFIX)/lib/sigreq/sigreq-pdfd"' -D_GNU_SOURCE -Isrc -Iinclude -Ibuild
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(HARDEN) $(WARNINGS) $(C_WARNINGS) -fPIC -fvisibility=hidden -pthread -MMD -MP
# drawform.cc alone: see there
ALL_CXXFLAGS = -std=gnu++17 $(CXXFLAGS) $(HARDEN) $(WARNINGS) -fPIC -fvisibility=hidden -pthread -MMD -MP
ALL_LDFLAGS = $(LDFLAGS) -Wl,-z,relro,-z,now

SQL_TABLES := build/sql_pgsql.c build/sql_sqlite3.c
LIB_SRC  := $(wildcard src/base/*.c src/metrics/*.c src/model/*.c src/blobs/*.c src/store/*.c src/pdf/*.c src/jobs/*.c src/service/*.c) $(SQL_TABLES)
MOD_SRC  := mod_sigreq.c $(wildcard src/http/*.c src/api/*.c src/web/*.c src/conf/*.c src/run/*.c)
PDFD_SRC := $(wildcard src/pdfd/*.c)
PDFD_CXX := $(wildcard src/pdfd/*.cc)
CTL_SRC  := $(wildcard src/ctl/*.c)
UNIT_SRC := $(wildcard t/unit/*.c)
SPEED_SRC := $(wildcard t/speed/*.c)
TOOL_SRC := $(wildcard t/tool/*.c)

# one line per file; `make V=1` shows the commands
say = $(if $(V),,@printf '  %-6s%s\n' $(1) $@;)

obj = $(patsubst %.cc,build/obj/%.o,$(patsubst %.c,build/obj/%.o,$(patsubst build/%,%,$(1))))
SPEED_BIN := $(patsubst t/speed/%.c,build/speed/%,$(SPEED_SRC))
UNIT_BIN := $(patsubst t/unit/%.c,build/t/%,$(UNIT_SRC))
TOOL_BIN := $(patsubst t/tool/%.c,build/t/tool/%,$(TOOL_SRC))
PROGRAMS := build/mod_sigreq.so build/sigreq-pdfd build/sigreqctl

.PHONY: all help deps run demo-receiver check test coverage bench bench-build corpus corpus-sign install uninstall dist clean \
        units
.DELETE_ON_ERROR:
.SECONDARY:

ifeq ($(HTTPD_LIBEXECDIR),)
all:
	@echo "make: apxs is not here. 'make deps' installs what the build needs." >&2; exit 1
else
all: $(PROGRAMS)
endif
units: $(UNIT_BIN) $(TOOL_BIN) build/symbols
# what each object defines and uses, for t/guard/arrows.t
build/symbols: $(call obj,$(LIB_SRC) $(MOD_SRC) $(PDFD_SRC) $(PDFD_CXX) $(CTL_SRC))
	$(call say,NM)nm -A $^ >$@
help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST)) t/fuzz/fuzz.mk

#: make                                build the module, sigreqctl and the PDF helper (WERROR=1: warnings are errors)

build/libsigreq.a: $(call obj,$(LIB_SRC))
	$(call say,AR)rm -f $@; ar rcs $@ $^

build/mod_sigreq.so: $(call obj,$(MOD_SRC)) build/libsigreq.a src/mod_sigreq.map
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,--version-script=src/mod_sigreq.map -o $@ $(filter %.o %.a,$^) $(CURL_LIBS) $(BASE_LIBS)

build/sigreq-pdfd: $(call obj,$(PDFD_SRC) $(PDFD_CXX)) build/libsigreq.a
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -o $@ $^ $(PDFD_LIBS) -lstdc++ $(BASE_LIBS) $(APR_LIBS)

build/sigreqctl: $(call obj,$(CTL_SRC)) build/libsigreq.a
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -o $@ $^ $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)

# the parsers of src/http that know no httpd.h are tested alone, too
UNIT_HTTP := $(call obj,src/http/multipart.c src/http/part.c)
build/t/pdf_seal_pixels build/t/pdf_mark: UNIT_LIBS := $(IMAGE_LIBS)
# the comparison of revisions, without a process for each
build/t/pdf_revisions build/t/pdf_policies: $(call obj,$(addprefix src/pdfd/,changes.cc rules.cc uses.cc revision.cc covers.c xref.c tidy.c))
build/t/pdf_revisions build/t/pdf_policies: UNIT_LIBS := $(PDFD_LIBS) -lstdc++
build/t/%: build/obj/t/unit/%.o $(UNIT_HTTP) build/libsigreq.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $^ $(UNIT_LIBS) $(CURL_LIBS) $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)

# a test of one file of sigreq-pdfd links that file
build/t/pdfd_%: build/obj/t/unit/pdfd_%.o build/obj/src/pdfd/%.o build/libsigreq.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $^ $(PDFD_LIBS) $(BASE_LIBS) $(APR_LIBS)

build/t/pdf_render: private BASE_LIBS += -lpng

# what tests call and is no test
build/t/tool/%: build/obj/t/tool/%.o build/libsigreq.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $^ $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)

# figures of the PDF helper: timed, so no tests; `make bench` runs them
build/speed/%: build/obj/t/speed/%.o build/libsigreq.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $^ $(PDFD_LIBS) $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)
$(call obj,$(SPEED_SRC)): private OWN_CPPFLAGS += $(PDFD_CPPFLAGS)

include t/fuzz/fuzz.mk

build/t/pdfd_sandbox: $(call obj,src/pdfd/landlock.c)
build/t/pdfd_template: $(call obj,src/pdfd/landlock.c src/pdfd/sandbox.c src/pdfd/limits.c)
# loops over every pixel, which gcc 12 makes vectors of at this level alone
$(call obj,src/pdfd/png.c src/pdfd/look.c): private ALL_CFLAGS += -O3

build/sql_pgsql.c build/sql_sqlite3.c: build/sql_%.c: tools/sql2c
	@mkdir -p $(@D)
	$(call say,SQL)tools/sql2c $* >$@
$(foreach d,pgsql sqlite3,$(eval build/sql_$(d).c: $(wildcard src/store/*/*.sql conf/schema/$(d)/*.sql) $(wildcard src/store/*.h)))

# embedded files: build/embed/NAME.h holds the bytes of src/api/NAME as a C array
build/embed/%.h: src/api/%
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed $< >$@
$(call obj,$(wildcard src/api/*.c)): build/embed/openapi.json.h

build/embed/%.h: src/jobs/%
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed $< >$@
$(call obj,src/jobs/letter.c): build/embed/invitation.txt.h build/embed/invitation.html.h

# the signing page: esbuild bundles what browsers load; that, the pieces of HTML and the texts are embedded
$(NPM)/%/installed: tools/npm
	$(call say,NPM)tools/npm $(if $(filter page,$*),src/web,t/$*) $(@D) && touch $@
$(NPM)/page/installed: src/web/package.json src/web/package-lock.json
$(NPM)/browser/installed: t/browser/package.json t/browser/package-lock.json
PAGE := src/web/assets
ifneq ($(wildcard dist/page/bundled),) # of `make dist`
build/page/bundled: dist/page/bundled
	@mkdir -p $(@D)
	$(call say,COPY)cp -R dist/page/. $(@D)/ && touch $@
else
build/page/bundled: tools/bundle.mjs $(NPM)/page/installed $(wildcard $(PAGE)/js/*.js $(PAGE)/css/*.css)
	$(call say,BUNDLE)tools/bundle.mjs $(NPM)/page $(@D)/assets && touch $@
endif
build/embed/page_assets.h: build/page/bundled
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed --files embedded_assets build/page/assets >$@
build/embed/page_html.h: $(wildcard $(PAGE)/html/*.html)
build/embed/page_texts.h: $(wildcard $(PAGE)/texts/*.json)
build/embed/plurals.h: tools/plurals src/model/languages.def
	@mkdir -p $(@D)
	$(call say,EMBED)tools/plurals src/model/languages.def >$@
build/embed/dates.h: tools/dates src/model/languages.def
	@mkdir -p $(@D)
	$(call say,EMBED)tools/dates src/model/languages.def >$@
build/embed/page_%.h: tools/embed
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed --files embedded_$* $(PAGE)/$* >$@
$(call obj,src/web/files.c): build/embed/page_assets.h build/embed/page_html.h
$(call obj,src/model/language.c): build/embed/page_texts.h build/embed/plurals.h
$(call obj,src/model/caption.c): build/embed/dates.h

$(call obj,$(MOD_SRC)): private OWN_CPPFLAGS += $(HTTPD_CPPFLAGS)
$(call obj,$(PDFD_SRC)): private OWN_CPPFLAGS += $(PDFD_CPPFLAGS)

build/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(OWN_CPPFLAGS) $(BASE_CPPFLAGS) $(CPPFLAGS) -c -o $@ $<
build/obj/%.o: %.cc
	@mkdir -p $(@D)
	$(call say,C++)$(CXX) $(ALL_CXXFLAGS) $(OWN_CPPFLAGS) $(CPPFLAGS) -c -o $@ $<
build/obj/%.o: build/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(OWN_CPPFLAGS) $(BASE_CPPFLAGS) $(CPPFLAGS) -c -o $@ $<

#: make install [DESTDIR=] [PREFIX=]   install beside httpd
CONF_TARGET = $(DESTDIR)$(HTTPD_SYSCONFDIR)/mods-available/sigreq.conf
install: all
	install -d $(DESTDIR)$(HTTPD_LIBEXECDIR) $(DESTDIR)$(PREFIX)/lib/sigreq $(DESTDIR)$(PREFIX)/sbin \
	           $(DESTDIR)$(HTTPD_SYSCONFDIR)/mods-available $(DESTDIR)$(PREFIX)/include/apache2 $(DESTDIR)$(PREFIX)/share/doc/mod_sigreq
	install -m 644 build/mod_sigreq.so $(DESTDIR)$(HTTPD_LIBEXECDIR)/
	install -m 755 build/sigreq-pdfd $(DESTDIR)$(PREFIX)/lib/sigreq/
	install -m 755 build/sigreqctl $(DESTDIR)$(PREFIX)/sbin/
	install -m 600 conf/sigreq.conf $(CONF_TARGET)$(if $(wildcard $(CONF_TARGET)),.new) # never over what somebody edited
	sed 's|@LIBEXECDIR@|$(HTTPD_LIBEXECDIR)|' conf/sigreq.load >$(DESTDIR)$(HTTPD_SYSCONFDIR)/mods-available/sigreq.load
	install -d $(DESTDIR)$(PREFIX)/share/sigreq/mail
	install -m 644 src/jobs/invitation.txt src/jobs/invitation.html $(DESTDIR)$(PREFIX)/share/sigreq/mail/
	install -m 644 include/mod_sigreq.h $(DESTDIR)$(PREFIX)/include/apache2/
	install -m 644 README CHANGES LICENSE docs/*.md $(DESTDIR)$(PREFIX)/share/doc/mod_sigreq/
	install -d $(DESTDIR)$(PREFIX)/share/doc/mod_sigreq/signing-page $(DESTDIR)$(PREFIX)/share/doc/mod_sigreq/decisions
	install -m 644 docs/decisions/*.md $(DESTDIR)$(PREFIX)/share/doc/mod_sigreq/decisions/
	install -m 644 docs/signing-page/*.png $(DESTDIR)$(PREFIX)/share/doc/mod_sigreq/signing-page/

# What install has put there, but for a configuration that an administrator may have edited.
#: make uninstall [DESTDIR=] [PREFIX=] remove what was installed, but for sigreq.conf
uninstall:
	rm -f $(DESTDIR)$(HTTPD_LIBEXECDIR)/mod_sigreq.so $(DESTDIR)$(PREFIX)/sbin/sigreqctl \
	      $(DESTDIR)$(HTTPD_SYSCONFDIR)/mods-available/sigreq.load $(DESTDIR)$(PREFIX)/include/apache2/mod_sigreq.h
	rm -rf $(DESTDIR)$(PREFIX)/lib/sigreq $(DESTDIR)$(PREFIX)/share/sigreq $(DESTDIR)$(PREFIX)/share/doc/mod_sigreq

# The tree of the last commit, and the assets of the signing page as they are bundled: who builds it needs no npm.
VERSION = $(shell sed -n 's/^\#define MOD_SIGREQ_VERSION "\(.*\)"/\1/p' include/mod_sigreq.h)
DIST = mod_sigreq-$(VERSION)
#: make dist                           build/mod_sigreq-VERSION.tar.gz, which builds without npm and network
dist: build/page/bundled
	git archive --prefix='$(DIST)/' -o 'build/$(DIST).tar' HEAD
	tar -rf 'build/$(DIST).tar' --owner=root --group=root --transform='s|^build|$(DIST)/dist|' build/page
	gzip -9nf 'build/$(DIST).tar'

#: make deps                           install the Debian packages for all of this (root or sudo)
deps:
	tools/deps all
#: make run [PORT=] [STATE=] [DB=]     start a server to try, with tokens, on 127.0.0.1 (DB=sqlite3 or pgsql)
run:
	@tools/deps run $(DB)
	@$(MAKE) --no-print-directory all
	@exec tools/run --port '$(PORT)' --state '$(STATE)' --db '$(DB)'
#: make demo-receiver [STATE=]         print the webhooks of `make run`
demo-receiver:
	@exec tools/demo-receiver --state '$(STATE)' --port '$(RECEIVER)'
#: make check                          the guards and the unit tests
check:
	@tools/deps test
	@$(MAKE) --no-print-directory all units
	@exec t/run '^t/guard/(?!build)' '^build/t/' '^t/ctl/'
#: make test [SANITIZE=1]              run all tests; the last line counts them
#: t/run PATTERN...                    run the test files whose names match (after `make all units`)
test:
	@tools/deps test
	@$(MAKE) --no-print-directory all units $(NPM)/browser/installed
	@SIGREQ_CORPUS="$(or $(SIGREQ_CORPUS),$(wildcard $(CORPUS)))" exec $(if $(SANITIZE),tools/sanitize,t/run)
#: make coverage [TESTS=]              lines and branches that the tests reach
coverage:
	@tools/deps coverage
	@$(MAKE) --no-print-directory all units
	@exec tools/coverage $(TESTS)
bench-build:
	@tools/deps bench
	@$(MAKE) --no-print-directory all $(SPEED_BIN) $(NPM)/browser/installed
#: make bench [BASE=COMMIT]            measure, alone or beside another commit
bench: bench-build
	@$(if $(BASE),tools/bench/compare '$(BASE)',tools/bench/run)
#: make corpus CORPUS=FOLDER           send public files to the server
corpus:
	@tools/deps test
	@$(MAKE) --no-print-directory all
	@exec tools/corpus '$(CORPUS)'
#: make corpus-sign CORPUS=FOLDER      sign public PDFs and have them judged
corpus-sign:
	@tools/deps test
	@$(MAKE) --no-print-directory all
	@exec tools/corpus-sign '$(CORPUS)'
#: make clean                          remove what was built
clean:
	rm -rf build

# for clangd, clang-tidy and editors
#: make compile_commands.json          how each file is compiled, for clangd and clang-tidy
.PHONY: compile_commands.json
compile_commands.json:
	@$(MAKE) -Bnk --no-print-directory V=1 all units 2>/dev/null | tools/compile-commands >$@

-include $(patsubst %.o,%.d,$(call obj,$(LIB_SRC) $(MOD_SRC) $(PDFD_SRC) $(PDFD_CXX) $(CTL_SRC) $(UNIT_SRC) $(SPEED_SRC) $(TOOL_SRC)))
