import { slotsPerEvent } from '../event/event-fields.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import { parseV1Batch } from '../request-v1/parse-v1-batch.ts';
import type { V1Head } from '../request-v1/v1-head.ts';
import { validateBatch } from '../request-v1/validate-batch.ts';
import { createScanner } from '../scan/scan-request.ts';
import type { FoundV1 } from './body-job.ts';

const scan = createScanner();

/**
 * Step 3 for a large body of Capture v1: validates every event like in a small one. The accepted events are written
 * anew, because clients of this protocol move some properties elsewhere, and are given as positions in that JSON.
 *
 * @throws AppError see `parseV1Batch`.
 */
export function findV1Request(text: string, sdk: V1Head['sdk'], lease: ByteLease): FoundV1 {
  const { events, uuids, ...validated } = validateBatch(parseV1Batch(text), sdk);
  const json = Buffer.from(JSON.stringify({ batch: events }), 'utf8');
  lease.take(json.length);
  const found = scan(json);
  if (found === null) throw new Error('What was written anew cannot be scanned.');
  const slots = found.slots.slice(slotsPerEvent, (1 + found.events) * slotsPerEvent);
  return { kind: 'v1', ...validated, uuids: uuids.join(','), json, slots, events: events.length };
}
