import { formatStoryReport } from './story-report.ts';

const seconds = { ready: 40, keys: 5, visible: 15 };
const result = {
  ...{ name: 'kill', seconds: 10, acknowledged: 20_000, refused: 3, stored: 20_010 },
  refusals: new Map([
    [0, 2],
    [503, 1],
  ]),
  ...{ lost: 0, doubled: 0, misordered: 0, longestGapMs: 1234, remark: '9 pods' },
};

test('formats each story as a row, and lists the steps to the first event', () => {
  const page = formatStoryReport({
    surroundings: ['Two nodes.'],
    installation: seconds,
    eventsPerSecond: 2000,
    results: [result],
    failures: [],
  });
  expect(page).toContain('**1.0 minutes**');
  expect(page).toContain('| kill | 9 pods | 2,000 | 20,000 | 3: 2 × no response, 1 × 503 | 20,010 | 0 | 0 | 0 | 1.2 |');
  expect(page).not.toContain('Not completed');
});

test('the report names a failed story', () => {
  const failures = [{ name: 'drain', reason: 'a pod never came back' }];
  const page = formatStoryReport({
    surroundings: [],
    installation: seconds,
    eventsPerSecond: 2000,
    results: [],
    failures,
  });
  expect(page).toContain('Not completed: drain: a pod never came back');
});
