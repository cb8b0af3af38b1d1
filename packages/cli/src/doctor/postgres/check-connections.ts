import type { Sql } from '@millrace/db';
import type { DoctorSettings } from '../doctor-settings.ts';
import { type Finding, ok, warning } from '../finding.ts';
import { readConnections } from './postgres-store.ts';

const fullAt = 0.8;
/** Connections of each gateway process, beside those for flag requests: keys, definitions, announced changes. */
const ofEachGateway = 7;

/** There is room for one service more, as a rolling upgrade starts it. */
export async function checkConnections(sql: Sql, settings: DoctorSettings): Promise<Finding[]> {
  return [judgeConnections(await readConnections(sql), connectionsOf(settings))];
}

/** Connections that one more with these settings may open, as far as they tell. */
function connectionsOf({ databasePoolSize, gatewayProcesses, flagDatabaseConnections }: DoctorSettings): number {
  const ofGateway = gatewayProcesses > 1 ? gatewayProcesses * (flagDatabaseConnections + ofEachGateway) : 0;
  return Math.max(databasePoolSize ?? 0, ofGateway);
}

/** @param wanted what one more service may open; 0 when it is not known. */
export function judgeConnections({ used, most }: { used: number; most: number }, wanted = 0): Finding {
  const found = `${used} of ${most} connections are in use`;
  const advice =
    'raise max_connections, lower DATABASE_POOL_SIZE and FLAG_DATABASE_CONNECTIONS, or put a pooler before it';
  if (used >= fullAt * most) return warning(`${found}: a service that is started may get none`, advice);
  if (wanted <= most - used) return ok(found);
  return warning(`${found}, and one more service with these settings may open ${wanted}`, advice);
}
