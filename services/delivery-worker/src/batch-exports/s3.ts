// Batch export destination that writes JSON lines to S3-compatible object storage.

import { once } from 'node:events';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { ExportColumn } from '@millrace/insights';
import { checkLiteralHost, createGuardedLookup, PrivateAddressError } from '@millrace/runtime/outbound';
import {
  type ClaimedRun,
  DestinationError,
  type DestinationOptions,
  type DestinationWriter,
  defaultResponseTimeoutMs,
  type EventRecord,
  type ExportedRow,
  type OpenedRun,
  type PersonRecord,
} from './destination.ts';

/** Part size in bytes. S3 requires at least 5 MiB, except for the last part. */
const partBytes = 8 * 1024 * 1024;

/**
 * Writes the interval as one object of JSON lines, which becomes visible when it is complete and replaces an earlier
 * attempt's object. An interval without rows creates no object. Keeps one part in memory.
 */
export async function openS3Writer(run: OpenedRun, options: DestinationOptions): Promise<DestinationWriter> {
  const settings = run.settings as Record<string, string | undefined>;
  const client = createClient(settings, options);
  const { responseTimeoutMs = defaultResponseTimeoutMs } = options;
  const request = <T>(ask: (limit: Limit) => Promise<T>) => named(() => inTime(ask, responseTimeoutMs));
  const isCompressed = settings.compression === 'gzip';
  const target = { Bucket: settings.bucket_name, Key: objectKey(run, { prefix: settings.prefix ?? '', isCompressed }) };
  const attributes = {
    ContentType: 'application/x-ndjson',
    ...(isCompressed && { ContentEncoding: 'gzip' }),
    ...(settings.encryption && { ServerSideEncryption: settings.encryption as 'AES256' | 'aws:kms' }),
    ...(settings.kms_key_id && { SSEKMSKeyId: settings.kms_key_id }),
  };
  const sink = createByteSink({ isCompressed });
  const parts: { PartNumber: number; ETag: string | undefined }[] = [];
  let uploadId: string | undefined;
  let bytes = 0;

  function takeBytes(): Buffer {
    const taken = sink.take();
    bytes += taken.length;
    return taken;
  }

  async function uploadPart(): Promise<void> {
    const create = new CreateMultipartUploadCommand({ ...target, ...attributes });
    uploadId ??= (await request((limit) => client.send(create, limit))).UploadId;
    const PartNumber = parts.length + 1;
    const command = new UploadPartCommand({ ...target, UploadId: uploadId, PartNumber, Body: takeBytes() });
    const { ETag } = await request((limit) => client.send(command, limit));
    parts.push({ PartNumber, ETag });
  }

  const lineOf = lineWriter(run);
  async function write(rows: readonly ExportedRow[]): Promise<void> {
    await sink.write(rows.map(lineOf).join(''));
    if (sink.size() >= partBytes) await uploadPart();
  }

  return {
    write,
    async commit() {
      if (!sink.hasContent()) return;
      await sink.end();
      if (uploadId === undefined) {
        const Body = takeBytes();
        await request((limit) => client.send(new PutObjectCommand({ ...target, ...attributes, Body }), limit));
        return;
      }
      if (sink.size() > 0) await uploadPart();
      const complete = { ...target, UploadId: uploadId, MultipartUpload: { Parts: parts } };
      await request((limit) => client.send(new CompleteMultipartUploadCommand(complete), limit));
      uploadId = undefined;
    },
    bytes: () => bytes,
    async close() {
      if (uploadId !== undefined) {
        // Without an abort, uploaded parts would stay in the bucket and be billed.
        const abort = new AbortMultipartUploadCommand({ ...target, UploadId: uploadId });
        await request((limit) => client.send(abort, limit)).catch(() => {});
      }
      client.destroy();
    },
  };
}

function createClient(settings: Record<string, string | undefined>, { mayBePrivate }: DestinationOptions): S3Client {
  const { endpoint_url: endpoint, region, aws_access_key_id, aws_secret_access_key } = settings;
  if (endpoint) checkEndpoint(endpoint, mayBePrivate);
  const agentOptions = { keepAlive: true, lookup: createGuardedLookup(mayBePrivate) };
  const client = new S3Client({
    region: region ?? 'us-east-1',
    ...(endpoint && { endpoint, forcePathStyle: true }),
    credentials: { accessKeyId: aws_access_key_id ?? '', secretAccessKey: aws_secret_access_key ?? '' },
    maxAttempts: 3,
    // Some S3-compatible servers do not support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      httpAgent: new HttpAgent(agentOptions),
      httpsAgent: new HttpsAgent(agentOptions),
      connectionTimeout: 10_000,
    },
  });
  limitResponses(client);
  return client;
}

function checkEndpoint(endpoint: string, mayBePrivate: boolean): void {
  try {
    checkLiteralHost(new URL(endpoint).hostname, mayBePrivate);
  } catch (cause) {
    throw toDestinationError(cause);
  }
}

interface Limit {
  abortSignal: AbortSignal;
}

/** Enforces the time limit. The S3 client ignores its own limit after a 101 response, and would never settle. */
function inTime<T>(ask: (limit: Limit) => Promise<T>, timeoutMs: number): Promise<T> {
  const abortSignal = AbortSignal.timeout(timeoutMs);
  const late = new Promise<never>((_, reject) => {
    abortSignal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
  });
  return Promise.race([ask({ abortSignal }), late]);
}

async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw toDestinationError(cause);
  }
}

/** Replaces an error with its name, because the message may contain keys. */
function toDestinationError(cause: unknown): DestinationError {
  const { name, code, $metadata } = cause as { name?: string; code?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  const word = code ?? name ?? 'no answer';
  // The storage server chooses the error code, so it can be any string.
  const what = name === 'AbortError' ? 'no answer in time' : /^[\w.-]{1,80}$/.test(word) ? word : 'EBADMESSAGE';
  return new DestinationError(`The object storage failed: ${what}${status === undefined ? '' : ` (${status})`}.`, {
    isPermanent: cause instanceof PrivateAddressError || what === 'EPRIVATEADDRESS',
    cause,
  });
}

/**
 * Returns the object key of an interval: `<prefix>/<start>-<end>.jsonl[.gz]`. The prefix can contain `{table}` for the
 * model, and `{year}`, `{month}`, `{day}`, `{hour}`, `{minute}` and `{second}` for the interval's start in UTC.
 */
function objectKey(
  {
    data_interval_start,
    data_interval_end,
    model,
  }: Pick<ClaimedRun, 'data_interval_start' | 'data_interval_end' | 'model'>,
  { prefix, isCompressed }: { prefix: string; isCompressed: boolean },
): string {
  const [start, end] = [data_interval_start, data_interval_end].map((time) => time.toISOString().replace('.000Z', 'Z'));
  const [year, month, day, hour, minute, second] = (start ?? '').split(/\D/);
  const words: Record<string, string | undefined> = { year, month, day, hour, minute, second, table: model };
  const filled = prefix.replace(/\{(\w+)\}/g, (text, word: string) => words[word] ?? text).replace(/^\/+|\/+$/g, '');
  return `${filled === '' ? '' : `${filled}/`}${start}-${end}.jsonl${isCompressed ? '.gz' : ''}`;
}

/** Returns a function that formats a row as a line. A run reads only rows of its own model, so the cast is safe. */
function lineWriter({ model, columns, environment_id: environmentId }: OpenedRun): (row: ExportedRow) => string {
  if (columns !== null) return (row) => selectedLine(row as readonly unknown[], columns);
  return model === 'persons'
    ? (row) => personLine(row as PersonRecord, environmentId)
    : (row) => eventLine(row as EventRecord, environmentId);
}

/** JSON columns already contain JSON text. */
function selectedLine(row: readonly unknown[], columns: readonly ExportColumn[]): string {
  const fields = columns.map(({ name, kind }, at) => {
    const value = row[at] ?? null;
    return `${JSON.stringify(name)}:${kind === 'json' && value !== null ? String(value) : JSON.stringify(value)}`;
  });
  return `{${fields.join(',')}}\n`;
}

/** Inserts JSON columns without parsing them. */
function eventLine(row: EventRecord, environmentId: number): string {
  const { uuid, event, distinct_id, person_id, elements_chain, timestamp, created_at } = row;
  const plain = JSON.stringify({
    uuid,
    event,
    distinct_id,
    team_id: environmentId,
    person_id,
    elements_chain,
    timestamp,
    created_at,
  });
  return `${plain.slice(0, -1)},"properties":${row.properties},"person_properties":${row.person_properties}}\n`;
}

function personLine(row: PersonRecord, environmentId: number): string {
  const { distinct_id, person_id, is_identified, created_at } = row;
  const [person_version, person_distinct_id_version] = [Number(row.version), Number(row.person_distinct_id_version)];
  const plain = {
    team_id: environmentId,
    distinct_id,
    person_id,
    is_identified,
    person_distinct_id_version,
    person_version,
  };
  return `${JSON.stringify({ ...plain, created_at }).slice(0, -1)},"properties":${row.properties}}\n`;
}

interface ByteSink {
  write(text: string): Promise<void>;
  /** Completes the compression. After this call, `write` must not be called. */
  end(): Promise<void>;
  size(): number;
  take(): Buffer;
  hasContent(): boolean;
}

function createByteSink({ isCompressed }: { isCompressed: boolean }): ByteSink {
  let chunks: Buffer[] = [];
  let size = 0;
  let hasContent = false;
  const gzip = isCompressed ? createGzip() : null;
  const keep = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
  };
  gzip?.on('data', keep);
  return {
    async write(text) {
      hasContent ||= text !== '';
      if (!gzip) keep(Buffer.from(text, 'utf8'));
      else if (!gzip.write(text)) await once(gzip, 'drain');
    },
    async end() {
      if (!gzip) return;
      const ended = once(gzip, 'end');
      gzip.end();
      await ended;
    },
    size: () => size,
    take() {
      const taken = Buffer.concat(chunks);
      chunks = [];
      size = 0;
      return taken;
    },
    hasContent: () => hasContent,
  };
}

/** Maximum response size in bytes. Normal responses are a few kilobytes long. */
const maxResponseBytes = 1024 * 1024;

/**
 * Limits the size of responses. The SDK keeps a response in memory, so a malicious storage server could otherwise crash
 * the worker.
 */
function limitResponses(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as { statusCode: number; body?: unknown };
      // The SDK would treat every status below 300 as success.
      if (!(response.statusCode >= 200 && response.statusCode <= 599)) {
        if (response.body instanceof Readable) response.body.destroy();
        throw Object.assign(new Error('The status must be between 200 and 599.'), { code: 'EBADSTATUS' });
      }
      if (response.body instanceof Readable) response.body = limited(response.body);
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'limitResponses' },
  );
}

function limited(body: Readable): Readable {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxResponseBytes) done(null, chunk);
      else done(Object.assign(new Error('The response is too long.'), { code: 'EANSWERTOOLONG' }));
    },
  });
  // Ignore the error here, because the stream's reader receives it too.
  pipeline(body, limit).catch(() => {});
  return limit;
}
