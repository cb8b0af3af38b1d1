import { setTimeout as pause } from 'node:timers/promises';
import { type EvaluatedFlags, type FlagEvaluation, runSteps, type Steps, stepLimits } from '@millrace/flags';
import { AppError, type Metrics } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import type { StoreTimeLimits } from '../access/store-limits.ts';
import type { GatewayConfig } from '../config.ts';

/** Who asks: nobody's questions stand in the way of those from elsewhere. */
export interface FlagAsker {
  environmentId: number;
  /** Null when it is not known. */
  address: string | null;
}

export interface ExpensiveQuestions {
  /**
   * Goes on with the evaluation of a question that is not cheap (docs/flags.md, "Cost limits"). Flags that have
   * no turn in time have failed.
   * @throws AppError `rate_limited` for an address that asked too many of them.
   */
  evaluate(evaluation: FlagEvaluation, asker: FlagAsker): Promise<EvaluatedFlags>;
}

export type ExpensiveQuestionConfig = Pick<
  GatewayConfig,
  'flagExpensiveBurstMsPerAddress' | 'flagExpensiveMsPerSecondPerAddress'
>;

/** What an address has left of its time for a project, and when that was calculated. */
interface Account {
  leftMs: number;
  atMs: number;
}

interface Waiting {
  evaluation: FlagEvaluation;
  steps: Steps<EvaluatedFlags>;
  account: Account;
  isStarted: boolean;
  endsAtMs: number;
  resolve(evaluated: EvaluatedFlags): void;
  reject(error: AppError): void;
}

const stepsPerMs = 80_000;
/** Whoever waits for the process waits this long, and for one flag more. */
const sliceMs = 5;
const mostOfAddress = 10;
const mostOfProject = 50;
const maxAccounts = 50_000;

/**
 * Turns for expensive questions: one slice at a time, then as long for everything else, so that they have half of the process
 * at most. Projects have turns one after the other, and addresses within a project: many questions get no more of them.
 */
export function createExpensiveQuestions(
  config: ExpensiveQuestionConfig,
  { metrics, timeLimits, now }: { metrics: Metrics; timeLimits: Pick<StoreTimeLimits, 'flagTurnsMs'>; now(): number },
): ExpensiveQuestions {
  const outcomes = countOutcomes(metrics);
  const accounts = createAccounts(config, now);
  const projects = new Map<number, Map<string, Waiting[]>>();
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
    for (let next = takeTurn(projects); next !== undefined; next = takeTurn(projects)) {
      const startedAt = performance.now();
      if (!runSlice(next.question)) putBack(projects, next);
      await pause(Math.max(1, performance.now() - startedAt));
    }
    isWorking = false;
  }

  /** @returns whether the question is answered. */
  function runSlice(question: Waiting): boolean {
    const { evaluation, account, endsAtMs, resolve, reject } = question;
    // What was begun is finished: it is a tenth of a second at most.
    if (!question.isStarted && accounts.isOverdrawn(account)) {
      reject(refusal(account));
      return true;
    }
    if (now() > endsAtMs) {
      resolve(giveUp(evaluation));
      return true;
    }
    const step = goOn(question);
    if (!step.done) return false;
    outcomes.inc({ outcome: 'evaluated' });
    resolve(step.value);
    return true;
  }

  return {
    async evaluate(evaluation, { environmentId, address: known }) {
      const address = known ?? '';
      const account = accounts.of(environmentId, address);
      const ofProject = projects.get(environmentId) ?? new Map<string, Waiting[]>();
      const ofAddress = ofProject.get(address) ?? [];
      if (accounts.isOverdrawn(account) || ofAddress.length >= mostOfAddress) throw refusal(account);
      const waiting = [...ofProject.values()].reduce((count, { length }) => count + length, 0);
      if (waiting >= mostOfProject) return giveUp(evaluation);
      return new Promise((resolve, reject) => {
        const steps = evaluation.atMost(stepLimits.whole);
        ofAddress.push({
          evaluation,
          steps,
          account,
          isStarted: false,
          endsAtMs: now() + timeLimits.flagTurnsMs,
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
    'millrace_flag_expensive_questions_total',
    'Flag requests that took more than a millisecond to evaluate, by outcome: evaluated, given_up (some flags were not evaluated in time and failed), refused (too many of these requests from the IP address)',
    ['outcome'],
  );
}

/** One slice, for which the address pays. */
function goOn(question: Waiting): IteratorResult<void, EvaluatedFlags> {
  const { evaluation, steps, account } = question;
  question.isStarted = true;
  const stepsBefore = evaluation.steps();
  const sliceEndsAt = performance.now() + sliceMs;
  let step = steps.next();
  while (!step.done && performance.now() < sliceEndsAt) step = steps.next();
  account.leftMs -= (evaluation.steps() - stepsBefore) / stepsPerMs;
  return step;
}

/** Each address has so much time for each project at once, and gets some back every second. */
function createAccounts(config: ExpensiveQuestionConfig, now: () => number) {
  const { flagExpensiveBurstMsPerAddress: burstMs, flagExpensiveMsPerSecondPerAddress: msPerSecond } = config;
  const accounts = new LRUCache<string, Account>({ max: maxAccounts });
  return {
    of(environmentId: number, address: string): Account {
      const name = `${environmentId} ${address}`;
      const atMs = now();
      const account = accounts.get(name) ?? { leftMs: burstMs, atMs };
      account.leftMs = Math.min(burstMs, account.leftMs + ((atMs - account.atMs) / 1000) * msPerSecond);
      account.atMs = atMs;
      accounts.set(name, account);
      return account;
    },
    isOverdrawn: ({ leftMs }: Account) => burstMs > 0 && leftMs <= 0,
    secondsToWait: ({ leftMs }: Account) => Math.max(1, Math.ceil(-leftMs / msPerSecond)),
  };
}

interface Turn {
  environmentId: number;
  address: string;
  question: Waiting;
}

/** The first question of the address whose turn it is, in the project whose turn it is: both go to the end. */
function takeTurn(projects: Map<number, Map<string, Waiting[]>>): Turn | undefined {
  for (const [environmentId, ofProject] of projects) {
    projects.delete(environmentId);
    for (const [address, ofAddress] of ofProject) {
      ofProject.delete(address);
      const question = ofAddress.shift();
      if (ofAddress.length > 0) ofProject.set(address, ofAddress);
      if (ofProject.size > 0) projects.set(environmentId, ofProject);
      if (question !== undefined) return { environmentId, address, question };
    }
  }
  return undefined;
}

/** A question that needs more turns stays the first of its address. */
function putBack(projects: Map<number, Map<string, Waiting[]>>, { environmentId, address, question }: Turn): void {
  const ofProject = projects.get(environmentId) ?? new Map<string, Waiting[]>();
  ofProject.set(address, [question, ...(ofProject.get(address) ?? [])]);
  projects.set(environmentId, ofProject);
}
