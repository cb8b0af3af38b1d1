/**
 * Cases in docs/cases.md#the-ingest-host in which this gateway differs from PostHog, and how it differs. A test checks
 * that every number has a case or is in this list.
 */
export const knownDeviations: { no: string[]; because: string }[] = [
  {
    no: ['topic-004', 'topic-005', 'topic-021'],
    because:
      'Exceptions, heatmaps and client warnings do not have separate topics. They are stored as ordinary events, in the same topic and order as the other events.',
  },
  {
    no: ['body-023'],
    because:
      'An item that is not an event is dropped, with a warning that names it, and the other items are stored (200). Otherwise a client that sends one bad item would lose its whole batch. A batch without any usable item is rejected, and so is a body that is not an array.',
  },
  {
    no: ['time-015'],
    because:
      "An event's age never moves the event to the topic `historical`. Only the sender can mark a batch as a migration, because migrations require a plan that includes them.",
  },
  {
    no: ['topic-020'],
    because: 'Records have no time headers. The computed time is the `timestamp` field of the record.',
  },
];
