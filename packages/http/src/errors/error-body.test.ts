import { AppError, type ErrorKind } from '@millrace/runtime';
import { toErrorBody, toHttpStatus } from './error-body.ts';

test.each<[ErrorKind, number, string, string]>([
  ['invalid', 400, 'validation_error', 'invalid_input'],
  ['unauthenticated', 401, 'authentication_error', 'not_authenticated'],
  ['payment_required', 402, 'server_error', 'payment_required'],
  ['forbidden', 403, 'authentication_error', 'permission_denied'],
  ['not_found', 404, 'invalid_request', 'not_found'],
  ['method_not_allowed', 405, 'invalid_request', 'method_not_allowed'],
  ['not_acceptable', 406, 'invalid_request', 'not_acceptable'],
  ['timeout', 408, 'timeout_error', 'timeout'],
  ['conflict', 409, 'server_error', 'conflict'],
  ['too_large', 413, 'client_error', 'request_too_large'],
  ['unsupported_media_type', 415, 'invalid_request', 'unsupported_media_type'],
  ['rate_limited', 429, 'throttled_error', 'throttled'],
  ['unavailable', 503, 'server_error', 'unavailable'],
])('maps an error of the kind %s to %i %s/%s', (kind, status, type, code) => {
  expect(toHttpStatus(kind)).toBe(status);
  expect(Object.entries(toErrorBody(new AppError(kind, 'Sentence.')))).toEqual([
    ['type', type],
    ['code', code],
    ['detail', 'Sentence.'],
    ['attr', null],
  ]);
});

test("keeps an error's own code, which can determine the type", () => {
  expect(toErrorBody(new AppError('invalid', 'x', { code: 'blank', attr: 'a__b' }))).toEqual({
    type: 'validation_error',
    code: 'blank',
    detail: 'x',
    attr: 'a__b',
  });
  expect(toErrorBody(new AppError('invalid', 'x', { code: 'parse_error' })).type).toBe('invalid_request');
});

test.each([new Error('secret'), new AppError('internal', 'secret'), 'secret', null, undefined])(
  'does not reveal the cause of an unexpected error: %#',
  (error) => {
    expect(toErrorBody(error)).toEqual({
      type: 'server_error',
      code: 'error',
      detail: 'A server error occurred.',
      attr: null,
    });
  },
);
