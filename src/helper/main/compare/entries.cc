// SPDX-License-Identifier: Apache-2.0
// entries.cc: checks that every entry of every cross-reference section leads to the object with its number. qpdf stores
// an object under the number in its header, so an entry of one number could replace another object. Readers such as
// mupdf repair the whole document if an entry is wrong, and then may find other objects.
#include "helper/main/compare/revision.h"

#include <algorithm>
#include <qpdf/Buffer.hh>

#include "helper/main/compare/changes.h"
#include "helper/main/read/scan.h"

namespace sr
{

namespace
{

const int64_t MAX_ENTRIES = 10000000;

int64_t integer_of(const QPDFObjectHandle &dictionary, const char *key, int64_t missing)
{
    auto value = raw(dictionary, key);
    if (value.isNull()) return missing;
    if (number_of(value) || !value.isInteger() || value.getIntValue() < 0) throw Uncertain();
    return value.getIntValue();
}

cursor_t cursor_at(const Revision &revision, int64_t offset)
{
    if (offset < 0 || offset >= static_cast<int64_t>(revision.size) - revision.base) throw Uncertain();
    return {revision.bytes + revision.base + offset, revision.bytes + revision.size};
}

// Reads "number generation obj". Its first digit must not belong to a longer number.
bool read_header(cursor_t &c, const Revision &revision, int64_t &number, int64_t &generation)
{
    skip_space(&c);
    if (c.at > revision.bytes && isdigit(c.at[-1])) return false;
    return read_number(&c, &number) && read_number(&c, &generation) && read_word(&c, "obj")
           && (c.at == c.end || !isalnum(*c.at));
}

// An offset of 0 means for all readers that there is no object.
bool leads_to_object(const Revision &revision, int64_t number, int64_t generation, int64_t offset)
{
    if (!offset) return true;
    if (offset < 0 || offset >= static_cast<int64_t>(revision.size) - revision.base) return false;
    cursor_t c = cursor_at(revision, offset);
    int64_t own, version;
    return read_header(c, revision, own, version) && own == number && version == generation;
}

// A dictionary of a section. References in it belong to a document of its own, which is empty.
struct Dictionary {
    std::shared_ptr<QPDF> owner = QPDF::create();
    QPDFObjectHandle value;
};

Dictionary read_dictionary(cursor_t &c)
{
    Dictionary read;
    read.owner->setSuppressWarnings(true);
    read.owner->emptyPDF();
    skip_space(&c);
    const unsigned char *from = c.at;
    if (!skip_value(&c)) throw Uncertain();
    read.value = QPDFObjectHandle::parse(read.owner.get(), std::string(from, c.at), "section");
    if (!read.value.isDictionary()) throw Uncertain();
    return read;
}

} // namespace

// Returns true if a table has the same about an object as a row of its stream: the offset, or that it is not in use.
static bool is_row(const std::vector<std::pair<int64_t, int64_t>> &rows, int64_t number, const uint64_t *fields)
{
    auto row = std::lower_bound(rows.begin(), rows.end(), std::make_pair(number, int64_t(0)));
    if (row == rows.end() || row->first != number) return !fields[0];
    return fields[0] == 1 && static_cast<uint64_t>(row->second) == fields[1];
}

void Entries::check_time(clock_t limit)
{
    if (++steps % 1024 == 0 && clock() > limit) throw Incomparable();
}

// Returns the offset of the second section of a hybrid one, or 0.
int64_t Entries::check_table(Rows &rows, const Revision &revision, cursor_t &c, clock_t limit)
{
    while (!read_word(&c, "trailer")) {
        int64_t first, count, offset, generation;
        if (!read_number(&c, &first) || !read_number(&c, &count) || count > MAX_ENTRIES) throw Uncertain();
        for (int64_t i = 0; i < count; i++) {
            check_time(limit);
            if (!read_number(&c, &offset) || !read_number(&c, &generation)) throw Uncertain();
            const bool used = read_word(&c, "n");
            if (!used && !read_word(&c, "f")) throw Uncertain();
            if (used && !leads_to_object(revision, first + i, generation, offset)) right = false;
            if (used) rows.emplace_back(first + i, offset);
        }
    }
    return integer_of(read_dictionary(c).value, "/XRefStm", 0);
}

bool Entries::check_rows(const Revision &revision, const QPDFObjectHandle &dictionary, const unsigned char *data,
                         size_t size, const Rows *rows, clock_t limit)
{
    bool same = true;
    int64_t width[3], index[2] = {0, integer_of(dictionary, "/Size", 0)}, row = 0;
    auto widths = raw(dictionary, "/W"), ranges = raw(dictionary, "/Index");
    if (!widths.isArray() || widths.getArrayNItems() < 3) throw Uncertain();
    for (int i = 0; i < 3; i++) {
        auto item = widths.getArrayItem(i);
        width[i] = item.isInteger() ? item.getIntValue() : -1;
        if (width[i] < 0 || width[i] > 8) throw Uncertain();
        row += width[i];
    }
    if (!row) throw Uncertain();
    const int parts = ranges.isArray() ? ranges.getArrayNItems() : 2;
    for (int i = 0; i + 1 < parts; i += 2) {
        for (int k = 0; ranges.isArray() && k < 2; k++) {
            auto item = ranges.getArrayItem(i + k);
            index[k] = item.isInteger() ? item.getIntValue() : -1;
        }
        if (index[0] < 0 || index[1] < 0 || index[0] > INT32_MAX || index[1] > INT32_MAX) throw Uncertain();
        for (int64_t number = index[0]; number < index[0] + index[1] && size >= static_cast<size_t>(row); number++) {
            uint64_t fields[3] = {width[0] ? 0U : 1U, 0, 0};
            check_time(limit);
            for (int k = 0; k < 3; k++)
                for (int64_t byte = 0; byte < width[k]; byte++, size--) fields[k] = fields[k] << 8 | *data++;
            same = same && (!rows || is_row(*rows, number, fields));
            if (fields[0] == 1
                && !leads_to_object(revision, number, static_cast<int64_t>(fields[2]), static_cast<int64_t>(fields[1])))
                right = false;
        }
    }
    return same;
}

bool Entries::check_stream(const Revision &revision, cursor_t &c, int64_t start, const Rows *rows, clock_t limit)
{
    int64_t number, generation;
    if (!read_header(c, revision, number, generation) || number > INT32_MAX) throw Uncertain();
    const Dictionary dictionary = read_dictionary(c);
    const int64_t length = integer_of(dictionary.value, "/Length", -1);
    if (!read_word(&c, "stream")) throw Uncertain();
    if (c.at < c.end && *c.at == '\r') c.at++;
    if (c.at < c.end && *c.at == '\n') c.at++;
    if (length < 0 || length > c.end - c.at) throw Uncertain();
    auto stream = QPDFObjectHandle::newStream(dictionary.owner.get(), std::string(c.at, c.at + length));
    stream.replaceDict(dictionary.value);
    auto data = stream.getStreamData(qpdf_dl_generalized);
    headers[start] = static_cast<int>(number);
    return check_rows(revision, dictionary.value, data->getBuffer(), data->getSize(), rows, limit);
}

void Entries::check_section(const Revision &revision, int64_t start, clock_t limit)
{
    if (!sections.insert(start).second) return;
    cursor_t c = cursor_at(revision, start);
    if (!read_word(&c, "xref")) {
        check_stream(revision, c, start, nullptr, limit);
        return;
    }
    Rows rows;
    const int64_t second = check_table(rows, revision, c, limit);
    if (!second) return;
    std::sort(rows.begin(), rows.end());
    c = cursor_at(revision, second);
    if (!sections.insert(second).second || !check_stream(revision, c, second, &rows, limit)) hybrids.insert(start);
}

const Entries::Listing &Entries::listing(Revision &revision, const Entry &entry)
{
    auto known = listings.find(entry.stream_where);
    if (known != listings.end()) return known->second;
    auto &made = listings[entry.stream_where];
    bool readable = true;
    auto stream = revision.object(static_cast<int>(entry.where), &readable);
    if (!readable || !stream.isStream()) throw Uncertain();
    const int64_t count = integer_of(stream.getDict(), "/N", -1), first = integer_of(stream.getDict(), "/First", -1);
    auto buffer = stream.getStreamData(qpdf_dl_generalized);
    if (first < 0 || static_cast<size_t>(first) > buffer->getSize()) throw Uncertain();
    cursor_t c = {buffer->getBuffer(), buffer->getBuffer() + first};
    std::set<int> seen;
    for (int64_t i = 0; i < count; i++) {
        int64_t number, offset;
        if (!read_number(&c, &number) || !read_number(&c, &offset) || number > INT32_MAX) throw Uncertain();
        made.numbers.push_back(static_cast<int>(number));
        if (!seen.insert(static_cast<int>(number)).second) made.twice.insert(static_cast<int>(number));
    }
    return made;
}

void Entries::check(Revision &revision, clock_t limit)
{
    auto is_wrong = [&revision](const std::pair<int, Entry> &item) {
        const Entry &entry = item.second;
        return entry.type == 1 && !leads_to_object(revision, item.first, entry.generation, entry.where);
    };
    try {
        for (auto start : revision.sections) check_section(revision, start, limit);
        revision.hybrids = 0;
        for (auto start : revision.sections) revision.hybrids += static_cast<int>(hybrids.count(start));
        auto &all = revision.entries;
        if (!right) all.erase(std::remove_if(all.begin(), all.end(), is_wrong), all.end());
        for (auto &item : revision.entries) {
            const Entry &entry = item.second;
            check_time(limit);
            if (entry.type != 2) continue;
            const Entry *container = revision.entry(static_cast<int>(entry.where));
            if (!container || container->type != 1) throw Uncertain();
            auto &found = listing(revision, entry);
            if (entry.index < 0 || static_cast<size_t>(entry.index) >= found.numbers.size()
                || found.numbers[static_cast<size_t>(entry.index)] != item.first || found.twice.count(item.first))
                throw Uncertain();
        }
        for (auto &header : headers) check_header(revision, header.first, header.second);
    } catch (std::bad_alloc &) {
        throw;
    } catch (std::exception &) { // qpdf could not read something
        throw Uncertain();
    }
}

// qpdf reads the streams of sections before the entries, and stores them under the numbers in their headers. No other
// object may have such a number, unless a later section has said so.
void Entries::check_header(Revision &revision, int64_t start, int number)
{
    const Entry *entry = revision.entry(number);
    if (!entry || start >= static_cast<int64_t>(revision.size) - revision.base) return;
    if (entry->type == 1 && (entry->where == start || headers.count(entry->where))) return;
    auto object = revision.object(number);
    auto type = object.isStream() ? raw(object.getDict(), "/Type") : QPDFObjectHandle::newNull();
    if (type.isName() && type.getName() == "/XRef") throw Uncertain();
}

} // namespace sr

int sr_pdfd_entries_are_right(const unsigned char *data, size_t size)
{
    try {
        sr::Revision revision(data, size);
        sr::Entries entries;
        entries.check(revision, clock() + 60 * CLOCKS_PER_SEC); // a request has a limit of its own
        return entries.right;
    } catch (...) {
        return 0;
    }
}
