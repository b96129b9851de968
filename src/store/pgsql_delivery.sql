-- What becomes of webhook calls, on PostgreSQL: see pgsql.sql for the form of this file.

-- @op HISTORY_LIST 9
SELECT outcome, body, key FROM sigreq.history_list(%s, %s, %s, %s, %s, %s, %s, %s, %s)

-- @op HISTORY_REDELIVER 4
SELECT sigreq.history_redeliver(%s, %s, %s, %s)

-- @op HISTORY_INVITATION 3
SELECT sigreq.history_invitation(%s, %s, %s)

-- @op DELIVERY_POLL 0
SELECT sigreq.delivery_poll()

-- @op DELIVERY_SURVEY 1
SELECT sigreq.delivery_survey(%s)

-- @op DELIVERY_TURN 1
SELECT outcome, body, key FROM sigreq.delivery_turn(%s)

-- @op ADMIN_HISTORY_EXPIRE 1
SELECT sigreq.admin_history_expire(%s)
