/* SPDX-License-Identifier: Apache-2.0 */
/* owner.h: whose a claim is. Private to src/jobs. */
#ifndef SR_OWNER_H
#define SR_OWNER_H

#include "jobs/jobs.h"

/* The name of this process, without a '.'. */
const char *sr_owner_name(apr_pool_t *pool);
/* True when a process is certainly dead: one of this machine that does not exist any more. `own` is this one's name. */
bool sr_owner_is_dead(const char *own, const char *name);

#endif
