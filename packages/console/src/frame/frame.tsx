// The frame around every page of a project: the navigation, the command palette and the sign-in dialog.

import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { type ComponentType, Suspense, useEffect, useState } from 'react';
import { projectQuery, sessionEnd, useHealth } from '../api/queries.ts';
import { ApiProblem } from '../api/request.ts';
import { pages } from '../pages.ts';
import { Icon } from '../parts/icon.tsx';
import { EmptyState, explainError, QueryContent } from '../parts/states.tsx';
import { words } from '../words.ts';
import { ProjectContext, useProject } from './project.ts';
import { Navigation } from './rail.tsx';
import { RecordTitleContext } from './record-title.ts';
import { SignInAgain } from './sign-in-again.tsx';

/**
 * The command palette, which Ctrl+K opens. The router passes the component to the frame to avoid a circular import: the
 * palette imports the pages, and every page imports the frame.
 */
export type Palette = ComponentType<{ onClose: () => void }>;

export function Frame({ palette }: { palette: Palette }) {
  const { projectId = '' } = useParams({ strict: false });
  return <OfProject key={projectId} id={projectId} palette={palette} />;
}

function OfProject({ id, palette: Palette }: { id: string; palette: Palette }) {
  const project = useQuery(projectQuery(id));
  const { pathname } = useLocation();
  const page = pages.find(({ path }) => pathname.split('/')[3] === path);
  const isEnded = sessionEnd.use();
  const redirectPath = project.error instanceof ApiProblem ? pathOfErrorCode[project.error.code] : undefined;
  const [record, setRecord] = useState('');
  useEffect(() => {
    document.title = [record === page?.title ? '' : record, page?.title, project.data?.name, words.product]
      .filter(Boolean)
      .join(' · ');
  }, [record, page, project.data]);
  const [isSearching, setSearching] = usePalette();
  const navigate = useNavigate();
  useEffect(() => {
    if (redirectPath) void navigate({ to: redirectPath, search: { next: location.pathname } as never, replace: true });
  }, [redirectPath, navigate]);
  if (redirectPath) return null;
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {words.skip}
      </a>
      <Navigation project={project.data} onSearch={() => setSearching(true)} />
      <main className="main" id="content" tabIndex={-1}>
        {/* Show an error only if the project has never loaded. The health line above the page reports later errors. */}
        <QueryContent query={{ ...project, error: project.data ? null : project.error }} what="The project">
          {(data) => (
            <ProjectContext value={data}>
              <HealthLine />
              <RecordTitleContext value={setRecord}>
                <Outlet />
              </RecordTitleContext>
              {isSearching && (
                <Suspense>
                  <Palette onClose={() => setSearching(false)} />
                </Suspense>
              )}
            </ProjectContext>
          )}
        </QueryContent>
      </main>
      {isEnded && <SignInAgain />}
    </div>
  );
}

/** Manages whether the command palette is open. Ctrl+K or ⌘K opens and closes it on every page. */
function usePalette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      setOpen((open) => !open);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return [isOpen, setOpen] as const;
}

/** For each error code, the page on which the user can set up or enter the required second factor. */
const pathOfErrorCode: Record<string, string> = {
  two_factor_setup_required: '/second-factor',
  two_factor_verification_required: '/sign-in',
};

/** A line above every page while the server does not respond or the ingestion delay exceeds the alert threshold. */
function HealthLine() {
  const { id } = useProject();
  const { data, error } = useHealth(id);
  const { pathname } = useLocation();
  if (error instanceof ApiProblem && (error.status === 0 || error.status >= 500)) {
    return (
      <p className="health-line" role="status">
        {explainError(error)} {words.mayBeOld}
      </p>
    );
  }
  if (!data?.alarm) return null;
  const path = `/projects/${id}/health`;
  return (
    <p className="health-line" role="status">
      {words.late(data.alarm.detail)}
      {pathname !== path && <Link to={path}>{words.lateLink}</Link>}
    </p>
  );
}

export function PageNotFound() {
  const { projectId } = useParams({ strict: false });
  const [first] = pages;
  return (
    <div className="state" data-state="gone" role="alert">
      <span className="state-picture">
        <Icon name="gone" size={40} />
      </span>
      <h1>{words.states.noPageTitle}</h1>
      <p className="quiet">{words.states.gone}</p>
      <Link className="button button-main" to={projectId === undefined ? '/' : `/projects/${projectId}/${first?.path}`}>
        {words.states.backTo(projectId === undefined ? words.product : (first?.title ?? ''))}
      </Link>
    </div>
  );
}

/** Shown while the console checks whether the user is signed in. */
export const FramePending = () => (
  <div className="frame">
    <Navigation project={undefined} onSearch={() => {}} />
    <main className="main">
      <p className="waiting" role="status">
        {words.states.loading}
      </p>
    </main>
  </div>
);

export function ProjectNotFound() {
  return (
    <main className="entry">
      <EmptyState title={words.noProjectTitle} icon="lock">
        <p className="quiet">{words.noProject}</p>
      </EmptyState>
    </main>
  );
}
