-- SPDX-License-Identifier: Apache-2.0
-- Archiving: newer proofs and a document timestamp are appended to completed documents (src/service/archive.c).
--   revision.kind   'signature', or 'archive': of the service itself. Then signer_uuid is that of the revision before
ALTER TABLE revision ADD COLUMN kind TEXT NOT NULL DEFAULT 'signature' CHECK (kind IN ('signature', 'archive'))

-- When the certificate of the first of its document timestamps ends. NULL: its documents have none.
ALTER TABLE submission ADD COLUMN stamped_until INTEGER

CREATE INDEX submission_stamped ON submission (coalesce(stamped_until, 0), id) WHERE state = 'completed'
