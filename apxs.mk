# SPDX-License-Identifier: Apache-2.0
# apxs.mk: asks apxs (and pkg-config) where httpd and its libraries are. The Makefile builds with the answers.
# Their headers are system headers to the compiler: the warnings are for our own code.
APXS       ?= apxs
PKG_CONFIG ?= pkg-config

# One call for all of them, because apxs starts ten other programs.
HTTPD            := $(subst ;;, ,$(shell $(APXS) -q LIBEXECDIR SYSCONFDIR INCLUDEDIR EXTRA_CPPFLAGS 2>/dev/null))
HTTPD_LIBEXECDIR := $(word 1,$(HTTPD))
HTTPD_SYSCONFDIR := $(word 2,$(HTTPD))
HTTPD_INCLUDEDIR := $(word 3,$(HTTPD))
HTTPD_CPPFLAGS   := $(wordlist 4,$(words $(HTTPD)),$(HTTPD)) -isystem $(HTTPD_INCLUDEDIR)
APR_CPPFLAGS     := $(patsubst -I%,-isystem %,$(shell apr-1-config --cppflags --includes 2>/dev/null))
APR_LIBS         := $(shell apr-1-config --link-ld 2>/dev/null)
APU_LIBS         := $(shell apu-1-config --link-ld 2>/dev/null)

BASE_CPPFLAGS := $(APR_CPPFLAGS) $(shell $(PKG_CONFIG) --cflags jansson libcrypto libcurl 2>/dev/null)
BASE_LIBS     := $(shell $(PKG_CONFIG) --libs jansson libcrypto libdeflate 2>/dev/null) -lunistring \
                 -Wl,--as-needed $(shell $(PKG_CONFIG) --libs libidn2 2>/dev/null) -Wl,--no-as-needed -lm
PDFD_PACKAGES := libqpdf poppler-glib gio-unix-2.0 cairo pango fontconfig harfbuzz harfbuzz-subset fribidi libpng libjpeg libwebp zlib libdeflate libisal libseccomp libqrencode
POPPLER_DATA  := $(shell $(PKG_CONFIG) --variable=poppler_datadir poppler-data 2>/dev/null)
PDFD_CPPFLAGS := $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags $(PDFD_PACKAGES) 2>/dev/null)) \
                 -DSR_POPPLER_DATA='"$(or $(POPPLER_DATA),/usr/share/poppler)"'
PDFD_LIBS     := -Wl,--export-dynamic-symbol=fstat $(shell $(PKG_CONFIG) --libs $(PDFD_PACKAGES) 2>/dev/null)
SIGND_LIBS    := $(shell $(PKG_CONFIG) --libs libseccomp p11-kit-1 2>/dev/null)
SIGND_CPPFLAGS := $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags p11-kit-1 2>/dev/null))
IMAGE_LIBS    := $(shell $(PKG_CONFIG) --libs libpng libjpeg 2>/dev/null)
SERVICE_LIBS  := -Wl,--as-needed $(shell $(PKG_CONFIG) --libs libcurl libarchive 2>/dev/null) -Wl,--no-as-needed
