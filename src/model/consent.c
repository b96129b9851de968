/* consent.c: what has to be accepted before signing. Which text that was is evidence, by its version: a row is never
 * edited; a new wording is a new row above the old one, which stays for what was signed with it. */
#include "model/model.h"

#include <string.h>

static const sr_consent_t rows[] = {
    {"en", "1-en",
     "I have read the documents, I agree to sign them electronically, and I intend my electronic signature to have the "
     "same effect as one by hand. The time, my IP address and the kind of my browser are kept as evidence."},
    {"fr", "1-fr",
     "J’ai lu les documents, j’accepte de les signer par voie électronique et je veux que ma signature électronique "
     "ait le même effet qu’une signature manuscrite. L’heure, mon adresse IP et le type de mon navigateur sont "
     "conservés à titre de preuve."},
    {"de", "1-de",
     "Ich habe die Dokumente gelesen, bin einverstanden, sie elektronisch zu unterschreiben, und will, dass meine "
     "elektronische Unterschrift dieselbe Wirkung hat wie eine von Hand. Die Zeit, meine IP-Adresse und die Art meines "
     "Browsers werden als Nachweis aufbewahrt."},
    {"es", "1-es",
     "He leído los documentos, acepto firmarlos electrónicamente y quiero que mi firma electrónica tenga el mismo "
     "efecto que una manuscrita. La hora, mi dirección IP y el tipo de mi navegador se conservan como prueba."},
};

const sr_consent_t *sr_consent_of_language(const char *language)
{
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].language, language)) return &rows[i];
    return &rows[0];
}

const sr_consent_t *sr_consent_of_version(const char *version)
{
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].version, version)) return &rows[i];
    return NULL;
}
