import { AppError } from '@millrace/runtime';
import type { RequestHandler } from 'express';
import { sendRefusal, toRefusal } from '../response/send-response.ts';

/** Creates the last handler of a path. It returns 405 for every method without a handler. */
export function rejectOtherMethods(...methods: string[]): RequestHandler {
  const allow = methods.join(', ');
  return async (request, response) => {
    const refusal = toRefusal(new AppError('method_not_allowed', `This path accepts only ${allow} requests.`));
    const requestId = String(response.getHeader('x-request-id'));
    const headers = { ...refusal.headers, allow };
    await sendRefusal(
      request,
      response,
      { ...refusal, headers },
      { requestId, isLast: false, uploads: response.locals.uploads },
    );
  };
}
