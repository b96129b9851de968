/* consent.c: what has to be accepted before signing. Which text that was is evidence, by its version: a row is never
 * edited; a new wording is a new row above the old one, which stays for what was signed with it. */
#include "model/model.h"

#include <string.h>

static const sr_consent_t rows[] = {
    {"en", "2-en",
     "I have read these documents and agree to sign them electronically. I intend my electronic signature to have "
     "the same legal effect as my handwritten signature. The date and time, my IP address and my browser are "
     "recorded as evidence."},
    {"fr", "2-fr",
     "J’ai lu ces documents et j’accepte de les signer par voie électronique. J’entends donner à ma signature "
     "électronique la même valeur qu’à ma signature manuscrite. La date et l’heure, mon adresse IP et mon "
     "navigateur sont enregistrés à titre de preuve."},
    {"de", "2-de",
     "Ich habe diese Dokumente gelesen, bin damit einverstanden, sie elektronisch zu unterschreiben, und möchte, "
     "dass meine elektronische Unterschrift dieselbe Wirkung hat wie eine handschriftliche. Zeitpunkt, IP-Adresse "
     "und Browser werden als Nachweis gespeichert."},
    {"es", "2-es",
     "He leído estos documentos y acepto firmarlos electrónicamente. Quiero que mi firma electrónica tenga los "
     "mismos efectos jurídicos que mi firma manuscrita. La fecha y la hora, mi dirección IP y mi navegador se "
     "registran como prueba."},
    {"it", "1-it",
     "Ho letto questi documenti e accetto di firmarli elettronicamente. Intendo attribuire alla mia firma "
     "elettronica gli stessi effetti giuridici della mia firma autografa. La data e l’ora, il mio indirizzo IP e il "
     "mio browser vengono registrati come prova."},
    {"pt", "1-pt",
     "Li estes documentos e aceito assiná-los eletronicamente. Pretendo que a minha assinatura eletrónica tenha os "
     "mesmos efeitos jurídicos que a minha assinatura manuscrita. A data e a hora, o meu endereço IP e o meu "
     "navegador são registados como prova."},
    {"pt-BR", "1-pt-BR",
     "Li estes documentos e concordo em assiná-los eletronicamente. Quero que minha assinatura eletrônica tenha os "
     "mesmos efeitos jurídicos da minha assinatura manuscrita. A data e a hora, meu endereço IP e meu navegador são "
     "registrados como prova."},
    {"nl", "1-nl",
     "Ik heb deze documenten gelezen en ga ermee akkoord ze elektronisch te ondertekenen. Ik wil dat mijn "
     "elektronische handtekening dezelfde rechtsgevolgen heeft als mijn handgeschreven handtekening. De datum en "
     "tijd, mijn IP-adres en mijn browser worden als bewijs vastgelegd."},

    /* what was agreed to before */
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
