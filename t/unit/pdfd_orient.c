/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd_orient.c: what the notes of a photograph say of how it is to be shown. Whatever is wrong with them is ignored.
 * Nothing is read beyond them: they end where a page of memory begins that cannot be read. That pixels are put upright
 * is seen in pdf_seal_pixels.c. */
#include "helper/main/fields/drawing.h"
#include "tap.h"

#include <sys/mman.h>
#include <unistd.h>

static unsigned char *end; /* of the page that can be read */

static int orientation_of(const unsigned char *segment, size_t size)
{
    memcpy(end - size, segment, size);
    return sr_pdfd_orientation(end - size, size);
}

#define BIG "Exif\0\0MM\0*\0\0\0\x08"
#define LITTLE "Exif\0\0II*\0\x08\0\0\0"
#define OTHER "\1\x0f\0\2\0\0\0\4abc\0"
#define TURNED "\1\x12\0\3\0\0\0\1\0\6\0\0"
#define CASE(name, text, want)                                                                                         \
    {                                                                                                                  \
        name, (const unsigned char *)(text), sizeof(text) - 1, want                                                    \
    }

static const struct {
    const char *name;
    const unsigned char *segment;
    size_t size;
    int want;
} CASES[] = {
    CASE("big-endian", BIG "\0\1" TURNED "\0\0\0\0", 6),
    CASE("little-endian", LITTLE "\1\0\x12\1\3\0\1\0\0\0\x08\0\0\0", 8),
    CASE("after another note", BIG "\0\2" OTHER TURNED, 6),
    CASE("a directory elsewhere", "Exif\0\0MM\0*\0\0\0\x0a??\0\1" TURNED, 6),
    CASE("no notes", BIG "\0\0", 1),
    CASE("another note alone", BIG "\0\1" OTHER, 1),
    CASE("the first one counts", BIG "\0\2" TURNED "\1\x12\0\3\0\0\0\1\0\3\0\0", 6),

    CASE("nothing", "", 1),
    CASE("another segment", "http://ns.adobe.com/xap/1.0/\0<x/>", 1),
    CASE("its name alone", "Exif\0\0", 1),
    CASE("no byte order", "Exif\0\0MI\0*\0\0\0\x08\0\1" TURNED, 1),
    CASE("two byte orders", "Exif\0\0MM*\0\0\0\0\x08\0\1" TURNED, 1),
    CASE("no directory", BIG, 1),
    CASE("half a directory", BIG "\0", 1),
    CASE("a directory in the header", "Exif\0\0MM\0*\0\0\0\2\0\1" TURNED, 1),
    CASE("a directory at the end", "Exif\0\0MM\0*\0\0\0\x16\0\1" TURNED, 1),
    CASE("a directory beyond the end", "Exif\0\0MM\0*\0\0\1\0\0\1" TURNED, 1),
    CASE("a directory at 4 GiB", "Exif\0\0MM\0*\xff\xff\xff\xff\0\1" TURNED, 1),
    CASE("65535 notes", BIG "\xff\xff" OTHER, 1),
    CASE("65535 notes, one of them ours", BIG "\xff\xff" OTHER TURNED, 6),
    CASE("half a note", BIG "\0\1\1\x12\0\3\0\0\0\1\0", 1),
    CASE("a long number", BIG "\0\1\1\x12\0\4\0\0\0\1\0\0\0\6", 1),
    CASE("two numbers", BIG "\0\1\1\x12\0\3\0\0\0\2\0\6\0\6", 1),
    CASE("0", BIG "\0\1\1\x12\0\3\0\0\0\1\0\0\0\0", 1),
    CASE("9", BIG "\0\1\1\x12\0\3\0\0\0\1\0\x09\0\0", 1),
    CASE("65535", BIG "\0\1\1\x12\0\3\0\0\0\1\xff\xff\0\0", 1),
};

/* Every cut and every value of every byte of good notes. */
static void test_mutations(void)
{
    static const char good[] = BIG "\0\2" OTHER TURNED;
    unsigned char notes[sizeof good - 1];
    int strange = 0, turned = 0;
    for (size_t size = 0; size <= sizeof notes; size++)
        for (size_t i = 0; i < size; i++)
            for (int value = 0; value < 256; value++) {
                memcpy(notes, good, sizeof notes);
                notes[i] = (unsigned char)value;
                const int found = orientation_of(notes, size);
                strange += found < 1 || found > 8;
                turned += found != 1;
            }
    ok(!strange && turned > 256, "%d of all notes with one other byte turn the image, by 1 to 8", turned);
}

int main(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) abort();
    end = pages + page;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const int found = orientation_of(CASES[i].segment, CASES[i].size);
        ok(found == CASES[i].want, "%s: %d", CASES[i].name, found);
    }
    test_mutations();
    return done();
}
