import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { ApiProblem } from '../api/request.ts';
import { words } from '../words.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

/**
 * Shows a query's data or one of four states: loading, failed, refused or not found. Each page renders its own empty
 * state (`EmptyState`), because only the page can explain it.
 * @param what the beginning of the error message, such as "Events" or "This flag"
 */
export function QueryContent<Data>({
  query,
  what,
  children,
}: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'failureReason'> & { refetch: () => unknown };
  what: string;
  children: (data: Data) => ReactNode;
}) {
  const { data, error, failureReason } = query;
  if (data !== undefined)
    return (
      <>
        {error && <Stale what={what} error={error} onAgain={() => void query.refetch()} />}
        {children(data)}
      </>
    );
  if (error) return <ErrorState what={what} error={error} onAgain={() => void query.refetch()} />;
  if (failureReason instanceof ApiProblem && failureReason.status === 429) return <TooMany problem={failureReason} />;
  return (
    <p className="waiting" role="status">
      {words.states.loading}
    </p>
  );
}

/** Shown if reloading failed while older data is still visible. */
function Stale({ what, error, onAgain }: { what: string; error: unknown; onAgain: () => void }) {
  return (
    <p className="stale" role="alert">
      {words.states.stale(what)} {explainError(error)}{' '}
      <Button look="plain" onPress={onAgain}>
        {words.again}
      </Button>
    </p>
  );
}

/** Shown if a page has no data. Explains what the page shows, and how to create or send the first item. */
export function EmptyState({
  title,
  icon = 'events',
  children,
}: {
  title: string;
  icon?: IconName;
  children: ReactNode;
}) {
  return (
    <State icon={icon} title={title} name="empty">
      {children}
    </State>
  );
}

/**
 * Explains why a request failed: access was refused, the object was not found, or another error occurred. Another error
 * is shown with its request ID, which also appears in the server log.
 */
export function ErrorState({
  what,
  error,
  onAgain,
}: {
  what: string;
  error: unknown;
  onAgain?: (() => void) | undefined;
}) {
  const status = error instanceof ApiProblem ? error.status : -1;
  if (status === 403) {
    return (
      <State icon="lock" title={words.states.refusedTitle} name="refused">
        <p className="quiet">{detailOf(error) || words.states.refused}</p>
      </State>
    );
  }
  if (status === 404) {
    return (
      <State icon="gone" title={words.states.goneTitle} name="gone">
        <p className="quiet">{words.states.gone}</p>
      </State>
    );
  }
  return (
    <State icon="warnings" title={words.states.failedTitle(what)} name="failed">
      <p className="quiet">{explainError(error)}</p>
      {error instanceof ApiProblem && error.requestId && (
        <p className="hint">
          {words.states.errorId} <code>{error.requestId}</code>
        </p>
      )}
      {onAgain && (
        <div className="form-buttons">
          <Button onPress={onAgain}>{words.again}</Button>
        </div>
      )}
    </State>
  );
}

/** Returns a one-sentence error message, which is the server's message if there is one. */
export function explainError(error: unknown): string {
  if (!(error instanceof ApiProblem)) return error instanceof Error ? error.message : String(error);
  if (error.status === 0) return words.states.unreachable;
  return error.message || words.states.failed(error.status);
}

const detailOf = (error: unknown) => (error instanceof ApiProblem ? error.message : '');

function TooMany({ problem }: { problem: ApiProblem }) {
  const [seconds, setSeconds] = useState(Math.ceil((problem.retryAfterMs ?? 1000) / 1000));
  useEffect(() => {
    const timer = setInterval(() => setSeconds((left) => Math.max(0, left - 1)), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="waiting" role="status">
      {words.states.tooMany(seconds)}
    </p>
  );
}

function State({ icon, title, name, children }: { icon: IconName; title: string; name: string; children: ReactNode }) {
  return (
    <div className="state" data-state={name} role={name === 'empty' ? undefined : 'alert'}>
      <span className="state-picture">
        <Icon name={icon} size={40} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}
