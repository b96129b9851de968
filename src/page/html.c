/* html.c: the page as plain HTML that works without a script: read, type a name, agree, sign; or refuse. */
#include <apr_escape.h>
#include <string.h>

#include "page/page.h"

static const char *escaped(const char *text, apr_pool_t *pool)
{
    return text ? apr_pescape_entity(pool, text, 0) : "";
}

static const char *of(const json_t *object, const char *key, apr_pool_t *pool)
{
    return escaped(sr_json_string(object, key), pool);
}

static const char *frame(const char *title, const char *body, apr_pool_t *pool)
{
    return apr_pstrcat(pool,
                       "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
                       title, "</title>\n</head>\n<body>\n<main>\n<h1>", title, "</h1>\n", body,
                       "</main>\n</body>\n</html>\n", NULL);
}

static const char *document_list(const json_t *view, apr_pool_t *pool)
{
    const json_t *documents = json_object_get(view, "documents");
    const char *list = "<h2>Documents</h2>\n<ul>\n";
    for (size_t i = 0; i < json_array_size(documents); i++) {
        const json_t *row = json_array_get(documents, i);
        list = apr_pstrcat(pool, list, "<li><a href=\"", of(row, "url", pool), "\">", of(row, "name", pool), "</a>, ",
                           apr_psprintf(pool, "%d", (int)json_integer_value(json_object_get(row, "pages"))),
                           " pages</li>\n", NULL);
    }
    return apr_pstrcat(pool, list, "</ul>\n", NULL);
}

static const char *forms(const json_t *view, const char *link, apr_pool_t *pool)
{
    const json_t *signer = json_object_get(view, "signer"), *consent = json_object_get(view, "consent");
    const char *action = escaped(link, pool);
    return apr_pstrcat(pool, "<h2>Sign</h2>\n<form method=\"post\" action=\"", action,
                       "\">\n<p><label>Your name, as your signature: <input name=\"typed\" required maxlength=\"200\" "
                       "autocomplete=\"name\" value=\"",
                       of(signer, "firstname", pool), " ", of(signer, "lastname", pool),
                       "\"></label></p>\n<p><label><input type=\"checkbox\" name=\"consent\" value=\"yes\" required> ",
                       of(consent, "text", pool),
                       "</label></p>\n<p><button name=\"action\" value=\"sign\">Sign</button></p>\n</form>\n"
                       "<h2>Refuse</h2>\n<form method=\"post\" action=\"",
                       action,
                       "\">\n<p><label>Reason (optional): <input name=\"reason\" maxlength=\"1000\"></label></p>\n"
                       "<p><button name=\"action\" value=\"refuse\">Refuse to sign</button></p>\n</form>\n",
                       NULL);
}

/* What is said in a state in which nothing can be done any more; NULL: he may sign. */
static const char *closing(const json_t *view, apr_pool_t *pool)
{
    static const struct {
        const char *state, *text;
    } rows[] = {{"completed", "You have signed. The documents above have your signature."},
                {"refused", "You have refused to sign."},
                {"closed", "Somebody else has refused to sign. There is nothing left for you to do."}};
    const char *state = sr_json_string(view, "state"), *certificate = of(view, "certificate", pool);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].state, state)) continue;
        return apr_pstrcat(pool, "<p role=\"status\">", rows[i].text, "</p>\n", *certificate ? "<p><a href=\"" : "",
                           certificate, *certificate ? "\">Certificate of completion</a></p>\n" : "", NULL);
    }
    return NULL;
}

const char *sr_page_html(const json_t *view, const char *link, apr_pool_t *pool)
{
    const json_t *requester = json_object_get(view, "requester");
    const char *closed = closing(view, pool), *environment = sr_json_string(view, "environment");
    const char *intro =
        apr_pstrcat(pool, "<p>", of(requester, "firstname", pool), " ", of(requester, "lastname", pool), " (",
                    of(requester, "organization", pool), ") asks for your signature.</p>\n", NULL);
    return frame(of(view, "name", pool),
                 apr_pstrcat(pool, strcmp(environment, "test") ? "" : "<p><strong>TEST</strong></p>\n", intro,
                             document_list(view, pool), closed ? closed : forms(view, link, pool), NULL),
                 pool);
}

const char *sr_page_error_html(int status, const char *message, apr_pool_t *pool)
{
    const char *title = status == HTTP_NOT_FOUND             ? "This link leads nowhere"
                        : status == HTTP_SERVICE_UNAVAILABLE ? "Not available at the moment"
                        : status == HTTP_CONFLICT            ? "Nothing was changed"
                                                             : "That did not work";
    return frame(title, apr_pstrcat(pool, "<p role=\"alert\">", escaped(message, pool), "</p>\n", NULL), pool);
}
