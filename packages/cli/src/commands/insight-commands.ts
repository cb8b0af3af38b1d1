// Runs insight queries from a terminal: a query in a file, or a saved insight.

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { csvText } from '@millrace/contracts/csv';
import { type ResultTable, resultTable } from '@millrace/contracts/result-table';
import type { Command } from 'commander';
import { UsageError } from '../failures.ts';
import { type ApiOptions, connectApi, withApiOptions } from '../management-api.ts';
import { createPrinter, type Terminal } from '../output.ts';

interface Answer {
  results: unknown;
  columns?: string[] | null;
}

interface AnswerOptions extends ApiOptions {
  csv?: boolean;
  new?: boolean;
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
      const options = command.optsWithGlobals<AnswerOptions>();
      const sent = await readQuery(file, terminal);
      const body = { query: sent, ...(options.new === true && { refresh: 'force_blocking' }) };
      show((await connectApi(options, terminal).call('POST', 'query/', body)) as Answer, options, terminal);
    });
  withAnswerOptions(query, 'the scope query:read');
  const run = program
    .command('insights')
    .description("run a project's saved insights through the management API")
    .command('run')
    .description('run a saved insight')
    .argument('<id>', 'ID or short ID of the insight')
    .action(async (id: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<AnswerOptions>();
      const path = `insights/${encodeURIComponent(id)}/?refresh=${options.new === true ? 'force_blocking' : 'blocking'}`;
      const insight = (await connectApi(options, terminal).call('GET', path)) as Answer & { result: unknown };
      show({ ...insight, results: insight.result }, options, terminal);
    });
  withAnswerOptions(run, 'the scope insight:read');
}

function withAnswerOptions(command: Command, scope: string): void {
  withApiOptions(command, scope)
    .option('--csv', 'print the results as CSV')
    .option('--new', 'compute the result even if a fresh cached result exists');
}

/** @throws UsageError that describes what is wrong with the file. */
async function readQuery(file: string, terminal: Terminal): Promise<unknown> {
  const content = await (file === '-' ? text(terminal.input ?? process.stdin) : readFile(file, 'utf8')).catch(
    (error: Error) => {
      throw new UsageError(`<file>: Could not read ${file}: ${error.message}`);
    },
  );
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new UsageError(
      `<file>: ${file === '-' ? 'Standard input' : file} is not valid JSON: ${(error as Error).message}`,
    );
  }
}

function show(answer: Answer, { csv, json }: AnswerOptions, terminal: Terminal): void {
  if (json === true) {
    terminal.out.write(`${JSON.stringify(answer, null, 2)}\n`);
    return;
  }
  const table = resultTable(answer.results, answer.columns);
  if (csv === true) terminal.out.write(csvText([table.columns, ...table.rows]));
  else createPrinter(terminal, false).table(rowsOf(table));
}

/** Appends a number to the name of a column if an earlier column has the same name. */
function rowsOf({ columns, rows }: ResultTable) {
  const names = columns.map((name, at) => (columns.indexOf(name) === at ? name : `${name} (${at})`));
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])));
}
