import { readOptions } from './command.ts';

const defaults = { pairs: 3, warmUp: 0, copy: false, from: '', projects: [1], only: ['live', 'load'] };

it('parses each option as the type of its default value', () => {
  expect(readOptions([], defaults)).toEqual(defaults);
  expect(
    readOptions(['--pairs', '1', '--warm-up', '0', '--copy', '--projects', '1,1000', '--only', 'live'], defaults),
  ).toEqual({
    pairs: 1,
    warmUp: 0,
    copy: true,
    from: '',
    projects: [1, 1000],
    only: ['live'],
  });
});

it.each([
  [['--pairs', '0'], '--pairs must be a positive number'],
  [['--pairs', 'many'], '--pairs must be a positive number'],
  [['--warm-up', '-1'], "'--warm-up"],
  [['--projects', '1,,2'], '--projects must be a positive number'],
  [['--only', 'live,lode'], '--only does not accept "lode". Use live, load.'],
  [['--seconds', '1'], "'--seconds'"],
  [['now'], "'now'"],
])('rejects the arguments %j', (words, message) => {
  expect(() => readOptions(words, defaults)).toThrow(message);
});
