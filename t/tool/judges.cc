// SPDX-License-Identifier: Apache-2.0
// judges.cc: what poppler and qpdf say of signed PDFs, as `pdfsig -nocert` and `qpdf --check` would, for many files: a
// start of these programs takes longer than most documents do. Reads names of files, a line each. For each it writes
// "<fields with a valid signature> <true if qpdf finds an error or a warning>".
#define POINTERHOLDER_TRANSITION 4 // makes qpdf use std::shared_ptr

#include <exception>
#include <iostream>
#include <poppler.h>
#include <qpdf/Pl_Discard.hh>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QPDFWriter.hh>
#include <string>

namespace
{

int valid_signatures(const std::string &name)
{
    GFile *file = g_file_new_for_path(name.c_str());
    GError *error = nullptr;
    PopplerDocument *document = poppler_document_new_from_gfile(file, nullptr, nullptr, &error);
    g_object_unref(file);
    g_clear_error(&error);
    if (!document) return 0;
    int valid = 0;
    GList *fields = poppler_document_get_signature_fields(document);
    for (GList *one = fields; one; one = one->next) {
        PopplerSignatureInfo *info =
            poppler_form_field_signature_validate_sync(POPPLER_FORM_FIELD(one->data), {}, nullptr, &error);
        g_clear_error(&error);
        if (info && poppler_signature_info_get_signature_status(info) == POPPLER_SIGNATURE_VALID) valid++;
        if (info) poppler_signature_info_free(info);
    }
    g_list_free_full(fields, g_object_unref);
    g_object_unref(document);
    return valid;
}

class Contents : public QPDFObjectHandle::ParserCallbacks
{
  public:
    void handleObject(QPDFObjectHandle) override
    {
    }
    void handleEOF() override
    {
    }
};

bool qpdf_complains(const std::string &name)
{
    try {
        QPDF pdf;
        Contents contents;
        Pl_Discard nowhere;
        pdf.setSuppressWarnings(true);
        pdf.processFile(name.c_str());
        QPDFWriter writer(pdf);
        writer.setOutputPipeline(&nowhere);
        writer.setDecodeLevel(qpdf_dl_all);
        writer.write();
        for (auto &page : QPDFPageDocumentHelper(pdf).getAllPages()) page.parseContents(&contents);
        return pdf.anyWarnings();
    } catch (const std::exception &) {
        return true;
    }
}

} // namespace

int main()
{
    for (std::string name; std::getline(std::cin, name);)
        std::cout << valid_signatures(name) << " " << qpdf_complains(name) << std::endl;
    return 0;
}
