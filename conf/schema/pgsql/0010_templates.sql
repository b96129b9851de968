-- SPDX-License-Identifier: Apache-2.0
-- Templates: the documents of a submission, and its fields as they were sent. A submission that was made from a template
-- has its template_uuid, and the first one with this template_uuid has its documents and fields. template_deleted_at:
-- NULL, unless the template was deleted without its submission.
CREATE INDEX submission_template ON sigreq.submission (template_uuid, id)

ALTER TABLE sigreq.submission ADD COLUMN template_deleted_at bigint

-- The fields as they were sent. NULL: they are in `fields`, because no signature has changed their values. The values
-- that were sent for fields that are signed already are not known, except those that signers could not change.
ALTER TABLE sigreq.signer ADD COLUMN sent_fields text

UPDATE sigreq.signer
SET sent_fields = (SELECT json_agg(CASE WHEN f.field->>'readOnly' = 'true' THEN f.field
                                        ELSE (f.field::jsonb - 'value')::json END ORDER BY f.nth)
                   FROM json_array_elements(fields::json) WITH ORDINALITY AS f(field, nth))
WHERE state = 'completed' AND strpos(fields, '"value"') > 0
