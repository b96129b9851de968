// SPDX-License-Identifier: Apache-2.0
// revision.cc: a revision of a document: its objects, their positions and the references between them. Two revisions
// can be compared only if every reader sees the same objects in each. So nothing is repaired here.
#include "helper/main/compare/revision.h"
#include "helper/main/compare/changes.h"

#include <algorithm>
#include <cstring>
#include <qpdf/Buffer.hh>
#include <qpdf/QPDFObjectHandle.hh>

namespace sr
{

namespace
{

const int MAX_NESTING = 200;

// Returns the canonical spelling of a number: "+01.50" becomes "1.5".
std::string plain_number(std::string text)
{
    bool negative = !text.empty() && text[0] == '-';
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.erase(0, 1);
    if (text.find('.') != std::string::npos) {
        while (!text.empty() && text.back() == '0') text.pop_back();
        if (!text.empty() && text.back() == '.') text.pop_back();
    }
    size_t zeros = text.find_first_not_of('0');
    text.erase(0, zeros == std::string::npos ? text.size() : zeros);
    if (text.empty()) return "0";
    if (text[0] == '.') text.insert(0, "0");
    return negative ? "-" + text : text;
}

// Returns true if there was a warning about something that qpdf had to guess.
bool take_warnings(QPDF &pdf, const unsigned char *data, size_t size)
{
    for (auto const &warning : pdf.getWarnings())
        if (!sr_pdfd_warning_is_harmless(warning.getMessageDetail().c_str(), warning.getFilename().c_str(),
                                         warning.getFilePosition(), data, size))
            return true;
    return false;
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_NESTING
bool is_same_map(QPDFObjectHandle one, QPDFObjectHandle other, int nesting)
{
    auto first = one.getDictAsMap(), second = other.getDictAsMap();
    if (first.size() != second.size()) return false;
    for (auto &item : first) {
        auto found = second.find(item.first);
        if (found == second.end() || !is_same(item.second, found->second, nesting)) return false;
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_NESTING
bool is_same_stream(QPDFObjectHandle one, QPDFObjectHandle other, int nesting)
{
    if (!is_same_map(one.getDict(), other.getDict(), nesting)) return false;
    auto first = one.getRawStreamData(), second = other.getRawStreamData();
    return first->getSize() == second->getSize() && !memcmp(first->getBuffer(), second->getBuffer(), first->getSize());
}

} // namespace

int number_of(const QPDFObjectHandle &value)
{
    return value.isIndirect() ? value.getObjGen().getObj() : 0;
}

QPDFObjectHandle raw(QPDFObjectHandle dictionary, const std::string &key)
{
    if (!dictionary.isDictionary()) return QPDFObjectHandle::newNull();
    auto all = dictionary.getDictAsMap();
    auto found = all.find(key);
    return found == all.end() ? QPDFObjectHandle::newNull() : found->second;
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_NESTING
bool is_same(QPDFObjectHandle one, QPDFObjectHandle other, int nesting)
{
    if (++nesting > MAX_NESTING) return false;
    if (nesting > 1 && (one.isIndirect() || other.isIndirect()))
        return one.isIndirect() && other.isIndirect() && one.getObjGen() == other.getObjGen();
    if (one.isInteger() || one.isReal()) {
        if (!other.isInteger() && !other.isReal()) return false;
        return plain_number(one.unparseResolved()) == plain_number(other.unparseResolved());
    }
    if (one.getTypeCode() != other.getTypeCode()) return false;
    if (one.isString()) return one.getStringValue() == other.getStringValue();
    if (one.isStream()) return is_same_stream(one, other, nesting);
    if (one.isDictionary()) return is_same_map(one, other, nesting);
    if (!one.isArray()) return one.unparseResolved() == other.unparseResolved();
    auto first = one.getArrayAsVector(), second = other.getArrayAsVector();
    if (first.size() != second.size()) return false;
    for (size_t i = 0; i < first.size(); i++)
        if (!is_same(first[i], second[i], nesting)) return false;
    return true;
}

Revision::Revision(const unsigned char *data, size_t length) : pdf(QPDF::create()), bytes(data), size(length)
{
    sr_pdfd_sections_t chain;
    if (!sr_pdfd_sections_read(&chain, data, length)) throw Uncertain();
    base = chain.base;
    sections.insert(chain.starts, chain.starts + chain.count);
    overlaps = chain.overlaps;
    pdf->setSuppressWarnings(true);
    pdf->setAttemptRecovery(false);
    pdf->processMemoryFile(SR_PDFD_INPUT, reinterpret_cast<const char *>(data), length);
    if (take_warnings(*pdf, bytes, size)) throw Uncertain();
    auto table = pdf->getXRefTable();
    entries.reserve(table.size());
    for (auto &item : table) {
        int number = item.first.getObj();
        QPDFXRefEntry &found = item.second;
        Entry entry = {found.getType(), item.first.getGen(), 0, 0, 0};
        if (entry.type == 1) entry.where = found.getOffset();
        if (entry.type == 2) {
            entry.where = found.getObjStreamNumber();
            entry.index = found.getObjStreamIndex();
            auto stream = table.find(QPDFObjGen(found.getObjStreamNumber(), 0));
            entry.stream_where = stream == table.end() ? -1 : stream->second.getOffset();
        }
        if (!entries.empty() && entries.back().first == number) ambiguous.insert(number);
        else entries.emplace_back(number, entry);
    }
}

const Entry *Revision::entry(int number) const
{
    auto found = std::lower_bound(entries.begin(), entries.end(), number,
                                  [](const std::pair<int, Entry> &item, int wanted) { return item.first < wanted; });
    return found == entries.end() || found->first != number ? nullptr : &found->second;
}

QPDFObjectHandle Revision::object(int number, bool *readable)
{
    const Entry *found = entry(number);
    if (!found) return QPDFObjectHandle::newNull();
    auto value = pdf->getObjectByID(number, found->generation);
    value.getTypeCode(); // makes qpdf read the object
    if (pdf->numWarnings() && take_warnings(*pdf, bytes, size)) unreadable.insert(number);
    if (readable && unreadable.count(number)) *readable = false;
    return value;
}

int Revision::root() const
{
    return number_of(raw(pdf->getTrailer(), "/Root"));
}

} // namespace sr
