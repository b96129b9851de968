// SPDX-License-Identifier: Apache-2.0
// uses.cc: finds the references between the objects of a document. Every object of every revision must be examined, and
// qpdf needs 14 µs and 6 kB for each. So objects are scanned in the file. Objects in unusual syntax are left to qpdf.
#include "helper/main/compare/revision.h"

#include <algorithm>
#include <cstring>
#include <qpdf/Buffer.hh>

#include "helper/main/read/scan.h"

namespace sr
{

namespace
{

const int MAX_NESTING = 100;

bool by_target(const Use &one, const Use &other)
{
    return one.target < other.target;
}

// Reads a reference "n g R" if the cursor is at one. Then it moves the cursor and returns the object number.
int read_reference(cursor_t &c)
{
    cursor_t at = c;
    int64_t number, generation;
    if (!read_number(&at, &number) || at.at == at.end || !is_space(*at.at)) return 0;
    if (!read_number(&at, &generation) || !read_word(&at, "R")) return 0;
    if (at.at < at.end && !is_space(*at.at) && !is_delimiter(*at.at)) return 0;
    if (number <= 0 || number > INT32_MAX) return 0;
    c = at;
    return static_cast<int>(number);
}

// Reads the length of the stream whose dictionary begins at the cursor. The length is a number or a reference to one.
bool read_length(int64_t &length, cursor_t c, Revision &revision)
{
    int depth = 0;
    do {
        skip_space(&c);
        const unsigned char *from = c.at;
        int token = skip_token(&c);
        if (!token) return false;
        if (token == 'D' || token == '[') depth++;
        if (token == 'd' || token == ']') depth--;
        if (depth != 1 || token != '/' || c.at - from != 7 || memcmp(from, "/Length", 7) != 0) continue;
        cursor_t value = c;
        skip_space(&value);
        int number = read_reference(value);
        if (!number) return read_number(&value, &length);
        auto object = revision.object(number);
        length = object.isInteger() ? object.getIntValue() : -1;
        return length >= 0;
    } while (depth > 0);
    return false;
}

// Sets c to what follows "number generation obj" of an object in use. Returns false if that is not there.
bool begin_object(cursor_t &c, int64_t &number, int64_t &generation, const Revision &revision, const Entry &entry)
{
    if (entry.where <= 0 || entry.where >= static_cast<long long>(revision.size) - revision.base) return false;
    c = {revision.bytes + revision.base + entry.where, revision.bytes + revision.size};
    return read_number(&c, &number) && read_number(&c, &generation) && read_word(&c, "obj");
}

// Returns true if an object that qpdf cannot read ends inside of the revision, whichever way a reader finds its end: by
// its syntax, the length of its stream or the word "endstream". Otherwise what is appended would become a part of it.
bool is_inside(Revision &revision, const Entry &entry)
{
    if (entry.type != 1 || entry.where <= 0) return true;
    cursor_t c;
    int64_t number, generation, length;
    if (!begin_object(c, number, generation, revision, entry)) return false;
    const cursor_t value = c;
    if (!skip_value(&c) || c.at == c.end) return false;
    if (!read_word(&c, "stream")) return true;
    if (read_length(length, value, revision) && length > c.end - c.at) return false;
    static const char word[] = "endstream";
    return std::search(c.at, c.end, word, word + strlen(word)) != c.end;
}

} // namespace

// Finds references by means of qpdf, exactly as it reads the object.
// NOLINTNEXTLINE(misc-no-recursion): MAX_NESTING
void Uses::visit(QPDFObjectHandle value, Use at, int nesting)
{
    if (nesting > MAX_NESTING) throw Incomparable();
    if (nesting && value.isIndirect()) {
        at.target = value.getObjGen().getObj();
        uses.push_back(at);
    } else if (value.isArray()) {
        for (auto &item : value.getArrayAsVector()) visit(item, at, nesting + 1);
    } else if (value.isDictionary() || value.isStream()) {
        at.depth++;
        for (auto &item : (value.isStream() ? value.getDict() : value).getDictAsMap()) {
            at.key = &*keys.insert(item.first).first;
            if (at.depth == 1) at.top = at.key;
            visit(item.second, at, nesting + 1);
        }
    }
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_NESTING
bool Uses::scan_dictionary(cursor_t &c, Use at, int nesting)
{
    at.depth++;
    for (;;) {
        skip_space(&c);
        const unsigned char *from = c.at;
        int token = skip_token(&c);
        if (token == 'd') return true;
        const size_t length = static_cast<size_t>(c.at - from);
        if (token != '/' || memchr(from, '#', length)) return false;
        at.key = &*keys.emplace(reinterpret_cast<const char *>(from), length).first;
        if (at.depth == 1) at.top = at.key;
        if (!scan_value(c, at, nesting)) return false;
    }
}

// Returns false if the syntax is unusual.
// NOLINTNEXTLINE(misc-no-recursion): MAX_NESTING
bool Uses::scan_value(cursor_t &c, Use at, int nesting)
{
    if (++nesting > MAX_NESTING) return false;
    skip_space(&c);
    cursor_t before = c;
    int token = skip_token(&c);
    if (token == 'D') return scan_dictionary(c, at, nesting);
    if (token == '[') {
        for (;;) {
            skip_space(&c);
            if (c.at < c.end && *c.at == ']') break;
            if (!scan_value(c, at, nesting)) return false;
        }
        c.at++;
        return true;
    }
    if (token >= '0' && token <= '9') {
        at.target = read_reference(before);
        if (!at.target) return true;
        uses.push_back(at);
        c = before;
        return true;
    }
    return token == '/' || token == '(' || token == '<' || token == 't' || token == 'f' || token == 'n' || token == '-'
           || token == '.';
}

void Uses::begin(int number, const Entry &entry)
{
    const std::string *none = &*keys.insert("").first;
    start = Use{0, number, static_cast<int>(versions.size()), 0, none, none};
    versions.push_back(entry);
}

// Scans an object. All of it must be inside of the revision, so that it is the same in every longer revision.
bool Uses::scan_object(Revision &revision, int number, const Entry &entry)
{
    cursor_t c;
    int64_t own, generation, length;
    if (entry.type != 1 || !begin_object(c, own, generation, revision, entry) || own != number
        || generation != entry.generation)
        return false;
    cursor_t value = c;
    if (!scan_value(c, start, 0)) return false;
    if (read_word(&c, "endobj")) return true;
    if (!read_word(&c, "stream") || !read_length(length, value, revision)) return false;
    if (c.at < c.end && *c.at == '\r') c.at++;
    if (c.at < c.end && *c.at == '\n') c.at++;
    if (length > c.end - c.at) return false;
    c.at += length;
    while (c.at < c.end && is_space(*c.at)) c.at++;
    return starts_with(&c, "endstream");
}

bool Uses::is_known(int number, const Entry &entry, const Revision *previous) const
{
    const Entry *known = previous ? previous->entry(number) : nullptr;
    return known && *known == entry;
}

// Scans the objects of an object stream. Objects that are not where they should be are left to qpdf.
void Uses::scan_stream(Revision &revision, const Revision *previous, int container)
{
    auto stream = revision.object(container);
    if (!stream.isStream()) return;
    auto first = raw(stream.getDict(), "/First"), count = raw(stream.getDict(), "/N");
    if (!first.isInteger() || !count.isInteger()) return;
    auto buffer = stream.getStreamData(qpdf_dl_generalized);
    const unsigned char *data = buffer->getBuffer(), *end = data + buffer->getSize();
    if (first.getIntValue() < 0 || first.getIntValue() > end - data) return;
    const unsigned char *body = data + first.getIntValue();
    cursor_t head = {data, body};
    for (int i = 0; i < count.getIntValue(); i++) {
        int64_t number, offset;
        if (!read_number(&head, &number) || !read_number(&head, &offset) || offset > end - body) return;
        const Entry *entry = revision.entry(static_cast<int>(number));
        if (!entry || entry->type != 2 || entry->where != container || entry->index != i) continue;
        if (is_known(static_cast<int>(number), *entry, previous)) continue;
        cursor_t c = {body + offset, end};
        const size_t sofar = uses.size(), versions_sofar = versions.size();
        begin(static_cast<int>(number), *entry);
        if (scan_value(c, start, 0)) {
            scanned.insert(static_cast<int>(number));
            continue;
        }
        uses.resize(sofar);
        versions.resize(versions_sofar);
    }
}

void Uses::add(Revision &revision, const Revision *previous, clock_t limit)
{
    const size_t sorted = uses.size();
    std::set<int> streams;
    unsigned steps = 0;
    scanned.clear();
    for (auto &item : revision.entries) {
        const Entry &entry = item.second;
        if (is_known(item.first, entry, previous)) continue;
        if (++steps % 64 == 0 && clock() > limit) throw Incomparable();
        if (entry.type == 2 && streams.insert(static_cast<int>(entry.where)).second)
            scan_stream(revision, previous, static_cast<int>(entry.where));
        if (scanned.count(item.first)) continue;
        const size_t sofar = uses.size();
        begin(item.first, entry);
        if (scan_object(revision, item.first, entry)) continue;
        uses.resize(sofar);
        bool readable = true;
        visit(revision.object(item.first, &readable), start, 0);
        if (readable) continue;
        unreadable.insert(item.first);
        if (!is_inside(revision, entry)) throw Uncertain();
    }
    auto middle = uses.begin() + static_cast<std::ptrdiff_t>(sorted);
    std::stable_sort(middle, uses.end(), by_target);
    std::inplace_merge(uses.begin(), middle, uses.end(), by_target);
}

std::vector<Use> Uses::of(int number, const Revision &revision) const
{
    std::vector<Use> found;
    auto range = std::equal_range(uses.begin(), uses.end(), Use{number, 0, 0, 0, nullptr, nullptr}, by_target);
    for (auto use = range.first; use != range.second; ++use) {
        const Entry *entry = revision.entry(use->referrer);
        if (entry && *entry == versions[static_cast<size_t>(use->version)]) found.push_back(*use);
    }
    return found;
}

} // namespace sr
