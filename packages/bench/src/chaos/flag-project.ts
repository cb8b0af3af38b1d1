import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosSystem } from './chaos-system.ts';
import type { FlagState } from './flag-history.ts';

/** The flags that are asked for, made and changed as an administrator does. */
export interface FlagProject {
  /** Every state that the flag `toggled` ever had. */
  history: readonly FlagState[];
  /** Switches it on or off. */
  toggle(): Promise<void>;
}

/** Somebody whose properties are stored. */
export const knownPerson = 'known-person';

const half = { groups: [{ properties: [], rollout_percentage: 50 }] };
const ofPlan = { groups: [{ properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }] }] };

export async function createFlagProject(system: ChaosSystem, gatewayPort: number): Promise<FlagProject> {
  const api = await system.startManagementApi();
  const { projectId, personalApiKey } = system.tenant;

  async function call(method: string, path: string, body: object): Promise<{ id: number; version: number }> {
    const response = await fetch(`http://127.0.0.1:${api.port}/api/projects/${projectId}/feature_flags/${path}`, {
      method,
      headers: { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} of a flag: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: number; version: number };
  }

  await call('POST', '', { key: 'plain' });
  await call('POST', '', { key: 'stored', filters: ofPlan });
  await call('POST', '', { key: 'kept', filters: half, ensure_experience_continuity: true });
  const sentAt = performance.now();
  const { id, version } = await call('POST', '', { key: 'toggled' });
  const history: FlagState[] = [{ version, isActive: true, sentAt, answeredAt: performance.now() }];
  await storePerson(system, gatewayPort);

  return {
    history,
    async toggle() {
      const isActive = history.at(-1)?.isActive !== true;
      // Before it is sent: the first that see it may be answered sooner than the administrator.
      const state = { version: (history.at(-1)?.version ?? 0) + 1, isActive, sentAt: performance.now() };
      const entry = { ...state, answeredAt: Number.POSITIVE_INFINITY };
      history.push(entry);
      const changed = await call('PATCH', `${id}/`, { active: isActive });
      if (changed.version !== state.version) throw new Error('somebody else changes the flag');
      entry.answeredAt = performance.now();
    },
  };
}

async function storePerson({ database, tenant }: ChaosSystem, gatewayPort: number): Promise<void> {
  const event = { event: 'sign up', distinct_id: knownPerson, properties: { $set: { plan: 'pro' } } };
  await fetch(`http://127.0.0.1:${gatewayPort}/capture/`, {
    method: 'POST',
    body: JSON.stringify({ api_key: tenant.projectApiKey, ...event }),
  });
  const sql = 'SELECT 1 FROM person_distinct_id WHERE distinct_id = $1';
  while ((await database.query(sql, [knownPerson])).rowCount === 0) await sleep(50);
}
