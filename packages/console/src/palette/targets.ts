// Finds the pages, projects and records that the command palette can open.

import type { OrganizationOfMe, Project } from '../api/queries.ts';
import { call } from '../api/request.ts';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { formatPersonSubtitle, formatPersonTitle } from '../event-detail/person-name.tsx';
import { findDisplayNames } from '../frame/project.ts';
import { sections } from '../pages/settings/sections.ts';
import { pages } from '../pages.ts';
import type { IconName } from '../parts/icon.tsx';
import { getInsightName } from '../results/insight-query.ts';
import { words } from '../words.ts';

export interface PaletteEntry {
  /** A key such as `page live` or `flag 12`, which is unique within a project. */
  key: string;
  name: string;
  /** A description that is shown next to the name and is also searched. */
  hint: string;
  icon: IconName;
  to: string;
  search?: Record<string, string>;
}

export function listPages(projectId: number): PaletteEntry[] {
  const ofPages = pages.map(
    ({ path, title, question, icon }): PaletteEntry => ({
      key: `page ${path}`,
      name: title,
      hint: question,
      icon,
      to: `/projects/${projectId}/${path}`,
    }),
  );
  const ofSettings = sections.map(
    ({ path, title }): PaletteEntry => ({
      key: `page settings/${path}`,
      name: title,
      hint: words.pages.settings.title,
      icon: 'settings',
      to: `/projects/${projectId}/settings/${path}`,
    }),
  );
  return [...ofPages, ...ofSettings];
}

/** Lists the forms for creating records, and the documentation. They appear only during a search. */
export function listActions(projectId: number): PaletteEntry[] {
  const { actions } = words.palette;
  const form = (key: keyof typeof actions, page: string, search: Record<string, string>): PaletteEntry => ({
    key: `action ${key}`,
    name: actions[key],
    hint: '',
    icon: iconOf(page),
    search,
    to: `/projects/${projectId}/${page}`,
  });
  return [
    form('insight', 'insights', { insight: 'new' }),
    form('sql', 'sql', {}),
    form('flag', 'flags', { flag: 'new' }),
    form('cohort', 'cohorts', { cohort: 'new' }),
    form('subscription', 'settings/subscriptions', { open: 'new' }),
    form('export', 'settings/exports', { open: 'new' }),
    { key: 'action documentation', name: words.documentation, hint: '', icon: 'documents', to: '/docs' },
  ];
}

const iconOf = (page: string): IconName => pages.find(({ path }) => page.startsWith(path))?.icon ?? 'settings';

/** Lists the organization's other projects. @param page the path of the page to open in the other project */
export function listProjects(organization: OrganizationOfMe | null, open: Project, page: string): PaletteEntry[] {
  const teams = organization?.teams.filter(({ id }) => id !== open.id) ?? [];
  return teams.map((team) => {
    const { project, environment } = findDisplayNames(organization as OrganizationOfMe, team);
    const hint = [organization?.name, environment].filter(Boolean).join(' · ');
    return { key: `project ${team.id}`, name: project, hint, icon: 'mill', to: `/projects/${team.id}/${page}` };
  });
}

interface Row {
  id: number;
  uuid: string;
  short_id: string;
  key: string;
  name: string | null;
  derived_name: string | null;
  description: string | null;
  properties: Record<string, unknown>;
  distinct_ids: string[];
}

interface RecordKind {
  name: string;
  path: string;
  query?: Record<string, string | boolean>;
  toEntry: (row: Row) => Omit<PaletteEntry, 'to'> & { page: string };
}

const kinds: readonly RecordKind[] = [
  {
    name: words.pages.insights.title,
    path: 'insights',
    query: { basic: true },
    toEntry: (row) => ({
      key: `insight ${row.short_id}`,
      name: escapeInvisible(getInsightName(row)),
      hint: escapeInvisible(row.description ?? ''),
      icon: 'insights',
      page: 'insights',
      search: { insight: row.short_id },
    }),
  },
  {
    name: words.pages.dashboards.title,
    path: 'dashboards',
    toEntry: ({ id, name, description }) => ({
      key: `dashboard ${id}`,
      name: escapeInvisible(name || `#${id}`),
      hint: escapeInvisible(description ?? ''),
      icon: 'dashboards',
      page: 'dashboards',
      search: { dashboard: String(id) },
    }),
  },
  {
    name: words.pages.flags.title,
    path: 'feature_flags',
    toEntry: ({ id, key, name }) => ({
      key: `flag ${id}`,
      name: escapeInvisible(key),
      hint: escapeInvisible(name ?? ''),
      icon: 'flags',
      page: 'flags',
      search: { flag: String(id) },
    }),
  },
  {
    name: words.pages.cohorts.title,
    path: 'cohorts',
    toEntry: ({ id, name, description }) => ({
      key: `cohort ${id}`,
      name: escapeInvisible(name || `#${id}`),
      hint: escapeInvisible(description ?? ''),
      icon: 'cohorts',
      page: 'cohorts',
      search: { cohort: String(id) },
    }),
  },
  {
    name: words.pages.persons.title,
    path: 'persons',
    toEntry: (row) => ({
      key: `person ${row.uuid}`,
      name: formatPersonTitle(row),
      hint: formatPersonSubtitle(row),
      icon: 'persons',
      page: 'persons',
      search: { person: row.uuid },
    }),
  },
];

/** Minimum length of a search text, because each search sends a request for each record type. */
const shortestText = 2;
const maxOfKind = 5;

/** Returns a query for each record type, which finds records whose name contains the text. */
export function recordQueries(projectId: number, text: string) {
  return kinds.map(({ name, path, query, toEntry }) => ({
    name,
    query: {
      queryKey: ['palette', projectId, path, text],
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<PaletteEntry[]> => {
        const parameters = { ...query, search: text, limit: maxOfKind };
        const { results } = await call<{ results: Row[] }>(
          { path: `/api/projects/${projectId}/${path}`, query: parameters },
          signal,
        );
        return results.map((row) => {
          const { page, ...more } = toEntry(row);
          return { ...more, to: `/projects/${projectId}/${page}` };
        });
      },
      enabled: text.length >= shortestText,
      staleTime: 30_000,
      retry: false,
    },
  }));
}
