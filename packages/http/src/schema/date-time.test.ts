import fc from 'fast-check';
import { formatDateTime, parseDateTime } from './date-time.ts';

test.each([
  ['2022-01-01', '2022-01-01T00:00:00.000Z'],
  ['2022-01-01T10:11', '2022-01-01T10:11:00.000Z'],
  ['2022-01-01 10:11:12', '2022-01-01T10:11:12.000Z'],
  ['2022-01-01T10:11:12.123456Z', '2022-01-01T10:11:12.123Z'],
  ['2022-01-01T10:11:12+02:00', '2022-01-01T08:11:12.000Z'],
  ['2022-01-01T10:11:12 02:00', '2022-01-01T08:11:12.000Z'],
  ['2022-01-01T10:11:12-0330', '2022-01-01T13:41:12.000Z'],
  ['2022-01-01T10:11:12-03', '2022-01-01T13:11:12.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['0099-01-01', '0099-01-01T00:00:00.000Z'],
])('parses the time %s as %s', (text, iso) => {
  expect(parseDateTime(text)?.toISOString()).toBe(iso);
});

test.each([
  '',
  'now',
  '2022',
  '2022-13-01',
  '2022-02-29',
  '2022-01-01T24:00',
  '2022-01-01T10:60',
  '2022-01-01T10:11:60',
  '2022-01-01T10:11:12+25:00',
  '0000-01-01',
  '10000-01-01',
  '0001-01-01T00:00+01:00',
  '2022-01-01T',
  '1640995200',
  "2022-01-01'; DROP TABLE event",
  '２０２２-01-01',
])('rejects %j as a time', (text) => {
  expect(parseDateTime(text)).toBeNull();
});

test('formats whole seconds without decimals, and other times with six decimals', () => {
  expect(formatDateTime(new Date('2022-01-01T10:11:12.000Z'))).toBe('2022-01-01T10:11:12Z');
  expect(formatDateTime(new Date('2022-01-01T10:11:12.050Z'))).toBe('2022-01-01T10:11:12.050000Z');
});

test('parses the times that it formats', () => {
  const times = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(fc.property(times, (time) => parseDateTime(formatDateTime(time))?.getTime() === time.getTime()));
});
