// Parses SQL text to a syntax tree. The published parser of the dialect runs in a worker thread with a time limit. The
// text is parsed in pieces, because the parser's time grows exponentially with nesting. Trees are cached by text, because
// dashboards repeat the same queries.

import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { AppError } from '@millrace/runtime';
import { type Node, readTree, type Select, type SelectSet } from './ast.ts';
import { cutQuery, findPieceError, joinTrees, type ParserError, type Rule } from './pieces.ts';
import { SqlProblem } from './problem.ts';
import { checkQuery, nestingProblem, placeOf } from './scan.ts';

/**
 * Maximum CPU time for parsing a query. The limit applies to the CPU time of the entire process, which is at least the
 * parser's CPU time. A limit on elapsed time would make short queries fail on a busy machine.
 */
const longestCpuMs = 2_000;
const longestWallMs = 10_000;
const checkEveryMs = 200;
/**
 * Maximum time for loading the WebAssembly module, which takes seconds on a busy machine. This time does not count
 * toward the limit of the query.
 */
const longestStartMs = 30_000;
const maxWaiting = 8;
const maxCached = 500;
const maxCachedCharacters = 8_000_000;

export interface SqlParser {
  /**
   * Parses a query.
   * @throws SqlProblem if the query is invalid; AppError `limited` if too many texts are waiting for the parser
   */
  parse(text: string): Promise<Select | SelectSet>;
  /** Parses a single expression. @throws the same errors as `parse` */
  parseExpression(text: string): Promise<Node>;
  stop(): Promise<void>;
}

/**
 * Parses a query before the transaction that checks it. Parsing can take seconds, and a transaction must not wait for
 * it. The parser caches the result, even for an invalid query.
 */
export async function parseAhead(parser: SqlParser, text: unknown): Promise<void> {
  if (typeof text === 'string' && text !== '') await parser.parse(text).catch(() => {});
}

interface Text {
  text: string;
  rule: Rule;
}

export function createParser(): SqlParser {
  const cache = new Map<string, string>();
  let cachedCharacters = 0;
  let worker: Promise<Worker> | null = null;
  let running: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  return {
    async parse(text) {
      const tree = await treeOf(text, 'parseSelect');
      if (tree.node !== 'SelectQuery' && tree.node !== 'SelectSetQuery')
        throw new SqlProblem('Expected a SELECT query.', tree.place);
      return tree;
    },
    parseExpression: (text) => treeOf(text, 'parseExpr'),
    async stop() {
      await running.catch(() => {});
      const started = await worker?.catch(() => null);
      worker = null;
      await started?.terminate();
    },
  };

  async function treeOf(text: string, rule: Rule): Promise<Node> {
    checkQuery(text);
    const json = cache.get(`${rule} ${text}`) ?? (await enqueue(text, rule));
    const result = JSON.parse(json) as ParserError | Record<string, unknown>;
    if ('error' in result) throw syntaxProblem(result as ParserError, text);
    return readTree(result, text);
  }

  async function enqueue(text: string, rule: Rule): Promise<string> {
    if (waiting >= maxWaiting) {
      throw new AppError('rate_limited', 'Too many SQL queries are being parsed. Try again in a few seconds.', {
        code: 'too_many_queries',
        retryAfterSeconds: 2,
      });
    }
    waiting += 1;
    const turn = running.then(() => parseInPieces(text, rule, parseInWorker));
    running = turn.catch(() => {});
    const json = await turn.finally(() => {
      waiting -= 1;
    });
    remember(`${rule} ${text}`, json);
    return json;
  }

  async function parseInWorker(texts: readonly Text[]): Promise<string[]> {
    worker ??= startWorker();
    const current = await worker.catch((error: unknown) => {
      worker = null;
      throw error;
    });
    return new Promise((resolve, reject) => {
      const giveUp = (problem: SqlProblem) => {
        worker = null;
        void current.terminate();
        settle(() => reject(problem));
      };
      const [cpuBefore, began] = [process.cpuUsage(), performance.now()];
      const timer = setInterval(() => {
        const { user, system } = process.cpuUsage(cpuBefore);
        if ((user + system) / 1000 < longestCpuMs && performance.now() - began < longestWallMs) return;
        giveUp(new SqlProblem('The query takes too long to parse. Use fewer nested calls.', null));
      }, checkEveryMs);
      const onMessage = ({ trees }: { trees: string[] }) => settle(() => resolve(trees));
      // After a WebAssembly trap, the parser can no longer be used.
      const onError = () => giveUp(new SqlProblem('The query is too complex to parse.', null));
      current.once('message', onMessage);
      current.once('error', onError);
      current.ref();
      current.postMessage(texts.map(({ text, rule }) => ({ text, rule })));

      function settle(finish: () => void): void {
        clearInterval(timer);
        current.off('message', onMessage);
        current.off('error', onError);
        current.unref();
        finish();
      }
    });
  }

  function remember(key: string, json: string): void {
    cache.set(key, json);
    cachedCharacters += key.length + json.length;
    for (const [oldest, tree] of cache) {
      if (cache.size <= maxCached && cachedCharacters <= maxCachedCharacters) break;
      cache.delete(oldest);
      cachedCharacters -= oldest.length + tree.length;
    }
  }
}

/**
 * Parses a text in pieces. If a piece cannot be parsed, parses the complete text, so that the error refers to it.
 * Parsing the complete text would take too long if it is deeply nested, so the error is then that of the first invalid
 * piece.
 * @param parse a function that parses texts and returns their trees as JSON
 */
async function parseInPieces(text: string, rule: Rule, parse: (texts: readonly Text[]) => Promise<string[]>) {
  const nesting = nestingProblem(text);
  const cut = cutQuery(text, rule);
  if (cut !== null && cut.pieces.length > 1 && cut.pieces.every((piece) => nestingProblem(piece.text) === null)) {
    const trees = await parse(cut.pieces);
    const tree = joinTrees(cut, trees) ?? (nesting === null ? null : findPieceError(cut, trees));
    if (tree !== null) return JSON.stringify(tree);
  }
  if (nesting !== null) throw nesting;
  const [json = ''] = await parse([{ text, rule }]);
  return json;
}

/** Source code of the worker thread. It is a string, so that the bundled programs do not need a separate file. */
const program = `
const { parentPort, workerData } = require('node:worker_threads');
require(workerData).default().then((parser) => {
  // The first parse compiles most of the module.
  parser.parseSelect('SELECT 1');
  parentPort.on('message', (texts) =>
    parentPort.postMessage({ trees: texts.map(({ text, rule }) => parser[rule](text)) }));
  parentPort.postMessage({ isReady: true });
});`;

function startWorker(): Promise<Worker> {
  const require = createRequire(import.meta.url);
  const worker = new Worker(program, {
    eval: true,
    // Do not pass on this process's Node.js options, because they may load modules that only work in the main thread.
    execArgv: [],
    workerData: require.resolve('@posthog/hogql-parser'),
    resourceLimits: { maxOldGenerationSizeMb: 128 },
    name: 'sql-parser',
  });
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      void worker.terminate();
      reject(new AppError('unavailable', 'The SQL parser did not start. Try again in a few seconds.', { cause }));
    };
    const timer = setTimeout(() => fail(new Error('The parser is not ready in time.')), longestStartMs);
    worker.once('error', fail);
    worker.once('message', () => {
      clearTimeout(timer);
      worker.off('error', fail);
      worker.unref();
      resolve(worker);
    });
  });
}

/**
 * Converts an error of the parser. The reported range extends to the end of the text, but the problem is the word at
 * its start.
 */
function syntaxProblem({ message, start }: ParserError, text: string): SqlProblem {
  const characters = Array.from(text);
  const at = start?.offset ?? 0;
  const code = 'hogql_syntax_error';
  const isAtEnd = characters.slice(at).join('').trim() === '';
  if (isAtEnd || message.includes("'<EOF>'"))
    return new SqlProblem('Unexpected end of query', { start: at, end: characters.length }, code);
  let end = at + 1;
  while (end < characters.length && /[\p{L}\p{N}_$]/u.test(characters[end] ?? '')) end += 1;
  const unsupported = unsupportedClause(message);
  if (unsupported !== null) return new SqlProblem(unsupported.problem, placeOf(unsupported.word, text), code);
  return new SqlProblem(message, { start: at, end }, code);
}

/** Grammar rules that the parser does not implement. Each begins with `word` and has its own error message. */
const unsupportedRules: Readonly<Record<string, { word: string; problem: string }>> = {
  ColumnExprDate: { word: 'DATE', problem: "DATE '…' is not supported. Use toDate('…')." },
  ColumnExprTimestamp: { word: 'TIMESTAMP', problem: "TIMESTAMP '…' is not supported. Use toDateTime('…')." },
  ColumnExprSubstring: {
    word: 'SUBSTRING',
    problem: 'SUBSTRING(… FROM …) is not supported. Use substring(text, from, length).',
  },
};

/** Returns the clause that the parser reports as not implemented, or null for other messages. */
function unsupportedClause(message: string): { word: string; problem: string } | null {
  const clause = /^Unsupported: \w+\.(\w+?)(?:Clause)?\(\)$/.exec(message)?.[1]?.toUpperCase();
  if (clause !== undefined) return { word: clause, problem: `${clause} is not supported.` };
  return unsupportedRules[/^Unsupported rule: (\w+)$/.exec(message)?.[1] ?? ''] ?? null;
}
