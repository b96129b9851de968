// SPDX-License-Identifier: Apache-2.0
// encryption.cc: finds out how a document is encrypted, and its key. The C interface of qpdf does not offer this. No
// exception leaves this file.
#include "helper/main/write/encryption.h"

#define POINTERHOLDER_TRANSITION 4 /* makes qpdf use std::shared_ptr */
#include <cstring>
#include <qpdf/QPDF.hh>

static const char *name_of(QPDF::encryption_method_e method)
{
    switch (method) {
    case QPDF::e_rc4: return "rc4";
    case QPDF::e_aes: return "aes128";
    case QPDF::e_aesv3: return "aes256";
    default: return nullptr;
    }
}

const char *sr_pdfd_encryption_read(unsigned char *key, size_t *length, const unsigned char *data, size_t size)
{
    try {
        int revision = 0, permissions = 0, version = 0;
        QPDF::encryption_method_e streams, strings, files;
        auto pdf = QPDF::create();
        pdf->setSuppressWarnings(true);
        pdf->processMemoryFile("document", reinterpret_cast<const char *>(data), size);
        if (!pdf->isEncrypted(revision, permissions, version, streams, strings, files)) return nullptr;
        // before version 4 there is only one method, which qpdf does not report
        if (version < 4) strings = streams = QPDF::e_rc4;
        const std::string found = pdf->getEncryptionKey();
        if (strings != streams || found.size() > 32) return nullptr;
        std::memcpy(key, found.data(), found.size());
        *length = found.size();
        return name_of(strings);
    } catch (...) {
        return nullptr;
    }
}
