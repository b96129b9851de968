/* SPDX-License-Identifier: Apache-2.0 */
// revision.h: a revision of a document as qpdf reads it, and who refers to what in it. C++, for the files that compare
// revisions: revision.cc · uses.cc · rules.cc · changes.cc.
#ifndef SR_PDFD_REVISION_H
#define SR_PDFD_REVISION_H

#define POINTERHOLDER_TRANSITION 4 // qpdf wants to be told that we use std::shared_ptr
#include <ctime>
#include <map>
#include <qpdf/QPDF.hh>
#include <set>
#include <string>
#include <vector>

struct cursor_t; // scan.h

namespace sr
{

// What cannot be compared ends in this exception.
struct Incomparable {
};

// Where the newest cross-reference section of a revision, and those before it, say that an object is.
struct Entry {
    int type, generation, index;
    long long where;        // offset, or for type 2 the number of the object stream
    long long stream_where; // for type 2: the offset of that stream
    bool operator==(const Entry &other) const
    {
        return type == other.type && generation == other.generation && index == other.index && where == other.where
               && stream_where == other.stream_where;
    }
};

class Revision
{
  public:
    // The first `size` bytes of the document. Reads nothing that needs repair: throws then.
    Revision(const unsigned char *data, size_t size);

    // The object of this number; null if there is none. `readable` becomes false when qpdf had to guess.
    QPDFObjectHandle object(int number, bool *readable = nullptr);
    const Entry *entry(int number) const;
    int root() const; // the number of the catalog's object, or 0

    std::shared_ptr<QPDF> pdf;
    std::vector<std::pair<int, Entry>> entries; // by number
    std::set<int> ambiguous;                    // numbers that are used with two generations
    std::set<long long> sections;
    int hybrids, overlaps; // sections that readers may understand in two ways
    const unsigned char *bytes;
    size_t size;
    long long base; // where the header is: offsets count from there
};

// A reference: from which version of which object, under which key.
struct Use {
    int target, referrer, version;
    int depth;              // of dictionaries; 1: a key of the object itself
    const std::string *key; // the nearest one; empty in an array that is an object of its own
    const std::string *top; // the one of the object itself
};

// All references of all revisions that were added.
class Uses
{
  public:
    // Adds what a revision has and `previous`, the one added before it (or NULL), has not. `limit`: of processor time;
    // throws when it is over.
    void add(Revision &revision, const Revision *previous, clock_t limit);
    // The references to an object that a revision has.
    std::vector<Use> of(int number, const Revision &revision) const;
    // Whether qpdf could not read the object, at least in one revision.
    bool is_unreadable(int number) const
    {
        return unreadable.count(number) > 0;
    }

  private:
    void visit(QPDFObjectHandle value, Use at, int nesting);
    bool scan_value(cursor_t &c, Use at, int nesting);
    bool scan_dictionary(cursor_t &c, Use at, int nesting);
    bool scan_object(Revision &revision, int number, const Entry &entry);
    void scan_stream(Revision &revision, const Revision *previous, int container);
    bool is_known(int number, const Entry &entry, const Revision *previous) const;
    void begin(int number, const Entry &entry);
    Use start;
    std::set<int> scanned; // of the revision at hand, in object streams
    std::vector<Entry> versions;
    std::vector<Use> uses; // by target
    std::set<int> unreadable;
    std::set<std::string> keys;
};

// The same value, whatever its spelling: references by their number, numbers by their value, the rest by content.
bool is_same(QPDFObjectHandle one, QPDFObjectHandle other, int nesting = 0);

// The value of a key as it stands there: a reference stays one. Null if there is none.
QPDFObjectHandle raw(QPDFObjectHandle dictionary, const std::string &key);
// The number that a reference names; 0: it is none.
int number_of(const QPDFObjectHandle &value);

} // namespace sr

#endif
