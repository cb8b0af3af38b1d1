import { setTimeout as sleep } from 'node:timers/promises';
import type { TestTenant } from '@millrace/testing';
import type { Pool } from 'pg';

/** An administrator who makes one flag after the other. */
export interface ApiWrites {
  /** Those that were answered with 201, in their order. */
  made(): readonly string[];
  stop(): Promise<void>;
}

const pauseMs = 250;

export function startApiWrites(port: number, { projectId, personalApiKey }: TestTenant, name: string): ApiWrites {
  const made: string[] = [];
  let isRunning = true;

  async function run(): Promise<void> {
    for (let number = 0; isRunning; number += 1) {
      const key = `${name}-${String(number).padStart(4, '0')}`;
      const answer = await fetch(`http://127.0.0.1:${port}/api/projects/${projectId}/feature_flags/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ key }),
        signal: AbortSignal.timeout(5000),
      }).catch(() => null);
      if (answer?.status === 201) made.push(key);
      await sleep(pauseMs);
    }
  }

  const running = run();
  return {
    made: () => made,
    async stop() {
      isRunning = false;
      await running;
    },
  };
}

export interface KeptWrites {
  made: number;
  kept: number;
  /** Made before one that is there, and gone: no point in time has that. */
  holes: number;
}

/** Which of what the API has acknowledged is still there. */
export async function keptWrites(database: Pool, made: readonly string[]): Promise<KeptWrites> {
  const { rows } = await database.query<{ key: string }>('SELECT key FROM feature_flag WHERE key = ANY($1)', [made]);
  const there = new Set(rows.map(({ key }) => key));
  const last = made.findLastIndex((key) => there.has(key));
  return { made: made.length, kept: there.size, holes: last + 1 - there.size };
}
