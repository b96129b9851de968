/* health.c: whether the two things this service cannot work without answer. */
#include "service/service.h"

void sr_service_health(const sr_service_t *service, sr_health_t *health, apr_pool_t *pool)
{
    const char *body;
    health->database = sr_service_call_one(service, SR_OP_PING, &body, NULL, 0, pool);
    health->helper = sr_pdf_ping(service->pdf, pool);
}
