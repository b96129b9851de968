/* SPDX-License-Identifier: Apache-2.0 */
// revision.h: a revision of a document as qpdf reads it, and the references between its objects. C++, for the files
// that compare revisions: revision.cc · entries.cc · uses.cc · rules.cc · defaults.cc · widgets.cc ·
// changes.cc.
#ifndef SR_HELPER_MAIN_COMPARE_REVISION_H
#define SR_HELPER_MAIN_COMPARE_REVISION_H

#define POINTERHOLDER_TRANSITION 4 // makes qpdf use std::shared_ptr
#include <ctime>
#include <map>
#include <qpdf/QPDF.hh>
#include <set>
#include <string>
#include <vector>

struct cursor_t; // scan.h

namespace sr
{

// Thrown if comparing revisions is too much work.
struct Incomparable {
};

// Thrown if a revision cannot be read with certainty: readers may see different objects in it.
struct Uncertain {
};

// The position of an object according to the cross-reference sections of a revision.
struct Entry {
    int type, generation, index;
    long long where;        // offset; for type 2 the number of the object stream
    long long stream_where; // for type 2: offset of that stream
    bool operator==(const Entry &other) const
    {
        return type == other.type && generation == other.generation && index == other.index && where == other.where
               && stream_where == other.stream_where;
    }
};

class Revision
{
  public:
    // Reads the first `size` bytes of the document. Throws Uncertain if they would need repair.
    Revision(const unsigned char *data, size_t size);

    // Returns the object with this number, or null. Sets *readable to false if qpdf had to guess, now or earlier.
    QPDFObjectHandle object(int number, bool *readable = nullptr);
    const Entry *entry(int number) const;
    int root() const; // the object number of the catalog, or 0

    std::shared_ptr<QPDF> pdf;
    std::vector<std::pair<int, Entry>> entries; // by object number
    std::set<int> ambiguous;                    // numbers that are used with two generations
    std::set<long long> sections;
    // Number of sections that readers may understand in two ways: those whose stream (/XRefStm) has other entries than
    // their table (found by Entries), and those that list a number twice.
    int hybrids = 0, overlaps;
    const unsigned char *bytes;
    size_t size;
    long long base; // offset of the header; other offsets count from there

  private:
    std::set<int> unreadable;
};

// Checks where the entries of the cross-reference sections lead to (entries.cc). Each section and each object stream is
// checked once, so check the shortest revision first.
class Entries
{
  public:
    // Sets `right` to false if an entry does not lead to the object with its number, and removes such entries from the
    // revision. Throws Uncertain if that cannot be found out, and Incomparable when the processor time reaches `limit`.
    // Check a revision before its objects are read.
    void check(Revision &revision, clock_t limit);

    bool right = true;

  private:
    struct Listing {
        std::vector<int> numbers; // of the objects in an object stream
        std::set<int> twice;
    };

    void check_time(clock_t limit);
    void check_section(const Revision &revision, int64_t start, clock_t limit);
    // Number and offset of each object in use that a table lists.
    using Rows = std::vector<std::pair<int64_t, int64_t>>;

    int64_t check_table(Rows &rows, const Revision &revision, cursor_t &c, clock_t limit);
    // Returns false if the stream has an entry that is not among `rows`. NULL: there is no table.
    bool check_stream(const Revision &revision, cursor_t &c, int64_t start, const Rows *rows, clock_t limit);
    bool check_rows(const Revision &revision, const QPDFObjectHandle &dictionary, const unsigned char *data,
                    size_t size, const Rows *rows, clock_t limit);
    void check_header(Revision &revision, int64_t start, int number);
    const Listing &listing(Revision &revision, const Entry &entry);

    std::set<int64_t> sections;            // offsets
    std::set<int64_t> hybrids;             // offsets of the tables whose stream has other entries
    std::map<int64_t, int> headers;        // offset and object number of each section that is a stream
    std::map<long long, Listing> listings; // by the offset of the object stream
    unsigned steps = 0;
};

// A reference: which object and version contains it, and under which key.
struct Use {
    int target, referrer, version;
    int depth;              // nesting of dictionaries; 1: a key of the object itself
    const std::string *key; // the innermost key; empty in an array that is an indirect object
    const std::string *top; // the key of the object itself
};

// All references of all revisions that were added.
class Uses
{
  public:
    // Adds the references that a revision has and that `previous`, the revision added before it, does not have.
    // `previous` may be NULL. Throws when the processor time reaches `limit`.
    void add(Revision &revision, const Revision *previous, clock_t limit);
    // Returns the references to an object in a revision.
    std::vector<Use> of(int number, const Revision &revision) const;
    // Returns true if qpdf could not read the object in one of the revisions.
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
    std::set<int> scanned; // of the current revision, in object streams
    std::vector<Entry> versions;
    std::vector<Use> uses; // by target
    std::set<int> unreadable;
    std::set<std::string> keys;
};

// Compares two values regardless of their spelling: references by object number, numbers by value, everything else by
// content.
bool is_same(QPDFObjectHandle one, QPDFObjectHandle other, int nesting = 0);

// Returns the value of a key without resolving a reference, or null.
QPDFObjectHandle raw(QPDFObjectHandle dictionary, const std::string &key);
// Returns the object number of a reference, or 0.
int number_of(const QPDFObjectHandle &value);

} // namespace sr

#endif
