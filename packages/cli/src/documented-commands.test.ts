import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trackedFiles } from '@millrace/testing';
import type { Command } from 'commander';
import { createProgram } from './program.ts';

/**
 * Checks that every `millrace` command in the documents exists and has the documented options. Commands in shell blocks
 * must also be complete.
 */
const root = join(import.meta.dirname, '../../..');

interface Shown {
  path: string;
  line: number;
  words: string[];
  /** True for a command in a shell block. False for one in a sentence, which may omit arguments. */
  isWhole: boolean;
}

const pages = trackedFiles('*.md', '*NOTES.txt').filter((path) =>
  /^[^/]+$|^(docs|deploy)\/|^packages\/(browser|react)\/README\.md$/.test(path),
);
const shown = pages.flatMap(commandsOf);

function commandsOf(path: string): Shown[] {
  const text = readFileSync(join(root, path), 'utf8');
  const isShell = (block: string) => path.endsWith('.txt') || /^```(sh|bash)/.test(block);
  let start = 0;
  return text.split(/(^```[\s\S]*?^```$)/m).flatMap((block) => {
    const before = start;
    start += block.length;
    const codes = isShell(block) ? block.matchAll(/^.*$/gm) : block.startsWith('```') ? [] : block.matchAll(/`[^`]+`/g);
    return [...codes].flatMap(({ 0: code, index }) => {
      // Match commands that run through npx, npm, node or docker, or directly.
      const [, words] = /(?:^`?|npx |-- |node (?:dist\/)?|--rm |\d )millrace(?:\.mjs)?\s+([^#|;&`]+)/.exec(code) ?? [];
      if (words === undefined || /=/.test(words.split(' ')[0] ?? '')) return [];
      const line = text.slice(0, before + index).split('\n').length;
      const parts = [...words.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(
        ([part, double, single]) => double ?? single ?? part,
      );
      return [{ path, line, words: parts, isWhole: isShell(block) }];
    });
  });
}

const terminal = { env: {}, out: { write: () => {} }, err: { write: () => {} } };

/** Returns what is wrong with a command, or an empty string if it is valid. */
async function problemWith({ words, isWhole }: Shown): Promise<string> {
  const program = createProgram(terminal);
  let command: Command = program;
  const rest = [...words];
  for (let name = rest[0]; name !== undefined && command.commands.length > 0; name = rest[0]) {
    if (/^(…|<|--|\{)/.test(name)) break;
    const next = command.commands.find((each) => each.name() === name);
    if (next === undefined) return `${command.name()} has no command ${name}`;
    command = next;
    rest.shift();
  }
  const options = [...command.options, ...program.options].map(({ long }) => long);
  const unknown = rest
    .filter((word) => word.startsWith('--') && word !== '--')
    .find((word) => word !== '--help' && !options.includes(word.split('=')[0]));
  if (unknown !== undefined) return `${command.name()} has no option ${unknown}`;
  if (!isWhole) return '';
  command.action(() => {});
  try {
    await program.parseAsync(words, { from: 'user' });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test.each(shown)('the documented command in $path:$line is valid: millrace $words', async (each) => {
  expect(await problemWith(each)).toBe('');
});

test('finds the commands in sentences and in shell blocks of the documents', () => {
  expect(shown.filter(({ isWhole }) => isWhole).length).toBeGreaterThanOrEqual(8);
  expect(shown.filter(({ isWhole }) => !isWhole).length).toBeGreaterThanOrEqual(30);
  expect(new Set(shown.map(({ path }) => path)).size).toBeGreaterThanOrEqual(8);
});

test.each([
  ['an unknown command', ['flag', 'list'], 'millrace has no command flag'],
  ['an unknown subcommand', ['flags', 'update'], 'flags has no command update'],
  ['an unknown option', ['org', 'list', '--all'], 'list has no option --all'],
  ['a missing option', ['environment', 'show'], "error: required option '--environment <id>' not specified"],
  ['a missing argument', ['flags', 'set'], "error: missing required argument 'key'"],
])('the check of documented commands reports %s', async (_, words, problem) => {
  expect(await problemWith({ path: '', line: 0, words, isWhole: true })).toBe(problem);
});
