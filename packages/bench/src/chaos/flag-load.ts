import { setTimeout as sleep } from 'node:timers/promises';

/** Values of flags by key; those that are not in the answer are absent. */
export interface FlagReply {
  /** When the question was sent and when the answer was read, `performance.now()`. */
  askedAt: number;
  tookMs: number;
  status: number;
  hasErrors: boolean;
  flags: Record<string, { enabled: boolean; failed?: boolean; metadata: { payload: string | null } }>;
}

export interface FlagLoad {
  /** In no order. */
  replies: FlagReply[];
  stop(): Promise<void>;
}

const askers = 8;
const pauseMs = 15;
const answerWithinMs = 10_000;

/** Clients that each ask one gateway after the other for the flags of one person. */
export function startFlagLoad(
  ports: readonly number[],
  { projectApiKey, distinctId }: { projectApiKey: string; distinctId: string },
): FlagLoad {
  const replies: FlagReply[] = [];
  const body = JSON.stringify({ token: projectApiKey, distinct_id: distinctId });
  let isRunning = true;

  async function ask(port: number): Promise<FlagReply> {
    const askedAt = performance.now();
    try {
      const response = await fetch(`http://127.0.0.1:${port}/flags?v=2`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body },
        signal: AbortSignal.timeout(answerWithinMs),
      });
      const answer = (await response.json()) as { flags?: FlagReply['flags']; errorsWhileComputingFlags?: boolean };
      const { flags = {}, errorsWhileComputingFlags: hasErrors = false } = answer;
      return { askedAt, tookMs: performance.now() - askedAt, status: response.status, hasErrors, flags };
    } catch {
      return { askedAt, tookMs: performance.now() - askedAt, status: 0, hasErrors: false, flags: {} };
    }
  }

  const loops = Array.from({ length: askers }, async (_, asker) => {
    for (let number = asker; isRunning; number += 1) {
      replies.push(await ask(ports[number % ports.length] ?? 0));
      await sleep(pauseMs);
    }
  });
  return {
    replies,
    async stop() {
      isRunning = false;
      await Promise.all(loops);
    },
  };
}
