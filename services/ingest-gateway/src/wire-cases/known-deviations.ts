/**
 * Numbers of docs/cases.md#the-ingest-host that this gateway does not meet as PostHog has them, with what is
 * done instead. A test asserts that every number is either named by a case or here.
 */
export const knownDeviations: { no: string[]; because: string }[] = [
  {
    no: ['R04', 'R05', 'R21'],
    because:
      'exceptions, heatmaps and client warnings have no topics of their own: they are stored as the events they are, in the lane and the order they came',
  },
  {
    no: ['E23'],
    because:
      'An item that is not an event is dropped, with a warning that names it, and the other items are stored (200). Otherwise a client that sends one bad item would lose its whole batch. A batch without any usable item is rejected, and so is a body that is not an array.',
  },
  {
    no: ['T15'],
    because:
      'the age of an event never moves it to the historical lane: only the sender says that a batch is a migration, since that needs a plan',
  },
  {
    no: ['R20'],
    because: 'Records have no time headers. The computed time is the `timestamp` field of the record.',
  },
];
