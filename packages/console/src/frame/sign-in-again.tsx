import { useQuery } from '@tanstack/react-query';
import { meQuery, queryClient, sessionEnd } from '../api/queries.ts';
import { consolePath } from '../api/request.ts';
import { Dialog } from '../parts/dialog.tsx';
import { words } from '../words.ts';
import { SignInForm } from './sign-in-form.tsx';

/** A sign-in dialog for a session that ends while a page is open. The page keeps its state and unsaved input. */
export function SignInAgain() {
  const { data: me } = useQuery(meQuery);
  const continueSession = () => {
    sessionEnd.set(false);
    return queryClient.invalidateQueries();
  };
  return (
    <Dialog title={words.sessionEnded}>
      <p className="quiet">{words.sessionEndedText}</p>
      <SignInForm
        email={me?.email ?? ''}
        next={`/console/${location.pathname.slice(consolePath.length)}${location.search}`}
        onDone={continueSession}
      />
    </Dialog>
  );
}
