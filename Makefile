# SPDX-License-Identifier: Apache-2.0
# mod_sigreq: `make help` lists what can be made. Where things are: src/README.md.
# CC, CXX, CPPFLAGS, CFLAGS, CXXFLAGS and LDFLAGS are the caller's. O is the folder for everything that is built; it is
# exported, because t/run and tools/* look there for programs. Comments and documents call it build/, its default.
include apxs.mk

# Without make's own rules: for each of some thousand files it would look for what they could make it from.
MAKEFLAGS += --no-builtin-rules

O ?= build
override O := $(patsubst %/,%,$(O))
export O
SOURCES := $(addprefix $(CURDIR)/,.ci conf docs include src t tools)
ifneq ($(filter $(CURDIR) $(SOURCES) $(addsuffix /%,$(SOURCES)),$(abspath $(O))),)
$(error O=$(O) is a folder of the sources)
endif

ifeq ($(origin CC),default)
CC := gcc
endif
PORT   ?= 8080
STATE  ?= run
DB     ?= sqlite3
ALLOW  ?= https://app.example.org
RECEIVER ?= 8081
PREFIX ?= /usr
# if sigreqctl can read this file, it asks httpd for the configuration
DEFAULT_CONFIG ?= $(HTTPD_SYSCONFDIR)/mods-enabled/sigreq.conf
# where packages of the npm registry for tests and lint go; another folder that has them already will do
NPM    ?= $(O)/npm

CFLAGS   ?= -O2 -g
CXXFLAGS ?= $(CFLAGS)
WARNINGS := $(if $(WERROR),-Werror) -Wall -Wextra
C_WARNINGS := -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
            -Wpointer-arith -Wwrite-strings -Wvla -Wundef
# The caller's level of _FORTIFY_SOURCE, or that of a distribution's flags, is kept. Without optimization there is none.
FORTIFY  := $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS) $(CXXFLAGS)),,$(if \
            $(filter-out -O0,$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN   := $(FORTIFY) -fstack-protector-strong
OWN_CPPFLAGS := -DSR_DEFAULT_HELPER='"$(PREFIX)/lib/sigreq/sigreq-pdfd"' \
                -DSR_DEFAULT_SIGND='"$(PREFIX)/lib/sigreq/sigreq-signd"' -D_GNU_SOURCE -Isrc -Iinclude -I$(O)
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(HARDEN) $(WARNINGS) $(C_WARNINGS) -fPIC -fvisibility=hidden -pthread -MMD -MP
# drawform.cc alone: see there
ALL_CXXFLAGS = -std=gnu++17 $(CXXFLAGS) $(HARDEN) $(WARNINGS) -fPIC -fvisibility=hidden -pthread -MMD -MP
ALL_LDFLAGS = $(LDFLAGS) -Wl,-z,relro,-z,now

# What is compiled and linked is made again when one of these changes: $(O)/flags, on which it depends, holds them.
FLAGS := $(strip $(CC) $(CXX) $(ALL_CFLAGS) $(ALL_CXXFLAGS) $(OWN_CPPFLAGS) $(HTTPD_CPPFLAGS) $(BASE_CPPFLAGS) \
         $(PDFD_CPPFLAGS) $(SIGND_CPPFLAGS) $(CPPFLAGS) $(ALL_LDFLAGS) $(PDFD_LIBS) $(SIGND_LIBS) $(SERVICE_LIBS) $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS))

SQL_TABLES := $(O)/sql_pgsql.c $(O)/sql_sqlite3.c $(O)/sql_operations.c $(O)/sql_shapes.c
c_files = $(foreach i,$(1),$(wildcard src/$i/*.c))
LIB_SRC  := $(call c_files,base report metrics model blobs/s3 blobs store cms helper helper/client helper/check verify \
            signer authorities service service/* jobs) $(SQL_TABLES)
MOD_SRC  := mod_sigreq.c $(call c_files,http api web desk conf httpd location)
PDFD_SRC := $(call c_files,helper/main helper/main/*)
PDFD_CXX := $(wildcard src/helper/main/*/*.cc)
SIGND_SRC := $(call c_files,signer/main)
CTL_SRC  := $(call c_files,ctl)
UNIT_SRC := $(wildcard t/unit/*.c)
SPEED_SRC := $(wildcard t/speed/*.c)
# libraries, and no programs: a PKCS#11 module, and another date
TOOL_MODULE := t/tool/faulty_token.c t/tool/clock.c
TOOL_SRC := $(filter-out $(TOOL_MODULE),$(wildcard t/tool/*.c))

# one line per file; `make V=1` shows the commands
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $@;)

objects = $(filter %.o,$^) $(filter %.a,$^)
obj = $(patsubst %.cc,$(O)/obj/%.o,$(patsubst %.c,$(O)/obj/%.o,$(patsubst $(O)/%,%,$(1))))
SPEED_BIN := $(patsubst t/speed/%.c,$(O)/speed/%,$(SPEED_SRC))
UNIT_BIN := $(patsubst t/unit/%.c,$(O)/t/%,$(UNIT_SRC))
TOOL_CXX := $(wildcard t/tool/*.cc)
TOOL_BIN := $(patsubst t/tool/%,$(O)/t/tool/%,$(basename $(TOOL_SRC) $(TOOL_CXX))) $(TOOL_MODULE:t/tool/%.c=$(O)/t/tool/%.so)
PROGRAMS := $(O)/mod_sigreq.so $(O)/sigreq-pdfd $(O)/sigreq-signd $(O)/sigreqctl
MANUALS  := $(O)/manual/sigreqctl.8 $(O)/manual/mod_sigreq.8 $(O)/manual/sigreqctl

.PHONY: all units help languages deps run demo-receiver pictures check test test-more test-cluster test-firewall torture coverage \
        bench corpus corpus-sign install uninstall dist deb test-package test-debian13 clean format lint rpm image test-clients
.DELETE_ON_ERROR:
.SECONDARY:

ifeq ($(HTTPD_LIBEXECDIR),)
all:
	@echo "make: apxs is not here. 'tools/deps run' installs what the build needs." >&2; exit 1
else
all: $(PROGRAMS) $(MANUALS)
endif
units: $(UNIT_BIN) $(TOOL_BIN) $(O)/symbols
# what each object defines and uses, for t/guard/arrows.t
$(O)/symbols: $(call obj,$(LIB_SRC) $(MOD_SRC) $(PDFD_SRC) $(PDFD_CXX) $(SIGND_SRC) $(CTL_SRC))
	$(call say,NM)nm -A $^ | sed 's|^$(O)/|build/|' >$@
#: make help                           print this list
help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST)) t/fuzz/fuzz.mk

#: make [all] [WERROR=1] [O=FOLDER]    build the module, sigreqctl, the PDF helper and the signer (WERROR=1: warnings are errors;
#:                                     O: where everything that is built goes, for each target and t/run)
#: make units                          build the unit tests and what they need

# `make install` alone takes what was built as it is: it is often called as root, without the flags of the build.
ifneq ($(filter-out install,$(or $(MAKECMDGOALS),all)),)
ifneq ($(FLAGS),$(strip $(file <$(O)/flags)))
$(O)/flags: FORCE
.PHONY: FORCE
endif
endif
$(O)/flags: export FLAGS := $(FLAGS)
$(O)/flags:
	@mkdir -p $(@D) && printf '%s\n' "$$FLAGS" >$@

$(O)/libsigreq.a: $(call obj,$(LIB_SRC))
	$(call say,AR)rm -f $@; $(AR) rcs $@ $^

$(O)/mod_sigreq.so: $(call obj,$(MOD_SRC)) $(O)/libsigreq.a src/mod_sigreq.map $(O)/flags
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,--version-script=src/mod_sigreq.map -o $@ $(objects) $(filter -lqrencode,$(PDFD_LIBS)) $(SERVICE_LIBS) $(BASE_LIBS)

$(O)/sigreq-pdfd: $(call obj,$(PDFD_SRC) $(PDFD_CXX)) $(O)/libsigreq.a $(O)/flags
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -o $@ $(objects) $(PDFD_LIBS) -lstdc++ $(BASE_LIBS) $(APR_LIBS)

$(O)/sigreq-signd: $(call obj,$(SIGND_SRC)) $(O)/libsigreq.a $(O)/flags
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $(objects) $(SIGND_LIBS) $(BASE_LIBS) $(APR_LIBS)

$(O)/sigreqctl: $(call obj,$(CTL_SRC)) $(O)/libsigreq.a $(O)/flags
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -o $@ $(objects) $(SERVICE_LIBS) $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)

# the parsers of src/http that know no httpd.h are tested alone, too
UNIT_HTTP := $(call obj,src/http/multipart.c src/http/part.c)
$(O)/t/pdf_seal_pixels $(O)/t/pdf_drawing $(O)/t/pdf_values $(O)/t/pdf_entry: UNIT_LIBS := $(IMAGE_LIBS)
# the comparison of revisions, without a process for each
$(O)/t/pdf_revisions $(O)/t/pdf_policies $(O)/t/pdf_entries: $(call obj,$(filter-out %/proofs.cc,$(wildcard src/helper/main/compare/*.cc)) $(addprefix src/helper/main/read/,covers.c xref.c tidy.c))
$(O)/t/pdf_revisions $(O)/t/pdf_policies $(O)/t/pdf_entries: UNIT_LIBS := $(PDFD_LIBS) -lstdc++
$(O)/t/%: $(O)/obj/t/unit/%.o $(UNIT_HTTP) $(O)/libsigreq.a $(O)/flags
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $(objects) $(UNIT_LIBS) $(SERVICE_LIBS) $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)

# a test of one file of sigreq-pdfd links that file
$(foreach i,$(filter $(O)/t/pdfd_%,$(UNIT_BIN)),$(eval $i: $(call obj,$(filter %/$(i:$(O)/t/pdfd_%=%).c,$(PDFD_SRC)))))
$(O)/t/pdfd_%: $(O)/obj/t/unit/pdfd_%.o $(O)/libsigreq.a $(O)/flags
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $(objects) $(PDFD_LIBS) $(BASE_LIBS) $(APR_LIBS)

$(O)/t/pdf_render: private BASE_LIBS += -lpng

# what tests call and is no test
$(O)/t/tool/%: $(O)/obj/t/tool/%.o $(O)/libsigreq.a $(O)/flags
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $(objects) $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)

$(O)/t/tool/collect: private BASE_LIBS += $(SERVICE_LIBS)
$(O)/t/tool/judges: private BASE_LIBS += $(PDFD_LIBS) -lstdc++
$(call obj,$(TOOL_CXX)): private OWN_CPPFLAGS += $(PDFD_CPPFLAGS)

$(O)/t/tool/%.so: $(O)/obj/t/tool/%.o $(O)/flags
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -o $@ $(objects)
$(call obj,t/tool/faulty_token.c): private OWN_CPPFLAGS += $(SIGND_CPPFLAGS)

# figures of the PDF helper: timed, so no tests; `make bench` runs them
$(O)/speed/%: $(O)/obj/t/speed/%.o $(O)/libsigreq.a $(O)/flags
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -pie $(ALL_LDFLAGS) -pthread -o $@ $(objects) $(PDFD_LIBS) $(BASE_LIBS) $(APU_LIBS) $(APR_LIBS)
$(call obj,$(SPEED_SRC)): private OWN_CPPFLAGS += $(PDFD_CPPFLAGS)

# man pages, and the completion of bash, from the tables of the programs
MANUAL_SOURCES := tools/manual tools/completion.bash include/mod_sigreq.h src/settings/directives.def
$(O)/manual/sigreqctl.8 $(O)/manual/sigreqctl: $(O)/sigreqctl $(MANUAL_SOURCES)
	@mkdir -p $(@D)
	$(call say,MANUAL)tools/manual $(if $(suffix $@),sigreqctl,completion) >$@
$(O)/manual/mod_sigreq.8: $(MANUAL_SOURCES) $(O)/flags
	@mkdir -p $(@D)
	$(call say,MANUAL)PREFIX='$(PREFIX)' tools/manual mod_sigreq >$@

include t/fuzz/fuzz.mk

$(O)/t/pdfd_cid: $(call obj,src/helper/main/write/buffer.c src/base/text.c)
$(O)/t/pdfd_sandbox: $(call obj,src/helper/main/process/landlock.c)
$(O)/t/pdfd_fork_server: $(call obj,src/base/seccomp.c src/helper/main/process/landlock.c src/helper/main/process/sandbox.c src/helper/main/process/limits.c)
# loops over every pixel, which gcc 12 makes vectors of at this level alone
$(call obj,src/helper/main/show/png.c src/helper/main/show/image_kind.c): private ALL_CFLAGS += -O3

SQL_SOURCES := tools/sql2c $(wildcard tools/sql/*.pm src/store/*/*.sql conf/schema/*/*.sql) src/store/store.h src/store/private.h
$(O)/sql_pgsql.c $(O)/sql_sqlite3.c: $(O)/sql_%.c: $(SQL_SOURCES)
	@mkdir -p $(@D)
	$(call say,SQL)tools/sql2c $* >$@
$(O)/sql_operations.c: $(SQL_SOURCES)
	@mkdir -p $(@D)
	$(call say,SQL)tools/sql2c calls >$@
$(O)/sql_shapes.c: $(SQL_SOURCES)
	@mkdir -p $(@D)
	$(call say,SQL)tools/sql2c shapes >$@
$(O)/embed/operations.h: $(SQL_SOURCES)
	@mkdir -p $(@D)
	$(call say,SQL)tools/sql2c header >$@
$(call obj,$(LIB_SRC) $(MOD_SRC) $(CTL_SRC) $(UNIT_SRC) $(TOOL_SRC)): | $(O)/embed/operations.h

# embedded files: build/embed/NAME.h holds the bytes of a file as a C array

# the description of the API: its servers get absolute URLs when it is sent (SR_BASE_URL_PLACEHOLDER, \x01)
$(O)/api/openapi.json: src/api/openapi.json Makefile
	@mkdir -p $(@D)
	$(call say,URLS)sed 's|{"url": "\."|{"url": "\x01/api/v3"|; s|{"url": "\.\./\.\."|{"url": "\x01"|' $< >$@
$(O)/embed/%.h: $(O)/api/%
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed $< >$@
$(call obj,$(wildcard src/api/*.c)): $(O)/embed/openapi.json.h

# the templates of mails to signers
MAIL_TEMPLATES := $(foreach kind,invitation reminder code copy view,$(kind).txt $(kind).html)
MAIL_FILES := $(addprefix $(O)/mail/,$(MAIL_TEMPLATES))
$(MAIL_FILES): tools/mail src/jobs/mail.txt src/jobs/mail.html
	@mkdir -p $(@D)
	$(call say,MAIL)tools/mail $(basename $(@F)) src/jobs/mail$(suffix $@) >$@
$(O)/embed/%.h: $(O)/mail/%
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed $< >$@
$(call obj,src/jobs/letter.c): $(patsubst %,$(O)/embed/%.h,$(MAIL_TEMPLATES))

EMBEDDED := $(addprefix $(O)/embed/,$(addsuffix .h,openapi.json $(MAIL_TEMPLATES) api_page page_assets page_html \
            page_texts operations))
# the signing page: esbuild bundles what browsers load; that, the pieces of HTML and the texts are embedded
$(NPM)/%/installed: tools/npm
	$(call say,NPM)tools/npm t/$* $(@D) && touch $@
$(NPM)/browser/installed: t/browser/package.json t/browser/package-lock.json
$(NPM)/lint/installed: t/lint/package.json t/lint/package-lock.json
$(NPM)/clients/installed: t/clients/package.json t/clients/package-lock.json
PAGE := src/web/assets
ifneq ($(wildcard dist/page/bundled),) # of `make dist`
$(O)/page/bundled: dist/page/bundled
	@mkdir -p $(@D)
	$(call say,COPY)cp -R dist/page/. $(@D)/ && touch $@
else
$(O)/page/bundled: tools/bundle.py tools/api_page.py tools/api_examples.py src/api/openapi.json \
                   $(wildcard $(PAGE)/js/*.js $(PAGE)/js/*/*.js $(PAGE)/css/*.css)
	$(call say,BUNDLE)tools/bundle.py $(@D)/assets && touch $@
endif
$(O)/embed/page_assets.h: $(O)/page/bundled
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed --files embedded_assets $(O)/page/assets >$@
$(O)/embed/api_page.h: $(O)/page/bundled
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed --files embedded_api $(O)/page/api >$@
$(O)/embed/page_html.h: $(wildcard $(PAGE)/html/*.html)
$(O)/embed/page_texts.h: $(wildcard $(PAGE)/texts/*.json)
$(O)/embed/page_%.h: tools/embed
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed --files embedded_$* $(PAGE)/$* >$@
$(call obj,src/api/page.c): $(O)/embed/api_page.h
$(call obj,src/web/files.c): $(O)/embed/page_assets.h $(O)/embed/page_html.h
$(call obj,src/model/language.c): $(O)/embed/page_texts.h
#: make languages                      generate dates and plurals from the CLDR of Node.js, for a new row in languages.def
languages:
	tools/cldr.mjs dates >src/model/dates.def
	tools/cldr.mjs plurals >src/model/plurals.def

$(call obj,$(MOD_SRC)): private OWN_CPPFLAGS += $(HTTPD_CPPFLAGS)
$(call obj,$(PDFD_SRC)): private OWN_CPPFLAGS += $(PDFD_CPPFLAGS)
$(call obj,src/ctl/config.c src/ctl/help.c): private OWN_CPPFLAGS += -DSR_DEFAULT_CONFIG='"$(DEFAULT_CONFIG)"'
$(call obj,src/ctl/main.c src/ctl/doctor.c): private OWN_CPPFLAGS += -DSR_VERSION='"$(VERSION)"'
$(call obj,src/ctl/main.c): include/mod_sigreq.h
$(call obj,$(SIGND_SRC)): private OWN_CPPFLAGS += $(SIGND_CPPFLAGS)

$(O)/obj/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(OWN_CPPFLAGS) $(BASE_CPPFLAGS) $(CPPFLAGS) -c -o $@ $<
$(O)/obj/%.o: %.cc $(O)/flags
	@mkdir -p $(@D)
	$(call say,C++)$(CXX) $(ALL_CXXFLAGS) $(OWN_CPPFLAGS) $(CPPFLAGS) -c -o $@ $<
$(O)/obj/%.o: $(O)/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(OWN_CPPFLAGS) $(BASE_CPPFLAGS) $(CPPFLAGS) -c -o $@ $<

#: make install [DESTDIR=] [PREFIX=]   install beside httpd
#: make uninstall [DESTDIR=] [PREFIX=] remove what was installed, except a sigreq.conf that was edited
AVAILABLE = $(HTTPD_SYSCONFDIR)/mods-available
DOC       = $(PREFIX)/share/doc/mod_sigreq
SHARE     = $(PREFIX)/share/sigreq
MAIL      = $(SHARE)/mail
MAN8      = $(PREFIX)/share/man/man8
COMPLETION = $(PREFIX)/share/bash-completion/completions
# A file conf/FOLDER/NAME is installed as share/sigreq/FOLDER/NAME, unless httpd, the build or a package has its folder.
SHARED = $(filter-out conf/schema/% conf/systemd/%,$(wildcard conf/*/*))
DOC_FOLDERS = $(patsubst docs/%/,%,$(wildcard docs/*/))
# MODE:FILE:FOLDER
INSTALLED = 644:$(O)/mod_sigreq.so:$(HTTPD_LIBEXECDIR) 755:$(O)/sigreq-pdfd:$(PREFIX)/lib/sigreq \
            755:$(O)/sigreq-signd:$(PREFIX)/lib/sigreq \
            755:$(O)/sigreqctl:$(PREFIX)/sbin 644:include/mod_sigreq.h:$(PREFIX)/include/apache2 \
            644:$(O)/manual/sigreqctl.8:$(MAN8) 644:$(O)/manual/mod_sigreq.8:$(MAN8) 644:$(O)/manual/sigreqctl:$(COMPLETION) \
            644:conf/modsecurity.conf:$(SHARE) \
            $(patsubst %,644:%:$(MAIL),$(MAIL_FILES)) \
            $(patsubst %,644:%:$(DOC),README CHANGES LICENSE NOTICE $(wildcard docs/*.md docs/*.png)) \
            $(foreach i,$(SHARED),$(shell if [ -x $i ]; then echo 755; else echo 644; fi):$i:$(SHARE)/$(patsubst conf/%/,%,$(dir $i))) \
            $(foreach i,$(DOC_FOLDERS),$(patsubst %,644:%:$(DOC)/$i,$(wildcard docs/$i/*)))
target_of = $(DESTDIR)$(word 3,$(1))/$(notdir $(word 2,$(1)))
define install_one
install -D -m $(word 1,$(1)) $(word 2,$(1)) $(call target_of,$(1))

endef
# never over what somebody has edited
CONF_TARGET = $(DESTDIR)$(AVAILABLE)/sigreq.conf
install: all $(MAIL_FILES)
	$(foreach i,$(INSTALLED),$(call install_one,$(subst :, ,$i)))
	cmp -s conf/sigreq.conf $(CONF_TARGET) || \
	    install -D -m 600 conf/sigreq.conf $(CONF_TARGET)$(if $(wildcard $(CONF_TARGET)),.new)
	sed 's|@LIBEXECDIR@|$(HTTPD_LIBEXECDIR)|' conf/sigreq.load >$(DESTDIR)$(AVAILABLE)/sigreq.load
uninstall:
	rm -f $(foreach i,$(INSTALLED),$(call target_of,$(subst :, ,$i))) $(DESTDIR)$(AVAILABLE)/sigreq.load
	for f in $(CONF_TARGET) $(CONF_TARGET).new; do if cmp -s conf/sigreq.conf $$f; then rm -f $$f; fi; done
	for d in $(PREFIX)/lib/sigreq $(MAIL) $(patsubst conf/%,$(SHARE)/%,$(sort $(dir $(SHARED)))) $(SHARE) \
	    $(DOC_FOLDERS:%=$(DOC)/%) $(DOC); do \
	    [ ! -d $(DESTDIR)$$d ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$$d; done

# The tree of the last commit, and the assets of the signing page as they are bundled: who builds it needs no esbuild.
VERSION = $(shell sed -n 's/^\#define MOD_SIGREQ_VERSION "\(.*\)"/\1/p' include/mod_sigreq.h)
DIST = mod_sigreq-$(VERSION)
#: make dist                           build/mod_sigreq-VERSION.tar.gz, which builds without esbuild and network; a commit
#:                                     gives the same bytes each time
dist:
	@tools/deps dist
	@$(MAKE) --no-print-directory $(O)/page/bundled
	git archive --prefix='$(DIST)/' -o '$(O)/$(DIST).tar' HEAD
	tar -rf '$(O)/$(DIST).tar' --sort=name --mtime="@$$(git log -1 --format=%ct)" --mode=u=rwX,go=rX \
	    --owner=root:0 --group=root:0 --transform='s|^|$(DIST)/dist/|' -C '$(O)' page
	gzip -9nf '$(O)/$(DIST).tar'

# The packages are built from the tarball alone, in a folder of their own.
DEB = $(O)/deb
#: make deb                            build/deb/*.deb: packages for Debian, from the tarball of `make dist`, without network
deb: dist
	@tools/deps package
	rm -rf '$(DEB)'
	mkdir -p '$(DEB)/source'
	tar -C '$(DEB)/source' --strip-components=1 -xf '$(O)/$(DIST).tar.gz'
	gzip -dc '$(O)/$(DIST).tar.gz' | tar -f - --delete '$(DIST)/debian' | gzip -9n >'$(DEB)/mod-sigreq_$(VERSION).orig.tar.gz'
	cd '$(DEB)/source' && dpkg-buildpackage -us -uc
	rm -rf '$(DEB)/source'

# The tarball is the source; rpmbuild's dependencies are not checked, because Debian has no database of rpm's packages.
#: make rpm                            build/rpm/*.rpm: packages for Fedora, from the same tarball (built here, not installed)
rpm: dist
	@tools/deps rpm
	rm -rf '$(O)/rpm'
	mkdir -p '$(O)/rpm/SOURCES'
	cp '$(O)/$(DIST).tar.gz' '$(O)/rpm/SOURCES/'
	rpmbuild -bb --nodeps --define '_topdir $(abspath $(O))/rpm' --define 'sigreq_version $(VERSION)' \
	    --define 'debug_package %{nil}' --define '_build_id_links none' rpm/mod_sigreq.spec
	mv '$(O)'/rpm/RPMS/*/*.rpm '$(O)/rpm/'
	rm -rf $(addprefix '$(O)'/rpm/,BUILD BUILDROOT RPMS SOURCES SPECS SRPMS)

#: make image                          build/image: an image for containers (OCI), from the packages of `make deb` (root)
image: deb
	@tools/deps test-package
	tools/image '$(O)/image' '$(DEB)'

#: make test-package [BASE=COMMIT]     install, use, upgrade and purge the packages in a bare machine, with the commands of
#:                                     docs/operations.md (root); also what `make rpm` and `make image` have built.
#:                                     BASE is what is upgraded: a commit, or else the last release or commit
test-package: deb
	@tools/deps test-package
	@BASE='$(BASE)' exec prove -It/lib -v t/package/*.t

#: make test-debian13                  build the packages in a Debian 13, run the tests of sealing and verifying there, and
#:                                     install, use, upgrade and purge the packages as `make test-package` does (root)
test-debian13: deb
	@tools/deps test-package
	@SIGREQ_DEBIAN13=1 prove -It/lib -v t/package/debian13.t
	@SIGREQ_SUITE=trixie exec prove -It/lib -v $(addprefix t/package/,deb.t operations.t units.t piuparts.t autopkgtest.t)

#: make deps                           install the Debian packages for all of this (root or sudo)
deps:
	tools/deps all
#: make run [PORT=] [STATE=] [DB=] [ALLOW=]  start a server to try, with tokens, on 127.0.0.1 (DB=sqlite3 or pgsql); ALLOW is an origin
#:                                     that may frame the signing page and be its redirectUrl, such as http://localhost:3000
run:
	@tools/deps run $(DB)
	@$(MAKE) --no-print-directory $(if $(V),,-s) $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc)) all
	@exec tools/run --port '$(PORT)' --state '$(STATE)' --db '$(DB)' --allow '$(ALLOW)' --receiver '$(RECEIVER)'
#: make demo-receiver [STATE=]         print the webhooks of `make run`, and the codes for signers (authentication method hook)
demo-receiver:
	@exec tools/demo-receiver --state '$(STATE)' --port '$(RECEIVER)'
#: make pictures [STATE=]              draw the pictures of docs/signing-page with the server of `make run`
pictures:
	@tools/deps test
	@$(MAKE) --no-print-directory $(NPM)/browser/installed
	@[ -r '$(STATE)/env' ] || { echo 'pictures: make run does not run in $(STATE)' >&2; exit 1; }
	@set -a; . '$(abspath $(STATE))/env'; exec node tools/pictures.mjs
#: make check                          the guards and the unit tests
check:
	@tools/deps test
	@$(MAKE) --no-print-directory all units
	@exec t/run '^t/guard/(?!build)' '^build/t/'
#: make test [SANITIZE=1]              run the tests; the last line counts them
#: t/run PATTERN...                    run the test files whose names match (after `make all units`)
test:
	@tools/deps test
	@$(MAKE) --no-print-directory all units $(NPM)/browser/installed
	@SIGREQ_CORPUS="$(or $(SIGREQ_CORPUS),$(CORPUS))" exec $(if $(SANITIZE),tools/sanitize,t/run)
#: make test-more                      what make test leaves out: prefork, other browsers and compilers, chance, more rounds
test-more:
	@tools/deps test
	@$(MAKE) --no-print-directory all units $(NPM)/browser/installed
	@SIGREQ_MORE=1 exec t/run
#: make torture [SIGREQ_SEED=]         run what depends on chance at full length; the last line counts as in `make test`
torture:
	@tools/deps test
	@$(MAKE) --no-print-directory all units
	@SIGREQ_TORTURE=1 exec t/run
#: make test-cluster [S3=radosgw]      run the tests with documents in S3 (Swift, or Ceph), and with several hosts
test-cluster:
	@tools/deps $(if $(filter radosgw,$(S3)),radosgw,cluster)
	@$(MAKE) --no-print-directory all units
	@SIGREQ_S3='$(S3)' SIGREQ_CLUSTER=1 exec t/run
#: make test-firewall                  run the tests of the API and the pages behind ModSecurity, at paranoia levels 1 and 2
test-firewall:
	@tools/deps test
	@$(MAKE) --no-print-directory all units
	@SIGREQ_FIREWALL=1 exec t/run
#: make test-clients                   check openapi.json by linters, and by clients that seven generators make of it (npm registry)
test-clients:
	@tools/deps test
	@$(MAKE) --no-print-directory all units
	@if $(MAKE) --no-print-directory $(NPM)/clients/installed; then SIGREQ_CLIENTS=1 exec t/run; \
	    else echo 'skipped: the packages of t/clients cannot be had'; fi
#: make format                         give all C and C++ files the style of .clang-format
format:
	@tools/deps lint
	@tools/lint --format
#: make lint [ANALYZE=1]               check the style of C files, and all sources for mistakes (ANALYZE: with clang's analyzer)
lint:
	@tools/deps lint
	@$(MAKE) -s --no-print-directory $(EMBEDDED) $(NPM)/lint/installed compile_commands.json
	@NPM='$(NPM)' LINT_ANALYZE='$(ANALYZE)' exec tools/lint
#: make coverage [TESTS=]              lines and branches that the tests reach
coverage:
	@tools/deps coverage
	@$(MAKE) --no-print-directory all units
	@exec tools/coverage $(TESTS)
#: make bench [BASE=COMMIT]            measure, alone or beside another commit
bench:
	@tools/deps bench
	@$(MAKE) --no-print-directory all $(SPEED_BIN) $(O)/t/tool/tsa $(NPM)/browser/installed
	@exec $(if $(BASE),tools/bench/compare '$(BASE)',tools/bench/run)
#: make corpus CORPUS=FOLDER           send public files to the server
corpus:
	@tools/deps test
	@$(MAKE) --no-print-directory all
	@exec tools/corpus '$(CORPUS)'
#: make corpus-sign CORPUS=FOLDER [LONGTERM=1]  sign public PDFs and have them judged (LONGTERM: with timestamps and proofs)
corpus-sign:
	@tools/deps test
	@$(MAKE) --no-print-directory all $(O)/t/tool/tsa $(O)/t/tool/responder
	@LONGTERM='$(LONGTERM)' exec tools/corpus-sign '$(CORPUS)'
# O may be a folder that has other files, too.
#: make clean                          remove what was built
clean:
	rm -rf $(addprefix $(O)/,$(notdir $(PROGRAMS) $(SQL_TABLES)) flags symbols libsigreq.a libpdfd.a obj api embed mail manual page npm t speed fuzz \
	    coverage deb base rpm image screenshots $(DIST).tar $(DIST).tar.gz)
	[ ! -d $(O) ] || rmdir --ignore-fail-on-non-empty $(O)

# for clangd, clang-tidy and editors
#: make compile_commands.json          how each file is compiled, for clangd and clang-tidy
.PHONY: compile_commands.json
compile_commands.json:
	@$(MAKE) -Bnk --no-print-directory CC='$(lastword $(CC))' CXX='$(lastword $(CXX))' V=1 all units \
	    $(call obj,$(SPEED_SRC)) 2>/dev/null | \
	    tools/compile-commands >$@

-include $(patsubst %.o,%.d,$(call obj,$(LIB_SRC) $(MOD_SRC) $(PDFD_SRC) $(PDFD_CXX) $(SIGND_SRC) $(CTL_SRC) $(UNIT_SRC) $(SPEED_SRC) $(TOOL_SRC) $(TOOL_CXX)))
