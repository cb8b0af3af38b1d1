import type { RunningServices } from './start-services.ts';

export interface ApiEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: string;
  properties: Record<string, unknown>;
  elements_chain: string;
  person: { uuid: string; distinct_ids: string[]; properties: Record<string, unknown> } | null;
}

export interface ApiPerson {
  id: number;
  uuid: string;
  name: string;
  distinct_ids: string[];
  properties: Record<string, unknown>;
  is_identified: boolean;
  created_at: string;
}

export interface ApiGroup {
  group_type: string;
  group_type_index: number;
  group_key: string;
  group_properties: Record<string, unknown>;
  created_at: string;
}

export interface ApiWarning {
  type: string;
  severity: string;
  count: number;
  details: Record<string, unknown>;
  timestamp: string;
}

/** Reads a project as an administrator's script does, including all pages of every list. */
export interface ManagementClient {
  events(filters?: Record<string, string>): Promise<ApiEvent[]>;
  persons(filters?: Record<string, string>): Promise<ApiPerson[]>;
  groups(filters?: Record<string, string>): Promise<ApiGroup[]>;
  warnings(): Promise<ApiWarning[]>;
}

export function createManagementClient({ apiUrl, tenant }: RunningServices): ManagementClient {
  async function list<T>(resource: string, filters: Record<string, string> = {}): Promise<T[]> {
    const all: T[] = [];
    const query = new URLSearchParams(filters).toString();
    let next: string | null = `${apiUrl}/api/projects/${tenant.projectId}/${resource}/${query ? `?${query}` : ''}`;
    while (next !== null) {
      const response: Response = await fetch(next, { headers: { authorization: `Bearer ${tenant.personalApiKey}` } });
      if (response.status !== 200) throw new Error(`${resource}: ${response.status} ${await response.text()}`);
      const page = (await response.json()) as { next: string | null; results: T[] };
      all.push(...page.results);
      next = page.next;
    }
    return all;
  }
  return {
    events: (filters) => list('events', filters),
    persons: (filters) => list('persons', filters),
    groups: (filters) => list('groups', filters),
    warnings: () => list('ingestion_warnings'),
  };
}
