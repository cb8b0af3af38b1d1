// Shown if the code of a page failed to load or crashed.

import { useQuery } from '@tanstack/react-query';
import { ApiProblem, consolePath } from '../api/request.ts';
import { Button } from '../parts/button.tsx';
import { ErrorState } from '../parts/states.tsx';
import { words } from '../words.ts';

/** Thrown if a page's code failed to load, because the server is unavailable or a new version replaced the file. */
class PartMissing extends Error {}

/**
 * Loads a page's code. Throws `PartMissing` on failure, because the router would react to the browser's original error
 * by reloading the page. If the server is unavailable, a reload would show the browser's error page and discard the
 * user's input.
 */
export const loadPageCode =
  <Part,>(load: () => Promise<Part>) =>
  (): Promise<Part> =>
    load().catch((cause: unknown) => {
      throw new PartMissing(words.states.brokenTitle, { cause });
    });

/** Shown instead of a blank page when rendering fails. */
export function PageBroken({ error }: { error: unknown }) {
  if (error instanceof PartMissing) return <PartIsMissing />;
  return <AskToReload title={words.states.brokenTitle} text={error instanceof Error ? error.message : String(error)} />;
}

/** Checks whether the server responds, because reloading the page helps only if the server is available. */
function PartIsMissing() {
  const server = useQuery({
    queryKey: ['console-is-there'],
    queryFn: async () => {
      const response = await fetch(consolePath, {
        method: 'HEAD',
        cache: 'no-store',
        headers: { accept: 'text/html' },
      });
      if (!response.ok) throw new ApiProblem(response.status, {}, response.headers);
      return true;
    },
    retry: false,
    gcTime: 0,
  });
  if (server.data) return <AskToReload title={words.states.newVersionTitle} text={words.states.newVersion} />;
  if (!server.error) return null;
  const error = server.error instanceof ApiProblem ? server.error : new ApiProblem(0, {}, new Headers());
  return <ErrorState what={words.states.thePage} error={error} onAgain={() => void server.refetch()} />;
}

function AskToReload({ title, text }: { title: string; text: string }) {
  return (
    <div className="state" data-state="failed" role="alert">
      <h1>{title}</h1>
      <p className="quiet">{text}</p>
      <Button look="main" onPress={() => location.reload()}>
        {words.reload}
      </Button>
    </div>
  );
}
