import type { Fault } from './check-line.ts';
import type { Posted } from './post-batch.ts';

/** One event on its way. */
export interface Item {
  line: number;
  /** JSON text with its uuid. */
  text: string;
}

export interface Envelope {
  projectApiKey: string;
  post(body: string): Promise<Posted>;
}

/**
 * Sends events in their order. A batch that is refused is sent in halves, until the event to blame stands alone: the
 * others need not suffer for it, and the limit of the host need not be known.
 * @returns the events that were refused by themselves.
 */
export async function sendBatch(items: readonly Item[], envelope: Envelope): Promise<Fault[]> {
  if (items.length === 0) return [];
  const posted = await envelope.post(toBody(items, envelope.projectApiKey));
  if (posted.kind === 'accepted') return [];
  const [first] = items;
  if (first && items.length === 1) return [{ line: first.line, field: null, reason: `refused: ${posted.reason}` }];
  const middle = Math.ceil(items.length / 2);
  const faults = await sendBatch(items.slice(0, middle), envelope);
  return [...faults, ...(await sendBatch(items.slice(middle), envelope))];
}

/** The texts are put together as they are: nothing is lost or changed by reading and writing them again. */
function toBody(items: readonly Item[], projectApiKey: string): string {
  const head = `{"api_key":${JSON.stringify(projectApiKey)},"historical_migration":true,"batch":[`;
  return `${head}${items.map(({ text }) => text).join(',')}]}`;
}
