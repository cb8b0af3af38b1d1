import { createHash } from 'node:crypto';
import { checkLine } from './check-line.ts';
import type { ImportSource } from './import-source.ts';
import { ImportStopped } from './import-stopped.ts';
import { type Line, readLines } from './read-lines.ts';
import { describeFault, type Rejections } from './rejections.ts';
import { type Envelope, type Item, sendBatch } from './send-batch.ts';
import { withUuid } from './with-uuid.ts';

/**
 * Of a batch the ingest host stores what it can, and drops an event that is too large for the log with a mere warning.
 * An event that may be one is sent alone: then the host refuses it, and it can be named.
 */
const largeEventBytes = 256_000;

export interface SendOptions {
  /** What is before this byte is imported already. */
  fromOffset: number;
  batchEvents: number;
  batchBytes: number;
  maxLineBytes: number;
  envelope: Envelope;
  /** Whether an event that the host refuses ends the import. */
  skipInvalid: boolean;
  rejections: Rejections;
  /** Everything before this point is imported. Called after every batch and at the end. */
  onDone(point: { offset: number; line: number; sha256: string; events: number }): void;
}

/**
 * Sends what is valid in a file, one batch after the other: events of a migration are processed in the order they come
 * in, and two requests at once have none.
 * @throws ImportStopped, and as `Envelope.post`.
 */
export async function sendFile(source: ImportSource, options: SendOptions): Promise<void> {
  const hash = createHash('sha256');
  let batch: Item[] = [];
  let bytes = 0;
  let last: Line | undefined;

  async function flush(): Promise<void> {
    if (last === undefined) return;
    const faults = await sendBatch(batch, options.envelope);
    for (const fault of faults) {
      if (!options.skipInvalid) throw new ImportStopped(`the ingest host does not take ${describeFault(fault)}`);
      options.rejections.add(fault);
    }
    options.onDone({
      offset: last.endOffset,
      line: last.number,
      sha256: hash.copy().digest('hex'),
      events: batch.length - faults.length,
    });
    batch = [];
    bytes = 0;
    last = undefined;
  }

  for await (const lines of readLines(source.read(), options.maxLineBytes)) {
    for (const line of lines) {
      const item = line.endOffset > options.fromOffset ? toItem(line) : null;
      const size = item === null ? 0 : sizeInBatch(item, options.batchBytes);
      if (batch.length > 0 && (batch.length >= options.batchEvents || bytes + size > options.batchBytes)) await flush();
      for (const part of line.raw) hash.update(part);
      if (line.endOffset > options.fromOffset) last = line;
      if (item === null) continue;
      batch.push(item);
      bytes += size;
    }
  }
  await flush();
}

/** A large one fills a batch by itself. */
function sizeInBatch({ text }: Item, batchBytes: number): number {
  const bytes = Buffer.byteLength(text);
  return bytes > largeEventBytes ? batchBytes : bytes;
}

/** Null for a line that is blank or invalid; those were named when the file was checked. */
function toItem(line: Line): Item | null {
  const checked = checkLine(line);
  if (checked.kind !== 'event') return null;
  return { line: line.number, text: withUuid(checked.event, checked.text, line.number) };
}
