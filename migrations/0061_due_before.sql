-- 0057 gave every unpaid order that is paid later a time until when, also those of events that had begun. Cancelling them frees
-- no seat that anybody could still use, and would tell attendees who were there that their tickets were cancelled.
UPDATE orders o SET due_at = NULL, remind_at = NULL
  FROM event e
 WHERE e.id = o.event_id AND e.starts_at <= clock_timestamp() AND o.due_at IS NOT NULL AND o.state = 'confirmed' AND o.paid = 0;
