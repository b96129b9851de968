/* SPDX-License-Identifier: Apache-2.0 */
/* store_archive.c: SR_OP_JOB_ARCHIVE on both databases: which completed submissions get a job, in what order, how many
 * of an organisation, and when a submission gets another one. */
#include "jobs.h"

#define DAY ((apr_time_t)86400 * 1000000)

/* Runs SQL that is the same for both databases but for the schema, which is written as "@". */
static void change(link_t *l, const char *sql)
{
    const char *schema = strcmp(l->base->driver_name, "pgsql") ? "" : "sigreq.";
    const char *text = "";
    for (const char *at; (at = strchr(sql, '@')) != NULL; sql = at + 1)
        text = apr_pstrcat(l->pool, text, apr_pstrmemdup(l->pool, sql, (apr_size_t)(at - sql)), schema, NULL);
    execute(l, apr_pstrcat(l->pool, text, sql, NULL));
}

/* A submission that was completed `age` days ago, and is stamped until `until` (NULL: it is not). */
static void completed(link_t *l, unsigned organization, unsigned number, int age, const char *until)
{
    CREATE(l, wish(&(wish_t){.token = token_hash(organization, l->pool), .now = NOW, .number = number, .name = "One"},
                   l->pool));
    if (strcmp(link_outcome(l), "ok") != 0) is_str(link_outcome(l), "ok", "a submission");
    change(l, apr_psprintf(l->pool,
                           "UPDATE @submission SET state = 'completed', closed_at = %" APR_TIME_T_FMT
                           ", stamped_until = %s WHERE uuid = '%s'",
                           NOW - age * DAY, until ? until : "NULL", uuid(1, number, l->pool)));
}

/* Queues what was closed `age` days ago or before, or is stamped until `before`. Returns "due made". */
static const char *queue(link_t *l, int age, apr_time_t before, const char *most)
{
    const char *until = number(NOW - age * DAY, l->pool);
    RUN(l, SR_OP_JOB_ARCHIVE, until, "0", number(before, l->pool), now_text, most);
    if (strcmp(link_outcome(l), "ok") != 0) return link_outcome(l);
    return apr_pstrcat(l->pool, COLUMN(l, "due"), " ", COLUMN(l, "made"), NULL);
}

/* Claims all jobs of an organisation. Returns the numbers of their submissions. */
static const char *claims(link_t *l, const char *claim, int organization)
{
    const char *said = "";
    RUN(l, SR_OP_JOB_BATCH,
        apr_psprintf(
            l->pool,
            "{\"claim\":\"%s\",\"now\":%" APR_TIME_T_FMT ",\"leases\":{\"archive\":30000000},\"rows\":99,"
            "\"share\":" SHARE(99, 0, "") ",\"other\":0,\"from\":%d,\"organizations\":{},"
                                          "\"destinations\":{\"%d\":{" DESTINATION("archive:", 99) "}},\"ended\":[]}",
            claim, NOW, organization - 1, organization));
    for (int i = 0; i < l->rows->nelts - 1; i++) {
        const char *body = claim_member(l, i, "body");
        if (atoi(claim_member(l, i, "organization")) != organization) continue;
        const char *submission = member(body, "submission", l->pool);
        said = apr_psprintf(l->pool, "%s%s%lx", said, *said ? " " : "", strtoul(submission + 1, NULL, 16));
    }
    return said;
}

static void end_all(link_t *l, const char *claim, const char *how)
{
    RUN(l, SR_OP_JOB_BATCH,
        apr_psprintf(l->pool,
                     "{\"claim\":\"none\",\"now\":%" APR_TIME_T_FMT ",\"leases\":{},\"rows\":0," PLENTY
                     ",\"destinations\":{}%s}",
                     NOW, ended(l, claim, how)));
}

static void checks(base_t *base)
{
    link_t l;
    link_connect(&l, base, base->pool);
    now_text = number(NOW, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    link_contents(&l);
    make_organizations(&l);
    is_str(queue(&l, 0, 0, "9"), "0 0", "nothing is due");
    completed(&l, 1, 1, 3, NULL);
    completed(&l, 1, 2, 5, NULL);
    completed(&l, 1, 3, 0, NULL);
    completed(&l, 2, 4, 9, "1000");
    completed(&l, 2, 5, 1, NULL);
    completed(&l, 2, 6, 9, "999");
    completed(&l, 2, 7, 9, "1001");
    is_str(queue(&l, 6, 0, "9"), "0 0", "none was completed so long ago");
    is_str(queue(&l, 1, 1000, "2"), "5 4", "the jobs of an organisation are limited");
    is_str(claims(&l, "a", 1), "2 1", "those that were completed first come first");
    const char *body = claim_member(&l, 0, "body");
    ok(strlen(member(body, "folder", l.pool)) == 38, "a job names the folder: %s", body);
    end_all(&l, "a", GOOD);
    is_str(queue(&l, 1, 1000, "2"), "5 0", "each organisation has two, or had them lately");
    RUN(&l, SR_OP_JOB_SURVEY, survey_of(&l, "[]"));
    is_str(COLUMN(&l, "waiting"), "0", "they are no deliveries that wait");
    is_str(claims(&l, "b", 2), "5 6", "what was never archived comes before what ends first");
    end_all(&l, "b", "\"status\":null,\"success\":false,\"error\":\"no\"");
    is_str(queue(&l, 1, 1000, "2"), "5 1", "there is room for the third one");
    is_str(claims(&l, "c", 2), "4", "the third submission comes last");
    end_all(&l, "c", GOOD);
    is_str(queue(&l, 1, 1000, "9"), "5 0", "one that failed gets no other job");
    change(&l, "UPDATE @job SET ended_at = ended_at - 86400000000 WHERE kind = 'archive'");
    change(&l, "UPDATE @submission SET stamped_until = 2000 WHERE state = 'completed' AND stamped_until IS NULL");
    is_str(queue(&l, 1, 1000, "9"), "2 2", "a submission that failed gets another job after a day");
    change(&l, "UPDATE @submission SET stamped_until = NULL WHERE state = 'completed'");
    RUN(&l, SR_OP_JOB_ARCHIVE, "0", number(NOW, l.pool), "0", now_text, "9");
    is_str(COLUMN(&l, "due"), "0", "the environments have times of their own");
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
