import { coalesceLookups } from './personal-key-access.ts';

interface Question {
  subject: string;
  answer(value: string): void;
  fail(error: Error): void;
}

function fixture() {
  const asked: Question[] = [];
  const ask = coalesceLookups(
    (subject) => new Promise<string>((answer, fail) => void asked.push({ subject, answer, fail })),
  );
  return { ask, asked };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a call during a lookup receives the result of the next lookup', async () => {
  const { ask, asked } = fixture();
  const first = ask('a');
  const others = [ask('a'), ask('a'), ask('a')];
  expect(asked).toHaveLength(1);
  asked[0]?.answer('old');
  expect(await first).toBe('old');
  await settled();
  expect(asked).toHaveLength(2);
  const later = ask('a');
  asked[1]?.answer('new');
  expect(await Promise.all(others)).toEqual(['new', 'new', 'new']);
  await settled();
  expect(asked).toHaveLength(3);
  asked[2]?.answer('newest');
  expect(await later).toBe('newest');
});

test('a call after a lookup has ended starts a new lookup', async () => {
  const { ask, asked } = fixture();
  for (const round of [1, 2, 3]) {
    const answer = ask('a');
    expect(asked).toHaveLength(round);
    asked.at(-1)?.answer(`${round}`);
    expect(await answer).toBe(`${round}`);
  }
});

test('a lookup does not wait for lookups of other subjects', async () => {
  const { ask, asked } = fixture();
  void ask('a');
  const other = ask('b');
  expect(asked.map(({ subject }) => subject)).toEqual(['a', 'b']);
  asked[1]?.answer('of b');
  expect(await other).toBe('of b');
});

test('a failed lookup causes an error only for its own calls', async () => {
  const { ask, asked } = fixture();
  const first = ask('a');
  const second = ask('a');
  asked[0]?.fail(new Error('lost'));
  await expect(first).rejects.toThrow('lost');
  await settled();
  asked[1]?.answer('found');
  expect(await second).toBe('found');
});

test('a lookup does not wait for a previous lookup that hangs', async () => {
  const { ask, asked } = fixture();
  void ask('a');
  await new Promise((resolve) => setTimeout(resolve, 300));
  const later = ask('a');
  expect(asked).toHaveLength(2);
  asked[1]?.answer('found');
  expect(await later).toBe('found');
});
