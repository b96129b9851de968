-- SPDX-License-Identifier: Apache-2.0
-- Templates: the same as pgsql/0010_templates.sql, which explains it. The id is part of every index.
CREATE INDEX submission_template ON submission (template_uuid)

ALTER TABLE submission ADD COLUMN template_deleted_at INTEGER

ALTER TABLE signer ADD COLUMN sent_fields TEXT

UPDATE signer
SET sent_fields = (SELECT json_group_array(json(iif(f.value->>'$.readOnly', f.value, json_remove(f.value, '$.value'))))
                   FROM json_each(fields) f)
WHERE state = 'completed' AND instr(fields, '"value"') > 0
