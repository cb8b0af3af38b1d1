import { setTimeout as sleep } from 'node:timers/promises';
import { readable, textTable } from '../report/text-table.ts';
import type { ChaosServer } from './chaos-server.ts';
import { type ChaosSystem, startChaosSystem } from './chaos-system.ts';
import { startClientLoad } from './client-load.ts';
import { changedKeys, measureStaleness, toggleFlags } from './flag-changes.ts';
import { type FlagReply, startFlagLoad } from './flag-load.ts';
import { awaitStored } from './stored-events.ts';

export interface FlagsChaosOptions {
  /** Length of an outage. */
  seconds: number;
  /** Names of phases; null for all. */
  only: string[] | null;
}

interface PhaseResult {
  name: string;
  answers: number;
  /** Answers that are not what they have to be, torn and stale ones included. */
  wrong: number;
  /** Answers in which a flag failed that needs stored data. */
  failed: number;
  slow: number;
  longestAnswerMs: number;
  /** Of the phase in which flags change; else null. */
  oldestAnswerMs: number | null;
  acknowledged: number;
  refused: number;
  lost: number;
}

type Judged = Pick<PhaseResult, 'wrong' | 'failed' | 'oldestAnswerMs'>;

interface Phase {
  name: string;
  /** What happens while flags are asked for. @returns how the answers are to be judged. */
  run(seconds: number): Promise<(replies: readonly FlagReply[]) => Judged>;
}

const distinctId = 'asker';
const answerWithinMs = 500;
const toggles = 100;
const togglePauseMs = 300;
const settleMs = 3000;

/** Changes flags, and takes away what they rest on, while two gateways are asked for them and take events. @returns true when every answer was as it has to be. */
export async function chaosFlags(options: FlagsChaosOptions, print: (line: string) => void): Promise<boolean> {
  print('starting PostgreSQL, Kafka, Redis and the services');
  const system = await startChaosSystem();
  const results: PhaseResult[] = [];
  try {
    const gateways = await Promise.all([system.startGateway(0), system.startGateway(0)]);
    await system.startConsumer();
    const ports = gateways.map(({ port }) => port);
    await addFlags(system);
    for (const phase of phasesOf(system).filter(({ name }) => options.only?.includes(name) ?? true)) {
      print(phase.name);
      results.push(await runPhase(phase, system, { ports, seconds: options.seconds }));
    }
  } finally {
    print('stopping');
    await system.stop();
  }
  print('');
  print(report(results));
  return results.length > 0 && results.every(isWell);
}

/** One that needs nothing stored, one that asks for a stored property, and two that are changed. */
async function addFlags({ database, tenant }: ChaosSystem): Promise<void> {
  const everybody = { groups: [{ properties: [], rollout_percentage: 100 }] };
  const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }];
  const flags = {
    plain: everybody,
    stored: { groups: [{ properties: pro, rollout_percentage: 100 }] },
    [changedKeys.toggled]: everybody,
    [changedKeys.counted]: { ...everybody, payloads: { true: '0' } },
  };
  for (const [key, filters] of Object.entries(flags)) {
    await database.query('INSERT INTO feature_flag (project_id, key, filters) VALUES ($1, $2, $3)', [
      tenant.environmentId,
      key,
      JSON.stringify(filters),
    ]);
  }
  await database.query(
    `WITH person AS (
       INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
       VALUES ($1, gen_random_uuid(), $2, '{"plan": "pro"}', now()) RETURNING project_id, uuid)
     INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) SELECT project_id, $2, uuid FROM person`,
    [tenant.environmentId, distinctId],
  );
}

function phasesOf({ database, tenant, postgres, redis }: ChaosSystem): Phase[] {
  return [
    {
      name: 'flags-toggle',
      async run() {
        const answeredAt = await toggleFlags(database, tenant.environmentId, {
          times: toggles,
          pauseMs: togglePauseMs,
        });
        await sleep(settleMs);
        return (replies) => {
          const { longestMs, stale, torn } = measureStaleness(replies, answeredAt);
          const failed = replies.filter(isWithoutStored).length;
          const wrong = replies.filter((reply) => !isWhole(reply) && !isWithoutStored(reply)).length + stale + torn;
          return { wrong, failed, oldestAnswerMs: longestMs };
        };
      },
    },
    // What is stored is read anew for every answer, so a flag that needs it fails; all others are as before.
    killing('flags-postgres-kill', postgres, (reply) => isWhole(reply) || isWithoutStored(reply)),
    killing('flags-redis-kill', redis, isWhole),
  ];
}

function killing(name: string, server: ChaosServer, isRight: (reply: FlagReply) => boolean): Phase {
  return {
    name,
    async run(seconds) {
      await server.kill();
      await sleep(seconds * 1000);
      await server.restart();
      await sleep(settleMs);
      return (replies) => ({
        wrong: replies.filter((reply) => !isRight(reply)).length,
        failed: replies.filter(isWithoutStored).length,
        oldestAnswerMs: null,
      });
    },
  };
}

function isWhole({ status, flags, hasErrors }: FlagReply): boolean {
  return status === 200 && !hasErrors && flags.plain?.enabled === true && flags.stored?.enabled === true;
}

function isWithoutStored({ status, flags, hasErrors }: FlagReply): boolean {
  return status === 200 && hasErrors && flags.plain?.enabled === true && flags.stored?.failed === true;
}

async function runPhase(
  { name, run }: Phase,
  { tenant, database }: ChaosSystem,
  { ports, seconds }: { ports: readonly number[]; seconds: number },
): Promise<PhaseResult> {
  const { projectApiKey } = tenant;
  const events = startClientLoad(ports, { projectApiKey, name });
  // Gateways know the project and its flags before anything happens, as they do in life.
  await startFlagLoad(ports, { projectApiKey, distinctId }).stop();
  await sleep(settleMs);
  const questions = startFlagLoad(ports, { projectApiKey, distinctId });
  const judge = await run(seconds);
  await Promise.all([questions.stop(), events.stop()]);
  const { replies } = questions;
  const stored = await awaitStored(database, events.acknowledged);
  return {
    name,
    answers: replies.length,
    ...judge(replies),
    slow: replies.filter(({ tookMs }) => tookMs > answerWithinMs).length,
    longestAnswerMs: Math.max(...replies.map(({ tookMs }) => tookMs)),
    ...{ acknowledged: events.acknowledged.size, refused: events.refused },
    lost: [...events.acknowledged].filter((uuid) => !stored.has(uuid)).length,
  };
}

function isWell({ answers, wrong, slow, refused, lost }: PhaseResult): boolean {
  return answers > 0 && wrong + slow + refused + lost === 0;
}

function report(results: readonly PhaseResult[]): string {
  const counts = ['answers', 'wrong', 'failed', 'slow', 'acknowledged', 'refused', 'lost'] as const;
  return textTable([
    ['phase', ...counts, 'slowest answer in ms', 'oldest answer in ms'],
    ...results.map((result) => [
      result.name,
      ...counts.map((name) => readable(result[name])),
      result.longestAnswerMs.toFixed(0),
      result.oldestAnswerMs?.toFixed(0) ?? '',
    ]),
  ]);
}
