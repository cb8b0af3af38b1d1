import { setImmediate as tick } from 'node:timers/promises';
import { LedgerConflict } from '../failures.ts';
import { createTurns, type Turns } from './turns.ts';

let turns: Turns<string>;
let granted: string[];
beforeEach(() => {
  turns = createTurns();
  granted = [];
});

async function request(name: string, keys: string[], untilEnded = false) {
  const turn = await turns.take(new Set(keys), { untilEnded });
  granted.push(name);
  return turn;
}

test('batches without a shared key do not wait for each other', async () => {
  await Promise.all([request('a', ['1', '2']), request('b', ['3'])]);
  expect(granted).toEqual(['a', 'b']);
});

test('batches that share a key decide in the order of their requests, each based on the previous decisions', async () => {
  const a = await request('a', ['1', '2']);
  const b = request('b', ['2', '3']);
  const c = request('c', ['3', '1']);
  await tick();
  expect(granted).toEqual(['a']);
  expect(a.before).toEqual([]);

  a.decided('what a says');
  await tick();
  expect(granted).toEqual(['a', 'b']);
  expect((await b).before).toEqual(['what a says']);

  (await b).decided('what b says');
  expect((await c).before).toEqual(['what a says', 'what b says']);
});

test('a batch that builds on others is written after all of them are committed', async () => {
  const a = await request('a', ['1']);
  a.decided('a');
  const b = await request('b', ['2']);
  b.decided('b');
  const c = await request('c', ['1', '2']);
  const written = c.untilCommitted().then(() => granted.push('c is written'));
  b.end(true);
  await tick();
  expect(granted).not.toContain('c is written');
  a.end(true);
  await written;
});

test('a batch that builds on a rolled-back batch fails with a conflict', async () => {
  const a = await request('a', ['1']);
  a.decided('a');
  const b = await request('b', ['1']);
  a.end(false);
  await expect(b.untilCommitted()).rejects.toBeInstanceOf(LedgerConflict);
});

test('a batch does not build on a batch that has ended', async () => {
  const a = await request('a', ['1']);
  const b = request('b', ['1']);
  a.end(false);
  expect((await b).before).toEqual([]);
  await (await b).untilCommitted();

  (await b).decided('b');
  (await b).end(true);
  expect((await request('c', ['1'])).before).toEqual([]);
});

test('a batch that waited until other batches ended does not build on them', async () => {
  const a = await request('a', ['1']);
  a.decided('a');
  const b = request('b', ['1'], true);
  const c = request('c', ['1']);
  await tick();
  expect(granted).toEqual(['a']);
  a.end(true);
  expect((await b).before).toEqual([]);
  (await b).decided('b');
  expect((await c).before).toEqual(['b']);
});
