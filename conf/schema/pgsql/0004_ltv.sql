-- SPDX-License-Identifier: Apache-2.0
-- Archiving: newer proofs and a document timestamp are appended to completed documents (src/service/archive.c).
--   revision.kind   'signature', or 'archive': of the service itself. Then signer_uuid is that of the revision before
ALTER TABLE sigreq.revision
    ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'signature' CHECK (kind IN ('signature', 'archive'))

-- When the certificate of the first of its document timestamps ends. NULL: its documents have none.
ALTER TABLE sigreq.submission ADD COLUMN stamped_until bigint

CREATE INDEX submission_stamped ON sigreq.submission (coalesce(stamped_until, 0), id) WHERE state = 'completed'
