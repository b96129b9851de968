/* SPDX-License-Identifier: Apache-2.0 */
/* model_email.c: tests of src/model/email.c: A-labels of RFC 3492 and of registered domains. */
#include "model/model.h"
#include "tap.h"

int main(void)
{
    static const struct {
        const char *text, *address;
    } rows[] = {
        {"ann@example.org", "ann@example.org"},
        {"ANN@EXAMPLE.ORG", "ANN@EXAMPLE.ORG"},
        {"!#$%&'*+-/=?^_`{|}~@x.org", "!#$%&'*+-/=?^_`{|}~@x.org"},
        {"ann@xn--mnchen-3ya.de", "ann@xn--mnchen-3ya.de"},
        {"ann@m\xC3\xBCnchen.de", "ann@xn--mnchen-3ya.de"},
        {"ann@M\xC3\x9CNCHEN.DE", "ann@xn--mnchen-3ya.de"},
        {"ann@mu\xCC\x88nchen.de", "ann@xn--mnchen-3ya.de"},
        {"ann@fa\xC3\x9F.de", "ann@xn--fa-hia.de"},
        {"ann@\xE4\xBE\x8B\xE3\x81\x88.\xE3\x83\x86\xE3\x82\xB9\xE3\x83\x88", "ann@xn--r8jz45g.xn--zckzah"},
        /* RFC 3492, 7.1 (B) and (I) */
        {"a@"
         "\xE4\xBB\x96\xE4\xBB\xAC\xE4\xB8\xBA\xE4\xBB\x80\xE4\xB9\x88\xE4\xB8\x8D\xE8\xAF\xB4\xE4\xB8\xAD\xE6\x96\x87."
         "x",
         "a@xn--ihqwcrb4cv8a8dqg056pqjye.x"},
        {"", NULL},
        {"ann", NULL},
        {"@x.org", NULL},
        {"ann@", NULL},
        {".ann@x.org", NULL},
        {"ann.@x.org", NULL},
        {"a..b@x.org", NULL},
        {"a b@x.org", NULL},
        {"a@b@x.org", NULL},
        {"j\xC3\xBCrgen@x.org", NULL},
        {"ann@x..org", NULL},
        {"ann@x.org.", NULL},
        {"ann@-x.org", NULL},
        {"ann@x-.org", NULL},
        {"ann@-\xC3\xBC.org", NULL},
        {"ann@\xC3\xBC-.org", NULL},
        {"ann@\xEF\xBC\x8D\xC3\xBC.org", NULL}, /* a wide hyphen */
        {"ann@[192.0.2.1]", NULL},
        {"ann@x_y.org", NULL},
        {"ann@x.org\xE2\x80\x8B", NULL},
        {"ann@\xE2\x9D\xA4.org", NULL},
        {"ann@\xCC\x88u.org", NULL},
        {"ann@\xFF.org", NULL},
    };
    apr_pool_t *pool;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_str(sr_address_of(rows[i].text, pool), rows[i].address, "%s", rows[i].text);
    char label[80] = "a@";
    memset(label + 2, 'l', 64);
    strcpy(label + 66, ".de");
    is_str(sr_address_of(label, pool), NULL, "a label of 64 characters");
    return done();
}
