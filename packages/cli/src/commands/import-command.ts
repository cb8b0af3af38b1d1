// `millrace import`: sends historical events from a file to a project.

import { type Command, InvalidArgumentError } from 'commander';
import { ImportStopped, UsageError } from '../failures.ts';
import { type ImportSummary, importFile } from '../import/import-file.ts';
import { describeFault } from '../import/lines.ts';
import { createProgress } from '../import/progress.ts';
import { openSource } from '../import/source.ts';
import { createStateFile } from '../import/state.ts';
import { requireServerUrl } from '../options.ts';
import { createPrinter, type Terminal } from '../output.ts';
import type { GlobalOptions } from '../session.ts';

interface ImportCommandOptions extends GlobalOptions {
  host?: string;
  projectApiKey?: string;
  batchSize: number;
  skipInvalid?: boolean;
  dryRun?: boolean;
  state?: string;
  restart?: boolean;
  patience: number;
}

/** Maximum batch size in bytes. The ingest host accepts up to 20 MB, but a smaller batch costs less to send again. */
const batchBytes = 4_000_000;
/** Maximum number of invalid lines that are printed as text. With `--json`, the output lists more of them. */
const shownFaults = 20;

const help = `
Each line is one event: {"event": …, "distinct_id": …, "timestamp": …, "properties": {…}}. The complete file is checked before
anything is sent. Events are sent in the order of the file.

An event without a uuid gets one derived from its text and its line number. If you import the same file again, or continue after
an interruption, each event is therefore stored once. Two identical lines are two events. If you insert or remove lines before an
event that has no uuid, it counts as a different event.

Exit codes: 0 imported, 1 refused or gave up, 2 wrong arguments, 130 interrupted. After 1 or 130, run the same command to continue.`;

export function addImportCommand(program: Command, terminal: Terminal): void {
  program
    .command('import')
    .description(
      'import past events (one JSON object per line) by sending them to the ingest host as a historical migration',
    )
    .argument('<file>', 'path to the file, which can be gzip-compressed, or - for standard input')
    .option('--host <url>', 'URL of the ingest host (default: INGEST_URL)')
    .option('--project-api-key <key>', 'API key of the project to import into (default: PROJECT_API_KEY)')
    .option(
      '--batch-size <events>',
      'events per request. Requests are sent one at a time',
      wholeNumber(1, 10_000),
      1000,
    )
    .option('--skip-invalid', 'skip lines that are not valid events')
    .option('--dry-run', 'check the file without sending anything')
    .option('--state <path>', 'file that stores the progress (default: <file>.import-state.json)')
    .option(
      '--restart',
      'start from the beginning even if part of the file has been imported. Events that are already stored are skipped',
    )
    .option(
      '--patience <seconds>',
      'how long to retry while the host does not accept events',
      wholeNumber(0, 86_400),
      600,
    )
    .addHelpText('after', help)
    .action(async (file: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<ImportCommandOptions>();
      const summary = await run(file, options, terminal);
      printSummary(summary, options, terminal);
      if (summary.exitCode !== 0) throw new ImportStopped(describeStop(summary), summary.exitCode);
    });
}

async function run(file: string, options: ImportCommandOptions, terminal: Terminal): Promise<ImportSummary> {
  const host = requireServerUrl(options.host || terminal.env.INGEST_URL, {
    option: '--host',
    missing: 'Pass the URL of the ingest host, or set INGEST_URL.',
    example: 'https://events.example.com',
  });
  const projectApiKey = options.projectApiKey || terminal.env.PROJECT_API_KEY;
  if (!projectApiKey)
    throw new UsageError('--project-api-key: Pass the API key of the project, or set PROJECT_API_KEY.');
  // Standard input has no path next to which a state file could be stored. If such an import is repeated, the event
  // UUIDs prevent duplicates.
  const statePath = options.state ?? (file === '-' ? null : `${file}.import-state.json`);
  const interrupted = terminal.interrupted ?? new AbortController().signal;
  const source = await openSource(file, terminal, interrupted).catch((error: unknown) => {
    throw interrupted.aborted ? new ImportStopped('Interrupted before anything was sent.', 130) : error;
  });
  try {
    return await importFile(source, {
      host,
      projectApiKey,
      batchEvents: options.batchSize,
      batchBytes,
      skipInvalid: options.skipInvalid === true,
      isDryRun: options.dryRun === true,
      patienceMs: options.patience * 1000,
      stateFile: statePath === null ? null : createStateFile(statePath, { host, projectApiKey }),
      isRestart: options.restart === true,
      progress: createProgress(terminal.err),
      signal: interrupted,
    });
  } finally {
    await source.close();
  }
}

function printSummary(summary: ImportSummary, { json }: ImportCommandOptions, terminal: Terminal): void {
  if (json) {
    terminal.out.write(`${JSON.stringify(summary, null, 2)}\n`);
    return;
  }
  const { rejectedLines, rejected, file, outcome, lines, imported, importedBefore, seconds } = summary;
  const printer = createPrinter(terminal, false);
  for (const fault of rejectedLines.slice(0, shownFaults)) printer.note(describeFault(fault));
  if (rejected > shownFaults) printer.note(`… and ${rejected - shownFaults} more lines. Use --json to list them all.`);
  if (outcome === 'imported' && imported > 0 && imported === importedBefore) {
    printer.note(
      'There was nothing left to send, because the whole file has already been imported. Use --restart to send the file again.',
    );
  }
  printer.record({ file, outcome, lines, imported, importedBefore, rejected, seconds });
}

function describeStop({ outcome, reason, rejected, lines, lastLine, file }: ImportSummary): string {
  if (outcome === 'invalid') {
    return `${rejected} of ${lines} lines cannot be imported, so nothing was sent. Pass --skip-invalid to import the others.`;
  }
  const rest = file === 'standard input' ? 'Import it again.' : 'Run the same command again to continue.';
  return `${reason?.replace(/\.$/, '')}. Everything up to line ${lastLine} has been imported. ${rest}`;
}

function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`Must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}
