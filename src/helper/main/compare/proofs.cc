// SPDX-License-Identifier: Apache-2.0
// proofs.cc: reads the document security store (DSS; ISO 32000-2, 12.8.4.3): certificates, OCSP responses and CRLs,
// which are copied and never parsed here. Each comes with its offset in the file, which tells which timestamps cover
// it.
#include "helper/main/compare/changes.h"
#include "helper/main/compare/revision.h"

#include <qpdf/Pipeline.hh>

namespace sr
{

namespace
{

// Collects the data of a stream. Throws when there is more than the room.
class Limited : public Pipeline
{
  public:
    explicit Limited(size_t most) : Pipeline("proof", nullptr), room(most)
    {
    }
    void write(unsigned char const *bytes, size_t size) override
    {
        if (size > room) throw Incomparable();
        room -= size;
        data.insert(data.end(), bytes, bytes + size);
    }
    void finish() override
    {
    }

    std::vector<unsigned char> data;

  private:
    size_t room;
};

class Reader
{
  public:
    Reader(Revision &from, sr_pdfd_proofs_t &to) : revision(from), proofs(to)
    {
    }

    void read()
    {
        auto store = raw(revision.pdf->getRoot(), "/DSS");
        for (int kind = 0; proofs.keys[kind]; kind++) {
            auto array = raw(store, proofs.keys[kind]);
            if (!array.isArray()) continue;
            for (auto &item : array.getArrayAsVector()) add(item, kind);
        }
    }

  private:
    // A proof that is too large or cannot be read is left out.
    void add(QPDFObjectHandle stream, int kind)
    {
        const Entry *entry = revision.entry(number_of(stream));
        if (!entry || entry->type != 1 || !stream.isStream() || proofs.count <= 0) return;
        proofs.count--;
        Limited bytes(proofs.room);
        try {
            if (!stream.pipeStreamData(&bytes, 0, qpdf_dl_generalized, true)) return;
        } catch (Incomparable &) {
            return;
        }
        if (bytes.data.empty()) return;
        proofs.room -= bytes.data.size();
        proofs.add(&proofs, kind, entry->where + revision.base, bytes.data.data(), bytes.data.size());
    }

    Revision &revision;
    sr_pdfd_proofs_t &proofs;
};

} // namespace

} // namespace sr

void sr_pdfd_proofs_read(sr_pdfd_proofs_t *proofs, const unsigned char *data, size_t size)
{
    try {
        sr::Revision revision(data, size);
        sr::Entries entries;
        entries.check(revision, clock() + CLOCKS_PER_SEC);
        if (!entries.right) return;
        sr::Reader(revision, *proofs).read();
    } catch (...) { // a document that readers may understand in two ways proves nothing
    }
}
