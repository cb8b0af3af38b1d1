import { createProgress, describeSendProgress } from './progress.ts';

const totals = { from: { events: 100, offset: 1000 }, totalEvents: 2100, totalBytes: 21_000 };

test.each([
  [{ events: 1100, offset: 11_000 }, 10_000, ' 52.4%  1,100 of 2,100 events  100/s  10 s left'],
  [{ events: 101, offset: 1010 }, 10_000, '  4.8%  101 of 2,100 events  0/s  6 h left'],
  [{ events: 200, offset: 2000 }, 60_000, '  9.5%  200 of 2,100 events  2/s  19 min left'],
  [{ events: 100, offset: 1000 }, 0, '  4.8%  100 of 2,100 events  0/s'],
  [{ events: 2100, offset: 21_000 }, 10_000, '100.0%  2,100 of 2,100 events  200/s  0 s left'],
])('describes the progress %j after %d ms', (sent, elapsedMs, expected) => {
  expect(describeSendProgress(totals, sent, elapsedMs)).toBe(expected);
});

function watch(isTTY: boolean) {
  const written: string[] = [];
  const clock = { now: 0 };
  const progress = createProgress({ isTTY, write: (text) => written.push(text) }, () => clock.now);
  progress.setTotals(totals);
  for (let second = 1; second <= 25; second += 1) {
    clock.now = second * 1000;
    progress.sent({ events: 100 + second, offset: 1000 + second * 10 });
  }
  progress.note('Waiting.');
  progress.end();
  return written;
}

test('writes progress to a file only occasionally, and without control characters', () => {
  const written = watch(false);
  expect(written).toHaveLength(3);
  expect(written.join('')).toMatch(/^( .*left\n){2}Waiting\.\n$/);
});

test('updates the progress in one line of a terminal, and clears the line before writing anything else', () => {
  const written = watch(true);
  expect(written.slice(0, 25).every((text) => text.startsWith('\r') && text.endsWith('\u001b[K'))).toBe(true);
  expect(written.slice(25)).toEqual(['\r\u001b[K', 'Waiting.\n']);
});
