// Schedules flag requests that take a long time to evaluate, so that they do not delay other requests.

import { setTimeout as pause } from 'node:timers/promises';
import { type EvaluatedFlags, type FlagEvaluation, runSteps, type Steps, stepLimits } from '@millrace/flags';
import { AppError, type Metrics } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import type { StoreTimeLimits } from '../access/store-limits.ts';
import type { GatewayConfig } from '../config.ts';

/** The client of a flag request. Clients take turns, so that one client cannot delay the others. */
export interface FlagClient {
  environmentId: number;
  /** The client's IP address, or null if it is unknown. */
  address: string | null;
}

export interface ExpensiveRequests {
  /**
   * Continues an expensive evaluation (docs/flags.md, "Cost limits"). Flags that cannot be evaluated in time fail.
   * @throws AppError `rate_limited` if the IP address has sent too many expensive requests
   */
  evaluate(evaluation: FlagEvaluation, client: FlagClient): Promise<EvaluatedFlags>;
}

export type ExpensiveRequestConfig = Pick<
  GatewayConfig,
  'flagExpensiveBurstMsPerAddress' | 'flagExpensiveMsPerSecondPerAddress'
>;

/** How much evaluation time an IP address has left in a project, and when this was calculated. */
interface Account {
  remainingMs: number;
  atMs: number;
}

interface WaitingRequest {
  evaluation: FlagEvaluation;
  steps: Steps<EvaluatedFlags>;
  account: Account;
  isStarted: boolean;
  endsAtMs: number;
  resolve(evaluated: EvaluatedFlags): void;
  reject(error: AppError): void;
}

const stepsPerMs = 80_000;
/** Other work is delayed by at most this time plus the evaluation time of one flag. */
const sliceMs = 5;
const maxPerAddress = 10;
const maxPerProject = 50;
const maxAccounts = 50_000;

/**
 * Schedules expensive flag requests. After each time slice, the process spends at least the same time on other work, so
 * expensive requests use at most half of its time. Projects take turns, and so do the IP addresses within a project, so
 * a client does not get more slices by sending more requests.
 */
export function createExpensiveRequests(
  config: ExpensiveRequestConfig,
  {
    metrics,
    timeLimits,
    now,
  }: { metrics: Metrics; timeLimits: Pick<StoreTimeLimits, 'expensiveFlagsMs'>; now(): number },
): ExpensiveRequests {
  const outcomes = countOutcomes(metrics);
  const accounts = createAccounts(config, now);
  const projects = new Map<number, Map<string, WaitingRequest[]>>();
  let isWorking = false;

  function refusal(account: Account): AppError {
    outcomes.inc({ outcome: 'refused' });
    return new AppError('rate_limited', 'Rate limit exceeded', { retryAfterSeconds: accounts.secondsToWait(account) });
  }

  function giveUp(evaluation: FlagEvaluation): EvaluatedFlags {
    outcomes.inc({ outcome: 'given_up' });
    return runSteps(evaluation.atMost(0));
  }

  async function work(): Promise<void> {
    isWorking = true;
    for (let next = takeNext(projects); next !== undefined; next = takeNext(projects)) {
      const startedAt = performance.now();
      if (!runSlice(next.request)) putBack(projects, next);
      await pause(Math.max(1, performance.now() - startedAt));
    }
    isWorking = false;
  }

  /** Evaluates a request for one time slice. @returns whether the request is complete */
  function runSlice(request: WaitingRequest): boolean {
    const { evaluation, account, endsAtMs, resolve, reject } = request;
    // A started request is always completed. This takes at most 100 ms.
    if (!request.isStarted && accounts.isOverdrawn(account)) {
      reject(refusal(account));
      return true;
    }
    if (now() > endsAtMs) {
      resolve(giveUp(evaluation));
      return true;
    }
    const step = continueEvaluation(request);
    if (!step.done) return false;
    outcomes.inc({ outcome: 'evaluated' });
    resolve(step.value);
    return true;
  }

  return {
    async evaluate(evaluation, { environmentId, address: known }) {
      const address = known ?? '';
      const account = accounts.of(environmentId, address);
      const ofProject = projects.get(environmentId) ?? new Map<string, WaitingRequest[]>();
      const ofAddress = ofProject.get(address) ?? [];
      if (accounts.isOverdrawn(account) || ofAddress.length >= maxPerAddress) throw refusal(account);
      const waiting = [...ofProject.values()].reduce((count, { length }) => count + length, 0);
      if (waiting >= maxPerProject) return giveUp(evaluation);
      return new Promise((resolve, reject) => {
        const steps = evaluation.atMost(stepLimits.whole);
        ofAddress.push({
          evaluation,
          steps,
          account,
          isStarted: false,
          endsAtMs: now() + timeLimits.expensiveFlagsMs,
          resolve,
          reject,
        });
        ofProject.set(address, ofAddress);
        projects.set(environmentId, ofProject);
        if (!isWorking) void work();
      });
    },
  };
}

function countOutcomes(metrics: Metrics) {
  return metrics.counter(
    'millrace_flag_expensive_requests_total',
    'Flag requests that took more than a millisecond to evaluate, by outcome: evaluated, given_up (some flags were not evaluated in time and failed), refused (too many of these requests from the IP address)',
    ['outcome'],
  );
}

/** Evaluates a request for one slice, and subtracts the slice's estimated duration from the IP address's account. */
function continueEvaluation(request: WaitingRequest): IteratorResult<void, EvaluatedFlags> {
  const { evaluation, steps, account } = request;
  request.isStarted = true;
  const stepsBefore = evaluation.steps();
  const sliceEndsAt = performance.now() + sliceMs;
  let step = steps.next();
  while (!step.done && performance.now() < sliceEndsAt) step = steps.next();
  account.remainingMs -= (evaluation.steps() - stepsBefore) / stepsPerMs;
  return step;
}

/**
 * Creates the accounts. In each project, an IP address begins with the evaluation time of a burst, and gets some time
 * back every second.
 */
function createAccounts(config: ExpensiveRequestConfig, now: () => number) {
  const { flagExpensiveBurstMsPerAddress: burstMs, flagExpensiveMsPerSecondPerAddress: msPerSecond } = config;
  const accounts = new LRUCache<string, Account>({ max: maxAccounts });
  return {
    of(environmentId: number, address: string): Account {
      const name = `${environmentId} ${address}`;
      const atMs = now();
      const account = accounts.get(name) ?? { remainingMs: burstMs, atMs };
      account.remainingMs = Math.min(burstMs, account.remainingMs + ((atMs - account.atMs) / 1000) * msPerSecond);
      account.atMs = atMs;
      accounts.set(name, account);
      return account;
    },
    isOverdrawn: ({ remainingMs }: Account) => burstMs > 0 && remainingMs <= 0,
    secondsToWait: ({ remainingMs }: Account) => Math.max(1, Math.ceil(-remainingMs / msPerSecond)),
  };
}

interface NextRequest {
  environmentId: number;
  address: string;
  request: WaitingRequest;
}

/**
 * Takes the first request of the next IP address in the next project. Moves the address and the project to the end of
 * their queues.
 */
function takeNext(projects: Map<number, Map<string, WaitingRequest[]>>): NextRequest | undefined {
  for (const [environmentId, ofProject] of projects) {
    projects.delete(environmentId);
    for (const [address, ofAddress] of ofProject) {
      ofProject.delete(address);
      const request = ofAddress.shift();
      if (ofAddress.length > 0) ofProject.set(address, ofAddress);
      if (ofProject.size > 0) projects.set(environmentId, ofProject);
      if (request !== undefined) return { environmentId, address, request };
    }
  }
  return undefined;
}

/** Puts a request that needs more slices back at the front of its IP address's queue. */
function putBack(
  projects: Map<number, Map<string, WaitingRequest[]>>,
  { environmentId, address, request }: NextRequest,
): void {
  const ofProject = projects.get(environmentId) ?? new Map<string, WaitingRequest[]>();
  ofProject.set(address, [request, ...(ofProject.get(address) ?? [])]);
  projects.set(environmentId, ofProject);
}
