import type { IncomingMessage } from 'node:http';
import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { jsonExcess } from '@millrace/http';
import { requirePossibleKey } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import { type DecodedBody, decodeBody } from '../bytes/decode-body.ts';
import { type ReceivedBody, receiveBody } from '../bytes/read-body.ts';
import type { CaptureLimits } from '../config.ts';
import { cleanValue, mayNeedCleaning } from '../json/clean-text.ts';
import { parseJson, quoteLongNumericIds } from '../json/parse-json.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import type { FlagQuery } from './flag-query.ts';
import { type FlagQuestion, readQuestion } from './flag-question.ts';

export interface ReadingFlagRequest {
  limits: CaptureLimits;
  lease: ByteLease;
  projectKeys: ProjectKeys;
}

/** A question is small, whoever asks: it is parsed whole, beside the events of everybody else. */
const maxQuestionBytes = 1024 * 1024;

/**
 * From the bytes of a request to its question, in every encoding that events come in.
 *
 * @returns null for a GET that asks nothing; a promise only where something is waited for.
 * @throws AppError see `receiveBody`, `decodeBody`, `readQuestion`.
 */
export function readFlagRequest(
  request: IncomingMessage,
  query: FlagQuery,
  reading: ReadingFlagRequest,
): FlagQuestion | null | Promise<FlagQuestion> {
  if (request.method === 'GET' && query.body.data === null) {
    const { apiKey } = query.body;
    return apiKey === null ? null : readQuestion({ distinct_id: query.distinctId }, apiKey);
  }
  const { limits, lease } = reading;
  const received = receiveBody(request, query.body, {
    limits: { ...namedLimits(limits), maxBodyBytes: Math.min(limits.maxBodyBytes, maxQuestionBytes) },
    lease,
    onReceived: () => {},
  });
  const decode = (body: ReceivedBody) => decodeReceived(body, query, reading);
  return received instanceof Promise ? received.then(decode) : decode(received);
}

/** One by one: the limits are the whole frozen config, and spreading it costs more than the question. */
function namedLimits({ maxBodyBytes, maxDecompressedBytes, maxRecordBytes, bodyTimeoutMs, trustProxy }: CaptureLimits) {
  return { maxBodyBytes, maxDecompressedBytes, maxRecordBytes, bodyTimeoutMs, trustProxy };
}

function decodeReceived(
  { raw, hints }: ReceivedBody,
  query: FlagQuery,
  { limits, lease, projectKeys }: ReadingFlagRequest,
): FlagQuestion | Promise<FlagQuestion> {
  const maxDecompressedBytes = Math.min(limits.maxDecompressedBytes, maxQuestionBytes);
  const parse = (body: DecodedBody) => parseQuestion(body.json, body.apiKey ?? query.body.apiKey);
  const decoded = decodeBody(raw, hints, { maxDecompressedBytes, lease });
  if (!(decoded instanceof Promise)) return parse(decoded);
  return decoded.then(async (body) => {
    // A large body is not parsed for somebody whose key is nobody's.
    if (body.envelopeKey !== null) await requirePossibleKey(body.envelopeKey, projectKeys);
    return parse(body);
  });
}

function parseQuestion(json: Buffer, fallbackKey: string | null): FlagQuestion {
  const excess = jsonExcess(json);
  if (excess !== null) throw unusable(`The body has ${excess}.`);
  const text = json.toString('utf8');
  let question = parseJson(text);
  if (!isObject(question)) throw unusable('The body must be a JSON object.');
  const id = question.distinct_id ?? question.$distinct_id;
  if (typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id)) {
    question = parseJson(quoteLongNumericIds(text));
  }
  if (mayNeedCleaning(text)) cleanValue(question);
  return readQuestion(question as Record<string, unknown>, fallbackKey);
}

function unusable(sentence: string): AppError {
  return new AppError('invalid', sentence, { code: 'invalid_payload' });
}
