/* SPDX-License-Identifier: Apache-2.0 */
/* token_row.h: converts rows of the store to tokens. */
#ifndef SR_SERVICE_ACCOUNTS_TOKEN_ROW_H
#define SR_SERVICE_ACCOUNTS_TOKEN_ROW_H

#include "service/private.h"

/* Sets *token from a row. If the outcome has no token, its error is returned. */
sr_error_t *sr_service_token_of(sr_token_t **token, sr_outcome_t outcome, const sr_token_row_t *row, apr_pool_t *pool);

#endif
