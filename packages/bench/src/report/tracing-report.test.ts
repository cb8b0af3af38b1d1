import { type TracedSide, tracingReport } from './tracing-report.ts';

const run = (side: TracedSide, cpuMicrosPerEvent: number, spans: number) => ({
  ...{ side, work: 'drain', cpuMicrosPerEvent, eventsPerSecond: 1000, spans },
});

test('says the medians, and what tracing adds within the pairs', () => {
  const report = tracingReport([
    ...[run('untraced', 10, 0), run('traced', 10.1, 50)],
    // A disturbed minute: both are slower.
    ...[run('traced', 20.2, 50), run('untraced', 20, 0)],
    ...[run('untraced', 10, 0), run('traced', 10.2, 40)],
  ]);
  expect(report).toMatch(/drain untraced +10 +1,000 +0\n/);
  expect(report).toMatch(/drain traced +10\.2 +1,000 +50\n/);
  expect(report).toMatch(/drain traced over drain untraced +1\.02 +1 /);
  expect(report).toMatch(
    /^MET {6}% of CPU per event that tracing adds \(median of the pairs\), drain: 1\.00 \(target at most 3\)$/m,
  );
  expect(report).toMatch(/^MET {6}spans of a run, drain: 40 \(target at least 1\)$/m);
});

test('what costs too much, or traced nothing, is not met', () => {
  const report = tracingReport([run('untraced', 10, 0), run('traced', 10.5, 0)]);
  expect(report).toMatch(/^NOT MET {2}% of CPU per event .*: 5\.00 \(target at most 3\)$/m);
  expect(report).toMatch(/^NOT MET {2}spans of a run, drain: 0\.00/m);
});
