/* SPDX-License-Identifier: Apache-2.0 */
/* files.c: the files of the pages, embedded at build time: the files that browsers load, and the HTML templates. */
#include <string.h>

#include "web/web.h"

#include "embed/page_assets.h"
#include "embed/page_html.h"

static const sr_embedded_t *files_named(const sr_embedded_t *table, const char *name, bool plain)
{
    for (; table->file; table++)
        if (!strcmp(plain ? table->name : table->file, name)) return table;
    return NULL;
}

const sr_embedded_t *sr_web_asset_file(const char *file)
{
    return files_named(embedded_assets, file, false);
}

const sr_embedded_t *sr_web_asset_named(const char *name)
{
    return files_named(embedded_assets, name, true);
}

const char *sr_web_asset_url(const char *name, apr_pool_t *pool)
{
    const sr_embedded_t *asset = sr_web_asset_named(name);
    return asset ? apr_pstrcat(pool, "assets/", asset->file, NULL) : "";
}

const char *sr_web_piece(const char *name, apr_pool_t *pool)
{
    const sr_embedded_t *piece = files_named(embedded_html, apr_pstrcat(pool, name, ".html", NULL), true);
    return piece ? piece->forms[0].bytes : NULL;
}
