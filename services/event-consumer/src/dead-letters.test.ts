import type { AppendRecord } from '@millrace/event-log';
import { AppError, createLogger } from '@millrace/runtime';
import { createDeadLetterLog, type DeadLetter } from './dead-letters.ts';

const logger = createLogger('test', 'error');
logger.silent = true;

function deadLetter(offset: number, value = 'value'): DeadLetter {
  return {
    record: { offset: BigInt(offset), key: 'k', value: Buffer.from(value), headers: { a: 'b' }, appendedAtMs: 0 },
    position: { log: 'one', topic: 'events.live', partition: 2, offset: BigInt(offset) },
    reason: 'processing_error',
    step: 'process_batch',
  };
}

/**
 * Creates a log that accepts records up to a size. Like a real log, it accepts either all records of a call or none.
 */
function limitedLog(maxBytes: number) {
  const appended: AppendRecord[] = [];
  let isDown = false;
  return {
    appended,
    setDown(down: boolean) {
      isDown = down;
    },
    async append(records: AppendRecord[]) {
      if (isDown) throw new AppError('unavailable', 'no broker');
      if (records.some(({ value }) => value.length > maxBytes)) throw new AppError('too_large', 'too large');
      appended.push(...records);
    },
  };
}

const offsets = (appended: AppendRecord[]) => appended.map(({ headers }) => headers?.dlq_offset);

test('does not write dead letters twice when a batch is retried', async () => {
  const log = limitedLog(100);
  const deadLetters = createDeadLetterLog({ log, topic: 'dead', logger, now: Date.now });
  await deadLetters.append([deadLetter(1), deadLetter(2)]);
  await deadLetters.append([deadLetter(1), deadLetter(2), deadLetter(3)]);
  expect(offsets(log.appended)).toEqual(['1', '2', '3']);
});

test('writes dead letters of different logs separately, even if they have the same position', async () => {
  const log = limitedLog(100);
  const deadLetters = createDeadLetterLog({ log, topic: 'dead', logger, now: Date.now });
  await deadLetters.append([deadLetter(1)]);
  await deadLetters.append([{ ...deadLetter(1), position: { ...deadLetter(1).position, log: 'two' } }]);
  expect(log.appended.map(({ headers }) => headers?.dlq_log)).toEqual(['one', 'two']);
});

test('writes a dead letter again if it was not acknowledged', async () => {
  const log = limitedLog(100);
  const deadLetters = createDeadLetterLog({ log, topic: 'dead', logger, now: Date.now });
  log.setDown(true);
  await expect(deadLetters.append([deadLetter(1)])).rejects.toMatchObject({ kind: 'unavailable' });
  log.setDown(false);
  await deadLetters.append([deadLetter(1)]);
  expect(offsets(log.appended)).toEqual(['1']);
});

test('writes a dead letter that is too large without its value, and still writes the others', async () => {
  const log = limitedLog(10);
  const deadLetters = createDeadLetterLog({ log, topic: 'dead', logger, now: () => 0 });
  await deadLetters.append([deadLetter(1), deadLetter(2, 'x'.repeat(11)), deadLetter(3)]);
  expect(offsets(log.appended)).toEqual(['1', '2', '3']);
  expect(log.appended[1]).toEqual({
    topic: 'dead',
    key: 'k',
    value: Buffer.alloc(0),
    headers: {
      a: 'b',
      dlq_reason: 'processing_error',
      dlq_step: 'process_batch',
      dlq_timestamp: '1970-01-01T00:00:00.000Z',
      dlq_topic: 'events.live',
      dlq_partition: '2',
      dlq_offset: '2',
      dlq_log: 'one',
      dlq_value_omitted: 'true',
    },
  });
});
