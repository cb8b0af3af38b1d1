import { type Command, InvalidArgumentError } from 'commander';
import { ImportStopped, UsageError } from '../failures.ts';
import { type ImportSummary, importFile } from '../import/import-file.ts';
import { describeFault } from '../import/lines.ts';
import { createProgress } from '../import/progress.ts';
import { openSource } from '../import/source.ts';
import { stateFile } from '../import/state.ts';
import { requireAddress } from '../options.ts';
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

/** Well under the 20 MB the ingest host takes, so that a request that has to be repeated costs little. */
const batchBytes = 4_000_000;
/** The rest is in the JSON. */
const shownFaults = 20;

const help = `
Each line is one event: {"event": …, "distinct_id": …, "timestamp": …, "properties": {…}}. The whole file is checked first.
Events are sent in the order of the file. An event without a uuid gets one derived from its text and its line number, so
importing the same file again, or going on after an interruption, stores nothing twice; two equal lines are two events.
Once lines were inserted or removed before an event, it counts as another one, unless it has a uuid of its own.

Exit codes: 0 imported, 1 refused or given up, 2 called wrongly, 130 interrupted. After 1 and 130 the same command goes on.`;

export function addImportCommand(program: Command, terminal: Terminal): void {
  program
    .command('import')
    .description('send past events, one JSON object per line, to the ingest host as a historical migration')
    .argument('<file>', 'path of the file, packed with gzip or not; - reads standard input')
    .option('--host <url>', 'address of the ingest host (default: INGEST_URL)')
    .option('--project-api-key <key>', 'the project to import into (default: PROJECT_API_KEY)')
    .option('--batch-size <events>', 'events in one request; requests follow one another', wholeNumber(1, 10_000), 1000)
    .option('--skip-invalid', 'import the other lines when some are not valid events')
    .option('--dry-run', 'check the file and send nothing')
    .option('--state <path>', 'where to note how far it is (default: <file>.import-state.json)')
    .option('--restart', 'start over although a part is imported; events already stored are skipped')
    .option('--patience <seconds>', 'how long to retry while the host refuses events', wholeNumber(0, 86_400), 600)
    .addHelpText('after', help)
    .action(async (file: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<ImportCommandOptions>();
      const summary = await run(file, options, terminal);
      printSummary(summary, options, terminal);
      if (summary.exitCode !== 0) throw new ImportStopped(describeStop(summary), summary.exitCode);
    });
}

async function run(file: string, options: ImportCommandOptions, terminal: Terminal): Promise<ImportSummary> {
  const host = requireAddress(options.host || terminal.env.INGEST_URL, {
    option: '--host',
    missing: 'give the address of the ingest host, or set INGEST_URL',
    example: 'https://events.example.com',
  });
  const projectApiKey = options.projectApiKey || terminal.env.PROJECT_API_KEY;
  if (!projectApiKey) throw new UsageError("--project-api-key: give the project's key, or set PROJECT_API_KEY");
  // Standard input has no place of its own; what is sent again is known by its uuids.
  const statePath = options.state ?? (file === '-' ? null : `${file}.import-state.json`);
  const interrupted = terminal.interrupted ?? new AbortController().signal;
  const source = await openSource(file, terminal, interrupted).catch((error: unknown) => {
    throw interrupted.aborted ? new ImportStopped('interrupted before anything was sent', 130) : error;
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
      stateFile: statePath === null ? null : stateFile(statePath, { host, projectApiKey }),
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
  if (rejected > shownFaults) printer.note(`… and ${rejected - shownFaults} more lines; --json lists them`);
  if (outcome === 'imported' && imported > 0 && imported === importedBefore) {
    printer.note('There was nothing left to send: all of it was imported before (--restart sends it again).');
  }
  printer.record({ file, outcome, lines, imported, importedBefore, rejected, seconds });
}

function describeStop({ outcome, reason, rejected, lines, lastLine, file }: ImportSummary): string {
  if (outcome === 'invalid') {
    return `${rejected} of ${lines} lines cannot be imported, so nothing was sent; give --skip-invalid to import the others`;
  }
  const rest = file === 'standard input' ? 'import it again' : 'run the same command again to go on';
  return `${reason}; everything up to line ${lastLine} is imported; ${rest}`;
}

function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}
