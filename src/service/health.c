/* SPDX-License-Identifier: Apache-2.0 */
/* health.c: the health check: whether the database, the helper, the documents folder and the seal work. */
#include "service/private.h"
#include "service/seals/seal_document.h"

#include <string.h>

static sr_error_t *health_check_database(const char **risk, const sr_service_t *service, apr_pool_t *pool)
{
    const sr_installation_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_ping(service->database, &outcome, &row, service->database->servers, pool));
    *risk = row->risk;
    return row->read_only ? sr_error(pool, SR_EUNAVAILABLE, "The database is read-only") : NULL;
}

void sr_service_health(const sr_service_t *service, sr_health_t *health, apr_pool_t *pool)
{
    health->risk = NULL;
    health->database = health_check_database(&health->risk, service, pool);
    health->helper = sr_pdf_ping(service->pdf, pool);
    health->documents = NULL;
    health->seal = sr_sealing_usable(service, pool);
    if (!health->database) sr_service_probe(service, health, pool);
}
