import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@millrace/testing';
import { createRefusalLog, type RefusalLine } from './refusal-log.ts';

interface Said {
  level: 'warn' | 'error';
  message: string;
  facts: Record<string, unknown>;
}

function listen() {
  const said: Said[] = [];
  const listenTo = (level: Said['level']) => (message: string, facts?: object) => {
    said.push({ level, message, facts: { ...facts } });
  };
  return { said, log: createRefusalLog({ warn: listenTo('warn'), error: listenTo('error') }) };
}

const line = (status: number, code: string): RefusalLine => ({
  ...{ requestId: 'r', method: 'POST', path: '/e', status, code, attr: null, environmentId: null, cause: undefined },
});

test('logs rare errors despite many frequent ones, and summarizes the frequent ones when the server stops', () => {
  const { said, log } = listen();
  for (let i = 0; i < 1000; i++) log.write(line(401, 'invalid_api_key'));
  log.write(line(400, 'invalid_payload'));
  log.write(line(500, 'error'));
  expect(said.map(({ facts }) => facts.code)).toEqual([
    ...Array.from({ length: 10 }, () => 'invalid_api_key'),
    'invalid_payload',
    'error',
  ]);
  expect(said.at(-1)).toMatchObject({ level: 'error', message: 'request failed' });
  log.stop();
  expect(said.slice(12)).toEqual([
    {
      level: 'warn',
      message: 'more requests rejected',
      facts: { status: 401, code: 'invalid_api_key', leftOut: 990 },
    },
  ]);
  log.stop();
  expect(said).toHaveLength(13);
});

test('logs the number of omitted lines even if no further request is rejected', async () => {
  const { said, log } = listen();
  for (let i = 0; i < 12; i++) log.write(line(503, 'overloaded'));
  await eventually(() => said.length === 11, { what: 'the number of those left out' });
  expect(said[10]?.facts).toEqual({ status: 503, code: 'overloaded', leftOut: 2 });
  log.write(line(503, 'overloaded'));
  expect(said).toHaveLength(12);
  log.stop();
  await wait(0);
  expect(said).toHaveLength(12);
});

test('a log line contains the cause of an error if it has one', () => {
  const { said, log } = listen();
  const cause = new Error('broken');
  log.write({ ...line(500, 'error'), cause });
  log.write(line(400, 'no_data'));
  log.stop();
  expect(said[0]?.facts).toMatchObject({ error: cause, status: 500 });
  expect('error' in (said[1]?.facts ?? {})).toBe(false);
});
