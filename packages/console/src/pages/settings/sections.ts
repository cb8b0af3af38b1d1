import type { ComponentType } from 'react';
import { words } from '../../words.ts';

/** A section of the settings: in their list, at `/projects/<id>/settings/<path>`, loaded when it is first opened. */
export interface SectionEntry {
  path: string;
  title: string;
  /** The document that explains it. */
  help: string;
  /** Whose it is: sections of one group stand together, below its name. */
  group: 'own' | 'project' | 'organization';
  load: () => Promise<{ Section: ComponentType }>;
}

const { sections: titles } = words;

/** In the order of the list. A section is a folder whose `section.tsx` exports `Section`. */
export const sections: readonly SectionEntry[] = [
  {
    path: 'account',
    title: titles.account,
    help: 'docs/api/users.md',
    group: 'own',
    load: () => import('./account/section.tsx'),
  },
  {
    path: 'keys',
    title: titles.keys,
    help: 'docs/api/personal-api-keys.md',
    group: 'own',
    load: () => import('./keys/section.tsx'),
  },
  {
    path: 'project',
    title: titles.project,
    help: 'docs/api/projects.md',
    group: 'project',
    load: () => import('./project/section.tsx'),
  },
  {
    path: 'data',
    title: titles.data,
    help: 'docs/settings.md',
    group: 'project',
    load: () => import('./data/section.tsx'),
  },
  {
    path: 'access',
    title: titles.access,
    help: 'docs/api/access.md',
    group: 'project',
    load: () => import('./access/section.tsx'),
  },
  {
    path: 'exports',
    title: titles.exports,
    help: 'docs/api/batch-exports.md',
    group: 'project',
    load: () => import('./exports/section.tsx'),
  },
  {
    path: 'subscriptions',
    title: titles.subscriptions,
    help: 'docs/api/subscriptions.md',
    group: 'project',
    load: () => import('./subscriptions/section.tsx'),
  },
  {
    path: 'organization',
    title: titles.organization,
    help: 'docs/api/organizations.md',
    group: 'organization',
    load: () => import('./organization/section.tsx'),
  },
  {
    path: 'members',
    title: titles.members,
    help: 'docs/api/members.md',
    group: 'organization',
    load: () => import('./members/section.tsx'),
  },
  {
    path: 'domains',
    title: titles.domains,
    help: 'docs/operations/single-sign-on.md',
    group: 'organization',
    load: () => import('./domains/section.tsx'),
  },
];
