// The console's URLs and their pages.

import { useQuery } from '@tanstack/react-query';
import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { type Me, meQuery, queryClient } from './api/queries.ts';
import { ApiProblem, consolePath } from './api/request.ts';
import { loadPageCode, PageBroken } from './frame/broken.tsx';
import { Frame, FramePending, PageNotFound, ProjectNotFound } from './frame/frame.tsx';
import { sections } from './pages/settings/sections.ts';
import { pages } from './pages.ts';
import { QueryContent } from './parts/states.tsx';
import { words } from './words.ts';

const root = createRootRoute({ component: Outlet, notFoundComponent: PageNotFound, errorComponent: PageBroken });

/**
 * Redirects to the sign-in page if the user is not signed in. After the sign-in, the user returns to the current URL.
 * Pages handle other errors themselves.
 */
async function requireSession(next: string): Promise<Me | undefined> {
  try {
    return await queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    if (error.status === 401) throw redirect({ to: '/sign-in', search: { next } as never, replace: true });
    return undefined;
  }
}

/** The URL `/`, which redirects to the user's most recently opened project. The server stores this project. */
const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async ({ location }) => {
    const me = await requireSession(location.href);
    const id = me?.team?.id ?? me?.organization?.teams[0]?.id;
    if (id !== undefined) throw redirect({ to: `/projects/${id}`, replace: true });
  },
  component: Start,
});

const Palette = lazyRouteComponent(
  loadPageCode(() => import('./palette/palette.tsx')),
  'Palette',
);
const project = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId',
  beforeLoad: async ({ location }) => void (await requireSession(location.href)),
  component: () => <Frame palette={Palette} />,
  // If the server is slow, show a loading state instead of a blank page.
  pendingMs: 300,
  pendingComponent: FramePending,
});
const projectStart = createRoute({
  getParentRoute: () => project,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: `/projects/${params.projectId}/${pages[0]?.path ?? ''}` });
  },
});
/** For an unknown URL within a project, the error page includes the project's navigation. */
const noPage = createRoute({ getParentRoute: () => project, path: '$', component: PageNotFound });
const pageRoutes = pages.map(({ path, load }) => {
  const page = createRoute({
    getParentRoute: () => project,
    path: `/${path}`,
    component: lazyRouteComponent(loadPageCode(load), 'Page'),
  });
  return path === 'settings' ? page.addChildren(sectionsBelow(page)) : page;
});

/** Adds the settings sections as child routes. A URL without a section opens the first section. */
function sectionsBelow(settings: AnyRoute) {
  const first = createRoute({
    getParentRoute: () => settings,
    path: '/',
    beforeLoad: ({ params }) => {
      const { projectId } = params as { projectId: string };
      throw redirect({ to: `/projects/${projectId}/settings/${sections[0]?.path ?? ''}`, replace: true });
    },
  });
  return [
    first,
    ...sections.map(({ path, load }) =>
      createRoute({
        getParentRoute: () => settings,
        path: `/${path}`,
        component: lazyRouteComponent(loadPageCode(async () => ({ default: await load() }))),
      }),
    ),
  ];
}

const entry = (path: string, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(loadPageCode(load) as never, name as never),
  });
const entryPages = () => import('./pages/sign-in/page.tsx');
const docsPage = () => import('./pages/docs/page.tsx');
const entries = [
  entry('/sign-in', entryPages, 'SignInPage'),
  entry('/enter', entryPages, 'EnterPage'),
  entry('/reset', entryPages, 'AskResetPage'),
  entry('/reset/$userId', entryPages, 'ResetPage'),
  entry('/invite/$inviteId', () => import('./pages/sign-in/invite.tsx'), 'InvitePage'),
  entry('/second-factor', entryPages, 'SecondFactorPage'),
  // The documentation does not require a sign-in, because it does not contain project data.
  entry('/docs', docsPage, 'DocsPage'),
  entry('/docs/$', docsPage, 'DocsPage'),
];

/** The console's router. All query parameters are strings, which each page parses itself (`parts/address.ts`). */
export const router = createRouter({
  routeTree: root.addChildren([start, project.addChildren([projectStart, ...pageRoutes, noPage]), ...entries]),
  basepath: consolePath.replace(/\/$/, ''),
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(search))
      if (value !== undefined && value !== '') parameters.set(name, String(value));
    const text = parameters.toString();
    return text === '' ? '' : `?${text}`;
  },
  defaultErrorComponent: PageBroken,
  defaultNotFoundComponent: PageNotFound,
  defaultPreload: 'intent',
});

function Start() {
  const me = useQuery(meQuery);
  return (
    <QueryContent query={me} what={words.account}>
      {() => <ProjectNotFound />}
    </QueryContent>
  );
}
