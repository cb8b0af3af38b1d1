import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from './command.ts';

/**
 * `npm run cases [-- --at <commit>]`: what the tests assert, sorted, read from their text without running any: first every case
 * number with the files that play it (docs/cases.md), then for each subject of each service every status and rule, and every
 * route that is declared, which `route-matrix.test.ts` calls by whom may not. Two lists tell with `diff` what a change has lost.
 */
export const main: Command = async ({ root, programArguments: [option, commit] }) => {
  const read = readerOf(root, option === '--at' ? (commit ?? 'HEAD') : null);
  const numbers = new Map<string, Set<string>>();
  const rules = new Set<string>();
  for (const path of read.paths) {
    if (/\.tsx?$/.test(path) && isPlayed.test(path)) {
      const text = read.text(path);
      for (const number of numbersIn(text)) numbers.set(number, (numbers.get(number) ?? new Set()).add(fileName(path)));
      if (path.includes('.test.')) for (const rule of rulesIn(text)) rules.add(`${subjectOf(path)} · ${rule}`);
    } else if (/^services\/management-api\/src\/.*\.ts$/.test(path)) {
      for (const route of routesIn(read.text(path))) rules.add(`route · ${route}`);
    }
  }
  const inOrder = [...numbers].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  for (const [number, files] of inOrder) console.log(`${number} · ${[...files].sort().join(', ')}`);
  for (const rule of [...rules].sort()) console.log(rule);
  return 0;
};

/** Files whose texts hold cases: tests, and the tables that they play. */
const isPlayed = /\.test\.tsx?$|\/(?:rule-cases|wire-cases|testing|tests)\//;

function readerOf(root: string, commit: string | null): { paths: string[]; text(path: string): string } {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 1e9 });
  if (commit === null) {
    const text = (path: string) => readFileSync(join(root, path), 'utf8');
    const paths = git('ls-files', '--cached', '--others', '--exclude-standard').split('\n');
    return { paths: paths.filter((path) => path !== '' && existsSync(join(root, path))), text };
  }
  const text = (path: string) => git('show', `${commit}:${path}`);
  return { paths: git('ls-tree', '-r', '--name-only', commit).split('\n').filter(Boolean), text };
}

const fileName = (path: string) => path.split('/').at(-1) ?? path;

/** The resource, room or package a test is about: what stays when files move. */
function subjectOf(path: string): string {
  const [, home = '', name = ''] = /^(?:services|packages)\/([^/]+)\/.*?([^/]+)\/[^/]+$/.exec(path) ?? [];
  return home === '' ? 'test-e2e' : `${home}/${name === 'src' ? '' : name}`;
}

/** `E-42`, `K07`, `T7` and `F-09`; of a range in a title each, of one in a comment, which says what a file is about, none. */
function numbersIn(text: string): Set<string> {
  const found = new Set<string>();
  const rows = text.replace(/\/\*\*? Cases .*?\*\//gs, '');
  for (const [, list = ''] of rows.matchAll(/\bno: \[([\d, ]*)\]/g)) {
    for (const number of list.match(/\d+/g) ?? []) found.add(`E-${number}`);
  }
  const number = /(?<![\w#.-])((?:E|F)-|[EKFTRDIBOASXUG])(\d{1,3})(?: to \1(\d{1,3}))?(?![\w.%-])/g;
  for (const [, family = '', first = '', last = first] of rows.matchAll(number)) {
    for (let at = Math.max(1, Number(first)); at <= Number(last); at++) {
      found.add(`${family}${String(at).padStart(first.length, '0')}`);
    }
  }
  return found;
}

/** Each test by its title, with the statuses of HTTP and the errors (`NF`, `PD`, …) that stand in it. */
function rulesIn(text: string): string[] {
  const starts = [...text.matchAll(/^[ \t]*(?:\([^\n]*\? )?(?:test|it)(?:\.\w+)*\b/gm)].map(({ index }) => index);
  return starts.flatMap((start, at) => {
    const block = text.slice(start, starts[at + 1]);
    const before = /^[^'"`\n]*?\((?=['"`])|\)\(\s*(?=['"`])/.exec(block);
    if (before === null) return [];
    const said = block.match(/(?<![\w.:-])(?:20\d|30[1-8]|4[012]\d|50[0-4]|NF|PD|VE|insufficient)(?![\w.%:-])/g) ?? [];
    const title = literalAt(block, before.index + before[0].length);
    return [`${[...new Set(said)].sort().join(' ') || '-'} · ${title}`];
  });
}

function literalAt(text: string, at: number): string {
  const quote = text[at] ?? '';
  let end = at + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === '\\' ? 2 : 1;
  return text.slice(at + 1, end).replace(/\s+/g, ' ');
}

function routesIn(text: string): string[] {
  return [...text.matchAll(/\bmethod: '([A-Z]+)',[^{}]{0,200}?\bpath: [`']([^`']+)[`']/g)].map(
    ([, method, path]) => `${method} ${path}`,
  );
}
