/** The process in which `pnpm bench flags` evaluates: our own evaluator, and posthog-node with the same definitions. */
import { compileFlags, evaluateFlags, flagValue, neededData, nothingStored, selectFlags } from '@millrace/flags';
import { PostHog } from 'posthog-node';
import { type Asker, askers } from './measure-questions.ts';
import { flagDefinitions, flagFilters, type MixedFlag, mixedFlags } from './mixed-flags.ts';

export type EvaluatorSide = 'millrace' | 'posthog-node';

export interface EvaluateMessage {
  type: 'evaluate';
  side: EvaluatorSide;
  /** How many flags there are, all of which are evaluated each time. */
  flags: number;
  durationMs: number;
}
export type EvaluateAnswer =
  /** CPU of the whole process for one evaluation. */
  { type: 'evaluated'; cpuMicros: number } | { type: 'failed'; message: string };
interface Evaluator {
  evaluate(asker: Asker): Record<string, unknown> | Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

const answer = (message: EvaluateAnswer) => process.send?.(message);
const everybody = askers(1000);
/** Of a thousand flags there are few evaluations in a second, and it takes many until they are compiled. */
const warmUpMs = 1500;

process.on('message', (message: EvaluateMessage | { type: 'usage' }) => {
  if (message.type === 'usage') return;
  evaluate(message).then(answer, (error: Error) => answer({ type: 'failed', message: error.stack ?? error.message }));
});
process.send?.({ type: 'listening', port: 0 });

async function evaluate({ side, flags, durationMs }: EvaluateMessage): Promise<EvaluateAnswer> {
  const evaluator = await start(side, mixedFlags(flags));
  try {
    await repeat(evaluator, warmUpMs);
    const before = process.cpuUsage();
    const evaluations = await repeat(evaluator, durationMs);
    const { user, system } = process.cpuUsage(before);
    return { type: 'evaluated', cpuMicros: (user + system) / evaluations };
  } finally {
    await evaluator.stop();
  }
}

/** @returns how often it evaluated. */
async function repeat({ evaluate: once }: Evaluator, durationMs: number): Promise<number> {
  const endsAt = performance.now() + durationMs;
  let evaluations = 0;
  while (performance.now() < endsAt) {
    const asker = everybody[evaluations % everybody.length];
    const values = asker && once(asker);
    // Ours is not asynchronous and does not pay for it.
    if (values instanceof Promise) await values;
    evaluations += 1;
  }
  return evaluations;
}

function start(side: EvaluatorSide, flags: readonly MixedFlag[]): Promise<Evaluator> {
  return side === 'millrace' ? startOurs(flags) : startSdk(flags);
}

/** All that a request costs behind its definitions: which flags, what has to be read for them (nothing), their values. */
async function startOurs(flags: readonly MixedFlag[]): Promise<Evaluator> {
  const definitions = flagDefinitions(flags);
  const compiled = compileFlags({
    ...{ flags: definitions, cohorts: [], groupTypes: {}, timeZone: 'UTC', matchingVersion: 1 },
  });
  return {
    evaluate({ distinctId, properties }) {
      const context = { distinctId, groups: {}, personProperties: properties, groupProperties: {} };
      const selected = selectFlags(compiled, {});
      neededData(compiled, selected, context);
      const evaluated = evaluateFlags(compiled, selected, { ...context, stored: nothingStored, now: Date.now() });
      return Object.fromEntries(evaluated.results.map((result) => [result.key, flagValue(result)]));
    },
    stop: async () => {},
  };
}

async function startSdk(flags: readonly MixedFlag[]): Promise<Evaluator> {
  const document = JSON.stringify({
    flags: flags.map((flag, index) => ({ id: index + 1, key: flag.key, active: true, filters: flagFilters(flag) })),
    group_type_mapping: {},
    cohorts: {},
  });
  const client = new PostHog('phc_bench', {
    host: 'http://127.0.0.1:9',
    personalApiKey: 'phx_bench',
    featureFlagsPollingInterval: 60 * 60 * 1000,
    fetch: async () => new Response(document, { status: 200, headers: { 'content-type': 'application/json' } }),
  });
  if (!(await client.waitForLocalEvaluationReady(10_000)))
    throw new Error('posthog-node did not accept the definitions.');
  return {
    evaluate: ({ distinctId, properties }) =>
      client.getAllFlags(distinctId, { personProperties: properties, onlyEvaluateLocally: true }),
    stop: () => client.shutdown(),
  };
}
