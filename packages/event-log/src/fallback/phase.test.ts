import { chooseNextPhase, type FallbackPhase, type FallbackView } from './store.ts';

const calm: FallbackView = {
  ...{ phase: 'closed', epoch: 3n, ageMs: 60_000, isSettled: true, allReachKafka: true, backlog: 0 },
};

const cases: [string, Partial<FallbackView>, boolean, FallbackPhase][] = [
  ['stays closed while Kafka is reachable', {}, false, 'closed'],
  ['stays closed while Kafka is out, but not long enough', { allReachKafka: false }, false, 'closed'],
  ['starts opening when Kafka has been out long enough', { allReachKafka: false }, true, 'opening'],
  [
    'stays opening while a gateway has an append to Kafka in flight',
    { phase: 'opening', isSettled: false },
    true,
    'opening',
  ],
  ['opens when no gateway has an append to Kafka in flight', { phase: 'opening' }, true, 'open'],
  ['stays open while Kafka is out', { phase: 'open', allReachKafka: false }, true, 'open'],
  [
    'stays open while many records must be copied, although Kafka is back',
    { phase: 'open', backlog: 1001 },
    false,
    'open',
  ],
  [
    'starts closing when Kafka is back and few records must be copied',
    { phase: 'open', backlog: 1000 },
    false,
    'closing',
  ],
  ['stays open for at least a second', { phase: 'open', ageMs: 999 }, false, 'open'],
  ['stays closing while records must be copied', { phase: 'closing', backlog: 1, ageMs: 100 }, false, 'closing'],
  [
    'opens again if copying the last records takes too long',
    { phase: 'closing', backlog: 1, ageMs: 2001 },
    false,
    'open',
  ],
  ['closes when all records have been copied', { phase: 'closing' }, false, 'closed'],
];

test.each(cases)('%s', (_, view, wantsOpen, expected) => {
  expect(chooseNextPhase({ ...calm, ...view }, wantsOpen)).toBe(expected);
});
