-- What the operations on what becomes of a submission answer with: see 0002_operations.sql.
CREATE VIEW document_row AS
    SELECT d.submission_id, d.position, d.uuid,
           json_object('uuid', d.uuid, 'name', d.name, 'sha256', d.sha256, 'size', d.size, 'pages', d.pages,
               'rewritten_sha256', d.rewritten_sha256, 'rewritten_size', d.rewritten_size,
               'revisions', (SELECT json_group_array(json(body))
                             FROM (SELECT json_object('sha256', r.sha256, 'size', r.size,
                                              'whole_sha256', r.whole_sha256, 'whole_size', r.whole_size) AS body
                                   FROM revision r WHERE r.document_uuid = d.uuid ORDER BY r.number))) AS body
    FROM document d
