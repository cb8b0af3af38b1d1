import type { Health } from '@millrace/runtime';
import type { RequestHandler } from 'express';

/** Answers `/_liveness`, `/_readiness` and `/metrics` on the service's own port, in front of everything else. */
export function healthRoutes(health: Health): RequestHandler {
  return async (request, response, next) => {
    const answer = request.method === 'GET' || request.method === 'HEAD' ? await health.answer(request.path) : null;
    if (answer === null) return next();
    response.statusCode = answer.status;
    response.setHeader('Content-Type', answer.contentType);
    response.setHeader('Cache-Control', 'no-store');
    response.end(answer.body);
  };
}
