import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  compilePrograms,
  createTestDatabase,
  createTestTenant,
  eventually,
  startService,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';

export interface AttackReport<T> {
  result: T;
  succeeded: number;
  failed: string[];
  slowestMs: number;
  grownMib: number;
}

/** A gateway in its own process, so that its time and memory can be measured. */
export interface AttackedGateway {
  url: string;
  port: number;
  token: string;
  /** Runs an attack while other clients send requests, which they continue for a moment afterwards. */
  during<T>(attack: () => Promise<T>): Promise<AttackReport<T>>;
  openFiles(): Promise<number>;
  stop(): Promise<void>;
}

const neighbours = 4;
const pauseMs = 10;
const afterMs = 300;

export async function startAttackedGateway(settings: Record<string, string> = {}): Promise<AttackedGateway> {
  const { kafkaBrokers, redisUrl } = testServers();
  const programs = await compilePrograms(['services/ingest-gateway/src/main.ts']);
  const [file = ''] = programs.files;
  const database = await createTestDatabase();
  const { token } = await createTestTenant(database.url);
  const service = await startService('ingest-gateway', file, {
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl,
    KAFKA_BROKERS: kafkaBrokers.join(','),
    TOPIC_PREFIX: uniqueTopicPrefix(),
    TOPIC_PARTITIONS: '2',
    INGEST_PORT: '0',
    LOG_LEVEL: 'error',
    ...settings,
  });
  const url = `http://127.0.0.1:${service.port}`;
  await eventually(async () => (await fetch(`${url}/_readiness`)).status === 200, {
    what: 'readiness',
  });

  async function figure(name: string): Promise<number> {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  }
  const rssMib = async () => (await figure('process_resident_memory_bytes')) / 1024 / 1024;

  /** The first requests allocate memory that every process needs, so send them before measuring. */
  for (let i = 0; i < 100; i++) await post(url, token, undefined);

  return {
    url,
    port: service.port,
    token,
    openFiles: () => figure('process_open_fds'),
    async during(attack) {
      const before = await rssMib();
      const others = startNeighbours(url, token);
      let highest = before;
      let isOver = false;
      const watching = (async () => {
        while (!isOver) {
          highest = Math.max(highest, await rssMib());
          await sleep(50);
        }
      })();
      try {
        const result = await attack();
        await sleep(afterMs);
        isOver = true;
        await watching;
        return { result, ...(await others.stop()), grownMib: highest - before };
      } finally {
        isOver = true;
        await others.stop();
      }
    },
    async stop() {
      await service.stop();
      await database.drop();
      await programs.remove();
    },
  };
}

function startNeighbours(url: string, token: string) {
  const report = { succeeded: 0, failed: [] as string[], slowestMs: 0 };
  let isRunning = true;
  const loops = Array.from({ length: neighbours }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (isRunning) {
      const startedAt = performance.now();
      const outcome = await post(url, token, agent);
      report.slowestMs = Math.max(report.slowestMs, performance.now() - startedAt);
      if (outcome === '200') report.succeeded += 1;
      else report.failed.push(outcome);
      await sleep(pauseMs);
    }
    agent.destroy();
  });
  return {
    async stop() {
      isRunning = false;
      await Promise.all(loops);
      return report;
    },
  };
}

function post(url: string, token: string, agent: Agent | undefined): Promise<string> {
  const body = JSON.stringify({ api_key: token, event: 'small', distinct_id: 'd' });
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sending = request(`${url}/batch/`, { method: 'POST', headers, agent: agent ?? false, timeout: 30_000 });
    sending.on('timeout', () => sending.destroy(new Error('no response')));
    sending.on('error', (error) => resolve(error.message));
    sending.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(String(response.statusCode)));
    });
    sending.end(body);
  });
}
