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
      'an item that is no event is dropped alone and named in a warning, its neighbours are stored (200): a client that sends one bad item would lose all of its batch. Refused is a batch in which nothing can be used, and one that is no array',
  },
  {
    no: ['T15'],
    because:
      'the age of an event never moves it to the historical lane: only the sender says that a batch is a migration, since that needs a plan',
  },
  {
    no: ['R20'],
    because: 'records carry no headers for the time; the record holds the computed one as `timestamp`',
  },
];
