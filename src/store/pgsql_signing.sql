-- The operations of store.h on what becomes of a submission, on PostgreSQL: see pgsql.sql for the form of this file.

-- @op CERTIFICATE_GET 3
SELECT sigreq.certificate_get(%s, %s, %s)

-- @op AUDIT_GET 3
SELECT sigreq.audit_get(%s, %s, %s)

-- @op SIGNING_GET 1
SELECT sigreq.signing_get(%s)

-- @op SIGNING_EVENTS 1
SELECT sigreq.signing_events(%s)

-- @op SIGNING_CHANGE 1
SELECT sigreq.signing_change(%s)
