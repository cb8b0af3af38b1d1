import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { trackedFiles } from '@millrace/testing';
import { knownDeviations } from './known-deviations.ts';

/** All case numbers in docs/cases.md#the-ingest-host. The numbering has gaps. */
const all = [
  ...numbers('body', [[1, 8], 10, [11, 18], 20, 22, 23, 25, 26, [28, 37]], [9, 19, 21, 24, 27]),
  ...numbers(
    'token',
    [
      [1, 3],
      [9, 16],
    ],
    [],
  ),
  ...numbers('field', [[1, 4], 7, 8, 11, [13, 24], 26], []),
  ...numbers(
    'time',
    [
      [1, 3],
      [6, 15],
    ],
    [],
  ),
  ...numbers(
    'topic',
    [
      [1, 7],
      [9, 22],
    ],
    [],
  ),
];

function numbers(family: string, ranges: (number | [number, number])[], gaps: number[]): string[] {
  return ranges
    .flatMap((range) =>
      typeof range === 'number'
        ? [range]
        : Array.from({ length: range[1] - range[0] + 1 }, (_, index) => range[0] + index),
    )
    .filter((no) => !gaps.includes(no))
    .map((no) => `${family}-${String(no).padStart(3, '0')}`);
}

/**
 * Returns the case numbers at the beginning of test titles and row names. A title can begin with several numbers.
 * Numbers in other positions do not count, because they could remain after their test was deleted. Skipped tests do not
 * count either.
 */
function namedByTests(): Set<string> {
  const root = fileURLToPath(new URL('../../../..', import.meta.url));
  const files = trackedFiles('services/ingest-gateway/src/*.test.ts').filter(
    (file) => !file.endsWith('every-number.test.ts'),
  );
  const found = new Set<string>();
  for (const file of files) {
    const text = withoutComments(readFileSync(`${root}/${file}`, 'utf8'));
    if (/\b(?:test|it|describe)\.(?:skip|todo|only)\b|\bx(?:test|it|describe)\(/.test(text)) {
      throw new Error(`${file} leaves tests out.`);
    }
    for (const [, names = ''] of text.matchAll(
      /(?:\(|\[|no:)\s*['"`]((?:(?:body|token|field|time|topic)-\d{3}(?:, | and | )?)+)/g,
    )) {
      for (const [name] of names.matchAll(/[a-z]+-\d{3}/g)) found.add(name);
    }
  }
  return found;
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?:^|\s)\/\/.*$/gm, '');
}

test('counts a case as covered only if its number is in a test title', () => {
  expect(
    withoutComments("// body-001\ntest('body-002', x); // body-003\n/* body-004 */ const url = 'http://body-005';"),
  ).toBe("\ntest('body-002', x);\n const url = 'http://body-005';");
});

test('every numbered PostHog case has a row in a table, and every row has a valid number', () => {
  const otherwise = knownDeviations.flatMap(({ no }) => no);
  const named = namedByTests();
  expect(all.filter((no) => !named.has(no) && !otherwise.includes(no))).toEqual([]);
  expect([...named, ...otherwise].filter((no) => !all.includes(no))).toEqual([]);
});
