// Parses the command line of the benchmarks.

import { parseArgs } from 'node:util';

export type Print = (line: string) => void;

type Value = boolean | number | string | readonly number[] | readonly string[];

export interface Command {
  usage: string;
  /** Parses the arguments and returns a function that does the work. @throws Error for an invalid argument */
  parse(words: string[]): () => Promise<unknown>;
}

/**
 * Creates a command whose options have the types of their default values. The items of a list are separated by commas.
 * A number must be positive unless its default is 0. If the default is a list of strings, only its items are accepted.
 */
export function createCommand<Options extends object>(
  run: (options: Options, print: Print) => Promise<unknown>,
  defaults: NoInfer<Options>,
): Command {
  return {
    usage: Object.entries(defaults)
      .map(([key, value]) => `[--${dashed(key)}${typeof value === 'boolean' ? '' : ` ${String(value) || '…'}`}]`)
      .join(' '),
    parse(words) {
      const options = readOptions(words, defaults);
      return () => run(options, (line) => console.log(line));
    },
  };
}

/**
 * Reads options from the command line.
 * @throws Error that names the unknown option, or the option whose value is invalid
 */
export function readOptions<Options extends object>(words: string[], defaults: Options): Options {
  const known = Object.entries(defaults).map(([key, fallback]) => ({
    key,
    fallback: fallback as Value,
    name: dashed(key),
  }));
  const { values } = parseArgs({
    args: words,
    options: Object.fromEntries(
      known.map(({ name, fallback }) => [
        name,
        { type: typeof fallback === 'boolean' ? 'boolean' : 'string' } as const,
      ]),
    ),
  });
  const given = known.flatMap(({ key, name, fallback }) => {
    const value = values[name];
    return value === undefined ? [] : [[key, typeof value === 'boolean' ? value : parse(name, value, fallback)]];
  });
  return { ...defaults, ...Object.fromEntries(given) };
}

const dashed = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function parse(name: string, text: string, fallback: Value): Value {
  if (typeof fallback === 'number') return parseNumber(name, text, fallback);
  if (typeof fallback === 'string' || typeof fallback === 'boolean') return text;
  const [first] = fallback;
  const words = text.split(',');
  if (typeof first === 'number') return words.map((word) => parseNumber(name, word, first));
  const unknown = words.find((word) => fallback.length > 0 && !(fallback as readonly string[]).includes(word));
  if (unknown !== undefined) throw new Error(`--${name} does not accept "${unknown}". Use ${fallback.join(', ')}.`);
  return words;
}

function parseNumber(name: string, text: string, fallback: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value) && (value > 0 || (value === 0 && fallback === 0))) return value;
  throw new Error(`--${name} must be a ${fallback === 0 ? 'non-negative' : 'positive'} number, not "${text}".`);
}

/**
 * Runs the command that is the program's first argument. The exit code is 2 for invalid arguments, and 1 if the command
 * returns false.
 * @param withServers starts the servers that a valid command needs, and then calls `work`
 */
export async function runCommand(
  script: string,
  about: string,
  commands: Record<string, Command>,
  withServers = (work: () => Promise<unknown>) => work(),
): Promise<void> {
  const [name = '', ...words] = process.argv.slice(2);
  const lines = Object.entries(commands).map(([each, { usage }]) => `  npm run ${script} -- ${each} ${usage}`);
  const help = `Usage, with the default values:\n${lines.join('\n')}\n\n${about}`;
  if (process.argv.includes('--help')) return console.log(help);
  let run: () => Promise<unknown>;
  try {
    const chosen = commands[name];
    if (chosen === undefined) throw new Error(`Choose one of: ${Object.keys(commands).join(', ')}.`);
    run = chosen.parse(words);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${help}`);
    process.exitCode = 2;
    return;
  }
  if ((await withServers(run)) === false) process.exitCode = 1;
}
