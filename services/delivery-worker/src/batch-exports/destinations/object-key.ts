import type { ClaimedRun } from '../records/claimed-run.ts';

/**
 * Name of the object of an interval: `<prefix>/<start>-<end>.jsonl[.gz]`. The prefix may hold `{year}`, `{month}`, `{day}`,
 * `{hour}`, `{minute}` and `{second}` of the interval's start in UTC, and `{table}` for the model.
 */
export function objectKey(
  {
    data_interval_start,
    data_interval_end,
    model,
  }: Pick<ClaimedRun, 'data_interval_start' | 'data_interval_end' | 'model'>,
  { prefix, isCompressed }: { prefix: string; isCompressed: boolean },
): string {
  const [start, end] = [data_interval_start, data_interval_end].map((time) => time.toISOString().replace('.000Z', 'Z'));
  const [year, month, day, hour, minute, second] = (start ?? '').split(/\D/);
  const words: Record<string, string | undefined> = { year, month, day, hour, minute, second, table: model };
  const filled = prefix.replace(/\{(\w+)\}/g, (text, word: string) => words[word] ?? text).replace(/^\/+|\/+$/g, '');
  return `${filled === '' ? '' : `${filled}/`}${start}-${end}.jsonl${isCompressed ? '.gz' : ''}`;
}
