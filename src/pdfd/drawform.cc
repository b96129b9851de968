// SPDX-License-Identifier: Apache-2.0
// drawform.cc: draws the fields of a form that asks readers to draw them (/NeedAppearances), and removes this request.
// The C interface of qpdf does not offer this. No exception leaves this file.
#include "pdfd/drawform.h"

#define POINTERHOLDER_TRANSITION 4 /* makes qpdf use std::shared_ptr */
#include <cstdlib>
#include <cstring>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFAcroFormDocumentHelper.hh>
#include <qpdf/QPDFWriter.hh>
#include <string>
#include <utility>
#include <vector>

namespace
{

// While the fields are drawn, the value of a password is asterisks, as readers show it.
class Passwords
{
  public:
    explicit Passwords(QPDFAcroFormDocumentHelper &form)
    {
        for (auto &field : form.getFormFields())
            if (field.isText() && field.getFlags() & ff_tx_password) mask(field);
    }
    void restore()
    {
        for (auto &one : masked) one.first.replaceKey("/V", one.second); // null removes it
    }

  private:
    // The field gets a value of its own, because others may inherit the same value.
    void mask(QPDFFormFieldObjectHelper &field)
    {
        auto object = field.getObjectHandle(), value = field.getValue();
        if (!value.isString()) return;
        std::string stars;
        for (char byte : value.getUTF8Value())
            if ((byte & 0xc0) != 0x80) stars += '*';
        masked.emplace_back(object, object.getKey("/V"));
        object.replaceKey("/V", QPDFObjectHandle::newString(stars));
    }

    std::vector<std::pair<QPDFObjectHandle, QPDFObjectHandle>> masked;
};

} // namespace

unsigned char *sr_pdfd_form_draw(size_t *size, const unsigned char *data, size_t length)
{
    try {
        QPDF document;
        document.setSuppressWarnings(true);
        document.processMemoryFile("document", reinterpret_cast<const char *>(data), length);
        QPDFAcroFormDocumentHelper form(document);
        Passwords passwords(form);
        form.generateAppearancesIfNeeded();
        passwords.restore();
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
