/* SPDX-License-Identifier: Apache-2.0 */
/* consent.c: the texts that a signer must accept before signing. The version of the accepted text is evidence, so a
 * row is never edited. A new wording is a new row above the old one, which stays for signatures that were made with
 * it. */
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
    {"pl", "1-pl",
     "Oświadczam, że znam treść tych dokumentów, i zgadzam się podpisać je elektronicznie. Chcę, aby mój podpis "
     "elektroniczny wywoływał takie same skutki prawne jak mój podpis własnoręczny. Data i godzina, mój adres IP "
     "oraz informacje o mojej przeglądarce są zapisywane jako dowód."},
    {"cs", "1-cs",
     "Potvrzuji, že znám obsah těchto dokumentů, a souhlasím s jejich elektronickým podpisem. Chci, aby můj "
     "elektronický podpis měl stejné právní účinky jako můj vlastnoruční podpis. Datum a čas, moje IP adresa a můj "
     "prohlížeč se zaznamenají jako důkaz."},
    {"sv", "1-sv",
     "Jag har läst dokumenten och samtycker till att underteckna dem elektroniskt. Min elektroniska underskrift ska "
     "ha samma rättsverkan som min egenhändiga underskrift. Datum och tid, min IP-adress och min webbläsare sparas "
     "som bevis."},
    {"da", "1-da",
     "Jeg har læst disse dokumenter og accepterer at underskrive dem elektronisk. Min elektroniske underskrift skal "
     "have samme retsvirkning som min håndskrevne underskrift. Dato og klokkeslæt, min IP-adresse og min browser "
     "registreres som dokumentation."},
    {"nb", "1-nb",
     "Jeg har lest disse dokumentene og samtykker i å signere dem elektronisk. Min elektroniske signatur skal ha "
     "samme rettsvirkning som min håndskrevne underskrift. Dato og klokkeslett, IP-adressen min og nettleseren min "
     "lagres som bevis."},
    {"fi", "1-fi",
     "Olen lukenut nämä asiakirjat ja hyväksyn niiden allekirjoittamisen sähköisesti. Haluan, että sähköisellä "
     "allekirjoituksellani on sama oikeusvaikutus kuin omakätisellä allekirjoituksellani. Päivämäärä ja kellonaika, "
     "IP-osoitteeni ja selaimeni tiedot tallennetaan todisteeksi."},
    {"ro", "1-ro",
     "Am citit aceste documente și sunt de acord să le semnez electronic. Doresc ca semnătura mea electronică să "
     "aibă același efect juridic ca semnătura mea olografă. Data și ora, adresa mea IP și browserul meu sunt "
     "înregistrate ca dovadă."},
    {"el", "1-el",
     "Έχω διαβάσει αυτά τα έγγραφα και συμφωνώ να τα υπογράψω ηλεκτρονικά. Επιθυμώ η ηλεκτρονική μου υπογραφή να "
     "έχει την ίδια νομική ισχύ με την ιδιόχειρη υπογραφή μου. Η ημερομηνία και η ώρα, η διεύθυνση IP μου και το "
     "πρόγραμμα περιήγησής μου καταγράφονται ως αποδεικτικά στοιχεία."},
    {"tr", "1-tr",
     "Bu belgeleri okudum ve elektronik olarak imzalamayı kabul ediyorum. Elektronik imzamın, ıslak imzamla aynı "
     "hukuki sonucu doğurmasını istiyorum. Tarih ve saat, IP adresim ve tarayıcım kanıt olarak kaydedilir."},
    {"uk", "1-uk",
     "Підтверджую, що мені відомий зміст цих документів, і погоджуюся підписати їх електронно. Я хочу, щоб мій "
     "електронний підпис мав таку саму юридичну силу, як і мій власноручний підпис. Дата й час, моя IP-адреса та "
     "мій браузер зберігаються як докази."},
    {"ar", "1-ar",
     "لقد قرأتُ هذه المستندات وأوافق على توقيعها إلكترونيًا. وأقصد أن يكون لتوقيعي الإلكتروني الأثر القانوني نفسه "
     "الذي لتوقيعي بخط اليد. يُسجَّل التاريخ والوقت وعنوان IP الخاص بي ومتصفحي كدليل إثبات."},
    {"he", "1-he",
     "קראתי את המסמכים האלה והסכמתי נתונה לחתימה עליהם באופן אלקטרוני. בכוונתי שלחתימתי האלקטרונית יהיה תוקף משפטי "
     "זהה לזה של חתימתי בכתב יד. התאריך והשעה, כתובת ה-IP שלי והדפדפן שלי נשמרים כראיה."},
    {"ja", "1-ja",
     "私はこれらの文書を読み、電子的に署名することに同意します。私の電子署名が自筆の署名と同じ法的効力を持つことを意図"
     "しています。日時、IPアドレス、ブラウザーの情報は証拠として記録されます。"},
    {"zh-Hans", "1-zh-Hans",
     "我已阅读这些文件，并同意以电子方式签署。我希望我的电子签名与手写签名具有同等法律效力。日期和时间、我的 IP "
     "地址及浏览器信息将被记录作为证据。"},

    /* older versions */
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

/* Returns the code of the language of a signer's locale, or without a locale that of the text that they accepted, or
 * NULL. */
static const char *consent_language_of(const sr_signer_t *signer)
{
    const char *locale = signer->locale, *version = signer->consent;
    const sr_language_t *chosen = locale ? sr_language_of(locale) : NULL;
    const sr_consent_t *consent = version ? sr_consent_of_version(version) : NULL;
    return chosen ? chosen->code : consent ? consent->language : NULL;
}

/* Returns the language that most signers have, of all languages or of those that are not English; English if no signer
 * has one. */
static const sr_language_t *consent_language_most(const sr_submission_t *submission, bool all)
{
    const sr_language_t *best = sr_language_of("en");
    int most = 0;
    for (int i = 0; i < sr_language_count(); i++) {
        const sr_language_t *language = sr_language(i);
        int count = 0;
        for (int k = 0; k < submission->signers->nelts; k++) {
            const char *code = consent_language_of(&APR_ARRAY_IDX(submission->signers, k, sr_signer_t));
            count += code && !strcmp(code, language->code);
        }
        if (count <= most || (!all && !strcmp(language->code, "en"))) continue;
        best = language;
        most = count;
    }
    return best;
}

const sr_language_t *sr_signers_language(const sr_submission_t *submission)
{
    return consent_language_most(submission, false);
}

const sr_language_t *sr_viewers_language(const sr_submission_t *submission)
{
    return consent_language_most(submission, true);
}
