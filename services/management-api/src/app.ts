import type { KeyValue } from '@millrace/cache';
import { healthRoutes, mount, securityHeaders } from '@millrace/http';
import type { Health, Logger, Metrics } from '@millrace/runtime';
import express from 'express';
import { createKeyChanges } from './access/announce-key-change.ts';
import { createGuessLimit } from './access/guess-limit.ts';
import { personalKeyAccess } from './access/personal-key-access.ts';
import { createRateLimit } from './access/rate-limit.ts';
import { docsContentSecurityPolicy, docsPage } from './resources/schema/docs-page.ts';
import { type RouteDeps, routes } from './routes.ts';
import { translateDatabaseError } from './translate-database-error.ts';

export interface AppDeps extends Omit<RouteDeps, 'announceKeyChange'> {
  /** Where limits are counted and key changes are announced: Redis, or this process alone. */
  keyValue: KeyValue;
  /** 0 = no limit (reference/management-api.md 2.7). */
  limits: { requestsPerMinute: number; requestsPerHour: number; wrongKeysPerMinute: number };
  logger: Logger;
  metrics: Metrics;
  health: Health;
  /** Address for links; without it the request's own host. */
  publicUrl?: string | undefined;
  /** How many proxies of ours are in front, whose `X-Forwarded-…` is believed; none by default. */
  trustedProxies?: number;
  /** Answers that do not fit their schema become errors; for tests. */
  checkResponses?: boolean;
}

/** The management API as a request listener. */
export function createApp(deps: AppDeps) {
  const { sql, logger, metrics, health, publicUrl, trustedProxies, checkResponses, keyValue, limits } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  // What stands further left in X-Forwarded-For was written by whoever sent the request.
  app.set('trust proxy', trustedProxies || false);
  app.set('query parser', false);
  app.use(healthRoutes(health));
  app.use(securityHeaders());
  const requestLimit = createRateLimit({
    keyValue,
    name: 'key',
    windows: [
      { seconds: 60, limit: limits.requestsPerMinute },
      { seconds: 3600, limit: limits.requestsPerHour },
    ],
  });
  const guessLimit = createGuessLimit(
    createRateLimit({ keyValue, name: 'wrong', windows: [{ seconds: 60, limit: limits.wrongKeysPerMinute }] }),
  );
  const announceKeyChange = createKeyChanges(keyValue, logger).announce;
  const declared = routes({ ...deps, announceKeyChange });
  const docs = Buffer.from(docsPage(declared));
  app.get('/api/docs', (_request, response) => {
    response.setHeader('Content-Security-Policy', docsContentSecurityPolicy);
    response.type('html').send(docs);
  });
  mount(app, declared, {
    access: personalKeyAccess({ sql, logger, requestLimit, guessLimit }),
    logger,
    metrics,
    publicUrl,
    checkResponses,
    translateError: translateDatabaseError,
  });
  return app;
}
