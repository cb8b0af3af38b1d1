import { parseWatchEvent } from './watch-event.ts';

test('a change of an object', () => {
  expect(parseWatchEvent('1795381453.874235 ADDED {"metadata":{"name":"one two"}}')).toEqual({
    ...{ at: 1_795_381_453_874, type: 'ADDED', object: { metadata: { name: 'one two' } } },
  });
});

test.each(['1795381453.874235 error: the server has closed the connection', ''])('%j is none', (line) => {
  expect(parseWatchEvent(line)).toBeNull();
});
