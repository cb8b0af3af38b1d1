import { readFile } from 'node:fs/promises';
import { environment, environmentChanges } from './schema.ts';

/** docs/settings.md says of every field of an environment whether it does anything. */
const states = ['acts', 'stored only', 'off', 'read only'];
let rows: { field: string; state: string }[];

beforeAll(async () => {
  const page = await readFile(new URL('../../../../../docs/settings.md', import.meta.url), 'utf8');
  rows = [...page.matchAll(/^\| `(\w+)` \| ([\w ]+?) \|/gm)].map(([, field = '', state = '']) => ({ field, state }));
});

test('the page names every field once, and none that there is not', () => {
  const fields = Object.keys(environment.properties);
  expect(rows.map(({ field }) => field).sort()).toEqual([...fields].sort());
});

test('it says of each whether it acts, and of which that they cannot be written', () => {
  const writable = Object.keys(environmentChanges.properties);
  expect(rows.filter(({ state }) => !states.includes(state))).toEqual([]);
  const claimed = rows.filter(({ state }) => state !== 'read only').map(({ field }) => field);
  expect(claimed.sort()).toEqual([...writable].sort());
});
