import { type FallbackPhase, type FallbackView, nextPhase } from './store.ts';

const calm: FallbackView = {
  ...{ phase: 'closed', epoch: 3n, ageMs: 60_000, isSettled: true, allReachKafka: true, backlog: 0 },
};

const cases: [string, Partial<FallbackView>, boolean, FallbackPhase][] = [
  ['Kafka is there', {}, false, 'closed'],
  ['Kafka is out, not for long enough', { allReachKafka: false }, false, 'closed'],
  ['Kafka is out for long enough', { allReachKafka: false }, true, 'opening'],
  ['one gateway still has something on its way to Kafka', { phase: 'opening', isSettled: false }, true, 'opening'],
  ['everything is settled', { phase: 'opening' }, true, 'open'],
  ['Kafka is still out', { phase: 'open', allReachKafka: false }, true, 'open'],
  ['Kafka is back, much is to be copied', { phase: 'open', backlog: 1001 }, false, 'open'],
  ['Kafka is back, little is to be copied', { phase: 'open', backlog: 1000 }, false, 'closing'],
  ['it has only just been opened', { phase: 'open', ageMs: 999 }, false, 'open'],
  ['something is left', { phase: 'closing', backlog: 1, ageMs: 100 }, false, 'closing'],
  ['something is left for too long', { phase: 'closing', backlog: 1, ageMs: 2001 }, false, 'open'],
  ['nothing is left', { phase: 'closing' }, false, 'closed'],
];

test.each(cases)('%s', (_, view, wantsOpen, expected) => {
  expect(nextPhase({ ...calm, ...view }, wantsOpen)).toBe(expected);
});
