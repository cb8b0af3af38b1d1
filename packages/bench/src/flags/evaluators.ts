/** The evaluators that `npm run bench -- flags` compares: Millrace's, and posthog-node with the same definitions. */
import { compileFlags, evaluateFlags, findNeededData, nothingStored, selectFlags, toFlagValue } from '@millrace/flags';
import { PostHog } from 'posthog-node';
import { type Client, createClients } from './flag-requests.ts';
import { createMixedFlags } from './mixed-flags.ts';

export type EvaluatorSide = 'millrace' | 'posthog-node';
type Evaluate = (client: Client) => unknown;

const clients = createClients(1000);
/** With a thousand flags, evaluations are slow, and V8 optimizes the code only after many of them. */
const warmUpMs = 1500;

/** Runs in a worker: evaluates all flags for many clients. Returns the CPU time of one evaluation in microseconds. */
export async function measureEvaluationCpu(
  durationMs: number,
  side: EvaluatorSide,
  flagCount: number,
): Promise<number> {
  const flags = createMixedFlags(flagCount).map((flag, index) => ({
    ...flag,
    id: index + 1,
    version: 1,
    active: true,
  }));
  const evaluate = side === 'millrace' ? createOurs(flags) : await createPostHog(flags);
  await repeat(evaluate, warmUpMs);
  const before = process.cpuUsage();
  const evaluations = await repeat(evaluate, durationMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / evaluations;
}

async function repeat(evaluate: Evaluate, durationMs: number): Promise<number> {
  const endsAt = performance.now() + durationMs;
  let evaluations = 0;
  while (performance.now() < endsAt) {
    const client = clients[evaluations % clients.length];
    const values = client && evaluate(client);
    // Do not await Millrace's synchronous evaluator, because that would add to its measured time.
    if (values instanceof Promise) await values;
    evaluations += 1;
  }
  return evaluations;
}

type Definitions = Parameters<typeof compileFlags>[0]['flags'];

/**
 * Creates a function that does the work of a flag request whose definitions are loaded: selects the flags, determines
 * that no stored data is needed, and evaluates the flags.
 */
function createOurs(flags: Definitions): Evaluate {
  const compiled = compileFlags({ flags, cohorts: [], groupTypes: {}, timeZone: 'UTC', matchingVersion: 1 });
  return ({ distinctId, properties }) => {
    const context = { distinctId, groups: {}, personProperties: properties, groupProperties: {} };
    const selected = selectFlags(compiled, {});
    findNeededData(compiled, selected, context);
    const evaluated = evaluateFlags(compiled, selected, { ...context, stored: nothingStored, now: Date.now() });
    return Object.fromEntries(evaluated.results.map((result) => [result.key, toFlagValue(result)]));
  };
}

async function createPostHog(flags: Definitions): Promise<Evaluate> {
  const document = JSON.stringify({ flags, group_type_mapping: {}, cohorts: {} });
  const client = new PostHog('phc_bench', {
    host: 'http://127.0.0.1:9',
    personalApiKey: 'phx_bench',
    featureFlagsPollingInterval: 60 * 60 * 1000,
    fetch: async () => new Response(document, { status: 200, headers: { 'content-type': 'application/json' } }),
  });
  if (!(await client.waitForLocalEvaluationReady(10_000))) {
    throw new Error('posthog-node did not accept the definitions.');
  }
  return ({ distinctId, properties }) =>
    client.getAllFlags(distinctId, { personProperties: properties, onlyEvaluateLocally: true });
}
