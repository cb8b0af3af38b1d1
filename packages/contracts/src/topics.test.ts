import { consumerGroup, eventTopics, topicNames } from './topics.ts';

test('topic names are the documented ones without a prefix', () => {
  expect(topicNames()).toEqual({
    live: 'events.live',
    historical: 'events.historical',
    overflow: 'events.overflow',
    deadLetter: 'events.dead-letter',
    processed: 'events.processed',
  });
});

test('two prefixes share no topic or group, and neither do two topics', () => {
  const names = ['', 'a.', 'b.'].flatMap((prefix) => [
    ...Object.values(topicNames(prefix)),
    ...eventTopics.map((topic) => consumerGroup(topic, prefix)),
  ]);
  expect(new Set(names).size).toBe(names.length);
});
