import { healthRoutes, mount, securityHeaders } from '@millrace/http';
import type { Health, Logger, Metrics } from '@millrace/runtime';
import express from 'express';
import { personalKeyAccess } from './access/personal-key-access.ts';
import { type RouteDeps, routes } from './routes.ts';
import { translateDatabaseError } from './translate-database-error.ts';

export interface AppDeps extends RouteDeps {
  logger: Logger;
  metrics: Metrics;
  health: Health;
  /** Address for links; without it the request's own host. */
  publicUrl?: string | undefined;
  /** Whether `X-Forwarded-Proto` and `X-Forwarded-Host` come from a proxy of ours. */
  trustProxy?: boolean;
  /** Answers that do not fit their schema become errors; for tests. */
  checkResponses?: boolean;
}

/** The management API as a request listener. */
export function createApp(deps: AppDeps) {
  const { sql, logger, metrics, health, publicUrl, trustProxy, checkResponses } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('trust proxy', trustProxy ?? false);
  app.set('query parser', false);
  app.use(healthRoutes(health));
  app.use(securityHeaders());
  mount(app, routes(deps), {
    access: personalKeyAccess({ sql, logger }),
    logger,
    metrics,
    publicUrl,
    checkResponses,
    translateError: translateDatabaseError,
  });
  return app;
}
