import { consumerGroup, lanes, topicNames } from './topics.ts';

test('an installation without a prefix uses the names of the plan', () => {
  expect(topicNames()).toEqual({
    live: 'events.live',
    historical: 'events.historical',
    overflow: 'events.overflow',
    deadLetter: 'events.dead-letter',
    processed: 'events.processed',
  });
});

test('two prefixes share no topic and no group, nor do two lanes', () => {
  const names = ['', 'a.', 'b.'].flatMap((prefix) => [
    ...Object.values(topicNames(prefix)),
    ...lanes.map((lane) => consumerGroup(lane, prefix)),
  ]);
  expect(new Set(names).size).toBe(names.length);
});
