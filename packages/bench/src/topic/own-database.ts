import { randomUUID } from 'node:crypto';
import pg from 'pg';

/**
 * A database of a measurement's own beside another one, on the same server.
 * @param as what follows its name in `CREATE DATABASE`; without it, it is empty.
 */
export async function createOwnDatabase(url: string, as = ''): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `millrace_bench_${randomUUID().replaceAll('-', '')}`;
  await runOnServer(url, `CREATE DATABASE ${name} ${as}`);
  return {
    url: withDatabase(url, name),
    drop: () => runOnServer(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function runOnServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(url, 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).toString();
}
