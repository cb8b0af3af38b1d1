import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery, queryClient, sessionEnd } from '../api/queries.ts';
import { call } from '../api/request.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, FormProblem } from '../parts/form.tsx';
import { words } from '../words.ts';

/** The session ended while a page was open: signing in again leaves everything on the page as it is. */
export function SignInAgain() {
  const { data: me } = useQuery(meQuery);
  const [problem, setProblem] = useState<unknown>(null);
  const signIn = async (form: FormData) => {
    try {
      await call({
        method: 'POST',
        path: '/api/login',
        body: { email: form.get('email'), password: form.get('password') },
      });
      sessionEnd.set(false);
      await queryClient.invalidateQueries();
    } catch (error) {
      setProblem(error);
    }
  };
  return (
    <Dialog title={words.sessionEnded}>
      <p className="quiet">{words.sessionEndedText}</p>
      <form className="form" action={signIn}>
        <Field
          name="email"
          label={words.email}
          type="email"
          autoComplete="username"
          defaultValue={me?.email}
          problem={problem}
        />
        <Field
          name="password"
          label={words.password}
          type="password"
          autoComplete="current-password"
          problem={problem}
        />
        <FormProblem problem={problem} fields={['email', 'password']} />
        <div className="form-buttons">
          <Button type="submit" look="main">
            {words.signIn}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
