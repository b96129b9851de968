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

unsigned char *sr_pdfd_form_draw(size_t *size, const unsigned char *data, size_t length)
{
    try {
        QPDF document;
        document.setSuppressWarnings(true);
        document.processMemoryFile("document", reinterpret_cast<const char *>(data), length);
        QPDFAcroFormDocumentHelper(document).generateAppearancesIfNeeded();
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
