import { AppError, createMetrics, type Logger, type Metrics } from '@millrace/runtime';
import { createRequestListener, type MountDeps } from '../mount/mount.ts';
import type { Access } from '../mount/read-request.ts';
import { startHttpServer } from '../server/serve.ts';
import { type ToyCaller, type ToyRecord, toyRoutes } from './toy-routes.ts';

const access: Access<ToyCaller> = {
  async authenticate(request) {
    const key = request.header('authorization');
    if (key === undefined) throw new AppError('unauthenticated', 'Authentication credentials were not provided.');
    return { scopes: key.split(' ') };
  },
  authorize(caller, scope) {
    if (!caller.scopes.includes(scope)) throw new AppError('forbidden', `missing ${scope}`);
  },
  async throttle(caller) {
    if (caller.scopes.includes('often')) throw new AppError('rate_limited', 'Slower.', { retryAfterSeconds: 1.2 });
  },
  requireLevel(target, level) {
    if ((target as { level: number }).level < level) throw new AppError('forbidden', 'too low');
  },
};

export interface ToyApi {
  url: string;
  metrics: Metrics;
  record: ToyRecord;
  log: { level: string; message: string; fields: Record<string, unknown> }[];
  stop(): Promise<void>;
}

export async function startToyApi(overrides: Partial<MountDeps<ToyCaller>> = {}): Promise<ToyApi> {
  const record: ToyRecord = { calls: 0, last: undefined };
  const log: ToyApi['log'] = [];
  // A logger with only the method that the pipeline calls. Collects the log lines.
  const logger = {
    log: (level: string, message: string, fields: Record<string, unknown>) => log.push({ level, message, fields }),
  } as unknown as Logger;
  const metrics = createMetrics({ withProcessMetrics: false });
  const listener = createRequestListener(toyRoutes(record), {
    access,
    logger,
    metrics,
    bodyLimitBytes: 10_000,
    checkResponses: true,
    ...overrides,
  });
  const server = await startHttpServer(listener, {
    port: 0,
    host: '127.0.0.1',
    setting: 'API_PORT',
    drainTimeoutMs: 1000,
  });
  return { url: `http://127.0.0.1:${server.port}`, metrics, record, log, stop: server.stop };
}

/** All scopes of the test routes, in a header that the access check of the test API reads. */
export const allToyScopes = { authorization: 'project:read project:write' };
