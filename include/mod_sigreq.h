/* SPDX-License-Identifier: Apache-2.0 */
/* mod_sigreq.h: what other modules may use of mod_sigreq. */
#ifndef MOD_SIGREQ_H
#define MOD_SIGREQ_H

#include <httpd.h>
#include <http_config.h>

#define MOD_SIGREQ_VERSION "0.1.0"

/* The one symbol that httpd looks for; everything else of the module is hidden. */
extern __attribute__((visibility("default"))) module AP_MODULE_DECLARE_DATA sigreq_module;

#endif
