import { shortenLogLine } from './short-log-line.ts';

test.each([
  ['{"level":"info","message":"listening"}', null],
  ['{"level":"warn","service":"event-consumer","message":"slow"}', 'event-consumer: warn: slow'],
  ['{"level":"error","message":"gone","error":{"message":"refused\\nby all"}}', 'services: error: gone (refused)'],
  ['Segmentation fault', 'Segmentation fault'],
  ['null', 'null'],
  ['  ', null],
])('shortens the log line %p to %p', (line, short) => {
  expect(shortenLogLine(line)).toBe(short);
});
