import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { checkLiteralHost, guardedLookup, PrivateAddressError } from '../../outbound/public-address.ts';
import { createByteSink } from './byte-sink.ts';
import { DestinationError, type DestinationOptions, type DestinationWriter, type OpenedRun } from './destination.ts';
import { eventLine, personLine } from './json-lines.ts';
import { limitAnswers } from './limit-answers.ts';
import { objectKey } from './object-key.ts';

/** At least 5 MiB, which S3 asks of every part but the last. */
const partBytes = 8 * 1024 * 1024;
/** Of one request with its repetitions: as long as a statement of a database may take. */
const usualAnswerTimeoutMs = 300_000;

/**
 * Writes one object of JSON lines for the interval. It appears when it is complete and replaces that of an earlier
 * attempt; an interval without records makes none. Memory holds one part.
 */
export async function openS3Writer(run: OpenedRun, options: DestinationOptions): Promise<DestinationWriter> {
  const settings = run.settings as Record<string, string | undefined>;
  const client = createClient(settings, options);
  const { answerTimeoutMs = usualAnswerTimeoutMs } = options;
  const asked = <T>(ask: (limit: Limit) => Promise<T>) => named(() => inTime(ask, answerTimeoutMs));
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

  async function uploadPart(): Promise<void> {
    const create = new CreateMultipartUploadCommand({ ...target, ...attributes });
    uploadId ??= (await asked((limit) => client.send(create, limit))).UploadId;
    const PartNumber = parts.length + 1;
    const command = new UploadPartCommand({ ...target, UploadId: uploadId, PartNumber, Body: sink.take() });
    const { ETag } = await asked((limit) => client.send(command, limit));
    parts.push({ PartNumber, ETag });
  }

  async function write(lines: string): Promise<void> {
    await sink.write(lines);
    if (sink.size() >= partBytes) await uploadPart();
  }

  return {
    writeEvents: (rows) => write(rows.map((row) => eventLine(row, run.environment_id)).join('')),
    writePersons: (rows) => write(rows.map((row) => personLine(row, run.environment_id)).join('')),
    async commit() {
      if (!sink.hasContent()) return;
      await sink.end();
      if (uploadId === undefined) {
        const Body = sink.take();
        await asked((limit) => client.send(new PutObjectCommand({ ...target, ...attributes, Body }), limit));
        return;
      }
      if (sink.size() > 0) await uploadPart();
      const complete = { ...target, UploadId: uploadId, MultipartUpload: { Parts: parts } };
      await asked((limit) => client.send(new CompleteMultipartUploadCommand(complete), limit));
      uploadId = undefined;
    },
    async close() {
      if (uploadId !== undefined) {
        // Parts that nobody completes would be kept, and paid for.
        const abort = new AbortMultipartUploadCommand({ ...target, UploadId: uploadId });
        await asked((limit) => client.send(abort, limit)).catch(() => {});
      }
      client.destroy();
    },
  };
}

function createClient(settings: Record<string, string | undefined>, { mayBePrivate }: DestinationOptions): S3Client {
  const { endpoint_url: endpoint, region, aws_access_key_id, aws_secret_access_key } = settings;
  if (endpoint) checkEndpoint(endpoint, mayBePrivate);
  const agentOptions = { keepAlive: true, lookup: guardedLookup(mayBePrivate) };
  const client = new S3Client({
    region: region ?? 'us-east-1',
    ...(endpoint && { endpoint, forcePathStyle: true }),
    credentials: { accessKeyId: aws_access_key_id ?? '', secretAccessKey: aws_secret_access_key ?? '' },
    maxAttempts: 3,
    // Servers that only resemble S3 do not know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      httpAgent: new HttpAgent(agentOptions),
      httpsAgent: new HttpsAgent(agentOptions),
      connectionTimeout: 10_000,
    },
  });
  limitAnswers(client);
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

/** The client forgets the limit of a request that is answered by 101, and never says what became of it. */
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

/** The name of the error tells what is wrong; messages may quote keys and are not passed on. */
function toDestinationError(cause: unknown): DestinationError {
  const { name, code, $metadata } = cause as { name?: string; code?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  const what = name === 'AbortError' ? 'no answer in time' : (code ?? name ?? 'no answer');
  return new DestinationError(`The object storage failed: ${what}${status === undefined ? '' : ` (${status})`}.`, {
    isPermanent: cause instanceof PrivateAddressError || what === 'EPRIVATEADDRESS',
    cause,
  });
}
