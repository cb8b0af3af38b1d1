/**
 * The numbers of the cases in docs/cases.md that are not decided by the rules, each list with the code that decides
 * them. A test checks that every number either has a rule case or is in this list.
 */
export const decidedElsewhere: { no: number[]; because: string }[] = [
  { no: [10], because: 'Only the token determines the project: intake/projects.ts' },
  {
    no: [20, 47, 80, 81, 82, 83, 84, 85, 86, 87],
    because:
      'Races with another writer, and database errors. If the persons in a batch change after the batch has read them, the batch is processed again: ledger/store.ts',
  },
  {
    no: [88, 89],
    because: 'The store moves cohort memberships and rollout IDs together with the distinct IDs: ledger/store.ts',
  },
  {
    no: [97],
    because:
      'An event whose name is not a string does not reach the log. If the log contained such an event, it would become a dead letter: intake/parse.ts',
  },
  { no: [102, 118], because: "The store detects a project's first event: events/store.ts" },
  {
    no: [105, 106, 108],
    because:
      'Each batch reads the group types, and a unique index determines which writer was first: ledger/group-store.ts',
  },
  {
    no: [119, 120, 121, 123, 124, 126, 127, 128, 129],
    because:
      "The gateway parses times and corrects them according to the client's clock. Records contain the corrected time",
  },
  { no: [130, 131, 132, 133, 134, 135], because: 'The gateway chooses the topic and applies the limits for keys' },
  { no: [141], because: 'No project setting makes $feature_flag_called anonymous by default' },
  {
    no: [143],
    because:
      'Cookieless events are dropped or assigned their IDs before the rules apply: cookieless/replace-visitors.ts',
  },
];
