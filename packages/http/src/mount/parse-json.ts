import { AppError } from '@millrace/errors';
import { jsonExcess } from '../schema/json-excess.ts';

/** @throws AppError `invalid` (`parse_error`) for what is no JSON, or has more levels or values than is good. */
export function parseJson(bytes: Buffer): unknown {
  const excess = jsonExcess(bytes);
  if (excess !== null) throw new AppError('invalid', `JSON parse error - ${excess}`, { code: 'parse_error' });
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    // The parser's own text quotes the body, which is nobody's business but the sender's: not kept for the log.
    const reason = cause instanceof SyntaxError ? cause.message.slice(0, 200) : 'the body is not valid UTF-8';
    throw new AppError('invalid', `JSON parse error - ${reason}`, { code: 'parse_error' });
  }
}
