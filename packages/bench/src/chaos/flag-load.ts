import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosSystem } from './chaos-system.ts';

/** One answer, or that there was none. */
export interface FlagAnswer extends SeenFlag {
  /** 0 when the connection broke or nothing came in time. */
  status: number;
  verdict: FlagVerdict;
}

/**
 * `right`: every flag is. `failed`: flags that need what is stored are marked as failed, the others are right. `empty`: an
 * answer without flags, which makes SDKs forget what they knew.
 */
export type FlagVerdict = 'right' | 'failed' | 'refused' | 'empty' | 'wrong';

export interface FlagLoad {
  answers: readonly FlagAnswer[];
  /** By asker: when it last asked what was answered right. */
  lastRightAt: readonly number[];
  stop(): Promise<void>;
}

const askers = 8;
const pauseMs = 20;
const answerWithinMs = 10_000;

interface Flag {
  enabled: boolean;
  failed?: boolean;
  metadata: { version: number };
}

/** Asks for flags again and again, of each gateway in turn, and judges each answer by itself. */
export function startFlagLoad(ports: readonly number[], projectApiKey: string): FlagLoad {
  const answers: FlagAnswer[] = [];
  const lastRightAt: number[] = new Array(askers).fill(0);
  let isRunning = true;
  /** Which half somebody is in does not change. */
  let kept: boolean | null = null;

  function judge(flags: Record<string, Flag>, hasErrors: boolean): FlagVerdict {
    if (Object.keys(flags).length === 0) return 'empty';
    const { plain, stored, kept: half } = flags;
    if (plain?.enabled !== true || stored === undefined || half === undefined) return 'wrong';
    const someFailed = Object.values(flags).some(({ failed }) => failed === true);
    if (hasErrors !== someFailed || (!stored.enabled && !stored.failed)) return 'wrong';
    if (!half.failed) {
      kept ??= half.enabled;
      if (kept !== half.enabled) return 'wrong';
    }
    return someFailed ? 'failed' : 'right';
  }

  async function ask(port: number): Promise<FlagAnswer> {
    const askedAt = performance.now();
    try {
      const response = await fetch(`http://127.0.0.1:${port}/flags?v=2`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ token: projectApiKey, distinct_id: knownPerson }),
        signal: AbortSignal.timeout(answerWithinMs),
      });
      const { status } = response;
      const body = (await response.json()) as { flags?: Record<string, Flag>; errorsWhileComputingFlags?: boolean };
      const flags = body.flags ?? {};
      const verdict = status === 200 ? judge(flags, body.errorsWhileComputingFlags === true) : 'refused';
      const version = flags.toggled?.metadata.version ?? null;
      return { askedAt, answeredAt: performance.now(), status, verdict, version };
    } catch {
      return { askedAt, answeredAt: performance.now(), status: 0, verdict: 'refused', version: null };
    }
  }

  const loops = Array.from({ length: askers }, async (_, asker) => {
    for (let number = asker; isRunning; number += 1) {
      const answer = await ask(ports[number % ports.length] ?? 0);
      answers.push(answer);
      if (answer.verdict === 'right') lastRightAt[asker] = answer.askedAt;
      await sleep(pauseMs);
    }
  });
  return {
    answers,
    lastRightAt,
    async stop() {
      isRunning = false;
      await Promise.all(loops);
    },
  };
}

/** A flag from one change of it to the next. */
export interface FlagState {
  version: number;
  isActive: boolean;
  /** When the change to it was sent, and when it was answered (`performance.now()`). */
  sentAt: number;
  answeredAt: number;
}

/** What somebody was told of the flag. */
interface SeenFlag {
  askedAt: number;
  answeredAt: number;
  /** Null where the answer does not have it: it was switched off. */
  version: number | null;
}

/**
 * How old an answer was: the time from the answer to the change that made it untrue until the question, 0 for one that was
 * true. Infinity for a state that never was.
 * @param history in its order, from a state that was there before the first question.
 */
export function ageOf(seen: SeenFlag, history: readonly FlagState[]): number {
  const index = history.findLastIndex(({ version, isActive, sentAt }) =>
    // What is switched off is not shown, so which of several times it was off is not known: the latest is assumed.
    seen.version === null ? !isActive && sentAt <= seen.answeredAt : isActive && version === seen.version,
  );
  if (index < 0) return Number.POSITIVE_INFINITY;
  const next = history[index + 1];
  return next === undefined ? 0 : Math.max(0, seen.askedAt - next.answeredAt);
}

/** The flags that are asked for, made and changed as an administrator does. */
export interface FlagProject {
  /** Every state that the flag `toggled` ever had. */
  history: readonly FlagState[];
  /** Switches it on or off. */
  toggle(): Promise<void>;
}

/** Somebody whose properties are stored. */
const knownPerson = 'known-person';

const half = { groups: [{ properties: [], rollout_percentage: 50 }] };
const ofPlan = { groups: [{ properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }] }] };

export async function createFlagProject(system: ChaosSystem, gatewayPort: number): Promise<FlagProject> {
  const api = await system.startManagementApi();
  const { projectId, personalApiKey } = system.tenant;

  async function call(method: string, path: string, body: object): Promise<{ id: number; version: number }> {
    const response = await fetch(`http://127.0.0.1:${api.port}/api/projects/${projectId}/feature_flags/${path}`, {
      method,
      headers: { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} request for a flag: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: number; version: number };
  }

  await call('POST', '', { key: 'plain' });
  await call('POST', '', { key: 'stored', filters: ofPlan });
  await call('POST', '', { key: 'kept', filters: half, ensure_experience_continuity: true });
  const sentAt = performance.now();
  const { id, version } = await call('POST', '', { key: 'toggled' });
  const history: FlagState[] = [{ version, isActive: true, sentAt, answeredAt: performance.now() }];
  await storePerson(system, gatewayPort);

  return {
    history,
    async toggle() {
      const isActive = history.at(-1)?.isActive !== true;
      // Before it is sent: the first that see it may be answered sooner than the administrator.
      const state = { version: (history.at(-1)?.version ?? 0) + 1, isActive, sentAt: performance.now() };
      const entry = { ...state, answeredAt: Number.POSITIVE_INFINITY };
      history.push(entry);
      const changed = await call('PATCH', `${id}/`, { active: isActive });
      if (changed.version !== state.version) throw new Error('another client changes the flag');
      entry.answeredAt = performance.now();
    },
  };
}

async function storePerson({ database, tenant }: ChaosSystem, gatewayPort: number): Promise<void> {
  const event = { event: 'sign up', distinct_id: knownPerson, properties: { $set: { plan: 'pro' } } };
  await fetch(`http://127.0.0.1:${gatewayPort}/capture/`, {
    method: 'POST',
    body: JSON.stringify({ api_key: tenant.projectApiKey, ...event }),
  });
  const sql = 'SELECT 1 FROM person_distinct_id WHERE distinct_id = $1';
  while ((await database.query(sql, [knownPerson])).rowCount === 0) await sleep(50);
}
