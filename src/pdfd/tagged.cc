// SPDX-License-Identifier: Apache-2.0
// tagged.cc: writes the logical structure of a composed document. The C interface of qpdf cannot change the content of
// pages while it writes them. No exception leaves this file.
#include "pdfd/tagged.h"

#define POINTERHOLDER_TRANSITION 4 /* makes qpdf use std::shared_ptr */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <qpdf/Pl_Flate.hh>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QPDFWriter.hh>
#include <stdexcept>
#include <string_view>

namespace
{

// Reads the content stream of a page, operator by operator.
class Operators
{
  public:
    explicit Operators(std::string const &content) : text(content)
    {
    }

    // Moves after the next operator. Returns false at the end.
    bool next()
    {
        from = at;
        while ((at = text.find_first_not_of(SPACE, at)) != std::string::npos) {
            if (text[at] == '(') skip_string();
            else if (std::strchr(DELIMITERS, text[at])) at++;
            else if (take_word()) return true;
        }
        at = text.size();
        return false;
    }

    // Returns the operator with its operands.
    std::string_view whole() const
    {
        return std::string_view(text).substr(from, at - from);
    }

    bool is(std::string_view name) const
    {
        return std::string_view(text).substr(word, at - word) == name;
    }

  private:
    static constexpr char SPACE[] = " \t\r\n\f", DELIMITERS[] = "()<>[]{}/%", ENDS[] = " \t\r\n\f()<>[]{}/%";

    // Parentheses in a string are balanced or escaped with a backslash.
    void skip_string()
    {
        int depth = 0;
        do {
            const char c = text[at++];
            if (c == '\\') at++;
            else depth += (c == '(') - (c == ')');
        } while (depth && at < text.size());
    }

    // Returns true if the word is an operator, and not a name, a number or a hexadecimal string.
    bool take_word()
    {
        const char before = at ? text[at - 1] : ' ';
        word = at;
        at = std::min(text.find_first_of(ENDS, at), text.size());
        return before != '/' && before != '<' && !std::strchr("+-.0123456789", text[word]);
    }

    std::string const &text;
    size_t at = 0, from = 0, word = 0;
};

// Marks content of a page outside of marked content as artifacts. Inside, cairo uses /Span for text that is copied
// differently.
std::string with_artifacts(std::string const &content, size_t wanted)
{
    std::string tagged = "/Artifact BMC\n";
    size_t found = 0;
    int depth = 0;
    Operators operators(content);
    tagged.reserve(content.size() + 40 * wanted);
    while (operators.next()) {
        const bool begins = operators.is("BDC") && !depth++, ends = operators.is("EMC") && !--depth;
        if (begins) tagged += "\nEMC\n";
        found += begins;
        tagged += operators.whole();
        if (ends) tagged += "\n/Artifact BMC";
    }
    if (found != wanted || depth) throw std::logic_error("cairo has marked something else");
    return tagged + "\nEMC\n";
}

// Marks the structure elements of cairo as free in the cross-reference table. The new structure replaces them, and
// qpdf reads and parses all objects that are not free. If the table has another form, nothing is changed.
void leave_out_elements(char *data, size_t length)
{
    constexpr std::string_view start("startxref\n"), table("xref\n0 "), object("obj\n"),
        element("<< /Type /StructElem");
    constexpr size_t entry = 20, kind = 17, number = 20; // bytes of an entry, before its kind, and of "<number> 0 "
    const std::string_view text(data, length);
    const size_t last = text.rfind(start);
    if (last == std::string_view::npos) return;
    size_t at = std::strtoull(data + last + start.size(), nullptr, 10);
    if (at >= length || text.substr(at, table.size()) != table) return;
    at = text.find('\n', at + table.size()) + 1;
    for (; at + entry <= length && (text[at + kind] == 'n' || text[at + kind] == 'f'); at += entry) {
        const size_t from = std::strtoull(data + at, nullptr, 10);
        const size_t body = text.find(object, from);
        if (body == std::string_view::npos || body - from > number) continue;
        if (text.substr(body + object.size(), element.size()) == element) data[at + kind] = 'f';
    }
}

// An element of the structure. Objects are made of handles, because qpdf would have to parse texts.
struct Element {
    QPDFObjectHandle object;
    std::vector<QPDFObjectHandle> kids;
    size_t page; // of its first content: content on the same page is a number, and other content is a dictionary
    bool has_content;
};

class Structure
{
  public:
    Structure(QPDF &document, const sr_pdfd_tree_t *tree)
        : pdf(document), noted(tree), pages(QPDFPageDocumentHelper(document).getAllPages()), marked(pages.size())
    {
    }

    void make()
    {
        elements.reserve(static_cast<size_t>(noted->element_count));
        root = pdf.makeIndirectObject(dictionary({{"/Type", name("/StructTreeRoot")}}));
        for (int i = 0; i < noted->element_count; i++) add_element(i);
        for (int i = 0; i < noted->content_count; i++) add_content(i);
        for (auto &element : elements) finish(element);
        root.replaceKey("/K", elements.at(0).object);
        root.replaceKey("/ParentTree", pdf.makeIndirectObject(number_tree()));
        root.replaceKey("/ParentTreeNextKey", number(pages.size()));
        QPDFObjectHandle catalog = pdf.getRoot();
        catalog.replaceKey("/StructTreeRoot", root);
        catalog.replaceKey("/MarkInfo", dictionary({{"/Marked", QPDFObjectHandle::newBool(true)}}));
        catalog.replaceKey("/ViewerPreferences", dictionary({{"/DisplayDocTitle", QPDFObjectHandle::newBool(true)}}));
        if (noted->language) catalog.replaceKey("/Lang", QPDFObjectHandle::newUnicodeString(noted->language));
    }

  private:
    static QPDFObjectHandle dictionary(std::map<std::string, QPDFObjectHandle> const &keys)
    {
        return QPDFObjectHandle::newDictionary(keys);
    }

    static QPDFObjectHandle name(std::string const &text)
    {
        return QPDFObjectHandle::newName(text);
    }

    static QPDFObjectHandle number(size_t value)
    {
        return QPDFObjectHandle::newInteger(static_cast<long long>(value));
    }

    void add_element(int index)
    {
        const sr_pdfd_element_t &own = noted->elements[index];
        const bool is_first = index == SR_PDFD_DOCUMENT;
        auto parent = is_first ? root : elements.at(static_cast<size_t>(own.parent)).object;
        std::map<std::string, QPDFObjectHandle> keys{
            {"/Type", element_type}, {"/S", name(std::string("/") + own.type)}, {"/P", parent}};
        if (own.alternative) keys["/Alt"] = QPDFObjectHandle::newUnicodeString(own.alternative);
        if (!std::strcmp(own.type, "TH")) keys["/A"] = dictionary({{"/O", name("/Table")}, {"/Scope", name("/Row")}});
        elements.push_back({pdf.makeIndirectObject(dictionary(keys)), {}, 0, false});
        if (!is_first) elements.at(static_cast<size_t>(own.parent)).kids.push_back(elements.back().object);
    }

    void add_content(int index)
    {
        const sr_pdfd_content_t &content = noted->contents[index];
        const auto page = static_cast<size_t>(content.page);
        Element &element = elements.at(static_cast<size_t>(content.element));
        auto mark = number(marked.at(page).size());
        marked.at(page).push_back(element.object);
        if (!element.has_content) element.page = page;
        element.has_content = true;
        if (element.page != page)
            mark = dictionary({{"/Type", name("/MCR")}, {"/Pg", pages.at(page).getObjectHandle()}, {"/MCID", mark}});
        element.kids.push_back(mark);
    }

    void finish(Element &element)
    {
        if (element.has_content) element.object.replaceKey("/Pg", pages.at(element.page).getObjectHandle());
        if (element.kids.size() == 1) element.object.replaceKey("/K", element.kids[0]);
        else if (!element.kids.empty()) element.object.replaceKey("/K", QPDFObjectHandle::newArray(element.kids));
    }

    // Adds the artifacts of a page. cairo writes one content stream for each page.
    void add_artifacts(QPDFObjectHandle contents, size_t wanted)
    {
        auto data = contents.getStreamData();
        const std::string content(reinterpret_cast<const char *>(data->getBuffer()), data->getSize());
        contents.replaceStreamData(with_artifacts(content, wanted), QPDFObjectHandle::newNull(),
                                   QPDFObjectHandle::newNull());
    }

    // Makes the number tree that maps pages to the elements of their marked content.
    QPDFObjectHandle number_tree()
    {
        QPDFObjectHandle numbers = QPDFObjectHandle::newArray();
        for (size_t i = 0; i < pages.size(); i++) {
            QPDFObjectHandle page = pages[i].getObjectHandle();
            page.replaceKey("/StructParents", number(i));
            add_artifacts(page.getKey("/Contents"), marked[i].size());
            numbers.appendItem(number(i));
            numbers.appendItem(pdf.makeIndirectObject(QPDFObjectHandle::newArray(marked[i])));
        }
        return dictionary({{"/Nums", numbers}});
    }

    QPDF &pdf;
    const sr_pdfd_tree_t *noted;
    std::vector<QPDFPageObjectHelper> pages;
    std::vector<std::vector<QPDFObjectHandle>> marked; // for each page, the elements by marked-content identifier
    std::vector<Element> elements;
    QPDFObjectHandle root, element_type = name("/StructElem");
};

// Compresses quickly while it lives: the contents of pages are small, and were compressed by cairo before.
class FastCompression
{
  public:
    FastCompression()
    {
        Pl_Flate::setCompressionLevel(1);
    }
    ~FastCompression()
    {
        Pl_Flate::setCompressionLevel(-1);
    }
    FastCompression(const FastCompression &) = delete;
    FastCompression &operator=(const FastCompression &) = delete;
};

} // namespace

unsigned char *sr_pdfd_tagged(size_t *size, unsigned char *data, size_t length, const sr_pdfd_tree_t *tree)
{
    try {
        const FastCompression fast;
        QPDF document;
        document.setSuppressWarnings(true);
        leave_out_elements(reinterpret_cast<char *>(data), length);
        document.processMemoryFile("document", reinterpret_cast<const char *>(data), length);
        Structure(document, tree).make();
        QPDFWriter writer(document);
        writer.setOutputMemory();
        writer.setDeterministicID(true);
        writer.setObjectStreamMode(qpdf_o_disable);
        writer.write();
        auto written = writer.getBufferSharedPointer();
        auto *copy = static_cast<unsigned char *>(std::malloc(written->getSize()));
        if (!copy) return nullptr;
        std::memcpy(copy, written->getBuffer(), written->getSize());
        *size = written->getSize();
        return copy;
    } catch (...) {
        return nullptr;
    }
}
