// SPDX-License-Identifier: Apache-2.0
// drawform.cc: draws the fields of a form that asks readers to draw them (/NeedAppearances), and removes this request.
// The C interface of qpdf does not offer this. qpdf draws a text as one line of ASCII letters at the left edge, so the
// lines are placed here, and qpdf inserts them into the appearance. No exception leaves this file.
#include "helper/main/rewrite/drawform.h"

#define POINTERHOLDER_TRANSITION 4 /* makes qpdf use std::shared_ptr */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFAcroFormDocumentHelper.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QPDFWriter.hh>
#include <qpdf/QUtil.hh>
#include <string>
#include <vector>

namespace
{

const double MARGIN = 2;             // points between the text and the edges
const double SIZE_OF_LINES = 12;     // of an automatic size, if the text has several lines
const double SHARE_OF_HEIGHT = 0.67; // of an automatic size, if it has one line
const double SMALLEST = 4, LARGEST = 1000;

// The widths from space to tilde, for standard fonts, which need no /Widths.
const int HELVETICA[] = {278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
                         556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
                         1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
                         667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
                         333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
                         556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};

class Font
{
  public:
    explicit Font(QPDFObjectHandle dictionary)
    {
        if (!dictionary.isDictionary()) return;
        auto list = dictionary.getKey("/Widths"), begin = dictionary.getKey("/FirstChar");
        mac = dictionary.getKey("/Encoding").isNameAndEquals("/MacRomanEncoding");
        name = dictionary.getKey("/BaseFont").isName() ? dictionary.getKey("/BaseFont").getName() : "";
        if (!list.isArray() || !begin.isInteger()) return;
        for (auto &item : list.getArrayAsVector()) widths.push_back(item.isNumber() ? item.getNumericValue() : 0);
        first = begin.getIntValueAsInt();
    }

    // Returns the width of a letter in thousandths of the size.
    double width(char letter) const
    {
        const long code = static_cast<unsigned char>(letter), at = code - first;
        if (at >= 0 && at < static_cast<long>(widths.size())) return widths[static_cast<size_t>(at)];
        if (name.find("Courier") != std::string::npos) return 600;
        const double wider = name.find("Bold") == std::string::npos ? 1 : 1.08;
        return wider * (code >= ' ' && code <= '~' ? HELVETICA[code - ' '] : 556);
    }

    double width(const std::string &text) const
    {
        double sum = 0;
        for (char letter : text) sum += width(letter);
        return sum / 1000;
    }

    // Most encodings with differences are PDFDocEncoding, whose letters are those of Windows.
    std::string encode(const std::string &text) const
    {
        return mac ? QUtil::utf8_to_mac_roman(text) : QUtil::utf8_to_win_ansi(text);
    }

  private:
    std::string name;
    std::vector<double> widths;
    long first = 0;
    bool mac = false;
};

// Breaks a text into lines of this width, in parts of the size. A word that is wider is broken, too.
std::vector<std::string> break_lines(const std::string &text, double width, const Font &font)
{
    std::vector<std::string> lines(1);
    double used = 0;
    size_t word = 0; // where the last word of the line begins
    for (size_t i = 0; i < text.size(); i++) {
        auto &line = lines.back();
        if (text[i] == '\r' || text[i] == '\n') {
            if (text[i] == '\n' && i && text[i - 1] == '\r') continue;
            lines.emplace_back();
            used = 0;
            word = 0;
            continue;
        }
        line += text[i];
        used += font.width(text[i]) / 1000;
        if (text[i] == ' ') word = line.size();
        if (used <= width || text[i] == ' ' || line.size() == 1) continue;
        const std::string rest = line.substr(word ? word : line.size() - 1);
        line.resize(line.size() - rest.size());
        lines.push_back(rest);
        used = font.width(rest);
        word = 0;
    }
    return lines;
}

std::string number(double value)
{
    return QUtil::double_to_string(value, 3);
}

// The size and the lines of a field's value, as readers choose them.
class Layout
{
  public:
    Layout(QPDFFormFieldObjectHelper &field, const QPDFObjectHandle::Rectangle &rectangle)
        : box(rectangle), align(field.getQuadding())
    {
        static const char space[] = " \t\r\n\f";
        style = field.getDefaultAppearance(); // "… /Font size Tf …"
        const auto word = style.rfind("Tf"), name = style.rfind('/', word);
        if (word == std::string::npos || word == 0 || name == std::string::npos) return;
        const auto gap = style.find_first_of(space, name);
        end = style.find_last_not_of(space, word - 1) + 1;
        begin = style.find_last_of(space, end - 1) + 1;
        if (gap >= begin || begin >= end) return;
        size = std::strtod(style.c_str() + begin, nullptr);
        if (!(size >= 0 && size <= LARGEST)) return;
        auto fonts = field.getDefaultResources();
        if (fonts.isDictionary()) fonts = fonts.getKey("/Font");
        place(field, Font(fonts.isDictionary() ? fonts.getKey(style.substr(name, gap - name)) : fonts));
    }

    // Returns the default appearance, followed by the lines; or "".
    std::string operators() const
    {
        if (lines.empty()) return "";
        std::string all = style.substr(0, begin) + number(size) + style.substr(end);
        double left = -box.llx;
        for (size_t i = 0; i < lines.size(); i++) {
            all += " " + number(lefts[i] - left) + " " + number(i ? -size : box.lly + top) + " Td ";
            const bool ascii = std::all_of(lines[i].begin(), lines[i].end(), [](char byte) { return byte > 0; });
            auto text = QPDFObjectHandle::newString(lines[i]);
            all += (ascii ? text.unparse() : text.unparseBinary()) + " Tj"; // qpdf decodes other bytes of /DA
            left = lefts[i];
        }
        return all;
    }

  private:
    void place(QPDFFormFieldObjectHelper &field, const Font &font)
    {
        const int flags = field.isText() ? field.getFlags() : 0;
        auto text = font.encode(field.getValueAsString());
        if (flags & ff_tx_password) text.assign(text.size(), '*');
        const bool automatic = size == 0;
        const double width = box.urx - box.llx, height = box.ury - box.lly, room = std::max(width - 2 * MARGIN, 1.);
        if (flags & ff_tx_multiline) {
            if (automatic) size = SIZE_OF_LINES;
            lines = break_lines(text, room / size, font);
            while (automatic && size > SMALLEST && static_cast<double>(lines.size()) * size > height - MARGIN)
                lines = break_lines(text, room / --size, font);
            top = height - MARGIN - size;
        } else {
            lines.push_back(text);
            if (automatic) size = std::min(SHARE_OF_HEIGHT * height, room / std::max(font.width(text), 0.1));
            size = std::min(std::max(size, SMALLEST), LARGEST);
            top = height / 2 - 0.4 * size;
        }
        for (auto &line : lines) {
            const double rest = width - font.width(line) * size;
            lefts.push_back(align == 1 ? rest / 2 : align == 2 ? rest - MARGIN : MARGIN);
        }
    }

    QPDFObjectHandle::Rectangle box;
    int align;
    double size = 0, top = 0;
    std::string style;
    size_t begin = 0, end = 0; // of the size in `style`
    std::vector<std::string> lines;
    std::vector<double> lefts;
};

// While qpdf makes the appearance of a text, the default appearance has its lines, and the value is empty.
void draw_text(QPDFFormFieldObjectHelper &field, QPDFAnnotationObjectHelper &widget)
{
    auto object = field.getObjectHandle(), value = object.getKey("/V"), style = object.getKey("/DA");
    auto look = widget.getAppearanceStream("/N");
    auto box = look.isStream() ? look.getDict().getKey("/BBox").getArrayAsRectangle() : widget.getRect();
    if (!look.isStream()) box = {0, 0, box.urx - box.llx, box.ury - box.lly};
    const auto operators = Layout(field, box).operators();
    if (operators.empty()) return;
    object.replaceKey("/V", QPDFObjectHandle::newString(""));
    object.replaceKey("/DA", QPDFObjectHandle::newString(operators));
    field.generateAppearance(widget);
    object.replaceKey("/V", value); // null removes it
    object.replaceKey("/DA", style);
}

void draw_fields(QPDF &document)
{
    QPDFAcroFormDocumentHelper form(document);
    for (auto &page : QPDFPageDocumentHelper(document).getAllPages())
        for (auto &widget : form.getWidgetAnnotationsForPage(page)) {
            auto field = form.getFieldForAnnotation(widget);
            if (field.isRadioButton() || field.isCheckbox()) field.setV(field.getValue()); // chooses its appearance
            else if (field.isText() || (field.isChoice() && field.getFlags() & ff_ch_combo)) draw_text(field, widget);
            else if (field.isChoice()) field.generateAppearance(widget);
        }
    form.setNeedAppearances(false);
}

} // namespace

unsigned char *sr_pdfd_form_draw(size_t *size, const unsigned char *data, size_t length)
{
    try {
        QPDF document;
        document.setSuppressWarnings(true);
        document.processMemoryFile("document", reinterpret_cast<const char *>(data), length);
        draw_fields(document);
        QPDFWriter writer(document);
        writer.setOutputMemory();
        writer.setObjectStreamMode(
            qpdf_o_preserve); // streams are not preserved, because the drawing is inserted while they are compressed
        writer.write();
        auto drawn = writer.getBufferSharedPointer();
        auto *copy = static_cast<unsigned char *>(std::malloc(drawn->getSize()));
        if (!copy) return nullptr;
        std::memcpy(copy, drawn->getBuffer(), drawn->getSize());
        *size = drawn->getSize();
        return copy;
    } catch (...) {
        return nullptr;
    }
}
