-- What the operations answer with: each object of store.h as JSON, in one place. PostgreSQL has functions here.
CREATE VIEW token_row AS
    SELECT t.id, t.uuid, t.user_id, t.organization_id, t.environment, t.secret_hash, t.created_at, t.expires_at,
           t.revoked_at, t.parent_id,
           json_object('uuid', t.uuid, 'name', t.name, 'environment', t.environment, 'user_uuid', u.uuid,
               'firstname', u.firstname, 'lastname', u.lastname, 'email', u.email, 'organization_uuid', o.uuid,
               'organization_name', o.name, 'sent_webhook_url', t.sent_webhook_url,
               'signed_webhook_url', t.signed_webhook_url, 'completed_webhook_url', t.completed_webhook_url,
               'created_at', t.created_at, 'expires_at', t.expires_at, 'revoked_at', t.revoked_at,
               'parent', (SELECT p.uuid FROM token p WHERE p.id = t.parent_id)) AS body,
           t.created_at || ':' || t.id AS key
    FROM token t
    JOIN user_account u ON u.id = t.user_id
    JOIN organization o ON o.id = t.organization_id

CREATE VIEW organization_row AS
    SELECT id, uuid, name, json_object('uuid', uuid, 'name', name, 'quota', quota, 'used', used,
                                       'created_at', created_at) AS body,
           created_at || ':' || id AS key
    FROM organization

CREATE VIEW user_row AS
    SELECT u.id, u.uuid, u.organization_id,
           json_object('uuid', u.uuid, 'firstname', u.firstname, 'lastname', u.lastname, 'email', u.email,
                       'organization_uuid', o.uuid, 'created_at', u.created_at) AS body,
           u.created_at || ':' || u.id AS key
    FROM user_account u
    JOIN organization o ON o.id = u.organization_id
