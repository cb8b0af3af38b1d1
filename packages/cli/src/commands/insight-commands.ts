// Runs queries from a terminal: an insight query from a file, a saved insight, or SQL.

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { formatCsv } from '@millrace/contracts/csv';
import { type ResultTable, toResultTable } from '@millrace/contracts/result-table';
import type { Command } from 'commander';
import { UsageError } from '../failures.ts';
import { type ApiOptions, addApiOptions, createProjectApiClient } from '../management-api.ts';
import { createPrinter, type Terminal } from '../output.ts';

interface QueryResponse {
  results: unknown;
  columns?: string[] | null;
  /** True for an SQL query without LIMIT if it has more rows than the response contains. */
  hasMore?: boolean;
}

interface ResultOptions extends ApiOptions {
  csv?: boolean;
  new?: boolean;
  file?: string;
}

export function addInsightCommands(program: Command, terminal: Terminal): void {
  const query = program
    .command('query')
    .description('run an insight query in a project through the management API')
    .argument(
      '<file>',
      'file with the query as JSON, e.g. {"kind": "TrendsQuery", "series": [{"kind": "EventsNode"}]}, or - for standard input',
    )
    .action(async (file: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<ResultOptions>();
      await runQuery(await readQuery(file, terminal), options, terminal);
    });
  addResultOptions(query, 'the scope query:read');
  const sql = program
    .command('sql')
    .description('run an SQL query over the events, persons, groups and cohorts of a project')
    .argument(
      '[query]',
      'text of the query, e.g. "SELECT event, count() FROM events GROUP BY event", or - for standard input',
    )
    .option('--file <path>', 'file with the text of the query')
    .action(async (written: string | undefined, _options: object, command: Command) => {
      const options = command.optsWithGlobals<ResultOptions>();
      await runQuery({ kind: 'HogQLQuery', query: await readSql(written, options.file, terminal) }, options, terminal);
    });
  addResultOptions(sql, 'the scope query:read');
  const run = program
    .command('insights')
    .description("run a project's saved insights through the management API")
    .command('run')
    .description('run a saved insight')
    .argument('<id>', 'ID or short ID of the insight')
    .action(async (id: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<ResultOptions>();
      const path = `insights/${encodeURIComponent(id)}/?refresh=${options.new === true ? 'force_blocking' : 'blocking'}`;
      const insight = (await createProjectApiClient(options, terminal).call('GET', path)) as QueryResponse & {
        result: unknown;
      };
      show({ ...insight, results: insight.result }, options, terminal);
    });
  addResultOptions(run, 'the scope insight:read');
}

function addResultOptions(command: Command, scope: string): void {
  addApiOptions(command, scope)
    .option('--csv', 'print the results as CSV')
    .option('--new', 'compute the result even if a fresh cached result exists');
}

async function runQuery(query: unknown, options: ResultOptions, terminal: Terminal): Promise<void> {
  const body = { query, ...(options.new === true && { refresh: 'force_blocking' }) };
  show(
    (await createProjectApiClient(options, terminal).call('POST', 'query/', body)) as QueryResponse,
    options,
    terminal,
  );
}

/**
 * Reads the SQL query from the argument, standard input or a file.
 * @throws UsageError if there is not exactly one query
 */
async function readSql(written: string | undefined, file: string | undefined, terminal: Terminal): Promise<string> {
  if ((written === undefined) === (file === undefined))
    throw new UsageError('<query>: Pass the text of a query, - for standard input, or --file.');
  const query = file !== undefined || written === '-' ? await readContent(file ?? '-', terminal) : (written ?? '');
  if (query.trim() === '') throw new UsageError('<query>: The query is empty.');
  return query;
}

/**
 * Reads a file or standard input.
 * @param file the path, or `-` for standard input
 * @throws UsageError if the input cannot be read
 */
function readContent(file: string, terminal: Terminal): Promise<string> {
  return (file === '-' ? text(terminal.input ?? process.stdin) : readFile(file, 'utf8')).catch((error: Error) => {
    throw new UsageError(`<file>: Could not read ${file}: ${error.message}`);
  });
}

/** Reads a query from a file. @throws UsageError that describes what is wrong with the file */
async function readQuery(file: string, terminal: Terminal): Promise<unknown> {
  const content = await readContent(file, terminal);
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new UsageError(
      `<file>: ${file === '-' ? 'Standard input' : file} is not valid JSON: ${(error as Error).message}`,
    );
  }
}

function show(response: QueryResponse, { csv, json }: ResultOptions, terminal: Terminal): void {
  if (json === true) {
    terminal.out.write(`${JSON.stringify(response, null, 2)}\n`);
    return;
  }
  const table = toResultTable(response.results, response.columns);
  if (csv === true) terminal.out.write(formatCsv([table.columns, ...table.rows]));
  else createPrinter(terminal, false).table(rowsOf(table));
  if (response.hasMore === true)
    terminal.err.write(`Only the first ${table.rows.length} rows are shown. Add a LIMIT to the query to get more.\n`);
}

/** Converts result rows to objects. If an earlier column has the same name, appends the column's index to the name. */
function rowsOf({ columns, rows }: ResultTable) {
  const names = columns.map((name, at) => (columns.indexOf(name) === at ? name : `${name} (${at})`));
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])));
}
