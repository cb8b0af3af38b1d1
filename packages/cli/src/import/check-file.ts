import { createHash } from 'node:crypto';
import { UsageError } from '../refusals.ts';
import { checkLine } from './check-line.ts';
import type { ImportSource } from './import-source.ts';
import type { ImportState } from './import-state.ts';
import type { Progress } from './progress.ts';
import { readLines } from './read-lines.ts';
import { createRejections, type Rejections } from './rejections.ts';

export interface CheckedFile {
  lines: number;
  bytes: number;
  /** Valid ones from where the import continues. */
  events: number;
  rejections: Rejections;
}

/**
 * Reads the whole file and checks every line that is not imported yet.
 * @throws UsageError when the imported part of it is not what it was.
 */
export async function checkFile(
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
      `${source.name} is not the file whose import was begun (${from} bytes of it are imported); ` +
        'give --restart to begin anew, or --state with another path',
    );
  }
  return checked;
}
