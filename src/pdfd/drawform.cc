// SPDX-License-Identifier: Apache-2.0
// drawform.cc: draws the fields of a form that asks readers to draw them (/NeedAppearances), and removes this request.
// The C interface of qpdf does not offer this. No exception leaves this file.
#include "pdfd/drawform.h"

#define POINTERHOLDER_TRANSITION 4 /* makes qpdf use std::shared_ptr */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFAcroFormDocumentHelper.hh>
#include <qpdf/QPDFWriter.hh>
#include <string>
#include <vector>

namespace
{

// While the fields are drawn, they have what readers show: the value of a password is asterisks, and a font of the size
// 0 has the size that fits the field, instead of qpdf's 11.
class Shown
{
  public:
    explicit Shown(QPDFAcroFormDocumentHelper &form)
    {
        for (auto &field : form.getFormFields()) {
            if (!field.isText()) continue;
            if (field.getFlags() & ff_tx_password) mask(field);
            fit(field);
        }
    }
    void restore()
    {
        for (auto &one : replaced) one.object.replaceKey(one.key, one.value); // null removes it
    }

  private:
    struct Replaced {
        QPDFObjectHandle object;
        const char *key;
        QPDFObjectHandle value;
    };

    // The object gets a value of its own, because others may inherit the same value.
    void replace(QPDFObjectHandle object, const char *key, const std::string &text)
    {
        replaced.push_back({object, key, object.getKey(key)});
        object.replaceKey(key, QPDFObjectHandle::newString(text));
    }

    void mask(QPDFFormFieldObjectHelper &field)
    {
        auto value = field.getValue();
        if (!value.isString()) return;
        std::string stars;
        for (char byte : value.getUTF8Value())
            if ((byte & 0xc0) != 0x80) stars += '*';
        replace(field.getObjectHandle(), "/V", stars);
    }

    // The size of a line: most of the height, unless the text would then be wider than the field. A letter is about
    // half as wide as high.
    void fit(QPDFFormFieldObjectHelper &field)
    {
        static const std::string automatic = " 0 Tf";
        auto text = field.getDefaultAppearance();
        auto rect = field.getObjectHandle().getKey("/Rect");
        const auto at = text.find(automatic);
        if (at == std::string::npos || !rect.isRectangle() || field.getFlags() & ff_tx_multiline) return;
        auto box = rect.getArrayAsRectangle();
        const double letters = std::max<double>(1, static_cast<double>(field.getValueAsString().size()));
        const double size = std::min(0.67 * (box.ury - box.lly), (box.urx - box.llx) / letters * 2);
        if (!(size >= 4 && size <= 1000)) return;
        text.replace(at + 1, 1, std::to_string(static_cast<int>(size)));
        replace(field.getObjectHandle(), "/DA", text);
    }

    std::vector<Replaced> replaced;
};

} // namespace

unsigned char *sr_pdfd_form_draw(size_t *size, const unsigned char *data, size_t length)
{
    try {
        QPDF document;
        document.setSuppressWarnings(true);
        document.processMemoryFile("document", reinterpret_cast<const char *>(data), length);
        QPDFAcroFormDocumentHelper form(document);
        Shown shown(form);
        form.generateAppearancesIfNeeded();
        shown.restore();
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
