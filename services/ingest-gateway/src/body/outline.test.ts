import { createByteBudget } from './byte-budget.ts';
import { outlineJson } from './outline.ts';

const outline = (json: string, maxBytes = 1e9) => outlineJson(Buffer.from(json), createByteBudget(maxBytes).lease());

test.each<[string, number, string | null]>([
  ['', 0, null],
  ['{}', 1, null],
  ['{"api_key":"k","batch":[]}', 3, 'k'],
  ['{"batch":[{"api_key":"inner"},{"token":"inner"}],"api_key":"outer"}', 6, 'outer'],
  ['{"token":"t","api_key":"k"}', 2, 'k'],
  ['{"$token":"d","token":"t"}', 2, 't'],
  ['{"properties":{"token":"p"},"event":"token"}', 3, null],
  ['[{"api_key":"k"}]', 2, null],
  ['{"a":"[{,\\"","b\\\\":"\\\\","api_key" : "k\\u0041"}', 3, 'kA'],
  ['{"api_key":5}', 1, null],
  ['{"api_key":"cut sho', 1, null],
  ['{"x":"api_key","y":"token"}', 2, null],
])(
  "counts a body's JSON values and finds its API key: %s has %i values and the key %j",
  async (json, values, apiKey) => {
    expect(await outline(json)).toEqual({ values, apiKey });
  },
);

test('rejects a body with too many JSON values', async () => {
  await expect(outline(`[${'[],'.repeat(1_500_000)}[]]`)).rejects.toMatchObject({
    kind: 'too_large',
    code: 'too_many_values',
  });
});

test("reserves memory for a body's JSON values in addition to its text", async () => {
  await expect(outline(`[${'[],'.repeat(100_000)}[]]`, 1_000_000)).rejects.toMatchObject({ kind: 'unavailable' });
});
