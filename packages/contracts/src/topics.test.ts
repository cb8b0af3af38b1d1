import { consumerGroup, eventTopics, topicNames } from './topics.ts';

test('topic names without a prefix match the documented names', () => {
  expect(topicNames()).toEqual({
    live: 'events.live',
    historical: 'events.historical',
    overflow: 'events.overflow',
    deadLetter: 'events.dead-letter',
    processed: 'events.processed',
  });
});

test('the names of all topics and groups are unique, with the same prefix and with different prefixes', () => {
  const names = ['', 'a.', 'b.'].flatMap((prefix) => [
    ...Object.values(topicNames(prefix)),
    ...eventTopics.map((topic) => consumerGroup(topic, prefix)),
  ]);
  expect(new Set(names).size).toBe(names.length);
});
