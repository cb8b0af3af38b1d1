// Imports a file of historical events: checks all lines, and then sends them. An interrupted import can be continued.

import { createHash } from 'node:crypto';
import { ImportStopped, UsageError } from '../failures.ts';
import { checkLine, createRejections, type Fault, type Rejections, readLines } from './lines.ts';
import type { Progress } from './progress.ts';
import { postBatch, sendFile } from './send.ts';
import type { ImportSource } from './source.ts';
import type { ImportState, StateFile } from './state.ts';

interface ImportOptions {
  /** The ingest host's URL without a path. */
  host: string;
  projectApiKey: string;
  batchEvents: number;
  batchBytes: number;
  skipInvalid: boolean;
  isDryRun: boolean;
  patienceMs: number;
  /** The file that stores the progress, or null to store no progress. */
  stateFile: StateFile | null;
  isRestart: boolean;
  progress: Progress;
  signal: AbortSignal;
}

export interface ImportSummary {
  file: string;
  outcome: 'imported' | 'checked' | 'invalid' | 'stopped';
  reason: string | null;
  exitCode: number;
  lines: number;
  /** Number of events that the ingest host has accepted, in this run and earlier runs. */
  imported: number;
  importedBefore: number;
  rejected: number;
  /** Number of the last processed line. All lines before it are processed too. */
  lastLine: number;
  seconds: number;
  /** The first 10,000 rejected lines. */
  rejectedLines: readonly Fault[];
}

/**
 * Maximum length of an event in bytes. A request must be smaller than 20 MB in total
 * (docs/wire-rules.md#body-decoding).
 */
const maxLineBytes = 20_000_000;

/**
 * Checks the whole file, then sends its events as a historical migration. If the import stops, all lines up to
 * `lastLine` have been processed, and the next run continues after that line. The next run may repeat some events. They
 * are stored once, because their UUIDs are the same.
 */
export async function importFile(source: ImportSource, options: ImportOptions): Promise<ImportSummary> {
  const startedAt = Date.now();
  const before = readBefore(options);
  const point = {
    offset: before?.offset ?? 0,
    line: before?.line ?? 0,
    sha256: before?.sha256 ?? createHash('sha256').digest('hex'),
    events: before?.events ?? 0,
  };
  let rejections: Rejections = createRejections();
  let lines = 0;

  const summary = (outcome: ImportSummary['outcome'], reason: string | null = null, exitCode = 0): ImportSummary => ({
    file: source.name,
    outcome,
    reason,
    exitCode,
    lines,
    imported: point.events,
    importedBefore: before?.events ?? 0,
    rejected: rejections.count(),
    lastLine: point.line,
    seconds: Math.round((Date.now() - startedAt) / 100) / 10,
    rejectedLines: rejections.faults(),
  });

  try {
    const checked = await checkFile(source, before, {
      maxLineBytes,
      signal: options.signal,
      progress: options.progress,
    });
    ({ lines, rejections } = checked);
    if (rejections.count() > 0 && !options.skipInvalid) return summary('invalid', null, 1);
    if (options.isDryRun) return summary('checked');
    options.progress.setTotals({
      from: { ...point },
      totalEvents: point.events + checked.events,
      totalBytes: checked.bytes,
    });
    // Save the state first, so that the import fails before sending any events if the state file is not writable.
    options.stateFile?.save(point);
    const url = `${options.host}/batch/`;
    const onWait = (reason: string, waitMs: number) =>
      options.progress.note(
        `The ingest host ${options.host} does not accept events at the moment (${reason}). Retrying in ${Math.ceil(waitMs / 1000)} s.`,
      );
    await sendFile(source, {
      ...options,
      fromOffset: point.offset,
      maxLineBytes,
      rejections,
      envelope: {
        projectApiKey: options.projectApiKey,
        post: (body) => postBatch(body, { url, patienceMs: options.patienceMs, signal: options.signal, onWait }),
      },
      onDone(done) {
        Object.assign(point, { ...done, events: point.events + done.events });
        options.stateFile?.save(point);
        options.progress.sent(point);
      },
    });
    return summary('imported');
  } catch (error) {
    if (options.signal.aborted) return summary('stopped', 'Interrupted', 130);
    if (error instanceof ImportStopped) return summary('stopped', error.message, error.exitCode);
    throw error;
  } finally {
    options.progress.end();
  }
}

/** Returns the point at which an earlier run of the same import stopped, or null if there was none. */
function readBefore({ stateFile, isRestart, progress }: ImportOptions): ImportState | null {
  const saved = isRestart ? null : (stateFile?.load() ?? null);
  if (saved !== 'other') return saved;
  progress.note(
    `${stateFile?.path} belongs to an import to another host or project. This import starts at the beginning of the file.`,
  );
  return null;
}

interface CheckedFile {
  lines: number;
  bytes: number;
  /** Number of valid events after the position from which the import continues. */
  events: number;
  rejections: Rejections;
}

/**
 * Reads the whole file and checks every line that is not imported yet.
 * @throws UsageError if the lines that were already imported have changed
 */
async function checkFile(
  source: ImportSource,
  state: ImportState | null,
  { maxLineBytes, signal, progress }: { maxLineBytes: number; signal: AbortSignal; progress: Progress },
): Promise<CheckedFile> {
  const checked: CheckedFile = { lines: 0, bytes: 0, events: 0, rejections: createRejections() };
  const from = state?.offset ?? 0;
  const hash = createHash('sha256');
  for await (const lines of readLines(source.read(), maxLineBytes)) {
    signal.throwIfAborted();
    progress.checking(checked.lines);
    for (const line of lines) {
      checked.lines = line.number;
      checked.bytes = line.endOffset;
      if (line.endOffset <= from) {
        for (const part of line.raw) hash.update(part);
        continue;
      }
      const outcome = checkLine(line);
      if (outcome.kind === 'event') checked.events += 1;
      if (outcome.kind === 'invalid') checked.rejections.add(outcome.fault);
    }
  }
  if (state && (checked.bytes < from || hash.digest('hex') !== state.sha256)) {
    throw new UsageError(
      `${source.name} is not the file from the interrupted import, which stopped after ${from} bytes. ` +
        'Pass --restart to start from the beginning, or --state with another path.',
    );
  }
  return checked;
}
