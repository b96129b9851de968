/* SPDX-License-Identifier: Apache-2.0 */
/* token_row.h: tokens as the store gives them. */
#ifndef SR_SERVICE_TOKEN_ROW_H
#define SR_SERVICE_TOKEN_ROW_H

#include "service/private.h"

/* The token of a row, unless the outcome has none: then its error. */
sr_error_t *sr_service_token_of(sr_token_t **token, sr_outcome_t outcome, const sr_token_row_t *row, apr_pool_t *pool);

#endif
