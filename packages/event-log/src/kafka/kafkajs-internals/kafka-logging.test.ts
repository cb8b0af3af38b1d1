import type { Logger } from '@millrace/runtime';
import { eventually } from '@millrace/testing';
import { Kafka } from 'kafkajs';
import { testLogger } from '../../testing/test-logger.ts';
import { kafkaLogCreator } from './connection.ts';

interface Said {
  level: string;
  message: string;
  detail?: unknown;
}

function recordingLogger(lines: Said[]): Logger {
  const logger = testLogger();
  for (const level of ['error', 'warn', 'info', 'debug'] as const) {
    logger[level] = ((message: string, facts?: object) => {
      lines.push({ level, message, ...facts });
      return logger;
    }) as Logger['error'];
  }
  return logger;
}

test('logs a failed listener as an error, and unreachable brokers only at debug level', async () => {
  const lines: Said[] = [];
  const kafka = new Kafka({
    brokers: ['127.0.0.1:1'],
    retry: { retries: 0 },
    logCreator: kafkaLogCreator(recordingLogger(lines)),
  });
  const admin = kafka.admin();
  admin.on('admin.disconnect', async () => {
    throw new Error('our fault');
  });

  await expect(admin.connect()).rejects.toThrow();
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter(({ level }) => level !== 'debug')).toEqual([]);

  await admin.disconnect();
  await eventually(() => lines.some(({ level }) => level === 'error'), { what: 'The error' });
  expect(lines.filter(({ level }) => level !== 'debug')).toEqual([
    expect.objectContaining({
      level: 'error',
      message: 'a kafkajs listener failed',
      detail: expect.stringContaining('our fault'),
    }),
  ]);
});
