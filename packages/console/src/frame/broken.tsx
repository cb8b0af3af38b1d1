import { useQuery } from '@tanstack/react-query';
import { ApiProblem, consolePath } from '../api/request.ts';
import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/states.tsx';
import { words } from '../words.ts';

/** A file of a page could not be loaded: the server is away, or it has another version by now. */
class PartMissing extends Error {}

/**
 * Loads the part of a page. What fails has a name of its own: the router reloads by itself what fails under the browser's name, and with the
 * server away that is the browser's own page of errors, and whatever was typed is gone.
 */
export const loadPart =
  <Part,>(load: () => Promise<Part>) =>
  (): Promise<Part> =>
    load().catch((cause: unknown) => {
      throw new PartMissing(words.states.brokenTitle, { cause });
    });

/** Instead of a white page. */
export function PageBroken({ error }: { error: unknown }) {
  if (error instanceof PartMissing) return <PartIsMissing />;
  return <AskToReload title={words.states.brokenTitle} text={error instanceof Error ? error.message : String(error)} />;
}

/** Asks the server whether it is there: only then does it help to reload. */
function PartIsMissing() {
  const server = useQuery({
    queryKey: ['console-is-there'],
    queryFn: async () => {
      const answer = await fetch(consolePath, { method: 'HEAD', cache: 'no-store', headers: { accept: 'text/html' } });
      if (!answer.ok) throw new ApiProblem(answer.status, {}, answer.headers);
      return true;
    },
    retry: false,
    gcTime: 0,
  });
  if (server.data) return <AskToReload title={words.states.newVersionTitle} text={words.states.newVersion} />;
  if (!server.error) return null;
  const error = server.error instanceof ApiProblem ? server.error : new ApiProblem(0, {}, new Headers());
  return <Failed what={words.states.thePage} error={error} onAgain={() => void server.refetch()} />;
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
