/**
 * Numbers of docs/cases.md that no pure rule decides, with who does. A test asserts that
 * every number is either a case or here.
 */
export const decidedElsewhere: { no: number[]; because: string }[] = [
  { no: [10], because: 'only the token names the project: intake/projects.ts' },
  {
    no: [20, 47, 80, 81, 82, 83, 84, 85, 86, 87],
    because:
      'races with another writer, faults of the database: a batch whose persons were changed since they were read is done again (ledger/store.ts)',
  },
  { no: [88, 89], because: 'the store moves them with the ids: ledger/store.ts' },
  { no: [97], because: 'a name that is not text does not reach the log, and makes a dead letter: intake/parse.ts' },
  { no: [102, 118], because: 'the first event of a project is noticed by the store: events/store.ts' },
  {
    no: [105, 106, 108],
    because: 'group types are read with each batch, and a unique index decides who was first: ledger/group-store.ts',
  },
  {
    no: [119, 120, 121, 123, 124, 126, 127, 128, 129],
    because: 'the gateway corrects clocks and reads times; the record holds the corrected time',
  },
  { no: [130, 131, 132, 133, 134, 135], because: 'lanes and limits of keys are the gateway’s' },
  { no: [141], because: 'no project setting makes $feature_flag_called anonymous by default' },
  {
    no: [143],
    because: 'events without cookies are refused, or get their ids, before the rules: cookieless/replace-visitors.ts',
  },
];
