(call.value ->> 'open_until')::timestamptz > cadenza_now()
      AND call.value ->> 'suggested' = 'true'
      AND call.value ->> 'accepted_by' IS NULL