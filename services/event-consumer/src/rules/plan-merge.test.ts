import { type PersonFacts, planMerge } from './merge.ts';
import type { RefuseWhen } from './merge-requests.ts';

const noPerson = null;
const s = { uuid: 's', isIdentified: false };
const S = { uuid: 's', isIdentified: true };
const t = { uuid: 't', isIdentified: false };
const T = { uuid: 't', isIdentified: true };

/** A person in upper case is identified, and one in lower case is not. The three columns are the three merge events. */
const truthTable: [PersonFacts | null, PersonFacts | null, Record<RefuseWhen, string>][] = [
  [noPerson, noPerson, { source_identified: 'create', both_identified: 'create', never: 'create' }],
  [noPerson, t, { source_identified: 'attach_source', both_identified: 'attach_source', never: 'attach_source' }],
  [noPerson, T, { source_identified: 'attach_source', both_identified: 'attach_source', never: 'attach_source' }],
  [s, noPerson, { source_identified: 'attach_target', both_identified: 'attach_target', never: 'attach_target' }],
  [S, noPerson, { source_identified: 'attach_target', both_identified: 'attach_target', never: 'attach_target' }],
  [s, s, { source_identified: 'already_one', both_identified: 'already_one', never: 'already_one' }],
  [S, S, { source_identified: 'already_one', both_identified: 'already_one', never: 'already_one' }],
  [s, t, { source_identified: 'merge', both_identified: 'merge', never: 'merge' }],
  [s, T, { source_identified: 'merge', both_identified: 'merge', never: 'merge' }],
  [S, t, { source_identified: 'refuse', both_identified: 'merge', never: 'merge' }],
  [S, T, { source_identified: 'refuse', both_identified: 'refuse', never: 'merge' }],
];

const rows = truthTable.flatMap(([source, target, plans]) =>
  (Object.keys(plans) as RefuseWhen[]).map((refuseWhen) => ({
    source,
    target,
    refuseWhen,
    action: plans[refuseWhen],
  })),
);

test.each(rows)('source $source, target $target, rejected $refuseWhen: $action', (row) => {
  expect(planMerge(row.source, row.target, row.refuseWhen).action).toBe(row.action);
});

test('the merge plan contains the persons that the merge changes', () => {
  expect(planMerge(s, noPerson, 'never')).toEqual({ action: 'attach_target', person: s });
  expect(planMerge(noPerson, t, 'never')).toEqual({ action: 'attach_source', person: t });
  expect(planMerge(s, t, 'never')).toEqual({ action: 'merge', source: s, target: t });
});
