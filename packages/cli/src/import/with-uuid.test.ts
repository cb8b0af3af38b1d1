import { withUuid } from './with-uuid.ts';

const add = (text: string, line = 1) => withUuid(JSON.parse(text) as Record<string, unknown>, text, line);
const uuidOf = (text: string, line = 1) => (JSON.parse(add(text, line)) as { uuid: string }).uuid;

test('an event keeps the uuid it has, and its text', () => {
  const text = '{"event":"a", "uuid":"0190a6c1-0000-7000-8000-00000000abcd"}';
  expect(add(text)).toBe(text);
});

test('one without gets the same every time, which depends on what it says and on where it stands', () => {
  const text = '{"event":"a"}';
  expect(uuidOf(text)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuidOf(text)).toBe(uuidOf(text));
  expect(new Set([uuidOf(text, 1), uuidOf(text, 2), uuidOf('{"event":"b"}', 1)]).size).toBe(3);
});

test('a number that JavaScript cannot hold is left as it is', () => {
  expect(add('{"event":"a","properties":{"n":12345678901234567890.10}}')).toContain('12345678901234567890.10');
});

test.each(['null', '""'])('a uuid of %s counts as none', (none) => {
  expect(uuidOf(`{"event":"a","uuid":${none}}`)).toMatch(/-8/);
});
