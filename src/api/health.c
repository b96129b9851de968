/* SPDX-License-Identifier: Apache-2.0 */
/* health.c: GET /health, for load balancers and people: whether the database and the PDF helper respond, documents
 * can be stored and the seal can be used. It needs no token, because the response contains nothing else. */
#include "api/api.h"

#include <http_log.h>
#include <string.h>

#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

static const char *health_part(sr_http_t *http, const char *name, const sr_error_t *error)
{
    if (!error) return "ok";
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, http->r, "SR0110: health: unavailable: %s: %s [request %s]", name,
                  sr_error_text(error, false, http->pool), http->r->log_id);
    return "unavailable";
}

/* Other parameters are ignored, because monitors may send some. */
static bool is_verbose(const sr_http_t *http)
{
    static const char name[] = "verbose";
    const char *at = http->r->args;
    while (at) {
        const size_t length = strcspn(at, "&=");
        if (length == sizeof name - 1 && !strncmp(at, name, length)) return true;
        at = strchr(at, '&');
        if (at) at++;
    }
    return false;
}

/* For people, not for load balancers: a seal that is revoked or expires does not make this host worse than others. */
static json_t *seal_json(sr_http_t *http)
{
    sr_seal_state_t seal;
    sr_service_seal_state(http->service, &seal, http->pool);
    json_t *answer = json_object();
    json_object_set_new(answer, "status", json_string(seal.state));
    json_object_set_new(answer, "certificateExpires", sr_time_json(seal.expires));
    if (seal.watched) json_object_set_new(answer, "provenUntil", sr_time_json(seal.proven_until));
    return answer;
}

/* Everybody may ask, so the reason is only in the log of the start (SR0704) and in `sigreqctl db status`. */
static const char *durability(const sr_health_t *health)
{
    if (health->database) return "unknown";
    return health->risk ? "at risk" : "ok";
}

/* Numbers alone: everybody may ask, and nobody shall learn which organisations there are. */
static void add_own_seals(sr_http_t *http, json_t *answer)
{
    sr_own_seals_t seals;
    sr_service_own_seals(http->service, &seals, http->pool);
    if (!seals.configured) return;
    json_object_set_new(answer, "organizationSeals",
                        json_pack("{s:i,s:i,s:i,s:i}", "ok", seals.ok, "expiring", seals.expiring, "revoked",
                                  seals.revoked, "unusable", seals.unusable));
}

sr_error_t *sr_api_health(sr_http_t *http)
{
    sr_health_t health;
    sr_service_health(http->service, &health, http->pool);
    bool well = !health.database && !health.helper && !health.documents && !health.seal;
    json_t *answer = json_object();
    json_object_set_new(answer, "status", json_string(well ? "ok" : "unavailable"));
    json_object_set_new(answer, "database", json_string(health_part(http, "database", health.database)));
    json_object_set_new(answer, "helper", json_string(health_part(http, "helper", health.helper)));
    /* present only if something is wrong, so that the response 200 stays the same */
    if (health.documents)
        json_object_set_new(answer, "documents", json_string(health_part(http, "documents", health.documents)));
    if (health.seal) json_object_set_new(answer, "sealing", json_string(health_part(http, "sealing", health.seal)));
    if (is_verbose(http)) {
        json_object_set_new(answer, "durability", json_string(durability(&health)));
        json_object_set_new(answer, "seal", seal_json(http));
        add_own_seals(http, answer);
    }
    if (!well) apr_table_setn(http->r->err_headers_out, "Retry-After", "2");
    return sr_http_json(http, well ? HTTP_OK : HTTP_SERVICE_UNAVAILABLE, answer);
}

void sr_api_refuse(sr_http_t *http, const char *tag)
{
    if (!http->secret_paths && !strcmp(http->path, "/health")) {
        apr_table_setn(http->r->err_headers_out, "Retry-After", "2");
        (void)sr_http_json(http, HTTP_SERVICE_UNAVAILABLE,
                           json_pack("{s:s,s:s}", "status", "unavailable", "disabled", tag));
        return;
    }
    sr_http_error(http, sr_error(http->pool, SR_EUNAVAILABLE, "This service is unavailable (%s)", tag));
}
