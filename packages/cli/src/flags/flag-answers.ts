/** What the management API answers of a flag, as far as a person is shown it; `--json` shows all. */
export interface Flag {
  id: number;
  key: string;
  name: string;
  active: boolean;
  archived: boolean;
  status: string;
  version: number;
  filters: Filters;
  tags: string[];
  updated_at: string;
  last_called_at: string | null;
  sdk_warnings: string[];
}

export interface Filters extends Record<string, unknown> {
  groups?: Condition[];
  multivariate?: { variants?: { key: string; rollout_percentage: number }[] } | null;
}

export interface Condition {
  properties?: { key: string; type?: string; value?: unknown }[] | null;
  rollout_percentage?: number | null;
  variant?: string | null;
}

/** Why a flag is what it is for somebody. */
export interface Reason {
  value: boolean | string;
  evaluation: { reason: string; condition_index: number | null; description: string };
  explanation: Explanation | null;
}

export interface Explanation {
  hashed: string;
  holdout: { percentage: number; hash: number | null; is_held_out: boolean } | null;
  enrollment: Source[] | null;
  conditions: {
    outcome: string;
    filters: (Partial<Source> & { about: string; id?: number; key?: string; outcome: unknown })[];
    rollout: { percentage: number; hash: number | null };
  }[];
  variant_hash: number | null;
}

interface Source {
  source: string;
  property: string;
}
