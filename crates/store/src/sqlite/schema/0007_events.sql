-- Events of a lane are read from its log; whoever asks this table reads it in the order of its rows.
-- Nobody looked anything up in this index, and every event wrote a page of it.
DROP INDEX event_by_lane;
