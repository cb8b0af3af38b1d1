// Batch export destination that writes rows to a table in another PostgreSQL database.

import { lookup } from 'node:dns/promises';
import { cutToCodePoints } from '@millrace/contracts';
import { connectExternalDatabase, type ExternalConnection } from '@millrace/db';
import type { ExportColumn } from '@millrace/insights';
import { isPublicAddress, PrivateAddressError } from '@millrace/runtime/outbound';
import {
  DestinationError,
  type DestinationOptions,
  type DestinationWriter,
  defaultResponseTimeoutMs,
  type EventRecord,
  type ExportedRow,
  type OpenedRun,
  type PersonRecord,
} from './destination.ts';

/**
 * Writes to a table in another PostgreSQL database, and creates the table if necessary. Collects the rows in a
 * temporary table and then upserts them in one transaction, so exporting an interval again does not duplicate rows.
 * @throws DestinationError
 */
export async function openPostgresWriter(run: OpenedRun, options: DestinationOptions): Promise<DestinationWriter> {
  const shape = shapeOf(run);
  const { schema = 'public', table_name: tableName = run.model } = run.settings as {
    schema?: string;
    table_name?: string;
  };
  const table = `${quote(schema)}.${quote(tableName)}`;
  const connection = await named(() => connect(run.settings, options));
  const query = (text: string, values?: unknown[]) => named(() => connection.run(text, values));
  const columns = shape.columns.map(({ name }) => quote(name)).join(', ');
  try {
    await query('BEGIN');
    await query(
      `CREATE TABLE IF NOT EXISTS ${table} (${definitions(shape)}, PRIMARY KEY (${shape.key.map(quote).join(', ')}))`,
    );
    await query(`CREATE TEMPORARY TABLE millrace_stage (${definitions(shape)}) ON COMMIT DROP`);
  } catch (error) {
    await connection.stop();
    throw error;
  }

  let bytes = 0;

  async function write(rows: readonly ExportedRow[]): Promise<void> {
    const lists = shape.columns.map(({ of }) => rows.map((row) => of(row, run)));
    const parameters = shape.columns.map(({ type }, index) => `$${index + 1}::${arrayType(type)}`).join(', ');
    const casts = shape.columns.map(({ name, type }) => `${quote(name)}::${type}`).join(', ');
    await query(
      `INSERT INTO millrace_stage (${columns}) SELECT ${casts} FROM unnest(${parameters}) AS rows (${columns})`,
      lists,
    );
    for (const list of lists) for (const value of list) bytes += bytesOf(value);
  }

  return {
    write,
    async commit() {
      const sameKey = shape.key.map((name) => `t.${quote(name)} = s.${quote(name)}`).join(' AND ');
      await query('ANALYZE millrace_stage');
      await query(`DELETE FROM ${table} t USING millrace_stage s WHERE ${sameKey}`);
      await query(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM millrace_stage`);
      await query('COMMIT');
    },
    bytes: () => bytes,
    close: () => connection.stop(),
  };
}

/** Estimates a column value's size in bytes: eight for a time, and four or eight for a number. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return value === null ? 0 : typeof value === 'boolean' ? 1 : 8;
}

async function connect(
  settings: Record<string, unknown>,
  { mayBePrivate, responseTimeoutMs = defaultResponseTimeoutMs }: DestinationOptions,
): Promise<ExternalConnection> {
  const host = String(settings.host);
  const { address } = await lookup(host);
  if (!mayBePrivate && !isPublicAddress(address)) throw new PrivateAddressError();
  return connectExternalDatabase({
    host,
    address,
    port: typeof settings.port === 'number' ? settings.port : 5432,
    database: String(settings.database),
    user: String(settings.user),
    password: String(settings.password),
    acceptsAnyCertificate: settings.has_self_signed_cert === true,
    connectTimeoutMs: Math.min(10_000, responseTimeoutMs),
    statementTimeoutMs: responseTimeoutMs,
  });
}

function definitions(shape: TableShape): string {
  return shape.columns.map(({ name, type }) => `${quote(name)} ${type}`).join(', ');
}

/** Returns the type of an array parameter. JSON is sent as text, because the driver encodes JSON arrays differently. */
function arrayType(type: string): string {
  return type === 'JSONB' ? 'text[]' : `${type}[]`;
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Replaces a database error with its code, because the server's message may contain values. */
async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const name = codeOf(cause as Error);
    const reason = reasons[name] ?? 'see the list of PostgreSQL error codes';
    throw new DestinationError(`The destination database failed: ${name} (${reason}).`, {
      isPermanent: name === 'EPRIVATEADDRESS',
      cause,
    });
  }
}

/** Returns the error code, if any. The destination server chooses it, so it can be any string. */
function codeOf({ message, code }: Error & { code?: unknown }): string {
  if (typeof code === 'string') return /^[A-Z0-9_]{5,50}$/.test(code) ? code : 'EBADMESSAGE';
  if (/^(timeout expired|Query read timeout)$/.test(message)) return 'ETIMEDOUT';
  return message.startsWith('Connection terminated') ? 'no answer' : 'EBADMESSAGE';
}

const reasons: Record<string, string> = {
  '28P01': 'wrong user or password',
  '28000': 'the user is not allowed to connect',
  '22001': 'a value is longer than its column',
  '3D000': 'the database does not exist',
  '3F000': 'the schema does not exist',
  '42501': 'the user lacks a required privilege',
  '42703': 'a column is missing in the table',
  '42804': 'a column of the table has the wrong type',
  '53100': 'the disk is full',
  ENOTFOUND: 'the host name could not be found',
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: 'the server did not respond in time',
  ECONNRESET: 'the connection was lost',
  EANSWERTOOLONG: 'the response is too long',
  EBADMESSAGE: 'the server does not respond like PostgreSQL',
  EPRIVATEADDRESS: 'the address is in a private network, which this installation does not allow',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed: set has_self_signed_cert',
  'no answer': 'the connection was lost or could not be established',
};

interface Column<Row> {
  name: string;
  type: string;
  of(row: Row, run: { environment_id: number }): unknown;
}

interface TableShape<Row = ExportedRow> {
  columns: readonly Column<Row>[];
  key: readonly string[];
}

/** Returns the table's columns. A run reads only rows of its own model, so the cast is safe. */
function shapeOf({ model, columns }: OpenedRun): TableShape {
  if (columns !== null) return selectedTable(columns) as TableShape;
  return (model === 'persons' ? personsTable : eventsTable) as TableShape;
}

function selectedTable(columns: readonly ExportColumn[]): TableShape<readonly unknown[]> {
  return {
    key: columns.flatMap(({ name, isKey }) => (isKey ? [name] : [])).slice(0, 1),
    columns: columns.map(({ name, kind }, at) => ({
      name,
      type: columnTypes[kind],
      // JSON columns already contain JSON text.
      of: (row) => (kind === 'array' || kind === 'tuple' ? jsonOf(row[at] ?? null) : row[at]),
    })),
  };
}

const columnTypes: Record<ExportColumn['kind'], string> = {
  int: 'BIGINT',
  float: 'DOUBLE PRECISION',
  text: 'TEXT',
  flag: 'BIGINT',
  bool: 'BOOLEAN',
  date: 'DATE',
  time: 'TIMESTAMPTZ',
  uuid: 'UUID',
  array: 'JSONB',
  tuple: 'JSONB',
  json: 'JSONB',
  interval: 'BIGINT',
  nothing: 'TEXT',
};

function property(row: EventRecord, name: string): unknown {
  // Most events do not have the property, so parse only text that contains its name.
  if (!row.properties.includes(`"${name}"`)) return null;
  return (JSON.parse(row.properties) as Record<string, unknown>)[name] ?? null;
}

function jsonOf(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : jsonOf(value);
}

function shortened(text: string | null): string | null {
  return text === null ? null : cutToCodePoints(text, 200);
}

/** The same columns as in PostHog's exports, so that existing tables can be used. */
const eventsTable: TableShape<EventRecord> = {
  key: ['uuid'],
  columns: [
    { name: 'uuid', type: 'VARCHAR(200)', of: ({ uuid }) => uuid },
    { name: 'event', type: 'VARCHAR(200)', of: ({ event }) => event },
    { name: 'properties', type: 'JSONB', of: ({ properties }) => properties },
    { name: 'elements', type: 'JSONB', of: ({ elements_chain }) => JSON.stringify(elements_chain) },
    { name: 'set', type: 'JSONB', of: (row) => jsonOf(property(row, '$set')) },
    { name: 'set_once', type: 'JSONB', of: (row) => jsonOf(property(row, '$set_once')) },
    { name: 'distinct_id', type: 'TEXT', of: ({ distinct_id }) => distinct_id },
    { name: 'team_id', type: 'INTEGER', of: (_, { environment_id }) => environment_id },
    { name: 'ip', type: 'VARCHAR(200)', of: (row) => shortened(textOf(property(row, '$ip'))) },
    { name: 'site_url', type: 'VARCHAR(200)', of: (row) => shortened(textOf(property(row, '$current_url'))) },
    { name: 'timestamp', type: 'TIMESTAMPTZ', of: ({ timestamp }) => timestamp },
  ],
};

const personsTable: TableShape<PersonRecord> = {
  key: ['team_id', 'distinct_id'],
  columns: [
    { name: 'team_id', type: 'INTEGER', of: (_, { environment_id }) => environment_id },
    { name: 'distinct_id', type: 'TEXT', of: ({ distinct_id }) => distinct_id },
    { name: 'person_id', type: 'TEXT', of: ({ person_id }) => person_id },
    { name: 'properties', type: 'JSONB', of: ({ properties }) => properties },
    { name: 'person_distinct_id_version', type: 'BIGINT', of: (row) => row.person_distinct_id_version },
    { name: 'person_version', type: 'BIGINT', of: ({ version }) => version },
    { name: 'created_at', type: 'TIMESTAMPTZ', of: ({ created_at }) => created_at },
  ],
};
