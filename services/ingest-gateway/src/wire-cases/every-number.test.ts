import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { trackedFiles } from '@millrace/testing';
import { knownDeviations } from './known-deviations.ts';

/** The numbers of docs/cases.md#the-ingest-host, which have gaps. */
const all = [
  ...numbers('E', [[1, 8], 10, [11, 18], 20, 22, 23, 25, 26, [28, 37]], [9, 19, 21, 24, 27]),
  ...numbers(
    'K',
    [
      [1, 3],
      [9, 16],
    ],
    [],
  ),
  ...numbers('F', [[1, 4], 7, 8, 11, [13, 24], 26], []),
  ...numbers(
    'T',
    [
      [1, 3],
      [6, 15],
    ],
    [],
  ),
  ...numbers(
    'R',
    [
      [1, 7],
      [9, 22],
    ],
    [],
  ),
];

function numbers(letter: string, ranges: (number | [number, number])[], gaps: number[]): string[] {
  return ranges
    .flatMap((range) =>
      typeof range === 'number'
        ? [range]
        : Array.from({ length: range[1] - range[0] + 1 }, (_, index) => range[0] + index),
    )
    .filter((no) => !gaps.includes(no))
    .map((no) => `${letter}${String(no).padStart(2, '0')}`);
}

/**
 * Numbers at the beginning of a test title or of a row's name, alone or several. Numbers elsewhere do not count, because they
 * could stay after their test was deleted. Skipped tests do not count.
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
    for (const [, names = ''] of text.matchAll(/(?:\(|\[|no:)\s*['"`]((?:[EKFTR]\d\d(?:, | and |-| )?)+)/g)) {
      for (const [name] of names.matchAll(/[EKFTR]\d\d/g)) found.add(name);
    }
  }
  return found;
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?:^|\s)\/\/.*$/gm, '');
}

test('counts only numbers in test titles', () => {
  expect(withoutComments("// E01\ntest('E02', x); // E03\n/* E04 */ const url = 'http://E05';")).toBe(
    "\ntest('E02', x);\n const url = 'http://E05';",
  );
});

test('every numbered PostHog case has a row, and every row has a valid number', () => {
  const otherwise = knownDeviations.flatMap(({ no }) => no);
  const named = namedByTests();
  expect(all.filter((no) => !named.has(no) && !otherwise.includes(no))).toEqual([]);
  expect([...named, ...otherwise].filter((no) => !all.includes(no))).toEqual([]);
});
