import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { eventsPerPerson, projectId } from './old-installation.ts';

/** In milliseconds. */
export interface LongestStatements {
  write: number;
  read: number;
  /** Of it for a lock, as PostgreSQL says: on a busy machine a statement may take long that waits for nobody. */
  lockWait: number;
}

/** What services ask of PostgreSQL all the time, each on a connection of its own. */
export interface StatementLoops {
  /** The longest that a statement of each kind took since the last call. */
  longest(): LongestStatements;
  /** What was refused. */
  failures(): readonly string[];
  stop(): Promise<void>;
}

const pauseMs = 2;
const loopName = 'millrace-bench-loop';

/** Of those who wait at this moment. */
const lockWaits = `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart) * 1000), 0)::float8 AS ms
  FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND application_name = $1`;

interface Loop {
  kind: 'write' | 'read';
  statement: string;
  values(): unknown[];
}

/** @param events how many are stored. */
export async function startStatementLoops(url: string, events: number): Promise<StatementLoops> {
  let seen = { write: 0, read: 0, lockWait: 0 };
  const failures: string[] = [];
  let isRunning = true;
  const connect = async () => {
    const client = new pg.Client({ connectionString: url, application_name: loopName });
    await client.connect();
    return client;
  };

  async function repeat({ kind, statement, values }: Loop): Promise<void> {
    const client = await connect();
    while (isRunning) {
      const startedAt = performance.now();
      await client.query(statement, values()).catch((error: Error) => failures.push(error.message));
      seen[kind] = Math.max(seen[kind], performance.now() - startedAt);
      await sleep(pauseMs);
    }
    await client.end();
  }

  async function watchLocks(): Promise<void> {
    const client = await connect();
    while (isRunning) {
      const { rows } = await client.query<{ ms: number }>(lockWaits, [loopName]);
      seen.lockWait = Math.max(seen.lockWait, rows[0]?.ms ?? 0);
      await sleep(pauseMs);
    }
    await client.end();
  }

  const running = Promise.all([watchLocks(), ...loops(events).map(repeat)]);
  return {
    longest() {
      const all = seen;
      seen = { write: 0, read: 0, lockWait: 0 };
      return all;
    },
    failures: () => failures,
    async stop() {
      isRunning = false;
      await running;
    },
  };
}

/** Of consumers, gateways and the API, by columns that every state of the schema has. */
function loops(events: number): Loop[] {
  const anyPerson = () => [`d${Math.floor((Math.random() * events) / eventsPerPerson)}`];
  const fresh = () => [randomUUID()];
  return [
    {
      kind: 'write',
      statement: `WITH identity AS (INSERT INTO event_identity (project_id, uuid, timestamp) VALUES (${projectId}, $1, now()))
        INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
        VALUES (${projectId}, now(), $1, 'beside', 'd1', $1, '{}', now())`,
      values: fresh,
    },
    {
      kind: 'write',
      statement: `WITH made AS (INSERT INTO person (project_id, uuid, main_distinct_id, created_at) VALUES (${projectId}, $1::uuid, $1::text, now()))
        INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) VALUES (${projectId}, $1::text, $1::uuid)`,
      values: fresh,
    },
    {
      kind: 'write',
      statement: `UPDATE person SET properties = properties || '{"seen": 1}', version = version + 1
        WHERE project_id = ${projectId} AND uuid = (SELECT person_uuid FROM person_distinct_id WHERE project_id = ${projectId} AND distinct_id = $1)`,
      values: anyPerson,
    },
    {
      kind: 'write',
      statement: `UPDATE environment SET updated_at = now() WHERE id = ${projectId}`,
      values: () => [],
    },
    {
      kind: 'read',
      statement: `SELECT e.api_token, o.available_product_features FROM environment e
        JOIN project p ON p.id = e.project_id JOIN organization o ON o.id = p.organization_id WHERE e.id = ${projectId}`,
      values: () => [],
    },
    {
      kind: 'read',
      statement: `SELECT d.person_uuid, p.properties FROM person_distinct_id d
        JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid WHERE d.project_id = ${projectId} AND d.distinct_id = $1`,
      values: anyPerson,
    },
    {
      kind: 'read',
      statement: `SELECT uuid FROM event WHERE project_id = ${projectId} ORDER BY timestamp DESC LIMIT 10`,
      values: () => [],
    },
  ];
}
