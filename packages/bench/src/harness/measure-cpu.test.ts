import { computeDatabaseCpu, parseProcessStat } from './measure-cpu.ts';

test('reads user and system time only from PostgreSQL processes', () => {
  const rest = 'S 1 2 3 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 12345';
  expect(parseProcessStat(`42 (postgres) ${rest}`)).toBe(3_000_000);
  expect(parseProcessStat(`42 (a) (node) ${rest}`)).toBeNull();
  expect(parseProcessStat('')).toBeNull();
});

test('adds up the CPU time of existing and new processes, and returns NaN if there is no first reading', () => {
  const before = new Map([
    [1, 100],
    [2, 50],
  ]);
  const after = new Map([
    [1, 130],
    [3, 7],
  ]);
  expect(computeDatabaseCpu(before, after)).toBe(37);
  expect(computeDatabaseCpu(null, after)).toBeNaN();
});
