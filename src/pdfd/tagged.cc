// SPDX-License-Identifier: Apache-2.0
// tagged.cc: writes the logical structure of a composed document. The C interface of qpdf cannot change the content of
// pages while it writes them. No exception leaves this file.
#include "pdfd/tagged.h"

#define POINTERHOLDER_TRANSITION 4 /* makes qpdf use std::shared_ptr */
#include <algorithm>
#include <cstdlib>
#include <cstring>
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

class Structure
{
  public:
    Structure(QPDF &document, const sr_pdfd_tree_t *tree)
        : pdf(document), noted(tree), pages(QPDFPageDocumentHelper(document).getAllPages()), marked(pages.size())
    {
    }

    void make()
    {
        root = pdf.makeIndirectObject(QPDFObjectHandle::parse("<</Type/StructTreeRoot>>"));
        for (int i = 0; i < noted->element_count; i++) add_element(i);
        for (int i = 0; i < noted->content_count; i++) add_content(i);
        root.replaceKey("/K", elements.at(0));
        root.replaceKey("/ParentTree", pdf.makeIndirectObject(number_tree()));
        root.replaceKey("/ParentTreeNextKey", QPDFObjectHandle::newInteger(static_cast<long long>(pages.size())));
        QPDFObjectHandle catalog = pdf.getRoot();
        catalog.replaceKey("/StructTreeRoot", root);
        catalog.replaceKey("/MarkInfo", QPDFObjectHandle::parse("<</Marked true>>"));
        catalog.replaceKey("/ViewerPreferences", QPDFObjectHandle::parse("<</DisplayDocTitle true>>"));
        if (noted->language) catalog.replaceKey("/Lang", QPDFObjectHandle::newUnicodeString(noted->language));
    }

  private:
    void add_kid(QPDFObjectHandle element, const QPDFObjectHandle &kid)
    {
        if (!element.hasKey("/K")) element.replaceKey("/K", QPDFObjectHandle::newArray());
        element.getKey("/K").appendItem(kid);
    }

    void add_element(int index)
    {
        const sr_pdfd_element_t &own = noted->elements[index];
        const bool is_first = index == SR_PDFD_DOCUMENT;
        QPDFObjectHandle element = pdf.makeIndirectObject(QPDFObjectHandle::parse("<</Type/StructElem>>"));
        QPDFObjectHandle parent = is_first ? root : elements.at(static_cast<size_t>(own.parent));
        element.replaceKey("/S", QPDFObjectHandle::newName(std::string("/") + own.type));
        element.replaceKey("/P", parent);
        if (own.alternative) element.replaceKey("/Alt", QPDFObjectHandle::newUnicodeString(own.alternative));
        if (!std::strcmp(own.type, "TH")) element.replaceKey("/A", QPDFObjectHandle::parse("<</O/Table/Scope/Row>>"));
        if (!is_first) add_kid(parent, element);
        elements.push_back(element);
    }

    void add_content(int index)
    {
        const sr_pdfd_content_t &content = noted->contents[index];
        const auto page = static_cast<size_t>(content.page);
        QPDFObjectHandle element = elements.at(static_cast<size_t>(content.element));
        QPDFObjectHandle reference = QPDFObjectHandle::parse("<</Type/MCR>>");
        reference.replaceKey("/Pg", pages.at(page).getObjectHandle());
        reference.replaceKey("/MCID", QPDFObjectHandle::newInteger(static_cast<long long>(marked.at(page).size())));
        marked.at(page).push_back(element);
        add_kid(element, reference);
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
        QPDFObjectHandle tree = QPDFObjectHandle::newDictionary(), numbers = QPDFObjectHandle::newArray();
        for (size_t i = 0; i < pages.size(); i++) {
            const auto number = static_cast<long long>(i);
            pages[i].getObjectHandle().replaceKey("/StructParents", QPDFObjectHandle::newInteger(number));
            add_artifacts(pages[i].getObjectHandle().getKey("/Contents"), marked[i].size());
            numbers.appendItem(QPDFObjectHandle::newInteger(number));
            numbers.appendItem(pdf.makeIndirectObject(QPDFObjectHandle::newArray(marked[i])));
        }
        tree.replaceKey("/Nums", numbers);
        return tree;
    }

    QPDF &pdf;
    const sr_pdfd_tree_t *noted;
    std::vector<QPDFPageObjectHelper> pages;
    std::vector<std::vector<QPDFObjectHandle>> marked; // for each page, the elements by marked-content identifier
    std::vector<QPDFObjectHandle> elements;
    QPDFObjectHandle root;
};

} // namespace

unsigned char *sr_pdfd_tagged(size_t *size, const unsigned char *data, size_t length, const sr_pdfd_tree_t *tree)
{
    try {
        QPDF document;
        document.setSuppressWarnings(true);
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
